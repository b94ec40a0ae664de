package shardmap_test

import (
	"strings"
	"testing"

	"autoshard/backend/interp"
	"autoshard/collectives"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// An update of a tensor that is cut is written by the devices that own what it changes: nothing is sent, wherever it starts and
// whatever its size, and the result is that of one device bit for bit.
func TestOwnersWriteUpdates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Update(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		if sent := compareCut(t, m, over).Collectives; len(sent) > 0 {
			t.Fatalf("%d collectives for an update\n%s", len(sent), mlir.Print(m, mlir.PrintOptions{}))
		}
	})
}

// A slice of a tensor that is cut is found by the devices that have something of it, or the tensor is gathered where that takes less: what
// is sent is never more than adding up slices takes, and the result is that of one device bit for bit.
func TestOwnersFindSlices(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Slice(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		most := 2 * m.TypeOf(m.MainFunc().ResultTypes[0]).Bytes() * mesh.Devices()
		p, sent := compareCut(t, m, over), int64(0)
		for i := range p.Collectives {
			if c := &p.Collectives[i]; c.Kind == collectives.AllReduce {
				found++
			}
			sent += p.Collectives[i].TotalBytes()
		}
		if sent > most {
			t.Fatalf("%d bytes, more than %d\n%s", sent, most, mlir.Print(m, mlir.PrintOptions{}))
		}
	})
	if found == 0 {
		t.Error("no slice is ever found by its owners")
	}
}

// Slices of any size that indices find in a tensor that is cut are found by the devices in whose blocks they begin, which fetch the rows
// behind their blocks: the result is that of one device bit for bit.
func TestOwnersTakeSlices(t *testing.T) {
	fetched := 0
	rapid.Check(t, func(t *rapid.T) {
		mesh, cuts := programs.Cuts(t)
		m, over := programs.Take(t, mesh, cuts)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		for _, c := range compareCut(t, m, over).Collectives {
			if c.Kind == collectives.Permute {
				fetched++
			}
		}
	})
	if fetched == 0 {
		t.Error("nothing is ever fetched")
	}
}

// Windows of any size that indices put into a tensor that is cut are written by the devices in whose blocks they lie, each its part:
// nothing is sent, and the result is that of one device bit for bit, whether windows that lie partly outside are written in part or not
// at all.
func TestOwnersWriteWindows(t *testing.T) {
	for name, options := range map[string]interp.Options{"parts": {}, "whole windows": {WholeWindows: true}} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			mesh, cuts := programs.Cuts(t)
			m, over := programs.Put(t, mesh, cuts)
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
			}
			if sent := compareCutWith(t, m, over, options).Collectives; len(sent) > 0 {
				t.Fatalf("%d collectives for a scatter\n%s", len(sent), mlir.Print(m, mlir.PrintOptions{}))
			}
		}))
	}
}

// Indices of eight bits find their rows in a tensor that is longer than they count, and add to them.
func TestNarrowIndices(t *testing.T) {
	for _, op := range []string{
		`%0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1>}> SHARDING : (tensor<300xf32>, tensor<4x1xi8>) -> tensor<4xf32>`,
		`%0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) SHARDING : (tensor<300xf32>, tensor<4x1xi8>, tensor<4xf32>) -> tensor<300xf32>`,
	} {
		result, sharding := "tensor<4xf32>", "<@mesh, [{}]>"
		if strings.Contains(op, "scatter") {
			result, sharding = "tensor<300xf32>", `<@mesh, [{"x"}]>`
		}
		text := `sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<300xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<4x1xi8>, %u: tensor<4xf32>) -> (` + result +
			` {sdy.sharding = #sdy.sharding` + sharding + `}) {
  ` + strings.Replace(op, "SHARDING", `{sdy.sharding = #sdy.sharding_per_value<[`+sharding+`]>}`, 1) + `
  return %0 : ` + result + `
}`
		rapid.Check(t, func(t *rapid.T) {
			m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			mesh, _ := m.LookupMesh("mesh")
			compareCut(t, m, mesh)
		})
	}
}

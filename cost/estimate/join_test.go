package estimate_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"
	"autoshard/subaxis"
)

// sums has two partial values that are reduced each by itself, and can be as one.
const sums = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
                %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  %3 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return %2, %3 : tensor<64x64xf32>, tensor<64x64xf32>
}`

// communicates returns what the collectives of sums take, as one or each by itself.
func communicates(t *testing.T, md *estimate.Model, merged bool) int64 {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(sums), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	if merged {
		merge.Ask(m, 1<<20)
	}
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err == nil {
		err = merge.Rewrite(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := map[bool]int{true: 1, false: 2}[merged]; len(p.Collectives) != want {
		t.Fatalf("%d collectives", len(p.Collectives))
	}
	step, err := md.Program(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return step.Communication()
}

// Two reductions as one take what both take but for one start, of which each further array takes a part again.
func TestArrays(t *testing.T) {
	for _, arrays := range []float64{0, 0.25, 1} {
		hw := torus(1e13, 1e9, 1e-6, cost.WrapFull)
		hw.Arrays = arrays
		md := model(t, hw)
		mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 4}}}
		saved := communicates(t, md, false) - communicates(t, md, true)
		start := md.Start(collectives.AllReduce, []subaxis.Ref{mesh.Full(1)})
		if diff := saved - start; diff < -4 || diff > 4 { // rounding to picoseconds
			t.Errorf("with %v of a start for each array, sending both as one saves %d ps, not %d", arrays, saved, start)
		}
	}
}

package gspmd_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/gspmd"
	"autoshard/ir/mlir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// TestGolden imports programs, over the mesh of the arguments where there are some, such as data=4 model=2, and prints what is said and the
// program, or what is wrong.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{File: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if !gspmd.Needed(m) {
				return "nothing to import\n"
			}
			said, err := gspmd.Import(t.Context(), m, axes(t, d))
			var located *diag.Error
			switch {
			case errors.As(err, &located):
				at := located.Diagnostics[0]
				return fmt.Sprintf("%d: %s [%s]\n", at.Pos.Line, at.Message, at.Code)
			case err != nil:
				t.Fatal(err)
			case gspmd.Needed(m):
				t.Error("something is left")
			}
			return strings.TrimLeft(said+"\n", "\n") + string(mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}

// axes returns the mesh of the arguments of a test.
func axes(t *testing.T, d *datadriven.TestData) (out []subaxis.Axis) {
	for _, arg := range d.CmdArgs {
		var size int64
		if _, err := fmt.Sscan(arg.Vals[0], &size); err != nil {
			t.Fatal(err)
		}
		out = append(out, subaxis.Axis{Name: arg.Key, Size: size})
	}
	return out
}

// Every device keeps its block of every argument, over the mesh that follows from the shardings and over the one that they were written
// from, whatever order it lists its devices in.
func TestDevicesKeepTheirBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh := drawMesh(t)
		want := make([]ir.Sharding, rapid.IntRange(1, 4).Draw(t, "arguments"))
		for i := range want {
			want[i] = drawSharding(t, &mesh)
		}
		for _, axes := range [][]subaxis.Axis{nil, mesh.Axes} {
			m := written(t, mesh, want)
			if _, err := gspmd.Import(t.Context(), m, axes); err != nil {
				t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
			}
			for i, v := range m.BlockArgs(m.MainFunc().Body) {
				got := m.ShardingOf(m.Sharding(v))
				if a, b := blocks(&mesh, &want[i]), blocks(&m.Mesh(got.Mesh).Mesh, got); !slices.Equal(a, b) {
					t.Fatalf("blocks of argument %d were %v, are %v\n%s", i, a, b, mlir.Print(m, mlir.PrintOptions{}))
				}
			}
		}
	})
}

// drawMesh draws a mesh of up to three axes, with its devices in some order.
func drawMesh(t *rapid.T) subaxis.Mesh {
	var mesh subaxis.Mesh
	for i := range rapid.IntRange(1, 3).Draw(t, "axes") {
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('x' + i)), Size: rapid.SampledFrom([]int64{2, 3, 4}).Draw(t, "size")})
	}
	if rapid.Bool().Draw(t, "another order") {
		ids := make([]int64, mesh.Devices())
		for i := range ids {
			ids[i] = int64(i)
		}
		if ids = rapid.Permutation(ids).Draw(t, "ids"); !slices.IsSorted(ids) {
			mesh.DeviceIDs = ids
		}
	}
	return mesh
}

// drawSharding draws a sharding of a matrix by whole axes.
func drawSharding(t *rapid.T, mesh *subaxis.Mesh) ir.Sharding {
	s := ir.Sharding{Dims: make([]ir.DimSharding, 2)}
	for d := range s.Dims {
		s.Dims[d] = ir.DimSharding{Closed: true, Priority: ir.NoPriority}
	}
	for _, r := range rapid.Permutation(mesh.All()).Draw(t, "order") {
		if d := rapid.IntRange(0, 2).Draw(t, "dimension"); d < 2 {
			s.Dims[d].Axes = subaxis.AppendMerge(s.Dims[d].Axes, r)
		}
	}
	return s
}

// written returns a program of which each argument has one of the shardings, in the words of GSPMD.
func written(t *rapid.T, mesh subaxis.Mesh, shardings []ir.Sharding) *ir.Module {
	m := ir.NewModule()
	m.Attrs = m.Attrs.With("mhlo.num_partitions", m.I64(mesh.Devices()))
	typ := m.TensorType(dtype.F32, 64, 64)
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: slices.Repeat([]ir.TypeID{typ}, len(shardings))}))
	m.BuilderAtEnd(f.Body).Op(ir.OpReturn, nil, nil)
	for i, s := range shardings {
		text, _, err := specfmt.Format(specfmt.GSPMD, &specfmt.Layout{Mesh: &ir.MeshDecl{Mesh: mesh}, Sharding: s})
		if err != nil {
			t.Fatal(err)
		}
		f.ArgAttrs[i] = f.ArgAttrs[i].With("mhlo.sharding", ir.StringAttr(text))
	}
	return m
}

// blocks returns which block each device has, by the device's id.
func blocks(mesh *subaxis.Mesh, s *ir.Sharding) []int64 {
	of := make([]int64, mesh.Devices())
	for p := range mesh.Devices() {
		for _, d := range s.Dims {
			of[mesh.DeviceID(p)] = of[mesh.DeviceID(p)]*64 + mesh.ShardIndex(p, d.Axes)
		}
	}
	return of
}

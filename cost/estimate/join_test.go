package estimate_test

import (
	"slices"
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

// blocks are of arrays that devices have blocks of: rows, columns, and what is larger along the last of three dimensions.
const blocks = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %c: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %d: tensor<2x2x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>})
    -> (tensor<64x8xf32>, tensor<8x64xf32>, tensor<8x16xf32>, tensor<2x2x4096xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x8xf32>
  %1 = sdy.all_gather [{}, {"x"}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x64xf32>
  %2 = sdy.all_gather [{}, {"x"}] %c out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
  %3 = sdy.all_gather [{}, {}, {"x"}] %d out_sharding=<@mesh, [{}, {}, {}]> : tensor<2x2x4096xf32>
  return %0, %1, %2, %3 : tensor<64x8xf32>, tensor<8x64xf32>, tensor<8x16xf32>, tensor<2x2x4096xf32>
}`

// Gathers along other dimensions are worth joining where turning all of these takes less than one start: that of the dimension whose
// gathers take longest to turn, which stay as they are, is always one of them.
func TestJoinedGathers(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(blocks), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		memory float64 // bytes a second
		want   []int
	}{
		{1e12, []int{0, 1, 2, 3}},
		{1e9, []int{0, 3}}, // rows need no turning
	} {
		hw := torus(1e13, 1e10, 1e-6, cost.WrapFull)
		hw.HBMBandwidth = c.memory
		if got := model(t, hw).JoinedGathers(p); !slices.Equal(got, c.want) {
			t.Errorf("%g B/s: %v, want %v", c.memory, got, c.want)
		}
	}
}

package space_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// ways returns the strategies of a node, each as the layouts that it reads and keeps.
func ways(s *space.Space, node, strategies int) map[string]bool {
	out := map[string]bool{}
	for x := range strategies {
		reads, keeps := s.Layouts(node, x)
		out[way(append(reads, keeps...))] = true
	}
	return out
}

func way(layouts []collectives.Layout) string {
	text := ""
	for i := range layouts {
		text += fmt.Sprint(layouts[i].Dims)
	}
	return text
}

// The strategies of a product are all placements of whole axes on its factors that divide, with every way to reduce or scatter what
// is partial: those that a plain loop finds.
func TestSpaceIsComplete(t *testing.T) {
	axes := []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 3}}
	m, mesh, model := parsed(t, `sdy.mesh @mesh = <["x"=2, "y"=2, "z"=3]>
func.func @main(%a: tensor<2x4x8xf32>, %b: tensor<2x8x6xf32>) -> tensor<2x4x6xf32> {
  %c = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>
  return %c : tensor<2x4x6xf32>
}`, axes)
	s := space.New(m, mesh, model)
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for n := range 5 * 5 * 5 { // of each axis: batch, rows, columns, depth or none
		var on [5][]subaxis.Ref
		for axis, at := range []int{n % 5, n / 5 % 5, n / 25} {
			on[at] = append(on[at], m.Mesh(mesh).Full(axis))
		}
		if !divides([]int64{2, 4, 6, 8}, on[:4]) {
			continue
		}
		for scatter := range 4 * 4 * 4 { // of each axis of the depth: a dimension of the result, or it is reduced
			kept := [][]subaxis.Ref{slices.Clone(on[0]), slices.Clone(on[1]), slices.Clone(on[2])}
			for i, axis := range on[3] {
				if to := scatter >> (2 * i) % 4; to < 3 {
					kept[to] = append(kept[to], axis)
				}
			}
			if divides([]int64{2, 4, 6}, kept) {
				want[way([]collectives.Layout{{Dims: [][]subaxis.Ref{on[0], on[1], on[3]}},
					{Dims: [][]subaxis.Ref{on[0], on[3], on[2]}}, {Dims: kept}})] = true
			}
		}
	}
	if got := ways(s, 2, p.NumStrategies(2)); !maps.Equal(got, want) {
		t.Errorf("a product has %d strategies, want %d", len(got), len(want))
	}
}

// divides says whether axes divide the sizes that they are put on.
func divides(sizes []int64, on [][]subaxis.Ref) bool {
	for d, axes := range on {
		if sizes[d]%subaxis.Product(axes) != 0 {
			return false
		}
	}
	return true
}

// A result is kept sliced along the dimensions along which its op is not cut, or sends where it is, and as the function returns it.
func TestResultsAreSliced(t *testing.T) {
	m, mesh, model := parsed(t, `sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.pad %a, %zero, low = [1, 0], high = [-1, 0], interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %b : tensor<4x6xf32>
}`, []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 3}})
	x, y := []subaxis.Ref{m.Mesh(mesh).Full(0)}, []subaxis.Ref{m.Mesh(mesh).Full(1)}
	cut := func(rows, cols []subaxis.Ref) collectives.Layout {
		return collectives.Layout{Dims: [][]subaxis.Ref{rows, cols}}
	}
	want := map[string]bool{}
	add := func(read, kept collectives.Layout) {
		want[way([]collectives.Layout{read, {}, kept})] = true
	}
	for _, cols := range [][]subaxis.Ref{nil, x, y, slices.Concat(x, y)} { // only "x" divides the rows
		add(cut(nil, cols), cut(nil, cols))
		if !slices.Contains(cols, x[0]) {
			add(cut(nil, cols), cut(x, cols))
			add(cut(x, cols), cut(x, cols))
		}
	}
	for _, goal := range []string{"", `[{"x"}, {"y"}]`} {
		s := space.New(m, mesh, model)
		if goal != "" {
			s.PinResult(0, parse(t, m, goal))
			for _, cols := range [][]subaxis.Ref{nil, x, y, slices.Concat(x, y)} {
				add(cut(nil, cols), cut(x, y))
				if !slices.Contains(cols, x[0]) {
					add(cut(x, cols), cut(x, y))
				}
			}
		}
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		if err != nil {
			t.Fatal(err)
		}
		if got := ways(s, 2, p.NumStrategies(2)); !maps.Equal(got, want) {
			t.Errorf("returned as %q, a padded tensor has %d strategies, want %d:\n%v\n%v", goal, len(got), len(want), got, want)
		}
	}
}

// How many strategies there are depends on the sizes of the axes, not on their order.
func TestAxesAreAlike(t *testing.T) {
	var want []int
	for _, axes := range [][]subaxis.Axis{
		{{Name: "x", Size: 4}, {Name: "y", Size: 2}, {Name: "z", Size: 3}},
		{{Name: "z", Size: 3}, {Name: "y", Size: 2}, {Name: "x", Size: 4}},
		{{Name: "y", Size: 2}, {Name: "x", Size: 4}, {Name: "z", Size: 3}},
	} {
		m, mesh, model := load(t, "../../examples/llama_train.mlir", axes...)
		got := strategies(t, space.New(m, mesh, model), space.Level{})
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("on %v the nodes have other numbers of strategies", axes)
		}
	}
}

// A suggestion adds at most one strategy to an op, and nothing to an op that is cut so already.
func TestSuggestionsAddOneStrategy(t *testing.T) {
	axes := []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}
	added := 0
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		m, mesh, model := parsed(t, repeating(random), axes)
		s := space.New(m, mesh, model).At(space.Level{Whole: true})
		before := allWays(t, s)
		var all []*ir.Module
		for range 1 + random.IntN(3) {
			settled, assignment := scattered(t, m, mesh, random)
			s.Suggest(settled, assignment)
			all = append(all, settled)
		}
		after := allWays(t, s.At(space.Level{Whole: true}))
		for i := range before {
			for w := range before[i] {
				if !after[i][w] {
					t.Fatalf("seed %d: node %d loses %s", seed, i, w)
				}
			}
			if len(after[i]) > len(before[i])+len(all) {
				t.Fatalf("seed %d: %d suggestions add %d strategies to node %d", seed, len(all), len(after[i])-len(before[i]), i)
			}
			added += len(after[i]) - len(before[i])
		}
	}
	if added == 0 {
		t.Error("no suggestion added a strategy")
	}
}

// allWays returns the strategies of all nodes.
func allWays(t *testing.T, s *space.Space) []map[string]bool {
	t.Helper()
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]map[string]bool, p.NumNodes())
	for i := range out {
		out[i] = ways(s, i, p.NumStrategies(i))
	}
	return out
}

// An op is cut unevenly where little of a dimension is padding then, or next to nothing if the axes divide another one. What crosses the
// boundary of the program is cut evenly.
func TestPaddedPlaces(t *testing.T) {
	for _, c := range []struct {
		rows, columns int64
		padded        bool
	}{
		{30, 3, true}, {7, 3, true}, {13, 3, false}, {3, 3, false}, {30, 4, true}, {30, 8, false}, {50257, 8, true},
	} {
		m, mesh, model := parsed(t, fmt.Sprintf(`sdy.mesh @mesh = <["x"=4]>
func.func @main(%%a: tensor<%[1]dx%[2]dxf32>) -> tensor<%[1]dx%[2]dxf32> {
  %%b = stablehlo.tanh %%a : tensor<%[1]dx%[2]dxf32>
  %%c = stablehlo.reverse %%b, dims = [1] : tensor<%[1]dx%[2]dxf32>
  return %%c : tensor<%[1]dx%[2]dxf32>
}`, c.rows, c.columns), []subaxis.Axis{{Name: "x", Size: 4}})
		whole, cut := make([][]subaxis.Ref, 2), [][]subaxis.Ref{{m.Mesh(mesh).Full(0)}, nil}
		s := space.New(m, mesh, model)
		p, err := s.Build(t.Context(), 0, &space.Effort{})
		if err != nil {
			t.Fatal(err)
		}
		input, inside, result := ways(s, 0, p.NumStrategies(0)), ways(s, 1, p.NumStrategies(1)), ways(s, 2, p.NumStrategies(2))
		if got := inside[fmt.Sprint(cut)+fmt.Sprint(cut)]; got != c.padded {
			t.Errorf("an op on %d rows is cut over 4 devices: %t", c.rows, got)
		}
		if input[fmt.Sprint(cut)] || result[fmt.Sprint(cut)+fmt.Sprint(cut)] {
			t.Errorf("an input or an output of %d rows is cut unevenly", c.rows)
		}
		if got := result[fmt.Sprint(cut)+fmt.Sprint(whole)]; got != c.padded {
			t.Errorf("an op on %d rows whose result is returned is cut: %t", c.rows, got)
		}
	}
}

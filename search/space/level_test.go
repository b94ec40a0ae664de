package space_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"
)

func cube(names ...string) []subaxis.Axis {
	var out []subaxis.Axis
	for _, n := range names {
		out = append(out, subaxis.Axis{Name: n, Size: 2})
	}
	return out
}

// pinned returns the space of the matrix product with its first input cut by a part of an axis.
func pinned(t *testing.T, text string, axes ...subaxis.Axis) (*space.Space, *ir.Module) {
	t.Helper()
	m, meshID, model := load(t, "testdata/matmul.mlir", axes...)
	s := space.New(m, meshID, model)
	if text != "" {
		main, _ := m.Main()
		s.Pin(m.BlockArgs(m.Func(main).Body)[0], parse(t, m, text))
	}
	return s, m
}

// Levels keep axes whole, then place leading axes together; only those that differ are there.
func TestLevels(t *testing.T) {
	two, _ := pinned(t, "", cube("x", "y")...)
	if got := two.Levels(); !slices.Equal(got, []space.Level{{}}) {
		t.Errorf("two axes have the levels %v", got)
	}
	four, _ := pinned(t, "", cube("x", "y", "z", "w")...)
	if got := four.Levels(); !slices.Equal(got, []space.Level{{}, {Whole: true, Groups: 3}, {Whole: true, Groups: 2}}) {
		t.Errorf("four axes have the levels %v", got)
	}
	parts, m := pinned(t, "", subaxis.Axis{Name: "x", Size: 4}, subaxis.Axis{Name: "y", Size: 2})
	suggested := m.Clone()
	main, _ := m.Main()
	suggested.SetSharding(suggested.BlockArgs(suggested.Func(main).Body)[0], parse(t, suggested, `[{"x":(1)2}, {}]`))
	parts.Suggest(suggested, nil)
	if got := parts.Levels(); !slices.Equal(got, []space.Level{{Apart: true}, {}, {Whole: true}}) {
		t.Errorf("a part of an axis has the levels %v", got)
	}
}

// strategies returns how many each node of a space has at a level.
func strategies(t *testing.T, s *space.Space, at space.Level) []int {
	t.Helper()
	p, err := s.At(at).Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, p.NumNodes())
	for i := range counts {
		counts[i] = p.NumStrategies(i)
	}
	return counts
}

// A suggestion along a part of an axis adds that one strategy to an op whose dimensions the axis divides. Elsewhere the axis is
// split, so that its major part cuts the dimension, and the rest another one or none.
func TestSuggestionsCutNoOtherTensors(t *testing.T) {
	m, mesh, model := read(t, `
func.func @main(%odd: tensor<4x64xf32>, %even: tensor<64x64xf32>, %small: tensor<4x6xf32>) -> (tensor<4x64xf32>, tensor<64x64xf32>, tensor<4x6xf32>) {
  %0 = stablehlo.tanh %odd : tensor<4x64xf32>
  %1 = stablehlo.tanh %even : tensor<64x64xf32>
  %2 = stablehlo.tanh %small : tensor<4x6xf32>
  return %0, %1, %2 : tensor<4x64xf32>, tensor<64x64xf32>, tensor<4x6xf32>
}`, subaxis.Axis{Name: "x", Size: 8})
	s := space.New(m, mesh, model)
	before := strategies(t, s, space.Level{})
	if want := []int{2, 3, 1, 2, 3, 1}; !slices.Equal(before, want) {
		t.Errorf("inputs and ops have %v strategies, want %v", before, want)
	}
	settled := m.Clone()
	main, _ := m.Main()
	args := m.BlockArgs(m.Func(main).Body)
	for _, v := range args[:2] {
		settled.SetSharding(v, parse(t, settled, `[{"x":(1)4}, {}]`))
	}
	s.Suggest(settled, nil)
	if got, want := strategies(t, s, space.Level{Whole: true}), []int{3, 4, 1, 2, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("with whole axes they have %v, want %v", got, want)
	}
	// whole, {}x{x}, {x:(1)4}x{} and {x:(1)4}x{x:(4)2}; of 4x6 whole, {x:(1)4}x{}, {x:(1)4}x{x:(4)2}
	if got, want := strategies(t, s, space.Level{}), []int{4, 4, 3, 4, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("with split axes they have %v, want %v", got, want)
	}
	if got, want := strategies(t, s, space.Level{Apart: true}), []int{8, 9, 5, 8, 9, 5}; !slices.Equal(got, want) {
		t.Errorf("with the parts apart they have %v, want %v", got, want)
	}
}

// Every level has the solutions of the coarser ones at the same cost, and the suggestions.
func TestCoarseLevelsAreContained(t *testing.T) {
	s, _ := pinned(t, "", cube("x", "y", "z")...)
	costs := []int64{}
	for _, l := range s.Levels() {
		p, err := s.At(l).Build(t.Context(), 0, &space.Effort{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := search.Solve(t.Context(), p, search.Options{})
		if err != nil || r.Status != search.Optimal {
			t.Fatal(r.Status, err)
		}
		costs = append(costs, r.Cost)
	}
	if len(costs) < 2 || !slices.IsSorted(costs) {
		t.Errorf("optima of levels, the finest first: %v", costs)
	}
}

// Building stops where its steps are spent, at the same place each time, and where its context ends; a later call with
// more steps succeeds.
func TestEffort(t *testing.T) {
	s, _ := pinned(t, "", cube("x", "y", "z")...)
	var whole space.Effort
	if _, err := s.Build(t.Context(), 0, &whole); err != nil {
		t.Fatal(err)
	}
	for steps := int64(1); steps < whole.Spent; steps = steps*3 + 1 {
		s, _ := pinned(t, "", cube("x", "y", "z")...)
		effort := space.Effort{Steps: steps}
		if _, err := s.Build(t.Context(), 0, &effort); !errors.Is(err, space.ErrSteps) || effort.Spent != steps {
			t.Errorf("%d steps of %d: %v after %d", steps, whole.Spent, err, effort.Spent)
		}
		again := space.Effort{Steps: whole.Spent + 1}
		if _, err := s.Build(t.Context(), 0, &again); err != nil {
			t.Errorf("after %d steps, %d do not suffice: %v", steps, again.Steps, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ = pinned(t, "", cube("x", "y")...)
	if _, err := s.Build(ctx, 0, &space.Effort{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Problems that need too much memory are refused before it is taken.
func TestTooLarge(t *testing.T) {
	s, _ := pinned(t, "", cube("a", "b", "c", "d", "e", "f", "g", "h")...)
	var effort space.Effort
	if _, err := s.Build(t.Context(), 0, &effort); !errors.Is(err, space.ErrTooLarge) {
		t.Errorf("eight axes: %v after %d steps", err, effort.Spent)
	}
}

// A settled module respects the pins or does not, and so does a layout of what is pinned.
func TestRespects(t *testing.T) {
	s, m := pinned(t, `[{"x"}, {?}]`, cube("x", "y")...)
	main, _ := m.Main()
	arg := m.BlockArgs(m.Func(main).Body)[0]
	other, same := pinned(t, "", cube("x", "y")...)
	other.PinResult(0, parse(t, same, `[{"x"}, {?}]`))
	for text, want := range map[string]bool{`[{"x"}, {}]`: true, `[{"x"}, {"y"}]`: true, `[{"x", "y"}, {}]`: false, `[{}, {"x"}]`: false,
		`[{}, {}]`: false} {
		settled := m.Clone()
		settled.SetSharding(arg, parse(t, settled, text))
		if got := s.Respects(settled); got != want {
			t.Errorf("%s respects the pin: %v", text, got)
		}
		l := collectives.LayoutOf(settled.ShardingOf(settled.Sharding(arg)))
		if s.Allows(arg, &l) != want || other.AllowsResult(0, &l) != want || !other.Allows(arg, &l) || !s.AllowsResult(0, &l) {
			t.Errorf("%s is allowed: %v, as a result %v", text, s.Allows(arg, &l), other.AllowsResult(0, &l))
		}
	}
}

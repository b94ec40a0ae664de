package space_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// Both operands have to be whole where they are sorted.
const sorted = `
func.func @main(%a: tensor<8192xf32>, %b: tensor<8192xf32>) -> (tensor<8192xf32>, tensor<8192xf32>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8192xf32>, tensor<8192xf32>) -> (tensor<8192xf32>, tensor<8192xf32>)
  return %0#0, %0#1 : tensor<8192xf32>, tensor<8192xf32>
}`

// Where memory holds one of two operands whole, beside the results, the other one is gathered: it pays what that takes before it sends
// anything, whichever it is. Of both, sent as one, one pays.
func TestPairsPayOnce(t *testing.T) {
	const whole = 4 * 8192
	m, mesh, model := read(t, sorted, subaxis.Axis{Name: "x", Size: 8})
	s := space.New(m, mesh, model)
	s.Serial()
	start := model.Start(collectives.AllGather, []subaxis.Ref{m.Mesh(mesh).Full(0)})
	cost := func(limit int64) (relaxed, paired int64) {
		p, err := s.Relaxed(t.Context(), limit, &space.Effort{}, space.Kept)
		relaxed = solve(t, p, err).Cost
		p, err = s.Paired(t.Context(), limit, &space.Effort{}, space.Kept)
		return relaxed, solve(t, p, err).Cost
	}
	sorting, _ := cost(0)
	if relaxed, paired := cost(3*whole + whole/2); relaxed >= sorting+start || paired < sorting+start || paired >= sorting+2*start {
		t.Errorf("one gather costs %d, and %d with nodes for pairs, want less and at least %d", relaxed-sorting, paired-sorting, start)
	}
	if _, paired := cost(3 * whole); paired < sorting+start || paired >= sorting+2*start {
		t.Errorf("both gathers cost %d, want %d once", paired-sorting, start)
	}
}

package space_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/search"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// A part of a price is rounded down, whatever sign the price has and however large the product is, up to what is forbidden.
func TestPartOfPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "price")
		among := rapid.Int64Range(1, 1<<45).Draw(t, "among")
		runs := rapid.OneOf(rapid.Int64Range(0, among), rapid.Int64Range(0, search.Forbidden)).Draw(t, "runs")
		part := new(big.Int).Mul(big.NewInt(price), big.NewInt(runs))
		part.Div(part, big.NewInt(among)) // rounds towards minus infinity, as among is positive
		want := part.Int64()
		if most := big.NewInt(search.Forbidden); part.CmpAbs(most) > 0 {
			want = search.Forbidden * int64(part.Sign())
		}
		if got := space.Part(runs, among, price); got != want {
			t.Fatalf("%d/%d of %d is %d, want %d", runs, among, price, got, want)
		}
	})
}

// nested returns a program of branches inside branches, in each of which one of several values is taken.
func nested(depth, branches int) string {
	const typ = "tensor<8xf32>"
	var region func(depth int) string
	region = func(depth int) string {
		if depth == 0 {
			return "%r = stablehlo.negate %x : " + typ + "\nstablehlo.return %r : " + typ
		}
		inner := strings.Repeat("}, {\n"+region(depth-1)+"\n", branches)
		return "%r = \"stablehlo.case\"(%which) (" + strings.TrimPrefix(inner, "}, ") + "}) : (tensor<i32>) -> " + typ +
			"\nstablehlo.return %r : " + typ
	}
	body := region(depth)
	last := strings.LastIndex(body, "stablehlo.return")
	return "func.func @main(%which: tensor<i32>, %x: " + typ + ") -> " + typ + " {\n" + body[:last] + "return %r : " + typ + "\n}"
}

// The parts of branches that count are no more than one together, so that what they add up to is an average: as many as there are, and as
// deep as they may be.
func TestBranchesCountOnce(t *testing.T) {
	for _, c := range []struct{ depth, branches int }{{1, 1}, {1, 2}, {1, 7}, {1, 3000}, {3, 3}, {6, 2}} {
		m, mesh, model := read(t, nested(c.depth, c.branches), subaxis.Axis{Name: "x", Size: 8})
		s := space.New(m, mesh, model)
		if got := s.InnermostShares(m.MainFunc().Body); got > 1 || got < 0.99 {
			t.Errorf("%d branches, %d deep: their parts are %g together", c.branches, c.depth, got)
		}
	}
}

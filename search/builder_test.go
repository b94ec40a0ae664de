package search

import (
	"errors"
	"slices"
	"testing"

	"autoshard/internal/diag"
)

// A problem that is none is refused at the node, matrix or edge that is wrong.
func TestBuilderErrors(t *testing.T) {
	node := func(b *Builder, k int) int32 { return b.AddNode(make([]int64, k), make([]int64, k), 0, 1) }
	for _, test := range []struct {
		name  string
		build func(b *Builder)
		class error
		want  string
	}{
		{"no strategies", func(b *Builder) { node(b, 0) }, diag.ErrInvalid, "node 0: no strategies"},
		{"lengths", func(b *Builder) { b.AddNode([]int64{1, 2}, []int64{3}, 0, 1) }, diag.ErrInvalid, "node 0: 2 costs, 1 usages"},
		{"start", func(b *Builder) { b.AddNode([]int64{1}, []int64{3}, -1, 1) }, diag.ErrInvalid, "node 0: interval starts before 0"},
		{"usage", func(b *Builder) { b.AddNode([]int64{1}, []int64{-3}, 0, 1) }, diag.ErrInvalid, "node 0: negative usage"},
		{"matrix", func(b *Builder) { b.AddMatrix(2, 3, make([]int64, 5)) }, diag.ErrInvalid, "matrix: 5 costs, wants 2 x 3"},
		{"empty matrix", func(b *Builder) { b.AddMatrix(0, 3, nil) }, diag.ErrInvalid, "matrix: 0 costs, wants 0 x 3"},
		{"end", func(b *Builder) { b.AddEdge(node(b, 1), 7, b.AddMatrix(1, 1, []int64{0})) }, diag.ErrInvalid, "edge 0: node 7 out of range"},
		{"identity", func(b *Builder) { b.AddEdge(node(b, 1), node(b, 1), 3) }, diag.ErrInvalid, "edge 0: matrix 3 out of range"},
		{"shape", func(b *Builder) { b.AddEdge(node(b, 1), node(b, 2), b.AddMatrix(2, 1, []int64{0, 0})) }, diag.ErrInvalid,
			"edge 0: matrix has 2 rows, the 1 strategies of node 0 select others"},
		{"column", func(b *Builder) {
			b.AddEdgeThrough(node(b, 1), node(b, 3), b.AddMatrix(1, 2, []int64{0, 0}), nil, []int32{0, 1, 2})
		}, diag.ErrInvalid, "edge 0: matrix has 2 columns, the 3 strategies of node 1 select others"},
		{"constant", func(b *Builder) { b.AddConstant(Inf) }, diag.ErrTooLarge, "constant cost 1000000000000000000 too large"},
		{"usages", func(b *Builder) {
			b.AddNode([]int64{0}, []int64{1 << 62}, 0, 1)
			b.AddNode([]int64{0}, []int64{1 << 62}, 0, 1)
		}, diag.ErrTooLarge, "usages too large: the sum of maxima reaches 250000000000000000"},
		{"costs", func(b *Builder) {
			for range 3 {
				b.AddNode([]int64{-Forbidden + 1}, []int64{0}, 0, 1)
			}
		}, diag.ErrTooLarge, "costs too large: the sum of maxima reaches 250000000000000000"},
		{"least cost", func(b *Builder) { b.AddNode([]int64{-1 << 63}, []int64{0}, 0, 1) }, diag.ErrTooLarge,
			"costs too large: the sum of maxima reaches 250000000000000000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := NewBuilder()
			test.build(b)
			if _, err := b.Build(); !errors.Is(err, test.class) || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// Equal matrices are one, and every forbidden cost is the same.
func TestMatricesAreInterned(t *testing.T) {
	b := NewBuilder()
	m := b.AddMatrix(1, 2, []int64{1, Inf})
	if b.AddMatrix(1, 2, []int64{1, Forbidden}) != m || b.AddMatrix(2, 1, []int64{1, Inf}) == m || b.AddMatrix(1, 2, []int64{2, Inf}) == m {
		t.Error("equal matrices must have the same identity, others not")
	}
}

// An edge of which strategies share rows is the edge that repeats them, also from a node to itself.
func TestSharedRows(t *testing.T) {
	b := NewBuilder()
	x := b.AddNode([]int64{1, 2, 3}, []int64{0, 0, 0}, 0, 1)
	y := b.AddNode([]int64{0, 0}, []int64{0, 0}, 0, 1)
	m := b.AddMatrix(2, 2, []int64{10, 20, 30, 40})
	b.AddEdgeThrough(x, y, m, []int32{1, 0, 1}, nil)
	b.AddEdgeThrough(x, x, m, []int32{0, 1, 1}, []int32{0, 0, 1})
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{30, 40, 10, 20, 30, 40}; !slices.Equal(p.EdgeCosts(0), want) {
		t.Errorf("costs of the edge: %d, want %d", p.EdgeCosts(0), want)
	}
	if want := []int64{11, 32, 43, 0, 0}; !slices.Equal(p.Cost, want) {
		t.Errorf("costs of the nodes: %d, want %d", p.Cost, want)
	}
}

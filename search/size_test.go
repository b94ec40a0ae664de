package search

import "testing"

// A matrix counts once, and once more for every other way to select its rows and columns; all edges count in what solving takes.
func TestSize(t *testing.T) {
	b := NewBuilder()
	for range 4 {
		b.AddNode(make([]int64, 3), make([]int64, 3), 0, 1)
	}
	m := b.AddMatrix(3, 3, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8})
	swapped := []int32{2, 1, 0}
	b.AddEdge(0, 1, m)
	b.AddEdge(1, 2, m)
	b.AddEdgeThrough(2, 3, m, swapped, nil)
	b.AddEdgeThrough(0, 3, m, swapped, nil)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	z := p.Size()
	if want := (Size{Nodes: 4, Edges: 4, Strategies: 12, Entries: 9, Pairs: 18}); z != want {
		t.Errorf("the size is %+v, want %+v", z, want)
	}
	if got, want := z.Bytes(), int64(16*12+8*9+60*4+20*4); got != want {
		t.Errorf("the problem takes %d bytes, want %d", got, want)
	}
	more := z
	more.Edges++
	if more.Solving() <= z.Solving() {
		t.Errorf("with one more edge solving takes %d bytes, %d without", more.Solving(), z.Solving())
	}
}

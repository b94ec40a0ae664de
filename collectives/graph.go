package collectives

import (
	"encoding/binary"
	"slices"

	"autoshard/subaxis"
)

// graph is the layouts of tensors of one rank over some atoms and the steps between them. It grows as it is explored. What
// a step costs, and which layouts divide a tensor, is no part of it.
type graph struct {
	atoms    *atoms
	ends     [][2][]uint8 // per dimension the two lists of which all are the beginning, where all lists would be too many; nil: all are
	kept     []uint8      // with ends: the atoms that stay pending
	vertices []vertex
	index    map[string]int32
	moves    []move
	moveID   map[string]int32
	known    map[LayoutID]int32
}

// vertex is a layout. Its atoms are numbers.
type vertex struct {
	key      string // orders vertices, whatever was explored first
	dims     [][]uint8
	pending  []uint8 // ascending
	shards   int64
	arcs     []arc
	explored bool
	reached  bool // all that arcs lead to from here is explored
}

// arc is a step to another vertex, whose price is that of a move.
type arc struct {
	to, move int32
	dim, end uint8
}

// move is what the price of a step depends on beside the bytes of the tensor.
type move struct {
	kind   Kind
	axes   []subaxis.Ref
	shards int64 // before it
}

// mostVertices bounds graphs without ends.
const mostVertices = 4500

// countLayouts returns how many vertices a graph without ends has, or any number beyond mostVertices.
func countLayouts(rank, atoms int) int {
	total, lists := 0, 1 // ways to take n atoms in some order, and to deal them to the dimensions
	for n := 0; n <= atoms && total <= mostVertices; n++ {
		total += lists << (atoms - n) // each other atom is free or pending
		lists = lists * (atoms - n) * (rank + n) / (n + 1)
	}
	return total
}

func newGraph(a *atoms) *graph {
	return &graph{atoms: a, index: map[string]int32{}, moveID: map[string]int32{}, known: map[LayoutID]int32{}}
}

// vertex returns the number of the layout that cuts dimensions so.
func (g *graph) vertex(dims [][]uint8, pending []uint8) int32 {
	key := make([]byte, 0, len(dims)+8)
	for _, d := range dims {
		key = append(append(key, d...), 0xff)
	}
	key = append(key, pending...)
	if i, ok := g.index[string(key)]; ok {
		return i
	}
	v := vertex{key: string(key), dims: dims, pending: pending, shards: 1}
	for _, d := range dims {
		v.shards *= g.atoms.product(d)
	}
	i := int32(len(g.vertices))
	g.vertices = append(g.vertices, v)
	g.index[v.key] = i
	return i
}

// of returns the vertex of a layout.
func (g *graph) of(id LayoutID, l *Layout) int32 {
	if i, ok := g.known[id]; ok {
		return i
	}
	dims := make([][]uint8, len(l.Dims))
	for d, axes := range l.Dims {
		dims[d] = g.atoms.of(axes)
	}
	pending := g.atoms.of(l.Unreduced)
	slices.Sort(pending)
	i := g.vertex(dims, pending)
	g.known[id] = i
	return i
}

// layout returns what a vertex stands for.
func (g *graph) layout(i int32) Layout {
	v := &g.vertices[i]
	l := Layout{Dims: make([][]subaxis.Ref, len(v.dims)), Unreduced: subaxis.SortMerge(g.atoms.axes(v.pending))}
	for d, list := range v.dims {
		l.Dims[d] = g.atoms.axes(list)
	}
	return l
}

// between bounds a new graph to what lies between two layouts.
func (g *graph) between(from, to *Layout) {
	g.ends = make([][2][]uint8, len(from.Dims))
	for d := range g.ends {
		g.ends[d] = [2][]uint8{g.atoms.of(from.Dims[d]), g.atoms.of(to.Dims[d])}
	}
	g.kept = g.atoms.of(to.Unreduced)
}

// allows says whether a dimension may be cut by a list of atoms, or by one that begins with it.
func (g *graph) allows(d int, list []uint8) bool {
	if g.ends == nil {
		return true
	}
	return slices.ContainsFunc(g.ends[d][:], func(end []uint8) bool {
		return len(list) <= len(end) && slices.Equal(list, end[:len(list)])
	})
}

// moveOf interns a move.
func (g *graph) moveOf(kind Kind, list []uint8, shards int64) int32 {
	key := string(append(binary.AppendVarint([]byte{byte(kind)}, shards), list...))
	if i, ok := g.moveID[key]; ok {
		return i
	}
	i := int32(len(g.moves))
	g.moves = append(g.moves, move{kind, g.atoms.axes(list), shards})
	g.moveID[key] = i
	return i
}

package collectives

import (
	"encoding/binary"
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// Planner finds the cheapest sequences of steps between layouts on one mesh. What it answers does not depend on what it was
// asked before. It must not be used by two goroutines at once.
type Planner struct {
	pricer  Pricer
	mesh    []subaxis.Axis
	layouts []known
	ids     map[string]LayoutID
	tensors map[string]*Tensor
	graphs  map[string]*graph
	whole   map[parting]*graph // those that hold every layout
	parts   map[string]int32   // lists of parts of axes
	key     []byte
}

// LayoutID is a layout that a planner knows.
type LayoutID int32

type known struct {
	layout Layout
	parts  int32 // which parts of axes, and axes of one device, it names; 0 for none
}

// parting is what two layouts have in common with others between which ways are sought in the same graph.
type parting struct {
	rank     int
	from, to int32 // the parts of axes
}

// NewPlanner returns a planner with prices for one mesh.
func NewPlanner(pricer Pricer, mesh []subaxis.Axis) *Planner {
	return &Planner{pricer: pricer, mesh: mesh, ids: map[string]LayoutID{}, tensors: map[string]*Tensor{}, graphs: map[string]*graph{},
		whole: map[parting]*graph{}, parts: map[string]int32{"": 0}}
}

// Without returns a planner with the same prices for values that differ along whole axes of the mesh, as in the bodies of manual
// computations: no way goes along those, and no layout names them.
func (p *Planner) Without(axes []subaxis.Ref) *Planner {
	mesh := slices.Clone(p.mesh)
	for _, r := range axes {
		mesh[r.Axis].Size = 1 // of which no way makes use
	}
	return NewPlanner(p.pricer, mesh)
}

// Cheapest is the order of the cheapest steps. Among sequences of one price the one with fewer steps wins, and then the one
// whose layouts come first in a fixed order.
func (p *Planner) Cheapest(r *Reshard) []Step {
	w := p.Way(p.Tensor(r.Shape, r.Bytes), p.Intern(r.From), p.Intern(r.To))
	return w.Steps()
}

// Intern returns the id of a layout.
func (p *Planner) Intern(l Layout) LayoutID {
	p.key = appendLayout(p.key[:0], &l)
	if id, ok := p.ids[string(p.key)]; ok {
		return id
	}
	id := LayoutID(len(p.layouts))
	p.ids[string(p.key)] = id
	p.layouts = append(p.layouts, known{l, p.partsOf(&l)})
	return id
}

// partsOf interns the list of the parts of axes, and axes of one device, that a layout names.
func (p *Planner) partsOf(l *Layout) int32 {
	parts := slices.DeleteFunc(allAxes(l), func(r subaxis.Ref) bool { return r.Size > 1 && int64(r.Size) == p.mesh[r.Axis].Size })
	if len(parts) == 0 {
		return 0
	}
	slices.SortFunc(parts, subaxis.Compare)
	key := string(appendAxes(nil, parts))
	if _, ok := p.parts[key]; !ok {
		p.parts[key] = int32(len(p.parts))
	}
	return p.parts[key]
}

func appendLayout(b []byte, l *Layout) []byte {
	b = append(b, byte(l.Reduction))
	b = appendAxes(b, l.Unreduced)
	for _, axes := range l.Dims {
		b = appendAxes(b, axes)
	}
	return b
}

func appendAxes(b []byte, axes []subaxis.Ref) []byte {
	b = append(b, byte(len(axes)))
	for _, r := range axes {
		b = append(b, byte(r.Axis))
		b = binary.AppendUvarint(b, uint64(r.Pre))
		b = binary.AppendUvarint(b, uint64(r.Size))
	}
	return b
}

// Tensor is what reshards of a tensor depend on: its bytes, and which layouts cut it into equal blocks.
type Tensor struct {
	sizes  []int64 // of the dimensions, as far as the mesh could divide them
	whole  []int64 // the sizes of those that some layouts do not divide, 0 for others
	bytes  int64
	most   int64 // that a device may read and make in a step; 0: any number
	tables map[*graph]*table
}

// Tensor returns what reshards of tensors of a shape with that many bytes in all depend on; it is the same pointer for
// tensors for which all prices are the same.
func (p *Planner) Tensor(shape []int64, bytes int64) *Tensor { return p.tensor(shape, bytes, 0) }

func (p *Planner) tensor(shape []int64, bytes, most int64) *Tensor {
	devices := int64(1)
	for _, a := range p.mesh {
		devices *= a.Size
	}
	t := &Tensor{sizes: make([]int64, len(shape)), whole: make([]int64, len(shape)), bytes: bytes, most: most, tables: map[*graph]*table{}}
	p.key = binary.AppendVarint(binary.AppendVarint(p.key[:0], bytes), most)
	for d, size := range shape {
		if t.sizes[d] = subaxis.GCD(size, devices); t.sizes[d] != devices {
			t.whole[d] = size
		}
		p.key = binary.AppendVarint(binary.AppendVarint(p.key, t.sizes[d]), t.whole[d])
	}
	if known, ok := p.tensors[string(p.key)]; ok {
		return known
	}
	p.tensors[string(p.key)] = t
	return t
}

// Forget frees the memory of the ways that were found so far. They are found again where they are asked for.
func (t *Tensor) Forget() { clear(t.tables) }

// Way returns the cheapest way from one layout of a tensor to another. Both must cut the tensor along independent axes, and every
// unreduced axis of to must be one of from. Where one of them does not cut it into equal blocks, the tensor is padded for both.
func (p *Planner) Way(t *Tensor, from, to LayoutID) Way {
	w, ok := p.way(t, from, to)
	if !ok {
		panic("collectives: no sequence of steps between two layouts")
	}
	return w
}

// Within returns the cheapest way of a reshard of whose steps none takes more than so many bytes of a device, for what it reads and what
// it makes. It is false where there is none.
func (p *Planner) Within(r *Reshard, most int64) (w Way, ok bool) {
	return p.way(p.tensor(r.Shape, r.Bytes, max(most, 1)), p.Intern(r.From), p.Intern(r.To))
}

func (p *Planner) way(t *Tensor, from, to LayoutID) (w Way, ok bool) {
	if from == to {
		return Way{}, true
	}
	a, b := &p.layouts[from], &p.layouts[to]
	if !t.divided(&a.layout) || !t.divided(&b.layout) {
		w, ok = p.way(p.padded(t, &a.layout, &b.layout), from, to)
		w.resized = p.resizing(t, &a.layout, &b.layout)
		return w, ok
	}
	g := p.graph(a, b)
	if g == nil {
		return p.viaReplicated(t, from, to)
	}
	return t.table(g, p.pricer).way(g.of(from, &a.layout), g.of(to, &b.layout), a.layout.Reduction)
}

// resizing prices what pads a tensor before a way, where it is whole along a dimension that has to be padded, and what takes the padding
// off it after one: a device copies its block.
func (p *Planner) resizing(t *Tensor, a, b *Layout) (price int64) {
	grows := func(a, b *Layout) bool {
		for d, size := range t.sizes {
			if n := subaxis.Product(b.Dims[d]); subaxis.Product(a.Dims[d]) == 1 && size%n != 0 {
				return true
			}
		}
		return false
	}
	if grows(a, b) {
		price += p.pricer.Price(AllSlice, nil, t.bytes/a.Shards())
	}
	if grows(b, a) {
		price += p.pricer.Price(AllSlice, nil, t.bytes/b.Shards())
	}
	return price
}

// divided says whether a layout cuts the tensor into equal blocks.
func (t *Tensor) divided(l *Layout) bool {
	for d, size := range t.sizes {
		if size%subaxis.Product(l.Dims[d]) != 0 {
			return false
		}
	}
	return true
}

// padded returns the least tensor with room for another one that two layouts cut into equal blocks.
func (p *Planner) padded(t *Tensor, a, b *Layout) *Tensor {
	shape, bytes := slices.Clone(t.sizes), t.bytes
	for d, size := range t.whole {
		n, m := subaxis.Product(a.Dims[d]), subaxis.Product(b.Dims[d])
		if both := n / subaxis.GCD(n, m) * m; size > 0 {
			shape[d] = (size + both - 1) / both * both
			bytes = bytes / size * shape[d]
		}
	}
	return p.tensor(shape, bytes, t.most)
}

// table returns the tensor's ways in a graph.
func (t *Tensor) table(g *graph, pricer Pricer) *table {
	tab := t.tables[g]
	if tab == nil {
		tab = &table{graph: g, tensor: t, pricer: pricer}
		t.tables[g] = tab
	}
	return tab
}

// way returns the cheapest way between two vertices, for a tensor that awaits some reduction; it is false if there is none.
func (t *table) way(start, goal int32, reduction ir.Reduction) (w Way, ok bool) {
	t.aim([]int32{start}, []int32{goal})
	return t.known(start, goal, reduction)
}

// known returns the way between two vertices that are aimed.
func (t *table) known(start, goal int32, reduction ir.Reduction) (w Way, ok bool) {
	l := leg{aim: t.aims[goal], start: start, reduction: reduction}
	if l.length() == nowhere {
		return Way{}, false
	}
	return Way{legs: [2]leg{l}}, true
}

// viaReplicated handles sub-axes that no common refinement has, such as "x":(1)2 and "x":(1)3 of an axis of size 6.
func (p *Planner) viaReplicated(t *Tensor, from, to LayoutID) (w Way, ok bool) {
	whole := p.Intern(Layout{Dims: make([][]subaxis.Ref, len(t.sizes)), Unreduced: p.layouts[to].layout.Unreduced})
	first, there := p.way(t, from, whole)
	second, back := p.way(t, whole, to)
	return Way{legs: [2]leg{first.legs[0], second.legs[0]}}, there && back
}

// graph returns the graph in which ways between two layouts are sought: that of all axes of the mesh, cut where the two cut
// them, where that is not too large; otherwise axes that the two keep together go together, and if that is still too large,
// only what lies between them is seen. It is nil where they cut an axis into parts that depend on each other.
func (p *Planner) graph(a, b *known) *graph {
	key := parting{len(a.layout.Dims), a.parts, b.parts}
	if g, ok := p.whole[key]; ok {
		return g
	}
	if !coexist(a.layout, b.layout) {
		p.whole[key] = nil
		return nil
	}
	atoms := newAtoms(p.mesh, &a.layout, &b.layout)
	if countLayouts(key.rank, len(atoms.runs)) <= mostVertices {
		p.whole[key] = p.shared(atoms, key.rank, nil)
		return p.whole[key]
	}
	atoms.join(&a.layout, &b.layout)
	if countLayouts(key.rank, len(atoms.runs)) <= mostVertices {
		return p.shared(atoms, key.rank, nil)
	}
	ends := appendLayout(appendLayout(nil, &a.layout), &b.layout)
	g := p.shared(atoms, key.rank, ends)
	g.between(&a.layout, &b.layout)
	return g
}

// shared returns the graph of a rank over atoms, of which there is one for each pair of ends.
func (p *Planner) shared(a *atoms, rank int, ends []byte) *graph {
	key := string(append(append([]byte{byte(rank)}, a.key()...), ends...))
	g := p.graphs[key]
	if g == nil {
		g = newGraph(a)
		p.graphs[key] = g
	}
	return g
}

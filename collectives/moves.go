package collectives

import "slices"

// explorer finds the steps from one vertex.
type explorer struct {
	*graph
	at      int32
	dims    [][]uint8
	pending []uint8
	free    []uint8 // the atoms that neither cut a dimension nor are pending
	shards  int64
}

// explore finds the arcs of a vertex.
func (g *graph) explore(i int32) {
	v := &g.vertices[i]
	if v.explored {
		return
	}
	v.explored = true
	x := &explorer{graph: g, at: i, dims: v.dims, pending: v.pending, shards: v.shards}
	for a := range g.atoms.runs {
		if n := uint8(a); !slices.Contains(x.pending, n) && !slices.ContainsFunc(x.dims, func(d []uint8) bool { return slices.Contains(d, n) }) {
			x.free = append(x.free, n)
		}
	}
	x.reduce()
	for d := range x.dims {
		x.extend(AllSlice, d, x.free)
		x.extend(ReduceScatter, d, x.pending)
		x.gather(d)
		for end := range x.dims {
			if end != d {
				x.exchange(d, end)
			}
		}
	}
	x.permute(make([][]uint8, len(x.dims)), 0, nil, x.without(x.pending))
}

// reach explores all vertices that ways from a vertex may pass.
func (g *graph) reach(start int32) {
	if g.vertices[start].reached {
		return
	}
	g.vertices[start].reached = true
	for open := []int32{start}; len(open) > 0; {
		v := open[len(open)-1]
		open = open[:len(open)-1]
		g.explore(v)
		for _, a := range g.vertices[v].arcs {
			if to := &g.vertices[a.to]; !to.reached {
				to.reached = true
				open = append(open, a.to)
			}
		}
	}
}

func (x *explorer) add(kind Kind, list []uint8, dim, end int, dims [][]uint8, pending []uint8) {
	to, move := x.vertex(dims, pending), x.moveOf(kind, list, x.shards)
	v := &x.vertices[x.at]
	v.arcs = append(v.arcs, arc{to, move, uint8(dim), uint8(end)})
}

// with returns the vertex's dimensions with one replaced.
func (x *explorer) with(d int, list []uint8) [][]uint8 {
	dims := slices.Clone(x.dims)
	dims[d] = list
	return dims
}

// without returns all atoms but those of a list.
func (x *explorer) without(list []uint8) []uint8 {
	var out []uint8
	for a := range x.atoms.runs {
		if !slices.Contains(list, uint8(a)) {
			out = append(out, uint8(a))
		}
	}
	return out
}

func difference(list, gone []uint8) []uint8 {
	return slices.DeleteFunc(slices.Clone(list), func(a uint8) bool { return slices.Contains(gone, a) })
}

// reduce sums along any of the pending atoms; in a graph with ends along all that do not stay pending.
func (x *explorer) reduce() {
	if x.ends != nil {
		if list := difference(x.pending, x.kept); len(list) > 0 {
			x.add(AllReduce, list, 0, 0, x.dims, difference(x.pending, list))
		}
		return
	}
	for set := 1; set < 1<<len(x.pending); set++ {
		var list []uint8
		for i, a := range x.pending {
			if set>>i&1 > 0 {
				list = append(list, a)
			}
		}
		x.add(AllReduce, list, 0, 0, x.dims, difference(x.pending, list))
	}
}

// extend cuts dimension d further by some of the given atoms: those that nothing uses (a slice) or that await reduction (a
// reduce-scatter).
func (x *explorer) extend(kind Kind, d int, atoms []uint8) {
	var grow func(list []uint8)
	grow = func(list []uint8) {
		for _, a := range atoms {
			after := slices.Concat(x.dims[d], list, []uint8{a})
			if slices.Contains(list, a) || !x.allows(d, after) {
				continue
			}
			taken := append(slices.Clone(list), a)
			x.add(kind, taken, d, 0, x.with(d, after), difference(x.pending, taken))
			grow(taken)
		}
	}
	grow(nil)
}

// gather joins dimension d along its minor atoms.
func (x *explorer) gather(d int) {
	for keep := range x.dims[d] {
		x.add(AllGather, x.dims[d][keep:], d, 0, x.with(d, x.dims[d][:keep:keep]), x.pending)
	}
}

// exchange moves minor atoms of one dimension to another's end.
func (x *explorer) exchange(from, to int) {
	for keep := range x.dims[from] {
		list := x.dims[from][keep:]
		after := slices.Concat(x.dims[to], list)
		if !x.allows(to, after) {
			continue
		}
		dims := x.with(from, x.dims[from][:keep:keep])
		dims[to] = after
		x.add(AllToAll, list, from, to, dims, x.pending)
	}
}

// permute goes to every vertex that cuts each dimension into as many blocks by any of the given atoms. Dimensions before d
// are in dims already, and list is the beginning of dimension d.
func (x *explorer) permute(dims [][]uint8, d int, list, atoms []uint8) {
	if d == len(dims) {
		if !slices.EqualFunc(dims, x.dims, slices.Equal) {
			x.add(Permute, x.union(dims), 0, 0, slices.Clone(dims), x.pending)
		}
		return
	}
	need := x.atoms.product(x.dims[d]) / x.atoms.product(list)
	if need == 1 {
		dims[d] = list
		x.permute(dims, d+1, nil, atoms)
		return
	}
	for _, a := range atoms {
		n := x.atoms.product([]uint8{a})
		if after := append(slices.Clone(list), a); n > 1 && need%n == 0 && x.allows(d, after) {
			x.permute(dims, d, after, difference(atoms, []uint8{a}))
		}
	}
}

// union returns the atoms that cut the vertex's dimensions or others, ascending.
func (x *explorer) union(dims [][]uint8) []uint8 {
	all := slices.Concat(slices.Concat(x.dims...), slices.Concat(dims...))
	slices.Sort(all)
	return slices.Compact(all)
}

package collectives

import (
	"cmp"
	"slices"
)

// table holds the cheapest ways between the layouts of one tensor. They are found when they are asked for: for all layouts that can be
// reached from where ways begin at once, and for many goals at a time.
type table struct {
	graph  *graph
	tensor *Tensor
	pricer Pricer
	prices []int64       // of the graph's moves for this tensor, -1 if unknown yet
	fits   []int8        // per vertex: whether it divides the tensor, 0 if unknown yet
	roads  [][]road      // per vertex, nil if unknown yet
	places []int32       // per vertex: its place in order from 1, 0 for none
	order  []int32       // the vertices that ways pass; what can be reached from them is among them
	parts  []int         // where parts of order end: from a vertex nothing can be reached but its part and those before
	aims   map[int32]aim // per goal
}

// road is an arc to a vertex that divides the tensor.
type road struct {
	length  int64
	to, arc int32
}

// aim is the ways to a goal: its number in a bundle.
type aim struct {
	*bundle
	goal int
}

// roadsFrom returns the roads from a vertex.
func (t *table) roadsFrom(v int32) []road {
	t.roads = grown(t.roads, v)
	if t.roads[v] == nil {
		t.graph.explore(v)
		arcs := t.graph.vertices[v].arcs
		t.roads[v] = make([]road, 0, len(arcs))
		for i, a := range arcs {
			if t.divides(a.to) && t.fitsMemory(v, a.to) {
				t.roads[v] = append(t.roads[v], road{lengthOf(t.price(a.move)), a.to, int32(i)})
			}
		}
	}
	return t.roads[v]
}

// grown returns a list with at least so many entries that it has the one with a number.
func grown[T any](list []T, number int32) []T {
	if missing := int(number) + 1 - len(list); missing > 0 {
		return append(list, make([]T, missing)...)
	}
	return list
}

// divides says whether a vertex cuts the tensor into equal blocks.
func (t *table) divides(v int32) bool {
	t.fits = grown(t.fits, v)
	if t.fits[v] == 0 {
		t.fits[v] = 1
		for d, list := range t.graph.vertices[v].dims {
			if t.tensor.sizes[d]%t.graph.atoms.product(list) != 0 {
				t.fits[v] = -1
			}
		}
	}
	return t.fits[v] > 0
}

// fitsMemory says whether a device may hold the blocks of two layouts at once.
func (t *table) fitsMemory(a, b int32) bool {
	if t.tensor.most == 0 {
		return true
	}
	v := t.graph.vertices
	return t.tensor.bytes/v[a].shards+t.tensor.bytes/v[b].shards <= t.tensor.most
}

// price returns that of a move.
func (t *table) price(i int32) int64 {
	for int(i) >= len(t.prices) {
		t.prices = append(t.prices, -1)
	}
	if t.prices[i] < 0 {
		m := &t.graph.moves[i]
		t.prices[i] = t.pricer.Price(m.kind, m.axes, t.tensor.bytes/m.shards)
	}
	return t.prices[i]
}

// reach adds a vertex and all that can be reached from it. What awaits reduction along fewer atoms comes first, and of that what has larger
// blocks.
func (t *table) reach(start int32) {
	begin := len(t.order)
	t.add(start)
	for next := begin; next < len(t.order); next++ {
		for _, r := range t.roadsFrom(t.order[next]) {
			t.add(r.to)
		}
	}
	added := t.order[begin:]
	pending := func(v int32) int { return len(t.graph.vertices[v].pending) }
	slices.SortFunc(added, func(a, b int32) int {
		v := t.graph.vertices
		return cmp.Or(cmp.Compare(pending(a), pending(b)), cmp.Compare(v[a].shards, v[b].shards), cmp.Compare(a, b))
	})
	for i, v := range added {
		t.places[v] = int32(begin + i + 1)
		if i+1 == len(added) || pending(v) != pending(added[i+1]) {
			t.parts = append(t.parts, begin+i+1)
		}
	}
}

func (t *table) add(v int32) {
	if t.places = grown(t.places, v); t.places[v] == 0 {
		t.order = append(t.order, v)
		t.places[v] = int32(len(t.order))
	}
}

// place returns where a vertex is in order, if it is.
func (t *table) place(v int32) (at int, ok bool) {
	if int(v) >= len(t.places) || t.places[v] == 0 {
		return 0, false
	}
	return int(t.places[v]) - 1, true
}

// widest is the most goals of a bundle: the lengths of more do not fit the caches of processors.
const widest = 64

// aim finds the ways from some vertices to some goals. All of them divide the tensor.
func (t *table) aim(starts, goals []int32) {
	for _, v := range starts {
		t.reach(v)
	}
	if t.aims == nil {
		t.aims = map[int32]aim{}
	}
	var fresh []int32
	for _, g := range goals {
		if _, ok := t.aims[g]; !ok {
			t.aims[g] = aim{}
			fresh = append(fresh, g)
		}
	}
	for some := range slices.Chunk(fresh, widest) {
		b := &bundle{table: t, goals: some}
		for i, g := range some {
			t.aims[g] = aim{b, i}
		}
	}
	for _, g := range goals {
		t.aims[g].extend()
	}
}

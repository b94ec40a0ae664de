package search

import (
	"context"
	"slices"
)

// state is a labelling with its exact cost and usage, kept up to date by set. It starts from, and stays at, labellings without forbidden
// entries.
type state struct {
	m    *model
	x    []int32
	cost int64
	use  []int64
}

func newState(m *model, x []int32) *state {
	st := &state{m: m, x: slices.Clone(x), cost: m.cost(x), use: make([]int64, len(m.base))}
	m.usage(x, st.use)
	return st
}

// gain returns the change of cost if node i takes value a, at least Inf/2 if that is forbidden.
func (st *state) gain(i, a int32) int64 {
	m, old := st.m, st.x[i]
	d := m.unary[m.off[i]+a] - m.unary[m.off[i]+old]
	for _, id := range m.forward[i] {
		e := &m.arcs[id]
		y := st.x[e.b]
		d = min(d+e.cost(a, y)-e.cost(old, y), Inf)
	}
	for _, id := range m.backward[i] {
		e := &m.arcs[id]
		x := st.x[e.a]
		d = min(d+e.cost(x, a)-e.cost(x, old), Inf)
	}
	return d
}

// touch returns the cost of the unary and arc entries that involve the nodes; in marks them. Inf if one is forbidden.
func (st *state) touch(nodes []int32, in []bool) int64 {
	m, sum := st.m, int64(0)
	for _, i := range nodes {
		sum += m.unary[m.off[i]+st.x[i]]
		for _, id := range m.forward[i] {
			e := &m.arcs[id]
			sum = addCost(sum, e.cost(st.x[i], st.x[e.b]))
		}
		for _, id := range m.backward[i] {
			if e := &m.arcs[id]; !in[e.a] {
				sum = addCost(sum, e.cost(st.x[e.a], st.x[i]))
			}
		}
		if sum >= Inf {
			return Inf
		}
	}
	return sum
}

// relabel gives node i value a and updates the usage, not the cost.
func (st *state) relabel(i, a int32) {
	old := st.x[i]
	st.x[i] = a
	for _, it := range st.m.items[i] {
		if d := it.use[a] - it.use[old]; d != 0 {
			for t := it.s; t < it.e; t++ {
				st.use[t] += d
			}
		}
	}
}

// fits reports whether the usage is within the limit.
func (st *state) fits() bool {
	return !st.m.hasLimit || len(st.use) == 0 || slices.Max(st.use) <= st.m.limit
}

// room reports whether node i may take value a within the limit.
func (st *state) room(i, a int32) bool {
	for _, it := range st.m.items[i] {
		d := it.use[a] - it.use[st.x[i]]
		if d <= 0 {
			continue
		}
		for _, use := range st.use[it.s:it.e] {
			if use+d > st.m.limit {
				return false
			}
		}
	}
	return true
}

// descend improves a fitting labelling by changing one node at a time until nothing helps. It returns the entries visited.
func (st *state) descend(ctx context.Context) int64 {
	spent := int64(0)
	for improved := true; improved && ctx.Err() == nil; {
		improved = false
		for i := range int32(len(st.x)) {
			k := st.m.values(i)
			spent += int64(k * (len(st.m.forward[i]) + len(st.m.backward[i]) + 1))
			for a := range int32(k) {
				if a == st.x[i] {
					continue
				}
				if d := st.gain(i, a); d < 0 && st.room(i, a) {
					st.relabel(i, a)
					st.cost += d
					improved = true
				}
			}
		}
	}
	return spent
}

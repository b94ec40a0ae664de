package search

import (
	"cmp"
	"context"
	"slices"
)

// part is a set of nodes that two labellings differ in and that can switch independently of the other parts.
type part struct {
	nodes []int32
	gain  int64
}

// recombine moves the state towards labelling y, which need not fit: the connected parts of the nodes where they differ switch one by one
// as long as that lowers the cost and fits, dear parts included when they make room for better ones (solver.md section 4.8 c). It reports
// whether the cost fell.
func (st *state) recombine(ctx context.Context, y []int32, in []bool) bool {
	before := st.cost
	var rejected, spare []part
	for _, p := range st.parts(y, in) {
		switch {
		case ctx.Err() != nil:
		case p.gain >= Inf/2:
		case p.gain >= 0:
			spare = append(spare, p)
		case !st.try(p, y):
			rejected = append(rejected, p)
		}
	}
	for _, p := range rejected {
		if ctx.Err() != nil {
			break
		}
		st.trade(p, spare, y)
	}
	return st.cost < before
}

// parts returns the parts in order of gain.
func (st *state) parts(y []int32, in []bool) []part {
	var diff []int32
	for i := range y {
		if in[i] = y[i] != st.x[i]; in[i] {
			diff = append(diff, int32(i))
		}
	}
	var parts []part
	for _, seed := range diff {
		if !in[seed] {
			continue
		}
		in[seed] = false
		p := part{nodes: []int32{seed}}
		for head := 0; head < len(p.nodes); head++ {
			st.m.each(p.nodes[head], func(j int32) {
				if in[j] {
					in[j] = false
					p.nodes = append(p.nodes, j)
				}
			})
		}
		parts = append(parts, p)
	}
	for j := range parts {
		parts[j].gain = st.gainOf(parts[j].nodes, y, in)
	}
	slices.SortStableFunc(parts, func(p, q part) int { return cmp.Compare(p.gain, q.gain) })
	return parts
}

// each calls f for every neighbour of node i.
func (m *model) each(i int32, f func(j int32)) {
	for _, e := range m.forward[i] {
		f(m.arcs[e].b)
	}
	for _, e := range m.backward[i] {
		f(m.arcs[e].a)
	}
}

// gainOf returns the change of cost when the nodes take their labels in y, Inf if that is forbidden. in is scratch, all false.
func (st *state) gainOf(nodes, y []int32, in []bool) int64 {
	for _, i := range nodes {
		in[i] = true
	}
	before := st.touch(nodes, in)
	old := make([]int32, len(nodes))
	for j, i := range nodes {
		old[j], st.x[i] = st.x[i], y[i]
	}
	after := st.touch(nodes, in)
	for j, i := range nodes {
		st.x[i] = old[j]
		in[i] = false
	}
	if after >= Inf {
		return Inf
	}
	return after - before
}

// switchTo relabels the nodes of a part and returns their old labels.
func (st *state) switchTo(nodes, y []int32) []int32 {
	old := make([]int32, len(nodes))
	for j, i := range nodes {
		old[j] = st.x[i]
		st.relabel(i, y[i])
	}
	return old
}

func (st *state) switchBack(nodes, old []int32) {
	for j, i := range nodes {
		st.relabel(i, old[j])
	}
}

// try switches a part if the result fits.
func (st *state) try(p part, y []int32) bool {
	old := st.switchTo(p.nodes, y)
	if !st.fits() {
		st.switchBack(p.nodes, old)
		return false
	}
	st.cost += p.gain
	return true
}

// trade switches a cheap part that does not fit together with parts that cost something but make room where it is needed most.
func (st *state) trade(p part, spare []part, y []int32) {
	total, done := p.gain, []part{p}
	old := [][]int32{st.switchTo(p.nodes, y)}
	for !st.fits() && total < 0 {
		worst := int32(slices.Index(st.use, slices.Max(st.use)))
		j := slices.IndexFunc(spare, func(q part) bool { return q.gain+total < 0 && st.relief(q, y, worst) > 0 })
		if j < 0 {
			break
		}
		total += spare[j].gain
		done, old = append(done, spare[j]), append(old, st.switchTo(spare[j].nodes, y))
	}
	if st.fits() && total < 0 {
		st.cost += total
		return
	}
	for j := len(done) - 1; j >= 0; j-- {
		st.switchBack(done[j].nodes, old[j])
	}
}

// relief returns by how much switching a part lowers the usage at time point t.
func (st *state) relief(p part, y []int32, t int32) int64 {
	sum := int64(0)
	for _, i := range p.nodes {
		for _, it := range st.m.items[i] {
			if it.s <= t && t < it.e {
				sum += it.use[st.x[i]] - it.use[y[i]]
			}
		}
	}
	return sum
}

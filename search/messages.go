package search

import (
	"context"
	"math"

	"autoshard/search/minplus"
)

// messages is the state of sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006) on a model whose memory has prices:
// solver.md section 4.4. Floating point only guides; bounds that are reported come from certify.
type messages struct {
	ctx    context.Context // sweeps stop half-way when it ends
	m      *model
	price  []float64 // per time point, at least 0
	unary  []float64 // cost plus priced usage
	msg    []float64 // see arc.toA and arc.toB
	noise  []float64 // per node, a factor on its memory prices; nil for none
	share  []float64 // per node, 1 / max(#forward, #backward)
	left   []float64 // per value, the reparametrised unary of the last backward sweep
	huge   float64   // stands for Inf when rounding
	prefix []float64

	widest int // the most values of a node
	cores  []scratch
	node   []float64 // what each node adds to the bound, by the last backward sweep
	arc    []float64 // and each arc
}

// scratch is what a core needs.
type scratch struct {
	d, h []float64
}

// use lets sweeps take several cores. Their outcome is the same.
func (s *messages) use(cores int) {
	for len(s.cores) < cores {
		s.cores = append(s.cores, scratch{make([]float64, s.widest), make([]float64, s.widest)})
	}
}

func newMessages(ctx context.Context, m *model) *messages {
	s := &messages{ctx: ctx, m: m, price: make([]float64, len(m.base)), unary: make([]float64, len(m.unary)), msg: make([]float64, m.msgs),
		share: make([]float64, len(m.node)), left: make([]float64, len(m.unary)), prefix: make([]float64, len(m.base)+1), widest: 1,
		node: make([]float64, len(m.node)), arc: make([]float64, len(m.arcs))}
	most := 1.0
	for i := range m.node {
		s.share[i] = 1 / float64(max(len(m.forward[i]), len(m.backward[i]), 1))
		s.widest = max(s.widest, m.values(int32(i)))
	}
	for i := range m.arcs {
		most = max(most, float64(m.arcs[i].t.most))
	}
	for _, v := range m.unary {
		most = max(most, math.Abs(float64(v)))
	}
	s.huge = 1000 * most
	s.use(1)
	s.setPrices()
	return s
}

// toFloat converts a cost less the least of its matrix; a forbidden one is infinite. Every row and column of a model's matrix has a finite
// entry, so messages stay finite.
func toFloat(c, least int64) float64 {
	if c >= Inf {
		return math.Inf(1)
	}
	return float64(c - least)
}

// setPrices recomputes the priced unary costs after price changed.
func (s *messages) setPrices() {
	for t, p := range s.price {
		s.prefix[t+1] = s.prefix[t] + p
	}
	for i := range s.m.node {
		lo, hi := s.m.off[i], s.m.off[i+1]
		for a := lo; a < hi; a++ {
			s.unary[a] = float64(s.m.unary[a])
		}
		for _, it := range s.m.items[i] {
			p := s.prefix[it.e] - s.prefix[it.s]
			if p == 0 {
				continue
			}
			if s.noise != nil {
				p *= s.noise[i]
			}
			for a, use := range it.use {
				s.unary[int(lo)+a] += float64(p * float64(use))
			}
		}
	}
}

// gather stores in d the priced unary of node i plus all messages into it.
func (s *messages) gather(c *scratch, i int32) []float64 {
	d := c.d[:s.m.values(i)]
	copy(d, s.unary[s.m.off[i]:s.m.off[i+1]])
	for _, e := range s.m.forward[i] {
		addClasses(d, s.msg[s.m.arcs[e].toA:], s.m.arcs[e].pa)
	}
	for _, e := range s.m.backward[i] {
		addClasses(d, s.msg[s.m.arcs[e].toB:], s.m.arcs[e].pb)
	}
	return d
}

// addClasses adds to the numbers of values those of their classes.
func addClasses[T int64 | float64](d, m []T, class []int32) {
	if class == nil {
		m = m[:len(d)]
		for a, v := range m {
			d[a] += v
		}
		return
	}
	class = class[:len(d)]
	for a, c := range class {
		d[a] += m[c]
	}
}

// forward passes messages to later nodes. If x is not nil it is filled by rounding: every node takes its best value given the nodes before
// it and the messages of those behind.
func (s *messages) forward(x []int32) {
	s.m.onward.run(len(s.cores), func(core int, tasks []task) {
		if s.ctx.Err() != nil {
			return
		}
		c := &s.cores[core]
		var d []float64
		for j, t := range tasks {
			if t.arc < 0 && x != nil {
				x[t.node] = s.round(c, t.node, x)
			}
			if j == 0 || t.arc < 0 {
				d = s.gather(c, t.node)
			}
			if t.arc >= 0 {
				e := &s.m.arcs[t.arc]
				s.send(c, d, e, e.a)
			}
		}
	})
}

// backward passes messages to earlier nodes and returns the lower bound on cost plus priced usage above base, -Inf if the context ended.
func (s *messages) backward() float64 {
	s.m.back.run(len(s.cores), func(core int, tasks []task) {
		if s.ctx.Err() != nil {
			return
		}
		c := &s.cores[core]
		var d []float64
		for j, t := range tasks {
			if j == 0 || t.arc < 0 {
				d = s.gather(c, t.node)
				least := subtractLeast(d)
				if t.arc < 0 {
					s.node[t.node] = least
					copy(s.left[s.m.off[t.node]:], d)
				}
			}
			if t.arc >= 0 {
				e := &s.m.arcs[t.arc]
				s.arc[t.arc] = float64(e.t.least) + s.send(c, d, e, e.b)
			}
		}
	})
	if s.ctx.Err() != nil {
		return math.Inf(-1)
	}
	return s.sum()
}

// sum adds up the bound of the last backward sweep, always in the same order.
func (s *messages) sum() float64 {
	bound := 0.0
	for i := len(s.node) - 1; i >= 0; i-- {
		bound += s.node[i]
		for _, id := range s.m.backward[i] {
			bound += s.arc[id]
		}
	}
	return bound
}

// subtractLeast brings the least number to 0 and returns it.
func subtractLeast(d []float64) float64 {
	least := lowest(d)
	for a := range d {
		d[a] -= least
	}
	return least
}

// send passes a message over an arc from one of its ends, whose gathered numbers are d, and returns by how much it was shifted to its least
// number. With the row r = class[a] of the table m, the message is out[b] = min_a g*d[a] - in[r] + m[r][b]; entries of m are at least 0.
// The rows' minima of d come first: equal rows send the same, so the work is in rows, not in values.
func (s *messages) send(c *scratch, d []float64, e *arc, from int32) float64 {
	class, in, out := e.pa, s.msg[e.toA:int(e.toA)+e.t.ka], s.msg[e.toB:int(e.toB)+e.t.kb]
	if from != e.a {
		class, in, out = e.pb, out, in
	}
	h := classMin(c.h[:len(in)], d, class)
	base, g := math.Inf(1), s.share[from]
	for r, v := range h {
		h[r] = float64(g*v) - in[r]
		if h[r] < base {
			base = h[r]
		}
	}
	for r := range h {
		h[r] -= base
	}
	switch {
	case from == e.a && e.t.short != nil:
		minplus.Columns(out, h, e.t.short)
	case from == e.a:
		minplus.Columns(out, h, e.t.rows)
	case e.t.short != nil:
		minplus.Rows(out, h, e.t.short)
	default:
		minplus.Rows(out, h, e.t.rows)
	}
	return subtractLeast(out) + base
}

// classMin stores in h the least of d in every class.
func classMin(h, d []float64, class []int32) []float64 {
	if class == nil {
		copy(h, d)
		return h
	}
	for r := range h {
		h[r] = math.Inf(1)
	}
	class = class[:len(d)]
	for a, v := range d {
		if r := class[a]; v < h[r] {
			h[r] = v
		}
	}
	return h
}

func lowest(d []float64) float64 {
	least := math.Inf(1)
	for _, v := range d {
		if v < least {
			least = v
		}
	}
	return least
}

func (s *messages) round(c *scratch, i int32, x []int32) int32 {
	h := c.h[:s.m.values(i)]
	copy(h, s.unary[s.m.off[i]:s.m.off[i+1]])
	for _, id := range s.m.backward[i] {
		e := &s.m.arcs[id]
		row := int(through(e.pa, x[e.a])) * e.t.kb
		for a := range h {
			h[a] += min(toFloat(e.t.v[row+int(through(e.pb, int32(a)))], e.t.least), s.huge)
		}
	}
	for _, id := range s.m.forward[i] {
		addClasses(h, s.msg[s.m.arcs[id].toA:], s.m.arcs[id].pa)
	}
	best := 0
	for a, v := range h {
		if v < h[best] {
			best = a
		}
	}
	return int32(best)
}

// rent returns what the prices take back: the bound on the cost alone is backward() - rent() + constant.
func (s *messages) rent() float64 {
	sum := 0.0
	for t, p := range s.price {
		sum += float64(p * float64(s.m.limit-s.m.base[t]))
	}
	return sum
}

package search

import (
	"context"
	"math"
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
	d, h   []float64
	prefix []float64
}

func newMessages(ctx context.Context, m *model) *messages {
	s := &messages{ctx: ctx, m: m, price: make([]float64, len(m.base)), unary: make([]float64, len(m.unary)), msg: make([]float64, m.msgs),
		share: make([]float64, len(m.node)), left: make([]float64, len(m.unary)), prefix: make([]float64, len(m.base)+1)}
	most, widest := 1.0, 1
	for i := range m.node {
		s.share[i] = 1 / float64(max(len(m.forward[i]), len(m.backward[i]), 1))
		widest = max(widest, m.values(int32(i)))
	}
	for i := range m.arcs {
		for _, v := range m.arcs[i].t.v {
			if v < Inf {
				most = max(most, math.Abs(float64(v)))
			}
		}
	}
	for _, v := range m.unary {
		most = max(most, math.Abs(float64(v)))
	}
	s.huge = 1000 * most
	s.d, s.h = make([]float64, widest), make([]float64, widest)
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
func (s *messages) gather(i int32) []float64 {
	d := s.d[:s.m.values(i)]
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
	for i := range int32(len(s.m.node)) {
		if i&255 == 0 && s.ctx.Err() != nil {
			return
		}
		if x != nil {
			x[i] = s.round(i, x)
		}
		d := s.gather(i)
		g := s.share[i]
		for _, id := range s.m.forward[i] {
			e := &s.m.arcs[id]
			s.send(d, e.pa, g, s.msg[e.toA:int(e.toA)+e.t.ka], s.msg[e.toB:int(e.toB)+e.t.kb], e.t.rows, minPlus)
		}
	}
}

// backward passes messages to earlier nodes and returns the lower bound on cost plus priced usage above base, -Inf if the context ended.
func (s *messages) backward() float64 {
	bound := 0.0
	for i := int32(len(s.m.node)) - 1; i >= 0; i-- {
		if i&255 == 0 && s.ctx.Err() != nil {
			return math.Inf(-1)
		}
		d := s.gather(i)
		least := lowest(d)
		for a := range d {
			d[a] -= least
		}
		bound += least
		copy(s.left[s.m.off[i]:], d)
		g := s.share[i]
		for _, id := range s.m.backward[i] {
			e := &s.m.arcs[id]
			bound += e.t.least + s.send(d, e.pb, g, s.msg[e.toB:int(e.toB)+e.t.kb], s.msg[e.toA:int(e.toA)+e.t.ka], e.t.rows, minPlusRows)
		}
	}
	return bound
}

// send computes out[b] = min_a g*d[a] - in[r] + m[r][b] with the row r = class[a], shifts it to minimum 0 and returns the shift. The
// entries of m are at least 0. The rows' minima of d come first: equal rows send the same, so the work is in rows, not in values.
func (s *messages) send(d []float64, class []int32, g float64, in, out, m []float64, pass func(out, h, m []float64)) float64 {
	h := classMin(s.h[:len(in)], d, class)
	base := math.Inf(1)
	for r, v := range h {
		h[r] = float64(g*v) - in[r]
		if h[r] < base {
			base = h[r]
		}
	}
	for r := range h {
		h[r] -= base
	}
	pass(out, h, m)
	least := lowest(out)
	for b := range out {
		out[b] -= least
	}
	return least + base
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

// minPlus computes out[b] = min_a h[a] + m[a][b]. All numbers are at least 0, so that their bits order as they do: comparing the bits as
// integers compiles to conditional moves, which beat the branches and the NaN checks of comparing floating-point numbers.
func minPlus(out, h, m []float64) {
	k := len(out)
	for b := range out {
		out[b] = math.Inf(1)
	}
	a := 0
	for ; a+4 <= len(h); a += 4 {
		h0, h1, h2, h3 := h[a], h[a+1], h[a+2], h[a+3]
		rows := m[a*k : (a+4)*k]
		r0, r1, r2, r3 := rows[:k], rows[k:][:k], rows[2*k:][:k], rows[3*k:][:k]
		for b, o := range out {
			v := min(bitsOf(r0[b]+h0), bitsOf(r1[b]+h1))
			w := min(bitsOf(r2[b]+h2), bitsOf(r3[b]+h3))
			out[b] = floatOf(min(bitsOf(o), v, w))
		}
	}
	for ; a < len(h); a++ {
		row, v := m[a*k : (a+1)*k][:k], h[a]
		for b, o := range out {
			out[b] = floatOf(min(bitsOf(o), bitsOf(row[b]+v)))
		}
	}
}

// minPlusRows computes out[a] = min_b h[b] + m[a][b], as minPlus does for the transposed matrix.
func minPlusRows(out, h, m []float64) {
	k := len(h)
	a := 0
	for ; a+4 <= len(out); a += 4 {
		rows := m[a*k : (a+4)*k]
		r0, r1, r2, r3 := rows[:k], rows[k:][:k], rows[2*k:][:k], rows[3*k:][:k]
		o0, o1, o2, o3 := infinite, infinite, infinite, infinite
		for b, v := range h {
			o0, o1 = min(o0, bitsOf(r0[b]+v)), min(o1, bitsOf(r1[b]+v))
			o2, o3 = min(o2, bitsOf(r2[b]+v)), min(o3, bitsOf(r3[b]+v))
		}
		out[a], out[a+1] = floatOf(o0), floatOf(o1)
		out[a+2], out[a+3] = floatOf(o2), floatOf(o3)
	}
	for ; a < len(out); a++ {
		o := infinite
		for b, c := range m[a*k : (a+1)*k] {
			o = min(o, bitsOf(c+h[b]))
		}
		out[a] = floatOf(o)
	}
}

// infinite are the bits of +Inf.
const infinite int64 = 0x7ff << 52

func floatOf(bits int64) float64 { return math.Float64frombits(uint64(bits)) }

func bitsOf(v float64) int64 { return int64(math.Float64bits(v)) }

func lowest(d []float64) float64 {
	least := math.Inf(1)
	for _, v := range d {
		if v < least {
			least = v
		}
	}
	return least
}

func (s *messages) round(i int32, x []int32) int32 {
	h := s.h[:s.m.values(i)]
	copy(h, s.unary[s.m.off[i]:s.m.off[i+1]])
	for _, id := range s.m.backward[i] {
		e := &s.m.arcs[id]
		row := e.t.rows[int(through(e.pa, x[e.a]))*e.t.kb:][:e.t.kb]
		for a := range h {
			h[a] += min(row[through(e.pb, int32(a))], s.huge)
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

package search

import "math"

// messages is the state of sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006) on a model whose memory has prices:
// solver.md section 4.4. Floating point only guides; bounds that are reported come from certify.
type messages struct {
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

func newMessages(m *model) *messages {
	s := &messages{m: m, price: make([]float64, len(m.base)), unary: make([]float64, len(m.unary)), msg: make([]float64, m.msgs),
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

// toFloat converts a cost; a forbidden one is infinite. Every row and column of a model's matrix has a finite entry, so messages stay
// finite.
func toFloat(c int64) float64 {
	if c >= Inf {
		return math.Inf(1)
	}
	return float64(c)
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
		addTo(d, s.msg[s.m.arcs[e].toA:])
	}
	for _, e := range s.m.backward[i] {
		addTo(d, s.msg[s.m.arcs[e].toB:])
	}
	return d
}

func addTo(d, m []float64) {
	m = m[:len(d)]
	for a, v := range m {
		d[a] += v
	}
}

// forward passes messages to later nodes. If x is not nil it is filled by rounding: every node takes its best value given the nodes before
// it and the messages of those behind.
func (s *messages) forward(x []int32) {
	for i := range int32(len(s.m.node)) {
		if x != nil {
			x[i] = s.round(i, x)
		}
		d := s.gather(i)
		g := s.share[i]
		for _, id := range s.m.forward[i] {
			e := &s.m.arcs[id]
			s.send(d, g, s.msg[e.toA:int(e.toA)+e.t.ka], s.msg[e.toB:int(e.toB)+e.t.kb], e.t.rows)
		}
	}
}

// backward passes messages to earlier nodes and returns the lower bound on cost plus priced usage above base.
func (s *messages) backward() float64 {
	bound := 0.0
	for i := int32(len(s.m.node)) - 1; i >= 0; i-- {
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
			bound += s.send(d, g, s.msg[e.toB:int(e.toB)+e.t.kb], s.msg[e.toA:int(e.toA)+e.t.ka], e.t.cols)
		}
	}
	return bound
}

// send computes out[b] = min_a g*d[a] - in[a] + m[a][b], shifts it to minimum 0 and returns the shift.
func (s *messages) send(d []float64, g float64, in, out, m []float64) float64 {
	k := len(out)
	in = in[:len(d)]
	for b := range out {
		out[b] = math.Inf(1)
	}
	for a, v := range d {
		h := float64(g*v) - in[a]
		row := m[a*k : (a+1)*k][:len(out)]
		for b, c := range row {
			out[b] = min(out[b], c+h)
		}
	}
	least := lowest(out)
	for b := range out {
		out[b] -= least
	}
	return least
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

func (s *messages) round(i int32, x []int32) int32 {
	h := s.h[:s.m.values(i)]
	copy(h, s.unary[s.m.off[i]:s.m.off[i+1]])
	for _, id := range s.m.backward[i] {
		e := &s.m.arcs[id]
		row := e.t.rows[int(x[e.a])*e.t.kb:][:len(h)]
		for a, c := range row {
			h[a] += min(c, s.huge)
		}
	}
	for _, id := range s.m.forward[i] {
		addTo(h, s.msg[s.m.arcs[id].toA:])
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

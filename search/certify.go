package search

import (
	"math"
	"math/bits"
)

// wide is a signed 128-bit sum.
type wide struct{ hi, lo uint64 }

func (w *wide) add(v int64) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, uint64(v), 0)
	w.hi += uint64(v>>63) + carry
}

// subProduct subtracts a*b; a and b are at least 0.
func (w *wide) subProduct(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, lo, 0)
	w.hi -= hi + borrow
}

// ceil returns the sum divided by 1<<q, rounded up, clamped to [-Inf, Inf].
func (w wide) ceil(q uint) int64 {
	w.add(int64(1)<<q - 1)
	v := int64(w.hi<<(64-q) | w.lo>>q)
	if top := int64(w.hi) >> q; top != v>>63 { // does not fit 64 bits
		if int64(w.hi) < 0 {
			return -Inf
		}
		return Inf
	}
	return max(min(v, Inf), -Inf)
}

// certificate is a lower bound in fixed point with the unit 2^-q: prices and messages are rounded to integers first and all minima are
// recomputed from them exactly, so the bound holds whatever the messages were (solver.md section 4.6). With integers mu for both ends of
// every arc and prices >= 0 the bound is
//
//	sum_i min_a (unary_i(a) + priced usage + sum_e mu_e,i(a))
//	  + sum_e min_ab (cost_e(a,b) - mu_e,a(a) - mu_e,b(b)) - sum_t price_t * (limit - base_t)
type certificate struct {
	m     *model
	q     uint
	bound int64   // on the cost of every solution of the model
	total wide    // the bound in units, without the constant
	node  []int64 // per value, what node i's minimum loses if it takes the value
	mu    []int64 // as messages.msg
}

// certify evaluates the bound of the state after a backward sweep; nil if the numbers are too large for 64 bits.
func (s *messages) certify() *certificate {
	q, ok := s.scale()
	if !ok {
		return nil
	}
	c := &certificate{m: s.m, q: q, node: make([]int64, len(s.m.unary)), mu: make([]int64, len(s.msg))}
	unit := math.Ldexp(1, int(c.q))
	for i := range s.m.arcs {
		e := &s.m.arcs[i]
		for x := range e.t.ka {
			c.mu[int(e.toA)+x] = int64(s.msg[int(e.toA)+x] * unit)
		}
		for y := range e.t.kb {
			mu := s.msg[int(e.toB)+y] - float64(s.share[e.b]*s.left[int(s.m.off[e.b])+y])
			c.mu[int(e.toB)+y] = int64(mu * unit)
		}
	}
	price := make([]int64, len(s.price)+1)
	for t, p := range s.price {
		v := int64(p * unit)
		c.total.subProduct(v, s.m.limit-s.m.base[t])
		price[t+1] = price[t] + v
	}
	for i := range s.m.node {
		c.total.add(c.nodeMin(int32(i), price))
	}
	for i := range s.m.arcs {
		c.total.add(c.arcMin(&s.m.arcs[i]))
	}
	c.bound = min(c.total.ceil(c.q)+s.m.constant, Inf)
	return c
}

// scale chooses q as large as keeps every term below 2^58; false if there is none.
func (s *messages) scale() (uint, bool) {
	most := 1.0
	for i := range s.m.node {
		lo, hi := int(s.m.off[i]), int(s.m.off[i+1])
		for a := range hi - lo {
			sum := math.Abs(float64(s.m.unary[lo+a])) + math.Abs(s.unary[lo+a])
			for _, e := range s.m.forward[i] {
				sum += math.Abs(s.msg[int(s.m.arcs[e].toA)+a])
			}
			for _, e := range s.m.backward[i] {
				sum += math.Abs(s.msg[int(s.m.arcs[e].toB)+a]) + s.left[lo+a]
			}
			most = max(most, sum)
		}
	}
	for i := range s.m.arcs {
		for _, v := range s.m.arcs[i].t.v {
			if v < Inf {
				most = max(most, math.Abs(float64(v)))
			}
		}
	}
	for _, p := range s.prefix {
		most = max(most, p)
	}
	q := min(58-math.Ceil(math.Log2(most)), 30)
	return uint(max(q, 0)), q >= 0
}

// nodeMin fills node for node i and returns its minimum.
func (c *certificate) nodeMin(i int32, price []int64) int64 {
	lo := c.m.off[i]
	r := c.node[lo:c.m.off[i+1]]
	for a := range r {
		r[a] = c.m.unary[int(lo)+a] << c.q
	}
	for _, it := range c.m.items[i] {
		if p := price[it.e] - price[it.s]; p != 0 {
			for a, use := range it.use {
				r[a] += p * use
			}
		}
	}
	for _, e := range c.m.forward[i] {
		addInts(r, c.mu[c.m.arcs[e].toA:])
	}
	for _, e := range c.m.backward[i] {
		addInts(r, c.mu[c.m.arcs[e].toB:])
	}
	least := r[0]
	for _, v := range r {
		least = min(least, v)
	}
	for a := range r {
		r[a] -= least
	}
	return least
}

func addInts(r, m []int64) {
	for a, v := range m[:len(r)] {
		r[a] += v
	}
}

// arcMin returns the minimum of an arc's reparametrised costs.
func (c *certificate) arcMin(e *arc) int64 {
	least := Inf * 4
	muB := c.mu[e.toB:][:e.t.kb]
	for x := range e.t.ka {
		muA := c.mu[int(e.toA)+x]
		for y, v := range e.t.v[x*e.t.kb:][:e.t.kb] {
			if v < Inf {
				least = min(least, v<<c.q-muA-muB[y])
			}
		}
	}
	return least
}

// with returns, for every value, a lower bound on the cost of the solutions that take it: the bound of the model plus what the node and
// its arcs lose (solver.md section 4.7, in integers).
func (c *certificate) with() []int64 {
	loss := make([]int64, len(c.node))
	copy(loss, c.node)
	var rowMin, colMin []int64
	for i := range c.m.arcs {
		e := &c.m.arcs[i]
		rowMin, colMin = fill(rowMin, e.t.ka), fill(colMin, e.t.kb)
		least := Inf * 4
		muB := c.mu[e.toB:][:e.t.kb]
		for x := range e.t.ka {
			muA := c.mu[int(e.toA)+x]
			for y, v := range e.t.v[x*e.t.kb:][:e.t.kb] {
				if v < Inf {
					r := v<<c.q - muA - muB[y]
					rowMin[x], colMin[y] = min(rowMin[x], r), min(colMin[y], r)
				}
			}
			least = min(least, rowMin[x])
		}
		addLoss(loss[c.m.off[e.a]:], rowMin, least)
		addLoss(loss[c.m.off[e.b]:], colMin, least)
	}
	for a, v := range loss {
		sum := c.total
		sum.add(v)
		loss[a] = min(sum.ceil(c.q)+c.m.constant, Inf)
	}
	return loss
}

func fill(to []int64, n int) []int64 {
	to = append(to[:0], make([]int64, n)...)
	for i := range to {
		to[i] = Inf * 4
	}
	return to
}

// addLoss adds to every value's loss what an arc loses by it. Losses saturate at 2^61, which is valid: a smaller loss claims less.
func addLoss(loss, of []int64, least int64) {
	for a, v := range of {
		loss[a] = min(loss[a]+(v-least), 1<<61)
	}
}

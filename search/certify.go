package search

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"autoshard/internal/parallel"
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
	price []int64 // of the time points before each
}

// arcsAtOnce are the arcs, or nodes, that a core takes at a time.
const arcsAtOnce = 32

// certify evaluates the bound of the state after a backward sweep; nil if the numbers are too large for 64 bits.
func (s *messages) certify() *certificate {
	q, ok := s.scale()
	if !ok {
		return nil
	}
	c := &certificate{m: s.m, q: q, node: make([]int64, len(s.m.unary)), mu: make([]int64, len(s.msg))}
	unit := math.Ldexp(1, int(c.q))
	parallel.Ranges(len(s.m.arcs), arcsAtOnce, func(from, to int) {
		h := make([]float64, s.widest)
		for i := from; i < to; i++ {
			e := &s.m.arcs[i]
			for x := range e.t.ka {
				c.mu[int(e.toA)+x] = int64(s.msg[int(e.toA)+x] * unit)
			}
			left := classMin(h[:e.t.kb], s.left[s.m.off[e.b]:s.m.off[e.b+1]], e.pb)
			for y := range e.t.kb {
				mu := s.msg[int(e.toB)+y] - float64(s.share[e.b]*left[y])
				c.mu[int(e.toB)+y] = int64(mu * unit)
			}
		}
	})
	price := make([]int64, len(s.price)+1)
	c.price = price
	for t, p := range s.price {
		v := int64(p * unit)
		c.total.subProduct(v, s.m.limit-s.m.base[t])
		price[t+1] = price[t] + v
	}
	nodes, arcs := make([]int64, len(s.m.node)), make([]int64, len(s.m.arcs))
	parallel.Ranges(len(nodes), arcsAtOnce, func(from, to int) {
		for i := from; i < to; i++ {
			nodes[i] = c.nodeMin(int32(i), price)
		}
	})
	parallel.Ranges(len(arcs), arcsAtOnce, func(from, to int) {
		for i := from; i < to; i++ {
			arcs[i] = c.arcMin(&s.m.arcs[i])
		}
	})
	for _, least := range slices.Concat(nodes, arcs) {
		c.total.add(least)
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
				sum += math.Abs(s.msg[s.m.arcs[e].toA+through(s.m.arcs[e].pa, int32(a))])
			}
			for _, e := range s.m.backward[i] {
				sum += math.Abs(s.msg[s.m.arcs[e].toB+through(s.m.arcs[e].pb, int32(a))]) + s.left[lo+a]
			}
			most = max(most, sum)
		}
	}
	for i := range s.m.arcs {
		most = max(most, float64(s.m.arcs[i].t.most))
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
		addClasses(r, c.mu[c.m.arcs[e].toA:], c.m.arcs[e].pa)
	}
	for _, e := range c.m.backward[i] {
		addClasses(r, c.mu[c.m.arcs[e].toB:], c.m.arcs[e].pb)
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

// exclusion says what the solutions below an upper bound cannot use: values and, by arc, pairs of values.
type exclusion struct {
	value  []bool // per value of the model
	values int
	pair   [][]bool // per arc, as its table; nil if there are none
	pairs  int      // forbidden now, but not in the table
	finite int      // pairs allowed in the tables
}

// exclude returns the values and pairs of which every solution costs more than upper (rule P11 of solver.md section 4.7, in integers). With
// residuals r, the terms of the bound less their minimum, a solution that takes value a of node i costs at least the bound plus
//
//	r_i(a) + sum over arcs e to neighbours j of min_b (r_e(a, b) + r_j(b))
//
// as every node and arc of that sum counts once, and one with values a and b at the ends of arc e the bound plus r_i(a) + r_j(b) + r_e(a,
// b). It returns nil where there is no room to speak of, or the context ended.
func (c *certificate) exclude(ctx context.Context, upper int64) *exclusion {
	room := c.room(upper)
	if room < 0 || room >= 1<<60 {
		return nil
	}
	x := &exclusion{value: make([]bool, len(c.node)), pair: make([][]bool, len(c.m.arcs))}
	loss := slices.Clone(c.node)
	var rowMin, colMin []int64
	for id := range c.m.arcs {
		if id&255 == 0 && ctx.Err() != nil {
			return nil
		}
		e := &c.m.arcs[id]
		na, nb := c.losses(e.a, e.pa, e.t.ka), c.losses(e.b, e.pb, e.t.kb)
		rowMin, colMin = fill(rowMin, e.t.ka), fill(colMin, e.t.kb)
		least, muB := c.arcMin(e), c.mu[e.toB:][:e.t.kb]
		for a := range na {
			base := c.mu[int(e.toA)+a] + least
			for b, v := range e.t.v[a*e.t.kb:][:e.t.kb] {
				if v >= Inf {
					continue
				}
				r := v<<c.q - base - muB[b]
				rowMin[a], colMin[b] = min(rowMin[a], r+nb[b]), min(colMin[b], r+na[a])
				if x.finite++; r+na[a]+nb[b] > room {
					x.forbid(id, a*e.t.kb+b, len(e.t.v))
				}
			}
		}
		addLoss(loss[c.m.off[e.a]:c.m.off[e.a+1]], rowMin, e.pa)
		addLoss(loss[c.m.off[e.b]:c.m.off[e.b+1]], colMin, e.pb)
	}
	for a, v := range loss {
		if v > room {
			x.value[a] = true
			x.values++
		}
	}
	return x
}

func (x *exclusion) forbid(arc, entry, entries int) {
	if x.pair[arc] == nil {
		x.pair[arc] = make([]bool, entries)
	}
	x.pair[arc][entry] = true
	x.pairs++
}

// room returns by how many units a solution may lose on the bound without costing more than upper, at most 2^62.
func (c *certificate) room(upper int64) int64 {
	v := upper - c.m.constant
	w := wide{uint64(v>>63)<<c.q | uint64(v)>>1>>(63-c.q), uint64(v) << c.q}
	lo, borrow := bits.Sub64(w.lo, c.total.lo, 0)
	hi := w.hi - c.total.hi - borrow
	switch {
	case int64(hi) < 0:
		return -1
	case hi > 0 || lo > 1<<62:
		return 1 << 62
	}
	return int64(lo)
}

func fill(to []int64, n int) []int64 {
	to = append(to[:0], make([]int64, n)...)
	for i := range to {
		to[i] = Inf * 4
	}
	return to
}

// losses returns for each of n classes of node i's values what the node's minimum loses at least if it takes one of them.
func (c *certificate) losses(i int32, class []int32, n int) []int64 {
	of := c.node[c.m.off[i]:c.m.off[i+1]]
	if class == nil {
		return of
	}
	least := fill(nil, n)
	for a, v := range of {
		least[class[a]] = min(least[class[a]], v)
	}
	return least
}

// addLoss adds to every value's loss what an arc loses by its class. Losses saturate at 2^61, which is more than any room.
func addLoss(loss, of []int64, class []int32) {
	for a, v := range loss {
		loss[a] = min(v+of[through(class, int32(a))], 1<<61)
	}
}

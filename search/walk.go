package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// eta is the part by which prices move in a step.
const eta = 0.02

// walk moves the prices around the border of feasibility, where roundings that fit and are cheap lie (solver.md section 4.8 b).
type walk struct {
	msg    *messages
	x      []int32
	use    []int64
	rounds int
	failed int // roundings in a row that did not fit
	climb  float64
}

func newWalk(ctx context.Context, m *model) *walk {
	return &walk{msg: newMessages(ctx, m), x: make([]int32, len(m.node)), use: make([]int64, len(m.base))}
}

// step leaves a new rounding in x and reports whether it fits. unit is by how much a price rises at most. If steep is set prices rise
// faster and faster until a rounding fits: any solution will do.
func (k *walk) step(rng *rand.Rand, unit float64, steep bool) bool {
	m := k.msg.m
	if k.rounds%8 == 0 {
		k.msg.noise = nil
		if k.rounds%16 == 8 {
			k.msg.noise = make([]float64, len(m.node))
			sigma := 0.45 * rng.Float64()
			for i := range k.msg.noise {
				k.msg.noise[i] = math.Exp(sigma * rng.NormFloat64())
			}
		}
	}
	k.rounds++
	k.msg.setPrices()
	k.msg.forward(nil)
	k.msg.backward()
	k.msg.forward(k.x)
	k.msg.backward()
	if !m.hasLimit {
		return m.cost(k.x) < Inf
	}
	if m.usage(k.x, k.use) <= 0 {
		k.failed, k.climb = 0, 1
		for t := range k.msg.price {
			k.msg.price[t] *= 1 - eta
		}
		return true
	}
	if k.climb *= 1.2; !steep {
		k.climb = 1
	}
	m.raise(k.msg.price, k.use, unit*min(k.climb, 1e6))
	if k.failed++; k.failed > 60 {
		for t := range k.msg.price {
			k.msg.price[t] *= 1 + eta
		}
	}
	return false
}

// raise lifts the price at the worst point of every stretch of time whose usage is over the limit, by up to a unit.
func (m *model) raise(price []float64, use []int64, unit float64) {
	for s := 0; s < len(use); s++ {
		if use[s] <= m.limit {
			continue
		}
		e, worst := s, s
		for ; e < len(use) && use[e] > m.limit; e++ {
			if use[e] > use[worst] {
				worst = e
			}
		}
		overload := float64(use[worst]-m.limit) / float64(max(m.limit, 1))
		price[worst] += unit * min(1, overload+0.01)
		s = e
	}
}

// restart takes prices and messages from the dual.
func (k *walk) restart(d *ascent) {
	copy(k.msg.price, d.prices)
	copy(k.msg.msg, d.msg.msg)
	k.rounds, k.failed, k.climb = 0, 0, 1
}

// priced returns unary costs plus usage at the given prices, times a factor, as integers.
func priced(m *model, price []float64, factor float64) []int64 {
	out := slices.Clone(m.unary)
	prefix := make([]float64, len(price)+1)
	for t, p := range price {
		prefix[t+1] = prefix[t] + p
	}
	if prefix[len(price)] == 0 {
		return out
	}
	for i := range m.node {
		lo := m.off[i]
		for _, it := range m.items[i] {
			p := (prefix[it.e] - prefix[it.s]) * factor
			for a, use := range it.use {
				out[int(lo)+a] += int64(min(float64(p*float64(use)), float64(Inf/1024)))
			}
		}
	}
	return out
}

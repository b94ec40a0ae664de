package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

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

// step leaves a new rounding in x and reports whether it fits. scale is the size of costs, to be divided by the limit for the size of a
// price. If steep is set prices rise faster and faster until a rounding fits: any solution will do.
func (k *walk) step(rng *rand.Rand, scale float64, steep bool) bool {
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
	const eta = 0.02
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
	k.raise(eta * scale * min(k.climb, 1e6) / float64(max(m.limit, 1)))
	if k.failed++; k.failed > 60 {
		for t := range k.msg.price {
			k.msg.price[t] *= 1 + eta
		}
	}
	return false
}

// raise lifts the price at the worst point of every stretch of time over the limit.
func (k *walk) raise(unit float64) {
	limit := k.msg.m.limit
	for s := 0; s < len(k.use); s++ {
		if k.use[s] <= limit {
			continue
		}
		e, worst := s, s
		for ; e < len(k.use) && k.use[e] > limit; e++ {
			if k.use[e] > k.use[worst] {
				worst = e
			}
		}
		overload := float64(k.use[worst]-limit) / float64(max(limit, 1))
		k.msg.price[worst] += unit * min(1, overload+0.01)
		s = e
	}
}

// restart takes prices and messages from the dual.
func (k *walk) restart(d *ascent) {
	copy(k.msg.price, d.prices)
	copy(k.msg.msg, d.msg.msg)
	k.rounds, k.failed, k.climb = 0, 0, 1
}

// priced returns unary costs plus usage at the given prices, times a random factor per node, as integers.
func priced(m *model, price []float64, rng *rand.Rand) []int64 {
	out := slices.Clone(m.unary)
	prefix := make([]float64, len(price)+1)
	for t, p := range price {
		prefix[t+1] = prefix[t] + p
	}
	if prefix[len(price)] == 0 {
		return out
	}
	factor := math.Exp(0.5 * rng.NormFloat64())
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

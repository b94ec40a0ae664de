package search

import (
	"cmp"
	"math"
	"slices"
)

const (
	activePrices = 60   // prices that may move at a time
	joining      = 8    // prices that may join at a time
	priceTrust   = 0.15 // largest change of a price as a share of its own size
)

// ascent maximises the bound over the prices of time points by a subgradient method with an active set, a Polyak step and a trust region
// (solver.md section 4.4).
type ascent struct {
	m      *model
	msg    *messages
	x      []int32 // the last rounding
	use    []int64
	avg    []float64 // smoothed usage of the roundings
	active []int32
	alpha  float64
	best   float64
	prices []float64 // of the best bound
	misses int
	iter   int
}

func newAscent(m *model) *ascent {
	return &ascent{m: m, msg: newMessages(m), x: make([]int32, len(m.node)), use: make([]int64, len(m.base)),
		avg: make([]float64, len(m.base)), alpha: 0.5, best: math.Inf(-1), prices: make([]float64, len(m.base))}
}

// start sets prices found on an earlier model of the same problem.
func (d *ascent) start(byTime []float64) {
	for t, point := range d.m.point[:len(d.msg.price)] {
		if d.msg.price[t] = byTime[point]; byTime[point] > 0 {
			d.active = append(d.active, int32(t))
		}
	}
	copy(d.prices, d.msg.price)
	d.msg.setPrices()
}

// step makes one pair of sweeps, leaving a rounding in x, and moves the prices. cost is that of the incumbent, or Inf.
func (d *ascent) step(cost int64) {
	d.msg.forward(d.x)
	bound := d.msg.backward() - d.msg.rent() + float64(d.m.constant)
	d.iter++
	if !d.m.hasLimit {
		d.best = max(d.best, bound)
		return
	}
	d.m.usage(d.x, d.use)
	d.smooth()
	d.judge(bound)
	d.move(bound, cost)
	d.msg.setPrices()
}

// smooth averages the usage and lets the worst time points join the active set.
func (d *ascent) smooth() {
	for t, use := range d.use {
		if d.iter == 1 {
			d.avg[t] = float64(use)
		}
		d.avg[t] += float64(0.1 * (float64(use) - d.avg[t]))
	}
	if d.iter%3 != 0 {
		return
	}
	worst := d.worst()
	keep := d.active[:0]
	for _, t := range d.active {
		if !slices.Contains(worst, t) && (d.msg.price[t] > 0 || len(d.active) < activePrices) {
			keep = append(keep, t)
		}
	}
	d.active = append(keep, worst...)
}

// worst returns the time points of largest usage in the stretches over the limit: those of the worst few stretches, in order of usage.
func (d *ascent) worst() []int32 {
	var peaks []int32
	for s := 0; s < len(d.use); s++ {
		if d.use[s] <= d.m.limit {
			continue
		}
		peak := s
		for ; s < len(d.use) && d.use[s] > d.m.limit; s++ {
			if d.use[s] > d.use[peak] {
				peak = s
			}
		}
		peaks = append(peaks, int32(peak))
	}
	slices.SortStableFunc(peaks, func(s, t int32) int { return cmp.Compare(d.use[t], d.use[s]) })
	return peaks[:min(len(peaks), joining)]
}

// judge keeps the best prices and goes back to them after too many steps without progress.
func (d *ascent) judge(bound float64) {
	if bound > d.best {
		d.best, d.misses = bound, 0
		copy(d.prices, d.msg.price)
		return
	}
	d.misses++
	if d.misses >= 30 || d.misses >= 8 && bound < d.best-0.2*math.Abs(d.best) {
		d.alpha *= 0.7
		d.misses = 0
		copy(d.msg.price, d.prices)
		if d.alpha < 1e-4 {
			d.alpha = 0.05
		}
	}
}

// move changes the active prices along the smoothed excess.
func (d *ascent) move(bound float64, cost int64) {
	target := d.best + 0.02*math.Abs(d.best) + 1
	if cost < Inf {
		target = max(float64(cost), d.best)
	}
	limit := float64(max(d.m.limit, 1))
	norm := 0.0
	for _, t := range d.active {
		if g := d.excess(t); g > 0 || d.msg.price[t] > 0 {
			norm += float64(g * g)
		}
	}
	if norm == 0 {
		return
	}
	step := d.alpha * (target - bound) / norm / limit
	floor := 0.1 * max(math.Abs(target), target-bound) / limit
	for _, t := range d.active {
		p := d.msg.price[t]
		trust := priceTrust * max(p, floor)
		d.msg.price[t] = max(0, p+max(min(float64(step*d.excess(t)), trust), -trust))
	}
}

// excess returns the smoothed usage over the limit at time point t as a share of the limit.
func (d *ascent) excess(t int32) float64 {
	limit := float64(max(d.m.limit, 1))
	return (d.avg[t] - limit) / limit
}

// priceByTime adds the best prices to a map by compressed time of the problem.
func (d *ascent) priceByTime(byTime []float64) {
	clear(byTime)
	for t, p := range d.prices {
		byTime[d.m.point[t]] = p
	}
}

package search

import (
	"cmp"
	"context"
	"math"
	"slices"
)

const (
	activePrices = 60   // prices that may move at a time
	joining      = 8    // prices that may join at a time
	priceTrust   = 0.15 // largest change of a price as a share of its own size
	leapEvery    = 6    // steps between leaps of the messages

	recentRoundings = 16
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
	recent [recentRoundings][]int32 // the last roundings, round robin

	// Leaps: the messages at the last one, scratch, and the length of the next one in multiples of what has happened since.
	last, saved []float64
	leap        float64
	spent       int64
}

func newAscent(ctx context.Context, m *model) *ascent {
	return &ascent{m: m, msg: newMessages(ctx, m), x: make([]int32, len(m.node)), use: make([]int64, len(m.base)),
		avg: make([]float64, len(m.base)), alpha: 0.5, best: math.Inf(-1), prices: make([]float64, len(m.base)), leap: 1}
}

// start sets prices found on an earlier model of the same problem, by compressed time.
func (d *ascent) start(prices []pricedTime) {
	for _, p := range prices {
		if t := d.near(p.time); t >= 0 {
			if d.msg.price[t] == 0 {
				d.active = append(d.active, t)
			}
			d.msg.price[t] += p.price
		}
	}
	copy(d.prices, d.msg.price)
	d.msg.setPrices()
}

// near returns the time point of a compressed time, or, if that was dropped, the neighbour that most likely implies it: the one of larger
// base. It is -1 if there are no time points.
func (d *ascent) near(time int32) int32 {
	point := d.m.point[:len(d.msg.price)]
	at, ok := slices.BinarySearch(point, time)
	if at == len(point) || !ok && at > 0 && d.m.base[at-1] > d.m.base[at] {
		at--
	}
	return int32(at)
}

// prefix returns the sums of the best prices before every time point.
func (d *ascent) prefix() []float64 {
	sums := make([]float64, len(d.prices)+1)
	for t, p := range d.prices {
		sums[t+1] = sums[t] + p
	}
	return sums
}

// pricedTime is the price of a compressed time step of the problem.
type pricedTime struct {
	time  int32
	price float64
}

// pricesByTime returns the best prices above 0, in order of time.
func (d *ascent) pricesByTime() []pricedTime {
	var out []pricedTime
	for t, p := range d.prices {
		if p > 0 {
			out = append(out, pricedTime{d.m.point[t], p})
		}
	}
	return out
}

// step makes one pair of sweeps, leaving a rounding in x, and moves the prices. cost is that of the incumbent, or Inf.
func (d *ascent) step(cost int64) {
	bound := d.sweep(d.x)
	at := d.iter % recentRoundings
	d.recent[at] = append(d.recent[at][:0], d.x...)
	d.iter++
	if d.iter%leapEvery == 0 {
		bound = d.jump(bound)
	}
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

// sweep makes a pair of sweeps and returns the bound.
func (d *ascent) sweep(x []int32) float64 {
	d.spent += 2 * d.m.entries
	d.msg.forward(x)
	return d.msg.backward() - d.msg.rent() + float64(d.m.constant)
}

// jump extrapolates the messages from the last leap through the present ones, and goes back if that does not raise the bound. Message
// passing creeps along straight lines for hundreds of sweeps where costs of different scale meet in a cycle.
func (d *ascent) jump(bound float64) float64 {
	msg := d.msg.msg
	if d.last == nil {
		d.last, d.saved = slices.Clone(msg), make([]float64, len(msg))
		return bound
	}
	copy(d.saved, msg)
	for i, v := range d.saved {
		msg[i] = v + float64(d.leap*(v-d.last[i]))
	}
	if leapt := d.sweep(nil); leapt > bound {
		bound = leapt
		d.leap *= 2
	} else {
		copy(msg, d.saved)
		d.leap = max(d.leap/4, 0.5)
	}
	copy(d.last, msg)
	return bound
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

package search

import "math"

// divingRounds is the number of rounds of the walk between dives while there is no solution.
const divingRounds = 40

// primal looks for solutions of one model by the walk, by recombination, in neighbourhoods and by challengers.
type primal struct {
	finder
	w      *work // an own copy, for the dive; nil once there is a solution
	walk   *walk
	hood   *neighbourhood
	prices []float64
	unit   float64       // by how much a price rises at most in a step of the walk
	gain   [ways]float64 // by which each way lowered the cost, lately more than long ago
}

// newPrimal makes a primal for the model of a stage.
func newPrimal(s *lane, g *stage) *primal {
	p := &primal{finder: newFinder(s, g.m), walk: newWalk(s.ctx, g.m), hood: newNeighbourhood(s.ctx, g.m),
		prices: make([]float64, len(g.m.base))}
	if !s.found {
		p.w = g.w.compact()
		p.w.proof = nil
	}
	return p
}

// follow takes prices and messages from the dual, and the lane's incumbent.
func (p *primal) follow(g *stage) {
	p.unit = eta * (math.Abs(float64(max(g.bound, -Inf/2))) + 1) / float64(max(p.m.limit, 1))
	copy(p.prices, g.dual.prices)
	p.adopt()
	if p.s.found {
		p.w = nil
	}
	if p.st != nil || p.walk.rounds == 0 {
		p.walk.restart(g.dual)
	}
}

// The ways to look for solutions when one is known, in the order of a round.
const (
	walking = iota
	challenging
	refining
	ways
)

// round spends the work of the lane on the ways to look for solutions, more of it on those that lowered the cost lately.
func (p *primal) round() {
	if p.st == nil {
		p.first()
	}
	work := p.s.until - p.s.spent
	for way, share := range p.shares() {
		if p.st == nil || p.s.done() {
			return
		}
		before := p.st.cost
		p.spend(way, int64(share*float64(work)))
		p.gain[way] = float64(0.8*p.gain[way]) + float64(before-p.st.cost)
	}
}

// shares returns the parts of the work that the ways get: half of it in equal parts, half by what they gained.
func (p *primal) shares() [ways]float64 {
	var out [ways]float64
	sum := 0.0
	for _, g := range p.gain {
		sum += g
	}
	for way, g := range p.gain {
		out[way] = 1.0 / ways
		if sum > 0 {
			out[way] = 0.5/ways + float64(0.5*g/sum)
		}
	}
	if !p.m.hasLimit { // there are no prices to walk on
		out = [ways]float64{refining: 1}
	}
	return out
}

// spend looks for better solutions in one way for as much work as is given.
func (p *primal) spend(way int, work int64) {
	defer func(until int64) { p.s.until = until }(p.s.until)
	if way < refining {
		p.s.until = min(p.s.until, p.s.spent+work)
	}
	switch way {
	case walking:
		for !p.s.done() {
			p.stroll()
		}
	case challenging:
		p.challenge()
	case refining:
		for !p.s.done() {
			if before := p.st.cost; p.refine(p.st) < before {
				p.improve(p.st, "neighbourhood")
			}
		}
	}
}

// first walks, and dives now and then, until a solution is known.
func (p *primal) first() {
	start := p.s.spent
	if !p.m.hasLimit {
		p.stroll()
		if p.w != nil {
			p.dive(p.s.until - p.s.spent)
		}
		return
	}
	for p.st == nil && !p.s.done() {
		if !p.stroll() && p.w != nil && p.walk.failed%divingRounds == divingRounds-1 {
			p.dive(p.s.spent - start)
		}
	}
}

// stroll makes a step of the walk and reports whether its rounding fits.
func (p *primal) stroll() bool {
	fits := p.walk.step(p.s.rng, p.unit, !p.s.found)
	p.s.charge(4*p.m.entries + int64(len(p.m.unary)))
	p.consider(p.walk.x, "walk")
	return fits
}

// refine improves a state in a neighbourhood if it can, and returns its cost.
func (p *primal) refine(st *state) int64 {
	y := p.hood.step(st, p.prices, p.s.rng)
	p.s.charge(p.hood.region.takeSpent() + int64(len(p.m.base)) + 1000)
	if y != nil {
		st.recombine(p.s.ctx, y, p.in)
	}
	return st.cost
}

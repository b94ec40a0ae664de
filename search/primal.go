package search

import "math"

// divingRounds is the number of rounds of the walk between dives while there is no solution.
const divingRounds = 40

// primal looks for solutions of one model by the walk, by recombination and in neighbourhoods.
type primal struct {
	finder
	w      *work // an own copy, for the dive; nil once there is a solution
	walk   *walk
	hood   *neighbourhood
	prices []float64
	scale  float64 // size of the costs
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
	p.scale = math.Abs(float64(max(g.bound, -Inf/2))) + 1
	copy(p.prices, g.dual.prices)
	p.adopt()
	if p.s.found {
		p.w = nil
	}
	if p.st != nil || p.walk.rounds == 0 {
		p.walk.restart(g.dual)
	}
}

// round spends the work of the lane.
func (p *primal) round() {
	start := p.s.spent
	half := start + (p.s.until-start)/2
	for p.m.hasLimit && (p.s.spent < half || p.st == nil) && !p.s.done() {
		fits := p.walk.step(p.s.rng, p.scale, !p.s.found)
		p.s.charge(4*p.m.entries + int64(len(p.m.unary)))
		p.consider(p.walk.x, "walk")
		if !fits && p.w != nil && p.walk.failed%divingRounds == divingRounds-1 {
			p.dive(p.s.spent - start)
		}
	}
	if !p.m.hasLimit && p.st == nil {
		p.walk.step(p.s.rng, p.scale, false)
		p.s.charge(4 * p.m.entries)
		p.consider(p.walk.x, "walk")
		if p.w != nil {
			p.dive(p.s.until - p.s.spent)
		}
	}
	for p.st != nil && !p.s.done() {
		before := p.st.cost
		y := p.hood.step(p.st, p.prices, p.s.rng)
		p.s.charge(p.hood.region.takeSpent() + int64(len(p.m.base)) + 1000)
		if y != nil {
			p.st.recombine(p.s.ctx, y, p.in)
		}
		if p.st.cost < before {
			p.improve(p.st, "neighbourhood")
		}
	}
}

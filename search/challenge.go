package search

import "slices"

// challenge makes another solution from the last rounding of the walk, and joins it with the incumbent. The neighbourhoods of one solution
// soon lead nowhere: where its heavy values lie is decided by the rounding that it began with. Those of others lead to better ones, or to
// parts of them.
func (p *primal) challenge() {
	x := p.repair(p.walk.x)
	if x == nil {
		return
	}
	rival := newState(p.m, x)
	p.s.charge(rival.descend(p.s.ctx))
	for !p.s.done() {
		p.refine(rival)
	}
	if rival.cost < p.st.cost {
		old := p.st
		p.improve(rival, "challenger")
		rival = old
	}
	p.fuse(rival.x)
}

// repair returns labels that fit, nil if they have not been found before the work is spent: scattered regions of the given ones are solved
// again and again, while prices rise where they exceed the limit.
func (p *primal) repair(x []int32) []int32 {
	if p.m.cost(x) >= Inf {
		return nil
	}
	price := slices.Clone(p.walk.msg.price)
	for !p.s.done() {
		if p.m.usage(x, p.use) <= 0 {
			return x
		}
		p.m.raise(price, p.use, p.unit)
		y := p.hood.solve(p.hood.scatter(p.s.rng), x, priced(p.m, price, 1), scatteredTable)
		p.s.charge(p.hood.region.takeSpent() + int64(len(p.m.base)+len(p.m.unary)))
		if y != nil {
			x = y
			p.consider(x, "repair")
		}
	}
	return nil
}

// fuse takes over from other labels what lowers the cost of the incumbent. Every node chooses one of its two labels, exactly but for some
// nodes that keep theirs: with two values a node, tables reach through large parts of the model.
func (p *primal) fuse(y []int32) {
	var nodes []int32
	var among [][]int32
	for i, a := range p.st.x {
		if y[i] != a {
			nodes, among = append(nodes, int32(i)), append(among, []int32{a, y[i]})
		}
	}
	r := p.hood.region
	labels, value, ok := r.solveAmong(nodes, among, p.st.x, priced(p.m, p.prices, 1), regionTable)
	p.s.charge(r.takeSpent() + int64(len(p.m.unary)))
	if ok && value < Inf && p.st.recombine(p.s.ctx, relabelled(p.st.x, nodes, labels), p.in) {
		p.improve(p.st, "fusion")
	}
}

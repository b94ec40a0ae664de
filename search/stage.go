package search

import (
	"math"
	"slices"
)

// exactTable bounds the tables when a whole model is solved by elimination.
const exactTable = 1 << 20

// stage is the search on one model: bounds from the dual, solutions from roundings, recombination and neighbourhoods.
type stage struct {
	s     *solver
	w     *work
	m     *model
	dual  *ascent
	walk  *walk
	hood  *neighbourhood
	st    *state // the incumbent, nil if there is none or it lies outside the model
	in    []bool
	bound int64
	left  []float64 // reparametrised unaries of the last certified sweep
}

// newStage compiles the working model. bound is valid for it already.
func newStage(s *solver, w *work, bound int64) *stage {
	g := &stage{s: s, w: w, bound: bound}
	g.compile()
	return g
}

// compile freezes the working model and carries prices and incumbent over.
func (g *stage) compile() {
	m := compile(g.w)
	g.m, g.dual, g.walk, g.hood = m, newAscent(m), newWalk(m), newNeighbourhood(m)
	g.in = make([]bool, len(m.node))
	g.left = nil
	g.dual.start(g.s.prices)
	g.s.charge(2 * m.entries)
	g.adopt()
}

// adopt takes the solver's incumbent as the state if the model contains it.
func (g *stage) adopt() {
	g.st = nil
	if !g.s.found {
		return
	}
	if x, ok := g.m.labelling(g.w, g.s.best); ok {
		if st := newState(g.m, x); st.cost < Inf && st.fits() {
			g.st = st
		}
	}
}

// closed reports whether no solution of the model can be better than the incumbent.
func (g *stage) closed() bool { return g.s.found && g.bound >= g.s.cost }

// exact solves the model by elimination without prices. The optimum is a bound; it is the solution if it fits. It reports whether the model
// is settled.
func (g *stage) exact(limit int64) bool {
	all := make([]int32, len(g.m.node))
	for i := range all {
		all[i] = int32(i)
	}
	x, value, ok := g.hood.region.solve(all, nil, g.m.unary, limit)
	g.s.charge(g.hood.region.spent)
	g.hood.region.spent = 0
	if !ok {
		return false
	}
	if value >= Inf {
		g.bound = Inf
		return true
	}
	g.raise(value + g.m.constant)
	if g.m.usage(x, g.dual.use) <= 0 {
		g.s.offer(g.m.solution(g.w, x), "elimination")
		return true
	}
	return g.closed()
}

func (g *stage) raise(bound int64) { g.bound = max(g.bound, bound) }

// ascend runs n steps of the dual, offers its roundings, and certifies the bound.
func (g *stage) ascend(n int) {
	for range n {
		if g.s.done() {
			return
		}
		g.dual.step(g.s.incumbent())
		g.s.charge(2 * g.m.entries)
		g.consider(g.dual.x, "rounding")
	}
	g.certify()
}

// certify sweeps with the best prices so far and takes the integer bound; with an incumbent it also deletes the values that cannot lead to
// a better solution (rule P11).
func (g *stage) certify() {
	msg := g.dual.msg
	now := slices.Clone(msg.price)
	copy(msg.price, g.dual.prices)
	msg.setPrices()
	msg.forward(nil)
	msg.backward()
	g.s.charge(4 * g.m.entries)
	c := msg.certify()
	g.left = msg.left
	copy(msg.price, now)
	msg.setPrices()
	g.dual.priceByTime(g.s.prices)
	if c == nil {
		return
	}
	g.raise(c.bound)
	if g.s.found && !g.closed() {
		g.fix(c.with())
	}
}

// fix deletes the values whose bound reaches the incumbent, except the incumbent's own, and compiles anew if that was worth it.
func (g *stage) fix(with []int64) {
	count := 0
	gone := make([]bool, len(with))
	for i := range g.m.node {
		for a := g.m.off[i]; a < g.m.off[i+1]; a++ {
			if own := g.st != nil && g.st.x[i] == a-g.m.off[i]; with[a] >= g.s.cost && !own {
				gone[a] = true
				count++
			}
		}
	}
	if count == 0 || 20*count < len(with) {
		return
	}
	for i, node := range g.m.node {
		lo := g.m.off[i]
		g.w.prune(node, func(a int) bool { return gone[int(lo)+a] }, nil)
	}
	g.reduce()
}

// reduce runs the reductions and compiles the model again.
func (g *stage) reduce() {
	g.w.reduce(g.s.ctx)
	g.s.charge(g.w.takeSpent())
	switch {
	case g.s.ctx.Err() != nil:
	case g.w.failed != nil:
		g.bound = Inf
	default:
		g.compile()
		g.settle()
	}
}

// settle handles models that need no search: empty ones and those that elimination solves. It reports whether the model is settled.
func (g *stage) settle() bool {
	if len(g.m.node) == 0 {
		g.raise(g.m.constant)
		g.s.offer(g.m.solution(g.w, nil), "reduction")
		return true
	}
	return g.exact(min(exactTable, 64*g.m.entries+1024))
}

// consider offers a labelling if it is a solution, and recombines it with the incumbent.
func (g *stage) consider(x []int32, source string) {
	cost := g.m.cost(x)
	g.s.charge(int64(len(g.m.arcs)))
	if cost >= Inf && g.st == nil {
		return
	}
	fits := cost < Inf && g.m.usage(x, g.walk.use) <= 0
	if fits && (g.st == nil || cost < g.st.cost) {
		st := newState(g.m, x)
		g.s.charge(st.descend())
		g.improve(st, source)
		return
	}
	if g.st != nil && g.st.recombine(x, g.in) {
		g.s.charge(g.st.descend())
		g.improve(g.st, "recombination")
	}
}

// improve offers a state and makes it the incumbent of the stage.
func (g *stage) improve(st *state, source string) {
	if g.st == nil || st.cost < g.st.cost || st == g.st {
		g.st = st
		if st.cost < g.s.incumbent() {
			g.s.offer(g.m.solution(g.w, st.x), source)
		}
	}
}

// primal spends about the given work on the walk and on neighbourhoods.
func (g *stage) primal(budget int64) {
	scale := math.Abs(float64(max(g.bound, -Inf/2))) + 1
	until := g.s.spent + budget
	if g.m.hasLimit {
		g.walk.restart(g.dual)
		for half := g.s.spent + budget/2; g.s.spent < half && !g.s.done() && !g.closed(); {
			g.walk.step(g.s.rng, scale)
			g.s.charge(4*g.m.entries + int64(len(g.m.unary)))
			g.consider(g.walk.x, "walk")
		}
	}
	for g.st != nil && g.s.spent < until && !g.s.done() && !g.closed() {
		before := g.st.cost
		y := g.hood.step(g.st, g.dual.prices, g.s.rng)
		g.s.charge(g.hood.region.spent + int64(len(g.m.base)) + 1000)
		g.hood.region.spent = 0
		if y != nil {
			g.st.recombine(y, g.in)
		}
		if g.st.cost < before {
			g.improve(g.st, "neighbourhood")
		}
	}
}

package search

import "slices"

// treeDepth bounds the depth of branching and with it the memory for copies of the working model.
const treeDepth = 250

// tree proves a bound for a working model by branch and bound, depth first, within about the given work. Better solutions found on the way
// are offered.
func (s *solver) tree(w *work, bound, budget int64) int64 {
	saved := s.budget
	s.budget = min(s.budget, s.spent+budget)
	defer func() { s.budget = saved }()
	return s.branch(w, bound, 0)
}

// branch returns a bound for a working model; at least the incumbent's cost if there is nothing better in it.
func (s *solver) branch(w *work, bound int64, depth int) int64 {
	w.reduce(s.ctx)
	s.charge(w.takeSpent())
	if w.failed != nil {
		return Inf
	}
	if s.done() || depth > treeDepth {
		return bound
	}
	g := newStage(s, w, bound)
	if !g.settle() {
		g.probe()
	}
	if g.closed() || g.bound >= Inf || len(g.m.node) == 0 || s.done() {
		return g.bound
	}
	node, label := g.split()
	near, far := g.w.compact(), g.w.compact()
	s.charge(2 * cloneSteps * int64(len(near.cells)+len(near.links)))
	near.prune(node, func(a int) bool { return a != label }, nil)
	bound = s.branch(near, g.bound, depth+1)
	if s.done() {
		return min(bound, g.bound)
	}
	far.prune(node, func(a int) bool { return a == label }, nil)
	return min(bound, s.branch(far, g.bound, depth+1))
}

// probe runs the dual as long as it promises to close the model.
func (g *stage) probe() {
	for range 8 {
		bound, entries := g.bound, len(g.m.unary)
		g.ascend(5)
		if g.closed() || g.bound >= Inf || len(g.m.node) == 0 || g.s.done() {
			return
		}
		gap := g.s.cost - g.bound
		if g.s.found && g.bound-bound < gap/8 && len(g.m.unary) == entries {
			return
		}
		if !g.s.found && len(g.m.unary) == entries {
			return
		}
	}
}

// split returns the node of the model to branch on and the value to try first: where the runner-up loses most, then where most arcs meet.
func (g *stage) split() (node int32, label int) {
	if g.left == nil {
		g.dual.msg.forward(nil)
		g.dual.msg.backward()
		g.left = g.dual.msg.left
	}
	best, at, first := -1.0, int32(0), 0
	for i := range int32(len(g.m.node)) {
		left := g.left[g.m.off[i]:g.m.off[i+1]]
		if len(left) < 2 {
			continue
		}
		a := slices.Index(left, slices.Min(left))
		regret := -1.0
		for b, v := range left {
			if b != a && (regret < 0 || v < regret) {
				regret = v
			}
		}
		degree := float64(len(g.m.forward[i]) + len(g.m.backward[i]) + len(g.m.items[i]))
		if score := (regret + 1e-6) * (1 + degree); score > best {
			best, at, first = score, i, a
		}
	}
	return at, first
}

package search

import (
	"cmp"
	"slices"
)

// cloneSteps is the work of copying a node or a link of a working model.
const cloneSteps = 20

// dive looks for a first solution: it fixes the nodes to their rounded labels, the surest first, in batches, with all reductions after each
// batch so that what no longer fits is gone before it is tried. A batch that fails is retried in smaller pieces; a single label that fails
// is deleted. It gives up after about the given work.
func (g *stage) dive(budget int64) {
	order, label := g.bySurety(), slices.Clone(g.dual.x)
	base, batch := g.w.compact(), max(len(order)/4, 1)
	until := g.s.spent + budget
	for pos := 0; pos < len(order); {
		if g.s.done() || g.s.spent > until {
			return
		}
		end := min(pos+batch, len(order))
		next := base.clone()
		if g.try(next, order[pos:end], label) {
			base, pos = next, end
			continue
		}
		if batch > 1 {
			batch = (batch + 3) / 4
			continue
		}
		mark := len(base.log)
		base.prune(order[pos], func(a int) bool { return int32(a) == label[order[pos]] }, nil)
		base.reduce(g.s.ctx)
		if base.failed != nil {
			return
		}
		follow(base.log[mark:], label)
	}
	g.s.offer(base.solution(make([]int32, len(base.cells))), "dive")
	g.adopt()
}

// try fixes nodes to their labels in w; false if that has no solution. The labels follow the reductions.
func (g *stage) try(w *work, nodes, label []int32) bool {
	mark := len(w.log)
	for _, node := range nodes {
		w.prune(node, func(a int) bool { return int32(a) != label[node] }, nil)
	}
	w.reduce(g.s.ctx)
	g.s.charge(w.takeSpent() + cloneSteps*int64(len(w.cells)+len(w.links)))
	if w.failed != nil || g.s.ctx.Err() != nil {
		return false
	}
	follow(w.log[mark:], label)
	return true
}

// follow keeps labels up to date with a log; a label that is deleted becomes the first that is left.
func follow(log []step, label []int32) {
	for _, s := range log {
		if s.kind == stepRestrict {
			label[s.node] = max(s.back[label[s.node]], 0)
		}
	}
}

// bySurety returns the nodes of the model by falling loss of their second-best value.
func (g *stage) bySurety() []int32 {
	regret := make([]float64, len(g.m.node))
	order := make([]int32, len(g.m.node))
	for i := range order {
		order[i] = int32(i)
		left := slices.Sorted(slices.Values(g.dual.msg.left[g.m.off[i]:g.m.off[i+1]]))
		if len(left) > 1 {
			regret[i] = left[1] - left[0]
		}
	}
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(regret[j], regret[i]) })
	return order
}

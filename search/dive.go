package search

import (
	"cmp"
	"slices"
)

// cloneSteps is the work of copying a node or a link of a working model.
const cloneSteps = 20

// dive looks for a first solution: it fixes the nodes to their rounded labels, the surest first, in batches, with all reductions after each
// batch so that what no longer fits is gone before it is tried. A batch that fails is retried in smaller pieces; a single label that fails
// is deleted. It gives up after about the given work, even beyond that of the lane.
func (p *primal) dive(budget int64) {
	order, label := p.bySurety(), slices.Clone(p.walk.x)
	base, batch := p.w.clone(), max(len(order)/4, 1)
	defer func(until int64) { p.s.until = until }(p.s.until)
	p.s.until = max(p.s.until, p.s.spent+budget)
	for pos := 0; pos < len(order); {
		if p.s.done() {
			return
		}
		end := min(pos+batch, len(order))
		next := base.clone()
		if p.try(next, order[pos:end], label) {
			base, pos = next, end
			continue
		}
		if batch > 1 {
			batch = (batch + 3) / 4
			continue
		}
		mark := len(base.log)
		base.prune(order[pos], func(a int) bool { return int32(a) == label[order[pos]] }, nil)
		base.reduce(p.s.ctx)
		if base.failed != nil {
			return
		}
		follow(base.log[mark:], label)
	}
	p.s.offer(base.solution(make([]int32, len(base.cells))), "dive")
	p.adopt()
}

// try fixes nodes to their labels in w; false if that has no solution. The labels follow the reductions.
func (p *primal) try(w *work, nodes, label []int32) bool {
	mark := len(w.log)
	for _, node := range nodes {
		w.prune(node, func(a int) bool { return int32(a) != label[node] }, nil)
	}
	w.reduce(p.s.ctx)
	p.s.charge(w.takeSpent() + cloneSteps*int64(len(w.cells)+len(w.links)))
	if w.failed != nil || p.s.ctx.Err() != nil {
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
func (p *primal) bySurety() []int32 {
	regret := make([]float64, len(p.m.node))
	order := make([]int32, len(p.m.node))
	for i := range order {
		order[i] = int32(i)
		left := slices.Sorted(slices.Values(p.walk.msg.left[p.m.off[i]:p.m.off[i+1]]))
		if len(left) > 1 {
			regret[i] = left[1] - left[0]
		}
	}
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(regret[j], regret[i]) })
	return order
}

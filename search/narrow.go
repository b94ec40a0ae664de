package search

import (
	"math"
	"slices"
)

// nearPart is the part of the cost that a strategy of a narrow search may lose on the bound, unless the best known solution takes it.
const nearPart = 0.01

// narrow leaves out of a working model the strategies that the messages of an earlier search make dear. It reports whether it could.
func (s *solver) narrow(w *work) bool {
	k := s.opt.Messages
	if !s.opt.Narrow || !s.found || k.loss == nil || !slices.Equal(k.off, s.p.Off) {
		return false
	}
	live := make([][]int32, len(w.cells)) // strategies of nodes that have lost some already
	for _, step := range w.log {
		live[step.node] = step.table
	}
	most := nearPart * math.Abs(float64(s.cost))
	for i := range int32(len(w.cells)) {
		loss := k.loss[s.p.Off[i]:s.p.Off[i+1]]
		w.prune(i, func(a int) bool {
			x := through(live[i], int32(a))
			return x != s.best[i] && loss[x] > most
		}, nil)
	}
	return true
}

// narrow leaves out the values that the last certified sweep makes dear, and compiles anew.
func (g *stage) narrow() {
	from := g.dual.msg.carry(g.m.node, len(g.w.cells), len(g.w.log))
	most := nearPart * math.Abs(float64(g.s.cost))
	for i, node := range g.m.node {
		loss := g.left[g.m.off[i]:g.m.off[i+1]]
		g.w.prune(node, func(a int) bool { return int32(a) != g.st.x[i] && loss[a] > most }, nil)
	}
	g.reduce(from)
}

// losses returns for each strategy of the problem, whose reductions so far are the log, what its node loses on the bound if it takes it, by
// the last backward sweep. Nothing is known of nodes that were eliminated.
func (d *ascent) losses(p *Problem, log []step) []float64 {
	of := make([][]float64, p.NumNodes())
	for i, node := range d.m.node {
		of[node] = d.msg.left[d.m.off[i]:d.m.off[i+1]]
	}
	for _, s := range slices.Backward(log) {
		if s.kind == stepRestrict && of[s.node] != nil {
			of[s.node] = restore(of[s.node], s.back, math.Inf(1))
		}
	}
	all := make([]float64, p.Off[p.NumNodes()])
	for i, loss := range of {
		copy(all[p.Off[i]:], loss)
	}
	return all
}

// restore returns what there was for each value before some were deleted, other for those that are gone.
func restore(kept []float64, back []int32, other float64) []float64 {
	all := slices.Repeat([]float64{other}, len(back))
	for a, b := range back {
		if b >= 0 {
			all[a] = kept[b]
		}
	}
	return all
}

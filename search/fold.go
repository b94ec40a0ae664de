package search

import (
	"context"
	"slices"
)

// folded is a problem of which nodes that are alike take the same strategy, as those of equal layers do in good solutions: a solution of
// it is one of the whole problem with the same cost. It has no memory limit.
type folded struct {
	whole, problem *Problem
	of             []int32 // per node of the whole problem: its node
}

// fold folds the nodes of a problem with the same numbers into one each. It fails where sums of costs are too large, and where the context
// ends.
func fold(ctx context.Context, p *Problem, of []int32) (*folded, error) {
	f := &folded{whole: p, of: of}
	b := NewBuilder()
	f.nodes(b)
	f.edges(ctx, b)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.AddConstant(p.Constant)
	var err error
	f.problem, err = b.Build()
	return f, err
}

// nodes adds the nodes with the costs of all that are folded into them.
func (f *folded) nodes(b *Builder) {
	p := f.whole
	costs := make([][]int64, slices.Max(f.of)+1)
	for i, to := range f.of {
		own := p.Cost[p.Off[i]:p.Off[i+1]]
		if costs[to] == nil {
			costs[to] = slices.Clone(own)
			continue
		}
		for a, c := range own {
			costs[to][a] = addCost(costs[to][a], c)
		}
	}
	for _, c := range costs {
		b.AddNode(c, make([]int64, len(c)), 0, 0)
	}
}

// edges adds the edges, those with the same matrix between the same nodes as one.
func (f *folded) edges(ctx context.Context, b *Builder) {
	p := f.whole
	type edge struct {
		a, b, matrix int32
		row, col     *int32
	}
	type scaled struct {
		matrix int32
		count  int64
	}
	count, order := map[edge]int64{}, []int(nil)
	of := func(e int) edge {
		return edge{f.of[p.EA[e]], f.of[p.EB[e]], p.EMat[e], identity(p.ERow[e]), identity(p.ECol[e])}
	}
	for e := range p.EA {
		k := of(e)
		if count[k] == 0 {
			order = append(order, e)
		}
		count[k]++
	}
	made := map[scaled]MatrixID{}
	for i, e := range order {
		if i&63 == 0 && ctx.Err() != nil {
			return
		}
		k := of(e)
		s := scaled{k.matrix, count[k]}
		id, ok := made[s]
		if !ok {
			m := k.matrix
			id = b.AddMatrix(int(p.MatRows[m]), int(p.MatCols[m]), times(p.MatVal[p.MatOff[m]:p.MatOff[m+1]], s.count))
			made[s] = id
		}
		b.AddEdgeThrough(k.a, k.b, id, p.ERow[e], p.ECol[e])
	}
}

// identity tells maps apart that are not the same slice.
func identity(to []int32) *int32 {
	if len(to) == 0 {
		return nil
	}
	return &to[0]
}

// times returns costs that many times.
func times(costs []int64, n int64) []int64 {
	out := make([]int64, len(costs))
	for i, c := range costs {
		if out[i] = Inf; c < Inf {
			out[i] = c * n
		}
	}
	return out
}

// lift returns the solution of the whole problem.
func (f *folded) lift(solution []int32) []int32 { return pick(solution, f.of) }

// messages returns those of a reduced working model of the whole problem: of the messages between two nodes all pairs of nodes that were
// folded into them get equal parts.
func (f *folded) messages(k *Messages, w *work) *carried {
	c := &carried{near: make([][]int32, len(w.cells)), ends: make(map[uint64]*ends, len(w.pairs))}
	pairs := map[uint64]int64{}
	known := func(l *link) (*ends, uint64) {
		to := pairKey(f.of[l.a], f.of[l.b])
		return k.ends.ends[to], to
	}
	for i := range w.links {
		if l := &w.links[i]; !l.dead {
			_, to := known(l)
			pairs[to]++
		}
	}
	for i := range w.links {
		l := &w.links[i]
		from, to := known(l)
		if l.dead || from == nil {
			continue
		}
		e := &ends{}
		i, j := f.of[l.a], f.of[l.b]
		*e.to(l.a, l.b), *e.to(l.b, l.a) = parts(*from.to(i, j), pairs[to]), parts(*from.to(j, i), pairs[to])
		c.ends[pairKey(l.a, l.b)] = e
		c.near[l.a], c.near[l.b] = append(c.near[l.a], l.b), append(c.near[l.b], l.a)
	}
	return c
}

// parts returns the n-th parts of messages.
func parts(all []float64, n int64) []float64 {
	out := make([]float64, len(all))
	for i, v := range all {
		out[i] = v / float64(n)
	}
	return out
}

// beginFolded offers the best solution of the folded problem, if many nodes are alike, and lets the dual begin with its messages. It
// reports whether that is a solution of the whole problem.
func (s *solver) beginFolded() bool {
	k := s.opt.Messages
	if !folds(k.alike, s.p) {
		k.alike, k.folded = alike(s.ctx, s.p), nil
	}
	if len(k.alike) == 0 {
		return false
	}
	f, err := fold(s.ctx, s.p, k.alike)
	if err != nil {
		return false
	}
	if k.folded == nil {
		k.folded = &Messages{}
	}
	o := s.opt
	o.Messages, o.Initial, o.Progress = k.folded, [][]int32{k.folded.best}, nil
	q := newSolver(s.ctx, f.problem, o)
	q.warm()
	q.root(q.model())
	s.lanes[0].spent += q.work()
	if !q.found {
		return false
	}
	k.folded.best = q.best
	x := f.lift(q.best)
	if _, peak, err := s.p.Evaluate(x); err != nil || !s.p.within(peak) {
		return false
	}
	s.lanes[0].offer(x, "fold")
	s.merge()
	s.reached = max(q.bound, q.reached)
	if k.folded.ends != nil {
		s.folded = f
	}
	return true
}

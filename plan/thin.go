package plan

import (
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/propagate"
)

// Propagations that thinning may take: of so many operations in all, but some in any case, and no more than small programs need. With the
// last ones, all that differs is added at once. Where an answer is due at a time, the fewest are made.
const (
	thinnedOps               = 2_000_000
	fewestTrials, mostTrials = 6, 300
	lastTrials               = 2
)

// thin takes out the constraints that propagation makes needless. It begins with those that move values, propagates, and adds those at
// which the outcome first differs from the plan, until nothing does; then it takes out what is needless beside the others.
func (a *annotation) thin(ctx context.Context) error {
	t := &thinning{annotation: a, kept: make([]bool, len(a.constraints)), at: places(a.constraints)}
	for i := range a.constraints {
		t.kept[i] = a.constraints[i].moves
	}
	t.trials = min(max(thinnedOps/max(a.m.NumOps(), 1), fewestTrials), mostTrials)
	if _, due := ctx.Deadline(); due {
		t.trials = fewestTrials
	}
	if err := t.add(ctx); err != nil {
		return err
	}
	if err := t.drop(ctx); err != nil {
		return err
	}
	a.without(a.m, t.kept)
	return nil
}

// thinning is the search for the constraints to keep.
type thinning struct {
	*annotation
	at     map[ir.OpID]int // places of constraints
	kept   []bool
	trials int // propagations that are left
}

// places returns the place of each constraint by its operation.
func places(constraints []constraint) map[ir.OpID]int {
	at := make(map[ir.OpID]int, len(constraints))
	for i := range constraints {
		at[constraints[i].op] = i
	}
	return at
}

// without takes the constraints that are not kept out of a copy of the module.
func (a *annotation) without(m *ir.Module, kept []bool) {
	for i, c := range a.constraints {
		if !kept[i] {
			m.ReplaceUses(m.Result(c.op, 0), m.Operand(c.op, 0))
			m.Erase(c.op)
		}
	}
}

// differing propagates with the constraints that are kept, and returns those of the others whose value is cut otherwise than they say.
func (t *thinning) differing(ctx context.Context, kept []bool) ([]int, error) {
	t.trials--
	m := t.m.Clone()
	values := make([]ir.ValueID, len(t.constraints))
	for i, c := range t.constraints {
		values[i] = t.source(c.op, kept)
	}
	t.without(m, kept)
	if err := propagate.Import(ctx, m); err != nil {
		return nil, err
	}
	if _, err := propagate.Run(ctx, m, propagate.Options{}); err != nil {
		return nil, err
	}
	propagate.Disconnect(m)
	var out []int
	for i, c := range t.constraints {
		if !kept[i] && m.HasUses(values[i]) && !alikeCut(m, dataflow.ShardingOf(m, values[i]), t.m.Sharding(t.m.Result(c.op, 0))) {
			out = append(out, i)
		}
	}
	return out, nil
}

// source returns the value that a constraint reads once those that are not kept are taken out.
func (t *thinning) source(op ir.OpID, kept []bool) ir.ValueID {
	v := t.m.Operand(op, 0)
	for {
		at, found := t.at[t.m.DefiningOp(v)]
		if !found || kept[at] {
			return v
		}
		v = t.m.Operand(t.constraints[at].op, 0)
	}
}

// alikeCut says whether two shardings cut the dimensions alike; 0 cuts nothing.
func alikeCut(m *ir.Module, a, b ir.ShardingID) bool {
	dims := func(id ir.ShardingID) []ir.DimSharding {
		if id == 0 {
			return nil
		}
		return m.ShardingOf(id).Dims
	}
	x, y := dims(a), dims(b)
	for d := range max(len(x), len(y)) {
		var p, q ir.ShardAxes
		if d < len(x) {
			p = x[d].Axes
		}
		if d < len(y) {
			q = y[d].Axes
		}
		if !slices.Equal(p, q) {
			return false
		}
	}
	return true
}

// add keeps the constraints that it takes for nothing to differ. Of what differs it adds first what depends on nothing else that does.
func (t *thinning) add(ctx context.Context) error {
	for {
		wrong, err := t.differing(ctx, t.kept)
		if err != nil || len(wrong) == 0 {
			return err
		}
		first := t.first(wrong)
		if t.trials <= lastTrials {
			first = wrong
		}
		for _, i := range first {
			t.kept[i] = true
		}
	}
}

// first returns those of some constraints on whose operands none of the others stands.
func (t *thinning) first(wrong []int) []int {
	off := map[ir.OpID]bool{}
	for _, i := range wrong {
		off[t.constraints[i].op] = true
	}
	return slices.DeleteFunc(slices.Clone(wrong), func(i int) bool {
		maker := t.m.OpOf(t.m.Operand(t.constraints[i].op, 0))
		return slices.ContainsFunc(t.m.Operands(maker), func(v ir.ValueID) bool { return off[t.m.DefiningOp(v)] })
	})
}

// drop takes out constraints as long as nothing differs without them: blocks of them first, and smaller ones in the end.
func (t *thinning) drop(ctx context.Context) error {
	var some []int
	for i, k := range t.kept {
		if k && !t.constraints[i].moves {
			some = append(some, i)
		}
	}
	for size := len(some); size >= 1 && t.trials > 0; size /= 2 {
		for at := 0; at < len(some) && t.trials > 0; {
			block := some[at:min(at+size, len(some))]
			trial := slices.Clone(t.kept)
			for _, i := range block {
				trial[i] = false
			}
			wrong, err := t.differing(ctx, trial)
			if err != nil {
				return err
			}
			if len(wrong) > 0 {
				at += size
				continue
			}
			t.kept = trial
			some = slices.Delete(some, at, at+len(block))
		}
	}
	return nil
}

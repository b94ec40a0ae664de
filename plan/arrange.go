package plan

import (
	"cmp"
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// arrange changes how the inputs of fast plans are cut, and those of the program that keeps all state in blocks, as long as what follows
// from that alone, by propagation, becomes faster or, while it does not fit, smaller: one axis for all inputs of a kind at a time. People
// write plans so where memory is short, and what follows needs few collectives, each of which the search prices by itself although many
// are sent as one. It begins with the inputs of which the fastest program follows. A model that is large, or nearly proven, does without.
// All changes may take as many steps as the search before, within the budget; the level is searched once more with the collectives of the
// outcome.
func (c *choice) arrange(ctx context.Context, l *level) error {
	if !c.worthWriting(l) {
		return nil
	}
	each := c.eachChange()
	a := &arrangement{choice: c, ctx: ctx, each: each, until: c.spent + max(c.spent, firstArranged*each)}
	before := c.best
	starts, err := a.starts(c.arrangements(l))
	for _, s := range starts {
		if a.layouts, a.program = s.layouts, s.program; err == nil {
			err = a.descend()
		}
	}
	if err != nil || c.best == before {
		return err
	}
	l.space.Suggest(c.best.annotated, c.best.assignment)
	warm := l.space.WarmStarts()
	if len(warm) == 0 {
		return nil
	}
	return c.meeting(ctx, l, warm[len(warm)-1], c.Memory)
}

// arranged is how many of the fastest plans of a level it may begin with, beside the best one, and firstArranged how many plans it tries
// however few steps the search took, if the budget has them.
const arranged, firstArranged = 8, 2

// arrangements returns how the inputs are cut of the best plan, of the one that keeps all state in blocks, and of the fastest ones of a
// level.
func (c *choice) arrangements(l *level) [][]collectives.Layout {
	out := [][]collectives.Layout{inputLayouts(c.best.annotated)}
	add := func(m *ir.Module) {
		layouts := inputLayouts(m)
		known := func(other []collectives.Layout) bool {
			return slices.EqualFunc(layouts, other, func(x, y collectives.Layout) bool { return x.Equal(&y) })
		}
		if !slices.ContainsFunc(out, known) {
			out = append(out, layouts)
		}
	}
	if n := len(c.sharded); n > 0 {
		add(c.sharded[n-1].lowered.annotated)
	}
	tried := slices.SortedStableFunc(slices.Values(l.tried), func(a, b attempt) int { return cmp.Compare(a.total, b.total) })
	for _, x := range tried[:min(len(tried), arranged)] {
		settled := c.module.Clone()
		l.space.Apply(settled, x.solution)
		add(settled)
	}
	return out
}

// arrangement is the layouts of inputs, with what follows from them.
type arrangement struct {
	*choice
	ctx     context.Context
	each    int64 // steps of a change
	until   int64 // what may be spent
	layouts []collectives.Layout
	program *lowered // the best so far
}

// start is layouts of inputs with what follows from them.
type start struct {
	layouts []collectives.Layout
	program *lowered
}

// ends says whether there is no time or are no steps for a change.
func (a *arrangement) ends() bool { return !a.affords(a.ctx, a.each) || a.spent+a.each > a.until }

// starts returns what follows from some layouts, the best first, of as many as there are time and steps for.
func (a *arrangement) starts(all [][]collectives.Layout) (out []start, err error) {
	for _, layouts := range all {
		if a.ends() {
			break
		}
		a.program = nil
		if _, err := a.change(layouts); err != nil {
			return nil, err
		}
		out = append(out, start{layouts, a.program})
	}
	slices.SortStableFunc(out, func(x, y start) int {
		switch {
		case a.prefers(x.program, y.program):
			return -1
		case a.prefers(y.program, x.program):
			return 1
		}
		return 0
	})
	return out, nil
}

// descend changes layouts until no change makes the program better.
func (a *arrangement) descend() error {
	for again := true; again; {
		again = false
		for _, kind := range a.kinds() {
			better, err := a.vary(kind)
			if err != nil {
				return err
			}
			again = again || better
		}
	}
	return nil
}

// vary moves each axis of the inputs of a kind to each of their dimensions, and to none. It reports whether any of that was better.
func (a *arrangement) vary(kind []int) (any bool, err error) {
	shape := a.module.Shape(a.args()[kind[0]])
	for _, axis := range a.axes() {
		for d := -1; d < len(shape); d++ {
			l, ok := moved(&a.layouts[kind[0]], axis, d, shape)
			if !ok {
				continue
			}
			if a.ends() {
				return false, nil
			}
			layouts := slices.Clone(a.layouts)
			for _, i := range kind {
				layouts[i] = l
			}
			better, err := a.change(layouts)
			if err != nil {
				return false, err
			}
			any = any || better
		}
	}
	return any, nil
}

// moved returns a layout with an axis at another dimension, or at none of them if that is -1. It is false where the axis is there, or
// does not divide what is left of it.
func moved(from *collectives.Layout, axis subaxis.Ref, dim int, shape []int64) (l collectives.Layout, ok bool) {
	l.Dims = make([][]subaxis.Ref, len(shape))
	for d, axes := range from.Dims {
		l.Dims[d] = slices.DeleteFunc(slices.Clone(axes), func(r subaxis.Ref) bool { return r.Axis == axis.Axis })
		if d == dim {
			l.Dims[d] = append(l.Dims[d], axis)
			slices.SortFunc(l.Dims[d], subaxis.Compare)
			ok = shape[d]%subaxis.Product(l.Dims[d]) == 0
		}
	}
	return l, (ok || dim < 0) && !slices.EqualFunc(l.Dims, from.Dims, slices.Equal)
}

// change lowers what follows from layouts of the inputs, and takes it if it is the best so far.
func (a *arrangement) change(layouts []collectives.Layout) (better bool, err error) {
	a.spent += a.each
	b := a.annotationsOnly()
	for i, v := range a.args() {
		if b.settled.Sharding(v) == 0 && len(layouts[i].Dims) > 0 {
			b.settled.SetSharding(v, b.settled.InternSharding(layouts[i].Sharding(a.mesh)))
		}
	}
	if err := a.lowerPlainly(a.late, &b, a.space.Planner()); err != nil {
		return false, err
	}
	if a.program == nil || !muchSlower(b.lowered, a.program) { // rewrites of reshards do not gain so much
		b.lowered = a.planner.improve(a.late, b.lowered)
	}
	a.offer(b.lowered)
	if better = a.program == nil || a.prefers(b.lowered, a.program); better {
		a.program, a.layouts = b.lowered, layouts
	}
	return better, nil
}

// kinds are the inputs of one type, such as the parameters of equal layers with what an optimizer keeps of them, and of these those that
// are only updated, and the others. What the user wrote, and scalars, are left out.
func (c *choice) kinds() [][]int {
	var types []ir.TypeID
	of, written := map[ir.TypeID][]int{}, c.annotationsOnly().settled
	for i, v := range c.args() {
		if t := c.module.Type(v); written.Sharding(v) == 0 && len(c.module.Shape(v)) > 0 {
			if of[t] == nil {
				types = append(types, t)
			}
			of[t] = append(of[t], i)
		}
	}
	var kinds [][]int
	for _, t := range types {
		kinds = append(kinds, of[t])
		kept := lists.Filter(of[t], func(i int) bool { return updated(c.module, c.args()[i]) })
		if n := len(of[t]) - len(kept); n > 0 && len(kept) > 0 {
			kinds = append(kinds, kept, lists.Filter(of[t], func(i int) bool { return !slices.Contains(kept, i) }))
		}
	}
	return kinds
}

// inputLayouts are those of the inputs of a plan.
func inputLayouts(m *ir.Module) []collectives.Layout {
	return lists.Map(m.BlockArgs(m.MainFunc().Body), func(v ir.ValueID) collectives.Layout {
		if id := m.Sharding(v); id != 0 {
			return collectives.LayoutOf(m.ShardingOf(id))
		}
		return collectives.Layout{Dims: make([][]subaxis.Ref, len(m.Shape(v)))}
	})
}

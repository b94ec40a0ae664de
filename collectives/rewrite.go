package collectives

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/rewrites"
)

// Rewriting says which rewrites a partitioned program gets.
type Rewriting struct {
	Reach   int          // of copies that reads share, see [Insert]
	Without rewrites.Set // those that it does not get
	Needed  rewrites.Set // where none of these changes anything, reshards are left as they are; none: never
}

// Rewritten says what rewrites changed in a program.
type Rewritten struct {
	Changed rewrites.Set
	// A loop read a value from outside in a layout that it has before the loop now. Loops do not pass such values on, so that those who
	// choose layouts for what loops carry have not seen this one.
	FromOutside bool
}

// rewriter changes the reshards of a module that Insert has made, so that less is sent.
type rewriter struct {
	m       *ir.Module
	mesh    ir.MeshID
	planner *Planner
	how     Rewriting
	done    Rewritten
	hoisted map[hoistKey]ir.ValueID
	at      map[ir.OpID]int // the place of every op in the program
}

// rewrite changes the reshards of a module. The only error is the context's.
func (r *rewriter) rewrite(ctx context.Context) error {
	if !r.how.Without.Has(rewrites.DeferReductions) {
		if err := r.deferReductions(ctx, r.m.MainFunc().Body); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		rewrite rewrites.Rewrite
		try     func(reshard ir.OpID) bool
	}{
		{rewrites.SinkReshards, r.sink},
		{rewrites.HoistReshards, r.hoist},
		{rewrites.SkipLayouts, r.skip},
	} {
		if r.how.Without.Has(step.rewrite) {
			continue
		}
		for _, op := range r.m.OpsWhere(r.m.MainFunc().Body, func(k ir.Kind) bool { return k == ir.OpSdyReshard }) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.m.OpBlock(op) != 0 && r.m.ManualAround(op) == 0 && step.try(op) {
				r.done.Changed |= rewrites.Of(step.rewrite)
			}
		}
	}
	return nil
}

// price returns what the cheapest way of a value from one layout to another takes.
func (r *rewriter) price(v ir.ValueID, from, to *Layout) int64 {
	if from.Equal(to) {
		return 0
	}
	w := r.planner.Way(r.planner.Tensor(r.m.Shape(v), r.m.ValueType(v).Bytes()), r.planner.Intern(*from), r.planner.Intern(*to))
	return w.Price()
}

// layout returns that of a value. Values in and around loops have it on the loop.
func (r *rewriter) layout(v ir.ValueID) (Layout, bool) {
	id := dataflow.ShardingOf(r.m, v)
	if id == 0 {
		return Layout{}, false
	}
	return LayoutOf(r.m.ShardingOf(id)), true
}

package plan

import (
	"context"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// quickSteps bounds those of one search for a quick plan, which may take briefSteps however few were taken before, and farBehind is how
// many times as long as the best plan of the whole batch one of the batch in parts takes where they are not made.
const quickSteps, briefSteps, farBehind = 150_000_000, 50_000_000, 16

// partitioned searches for plans of a batch in parts as people write them where memory is short: devices along some axes have blocks of
// the state, by its leading dimensions but for those that count layers, and all devices have parts of the batch, or what the search finds;
// or of what steps only update alone, which takes few collectives at the end of a step.
// These take more collectives, which have each other to be sent with, while the search would rather have one less, since it prices each by
// itself. All of them may take half of the steps of the search before, and for a quick plan each as many, between bounds.
func (c *choice) partitioned(ctx context.Context, l *level) error {
	if c.parts == 0 || c.isLarge() || !c.confined() || !c.open(wideGap) || c.screening && c.trails() {
		return nil
	}
	if err := c.suggestBlocks(l); err != nil {
		return err
	}
	sets := subsets(c.axes())
	if c.groups == 1 { // the space places all axes as one
		sets = sets[:1]
	}
	writings := c.writings(sets)
	each := min(max(c.spent, briefSteps), quickSteps)
	if !c.screening {
		each = c.spent / int64(2*len(writings))
	}
	for _, pins := range writings {
		if c.over(ctx) {
			return nil
		}
		if err := c.searchPartitioned(ctx, pins, each); err != nil {
			return err
		}
	}
	return nil
}

// writings are the pins with which people write plans of a batch in parts where memory is short, with blocks along some sets of axes.
func (c *choice) writings(sets [][]subaxis.Ref) (all [][]pinned) {
	for _, along := range sets {
		all = append(all, c.blockPins(c.axes(), along, entire), c.blockPins(nil, along, entire), c.blockPins(nil, along, updated))
	}
	return all
}

// roomFirstInBlocks looks for such plans, with blocks along all axes, under much larger limits with values made again.
func (c *choice) roomFirstInBlocks(ctx context.Context, _ *level) error {
	if !c.hasty || c.parts == 0 || c.isLarge() || !c.confined() {
		return nil
	}
	for _, pins := range c.writings([][]subaxis.Ref{c.axes()}) {
		if c.over(ctx) {
			return nil
		}
		other := c.pinnedTo(pins, amongBlocks)
		among, err := c.among(ctx, other, briefSteps)
		if err == nil && among != nil {
			err = other.roomFirst(ctx, among)
		}
		c.adopt(other)
		if err != nil {
			return err
		}
	}
	return nil
}

// partitionedFirst does so where time or steps are limited: these may be over before collectives are sent as one, which takes longer.
func (c *choice) partitionedFirst(ctx context.Context, l *level) error {
	if !c.hasty {
		return nil
	}
	return c.partitioned(ctx, l)
}

// fullySharded searches for plans of the whole batch as people write them where memory is short, once, if none is known or a slow one,
// before the batch is computed in parts: all devices have parts of the batch, and blocks of all state (ZeRO's third stage). That may take
// as many steps as the search before, or as one for a quick plan.
func (c *choice) fullySharded(ctx context.Context, _ *level) error {
	if c.allInBlocks || c.parts > 0 || !c.confined() || !c.isSlow() || c.best != nil && !c.open(wideGap) || c.over(ctx) {
		return nil
	}
	c.allInBlocks = true
	return c.searchPartitioned(ctx, c.blockPins(c.axes(), c.axes(), entire), max(c.spent, quickSteps))
}

// fullyShardedIf is the stage that does so of large problems, or of others.
func (c *choice) fullyShardedIf(large bool) func(context.Context, *level) error {
	return func(ctx context.Context, l *level) error {
		if l.large() != large {
			return nil
		}
		return c.fullySharded(ctx, l)
	}
}

// trails says whether the best plan of the batch in parts is far behind that of the whole batch.
func (c *choice) trails() bool {
	whole := c.fittingWhole()
	return c.best != nil && whole != nil && c.best.step.Total()/farBehind > whole.step.Total()
}

// fittingWhole returns the best plan of the whole batch where the batch is computed in parts, nil for none.
func (p *planner) fittingWhole() *lowered {
	if p.unsplit == nil || p.unsplit.step.Peak > p.Memory {
		return nil
	}
	return p.unsplit
}

// searchPartitioned searches for plans with some more pins for so many steps.
func (c *choice) searchPartitioned(ctx context.Context, pins []pinned, steps int64) error {
	return c.searchAmong(ctx, c.pinnedTo(pins, amongBlocks), steps)
}

// amongBlocks says among which plans a search for those with state in blocks is one.
const amongBlocks = " among plans with state in blocks"

// among builds the level of a choice among fewer plans, which may take so many steps; nil for none.
func (c *choice) among(ctx context.Context, other *choice, steps int64) (*level, error) {
	other.inParts = nil // which compares with the best of all plans
	if until := c.spent + steps; c.Steps == 0 || until < c.Steps {
		other.Steps = until
	}
	l, err := other.finest(ctx)
	if l != nil {
		l.quick = c.screening
	}
	return l, err
}

// searchAmong searches for plans of a choice among fewer of them for so many steps, and with values made again: briefly for a quick plan,
// and otherwise under other limits too.
func (c *choice) searchAmong(ctx context.Context, other *choice, steps int64) error {
	defer c.adopt(other)
	l, err := c.among(ctx, other, steps)
	if err != nil || l == nil {
		return err
	}
	stages := []func(context.Context, *level) error{other.roomFirst, other.solve, other.merging}
	if !l.quick {
		stages = []func(context.Context, *level) error{other.roomFirst, other.solve, other.searchTighter, other.merging, other.remerging}
	}
	if err := other.stages(ctx, l, stages...); err != nil {
		return err
	}
	other.last = l
	return other.recomputing(ctx)
}

// blockPins are the pins of inputs of which devices have parts of the batch along some axes, nothing being said of the batch for none, and
// blocks of a part of the state along others, but for the smallest arrays, which all have in full as they have the rest of it, where the
// user wrote nothing.
func (p *planner) blockPins(batch, along []subaxis.Ref, cuts func(*ir.Module, ir.ValueID) bool) []pinned {
	var out []pinned
	m := p.module
	pin := func(v ir.ValueID, l collectives.Layout) {
		out = append(out, pinned{value: v, sharding: m.InternSharding(l.Sharding(p.mesh))})
	}
	if len(batch) > 0 {
		for _, v := range batchInputs(m) {
			pin(v, p.inBatches(v, batch))
		}
	}
	p.cutState(pin, func(v ir.ValueID) collectives.Layout {
		switch {
		case !cuts(m, v):
			return p.along(v, 0, nil)
		case p.stacked(v):
			return p.along(v, p.widest(v, along), along)
		}
		return p.along(v, 0, along)
	})
	return p.unwritten(out)
}

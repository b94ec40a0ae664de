package plan

import (
	"context"
	"slices"
)

// mergingAttempts bounds how often a level is searched again because what is merged waits in memory, and how often for a better plan.
const mergingAttempts = 3

// merging searches a level again with collectives sent as one with those of a solution: of the latest and, where memory is short, of
// baselines and programs that keep state in blocks, which need not fit.
func (c *choice) merging(ctx context.Context, l *level) error {
	latest := l.solution
	switch {
	case c.binding():
		if _, err := c.meetBlocks(ctx, l); err != nil {
			return err
		}
	case l.large(): // the relaxed problem gets there sooner
		return nil
	}
	return c.meeting(ctx, l, latest, c.Memory)
}

// mergingPart is the part of the time that is left which a search with collectives sent as one takes before the batch is computed in parts.
const mergingPart = 0.25

// mergingFirst does what merging does, for a part of the time, where time alone is limited and the best plan of the whole batch is slow:
// the batch in parts takes most of it, and programs whose collectives are sent as one can be much faster than either. The warm starts that
// were met are not met again; those of programs that keep state in blocks are, as these are suggested anew.
func (c *choice) mergingFirst(ctx context.Context, l *level) error {
	if c.inParts == nil || !c.hasty || c.Steps > 0 || l.large() || !c.isSlow() || !c.binding() {
		return nil
	}
	ctx, cancel := c.part(ctx, mergingPart)
	defer cancel()
	latest := l.solution
	met, err := c.meetBlocks(ctx, l)
	if l.met = met; err != nil {
		return err
	}
	return c.meeting(ctx, l, latest, c.Memory)
}

// inBlocks does so with those of baselines and programs that keep state in blocks, if that was not done yet.
func (c *choice) inBlocks(ctx context.Context, l *level) error {
	if l.blocks || c.proven() || !c.worthBlocks(l) {
		return nil
	}
	_, err := c.meetBlocks(ctx, l)
	return err
}

// meetBlocks does so with those of baselines and programs that keep state in blocks, but for those that were met before the batch in parts.
// It returns how many were met before time or steps were over.
func (c *choice) meetBlocks(ctx context.Context, l *level) (met int, err error) {
	if c.over(ctx) {
		return 0, nil
	}
	if err := c.suggestBlocks(l); err != nil {
		return 0, err
	}
	for _, x := range l.space.WarmStarts()[l.met:] {
		if err := c.meeting(ctx, l, x, c.Memory); err != nil {
			return met, err
		}
		if !c.over(ctx) {
			met++
		}
	}
	return met, nil
}

// binding says whether there is a faster plan, but for the memory.
func (c *choice) binding() bool {
	return slices.ContainsFunc(c.baselines, func(b baseline) bool {
		return c.exceeds(b) && c.best != nil && b.lowered.step.Total() < c.best.step.Total()
	})
}

// proven says whether no program that computes nothing twice is faster than the best plan.
func (c *choice) proven() bool { return c.best != nil && c.best.step.Total() <= c.bound }

// remerging does so with those of the fastest programs that fit; of a large problem with those of the best plan alone, and where the best
// plan is near its bound only as long as that brings something.
func (c *choice) remerging(ctx context.Context, l *level) error {
	for range mergingAttempts {
		x := l.fastest()
		if x == nil || c.proven() || l.large() && x.total > c.best.step.Total() {
			return nil
		}
		before := c.best
		x.met = true
		if err := c.meeting(ctx, l, x.solution, c.Memory); err != nil || c.best == before && !c.open(wideGap) {
			return err
		}
	}
	return nil
}

// fastest returns the attempt with the fastest program whose collectives have not met yet, nil for none.
func (l *level) fastest() *attempt {
	var out *attempt
	for i := range l.tried {
		if x := &l.tried[i]; !x.met && (out == nil || x.total < out.total) {
			out = x
		}
	}
	return out
}

// meeting searches a level with costs that count on collectives being sent as one with those of a solution, where that matters, and, where
// memory is not short, on summands being reduced as one. Where they would not fit, it leaves them more memory. As long as every program
// that was found fits, reductions meet the nearest, which leads to better plans. Programs are to hold no more than a limit.
func (c *choice) meeting(ctx context.Context, l *level, x []int32, limit int64) error {
	if c.best == nil || x == nil || l.space.Merging(x) <= c.best.step.Total()/goodGap {
		return nil
	}
	l.space.Together(x, !c.short)
	defer l.space.Together(nil, false)
	if !c.confined() { // summands wait in memory for each other
		l.space.Sum(x)
	}
	room := limit - c.Memory
	for range mergingAttempts {
		if c.over(ctx) {
			return nil
		}
		if more, err := c.rebuild(ctx, l); err != nil || !more {
			return err
		}
		result, err := c.briefly(ctx, l, limit, searchSteps/2)
		if err != nil || result.Solution == nil {
			return err
		}
		over, err := c.try(ctx, l, l.space.Own(result.Solution))
		over = max(over, l.crowding) - room
		if err != nil || over <= 0 || c.over(ctx) {
			return err
		}
		if limit = min(limit, result.Peak) - over; limit <= 0 {
			return nil
		}
	}
	return nil
}

// blocksGap is the part of the cost that a gap of five percent is: plans of large models that are nearer to their bound are not compared
// with programs that keep state in blocks.
const blocksGap = 20

// worthBlocks says whether programs that keep state in blocks may lead to a faster plan.
func (c *choice) worthBlocks(l *level) bool { return !l.large() || c.open(blocksGap) }

// wideGap is the part of the cost that a gap of ten percent is: plans that are nearer to their bound are not worth many more searches.
const wideGap = 10

// widestGap is a third of the cost: plans are worth those searches even where memory is not short.
const widestGap = 3

// worthWriting says whether plans as people write them may be much faster than the best one: the model is not large, and the best plan is
// far from proven, very far where memory is not short.
func (c *choice) worthWriting(l *level) bool {
	return !l.large() && (c.confined() && c.open(wideGap) || c.open(widestGap))
}

// confined says whether memory rules out a program that was met.
func (c *choice) confined() bool { return c.short || slices.ContainsFunc(c.baselines, c.exceeds) }

// exceeds says whether a baseline has a program that memory does not hold.
func (c *choice) exceeds(b baseline) bool { return b.lowered != nil && b.lowered.step.Peak > c.Memory }

// open says whether the best plan may be farther from the best that there is than a part of its cost, one by the given number.
func (c *choice) open(part int64) bool {
	return c.best != nil && c.best.step.Total()-c.bound >= c.best.step.Total()/part
}

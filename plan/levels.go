package plan

import (
	"context"
	"errors"

	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/search"
	"autoshard/search/space"
)

// screened is the part of its time that a quick search may take before values are made again.
const screened = 0.7

// search looks for better plans in the finest space that is not too large, and proves a bound there. Running out of time, steps or
// memory is no error; it fails if nobody waits any more.
func (c *choice) search(ctx context.Context) error {
	if done, err := c.again(ctx); done || err != nil {
		return err
	}
	l, err := c.finest(ctx)
	if err != nil {
		return err
	}
	c.coarse(l)
	if c.isSlow() && !c.over(ctx) && c.hasState() && (l == nil || !l.large()) {
		if err := c.offerBlocks(); err != nil {
			return err
		}
	}
	if c.last = l; c.screening && l != nil {
		l.quick = true
		ctx, cancel := c.part(ctx, screened)
		defer cancel()
		return c.stages(ctx, l, c.roomFirstInBlocks, c.glance, c.squeezeFirst, c.partitioned)
	}
	return c.toEnd(ctx)
}

// trailingPart is the part of the time that is left in which the best plan of the whole batch is made better where the batch in parts is
// faster, which is searched to the end next.
const trailingPart = 0.25

// trailing returns the context in which the best plan is made better: that ends early where the batch in parts is faster.
func (c *choice) trailing(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.inParts != nil && c.inParts.leads(c) {
		return c.part(ctx, trailingPart)
	}
	return ctx, func() {}
}

// toEnd searches the latest level to the end, if there is one.
func (c *choice) toEnd(ctx context.Context) error {
	if c.last == nil {
		return nil
	}
	if err := c.stages(ctx, c.last, c.squeezeFirst, c.improve); err != nil || c.outdone() {
		return err
	}
	ctx, cancel := c.trailing(ctx)
	defer cancel()
	err := c.stages(ctx, c.last, c.squeezeFirst, c.replicas, c.arrange, c.partitioned, c.mend, c.smallest, c.polish, c.coarsely)
	c.early = c.early || ctx.Err() != nil
	return err
}

// stages takes one after the other on a level, as long as the batch in parts is not known to be much faster than what may come of it.
func (c *choice) stages(ctx context.Context, l *level, list ...func(context.Context, *level) error) error {
	for _, stage := range list {
		if err := stage(ctx, l); err != nil || c.outdone() {
			return err
		}
	}
	return nil
}

// improve searches a level for plans, and for a bound of all of its plans. Where none is known, it begins with few of them: one that fits
// makes the search among all shorter. The relaxed problems of a large problem find one sooner.
func (c *choice) improve(ctx context.Context, l *level) error {
	if c.best == nil && !l.large() {
		if err := c.fullySharded(ctx, l); err != nil {
			return err
		}
	}
	if err := c.stages(ctx, l, c.seek, c.fullyShardedIf(false), c.partitionedFirst, c.mergingFirst, c.meetParts); err != nil || c.outdone() {
		return err
	}
	ctx, cancel := c.trailing(ctx)
	defer cancel()
	return c.stages(ctx, l, c.refine, c.fullyShardedIf(true))
}

// seek searches a level for its first plans.
func (c *choice) seek(ctx context.Context, l *level) error {
	return c.stages(ctx, l, c.glance, c.searchTighter, c.squeezeFirst)
}

// refine searches a level for plans that are better than those that are known, and for its bound.
func (c *choice) refine(ctx context.Context, l *level) error {
	return c.stages(ctx, l, c.solve, c.squeezeFirst, c.merging, c.prove, c.inBlocks, c.remerging)
}

// finest builds the finest level that is not too large; parts of axes are placed apart on all tensors only where that is a small problem.
// There is none if all are too large, or time or steps are over.
func (c *choice) finest(ctx context.Context) (*level, error) {
	levels := c.space.Levels()
	if c.groups > 0 {
		levels = []space.Level{{Whole: true, Groups: c.groups}}
	}
	for _, at := range levels {
		if l, err := c.build(ctx, at, at.Apart); l != nil || err != nil || c.over(ctx) {
			return l, err
		}
	}
	return nil, nil
}

// coarse notes what was left out of the search where finer levels are too large.
func (c *choice) coarse(last *level) {
	switch {
	case !c.large:
	case last == nil:
		c.found.Add(lint.CoarseSearch, 0, "",
			"this model on this mesh has too many ways to be cut for a search: the plan is the best known without one")
	case last.Groups > 0:
		c.found.Add(lint.CoarseSearch, 0, "",
			"this model on this mesh has too many ways to be cut for a full search: leading axes of the mesh were placed "+
				"together, so that %s left, except where a baseline places them otherwise",
			diag.Count(last.Groups, "part was", "parts were"))
	default:
		c.found.Add(lint.CoarseSearch, 0, "",
			"this model on this mesh has too many ways to be cut for a full search: only baselines cut along parts of "+
				"axes")
	}
}

// level is a space of one level with its problem, without memory limit.
type level struct {
	space.Level
	space    *space.Space
	problem  *search.Problem
	watched  int             // ops at which the problem counts what is held for moments
	solution []int32         // the latest
	tried    []attempt       // those that fit
	messages search.Messages // of its relaxed problems
	reached  int64           // the bound that the latest relaxed problem reached, if only of solutions that treat equal ops alike
	quick    bool            // a rough solution will do
	blocks   bool            // programs that keep state in blocks are suggested
	met      int             // warm starts with whose collectives it was searched before the batch in parts
	glanced  bool            // it was searched for a good solution
	solved   bool            // it was searched for a solution whose program fits, and not roughly
	crowding int64           // the bytes by which the latest program would exceed the memory with all merged that makes it faster
}

// attempt is a solution with a program that fits.
type attempt struct {
	total    int64 // picoseconds that its program takes
	solution []int32
	met      bool // the search has begun with its collectives sent as one
}

// build makes the problem of a level; it is nil if that is too large, or its time or steps are over.
func (c *choice) build(ctx context.Context, at space.Level, small bool) (*level, error) {
	c.tell("space")
	l := &level{Level: at, space: c.space.At(at)}
	effort := space.Effort{Steps: c.left(), Small: small, Memory: c.room.beside(c.room.level)}
	var err error
	l.problem, err = l.space.Build(ctx, 0, &effort)
	c.spent += effort.Spent
	if errors.Is(err, space.ErrMemory) && !small {
		c.room.refuse(phaseOf(at, c.space.Levels()), effort.Need)
	}
	if c.gaveUp(err) {
		c.large = c.large || !small && errors.Is(err, space.ErrTooLarge)
		return nil, c.late.Err()
	}
	if err != nil {
		return nil, err
	}
	size := l.problem.Size()
	c.strategies, c.room.level = int(size.Strategies), l.space.Bytes()+size.Bytes()
	if bytes := l.space.LeastPeak(); !c.built || bytes < c.floor {
		c.floor, c.built = bytes, true
	}
	return l, nil
}

// gaveUp says whether an error only means that something would take too long or too much, or that there is nothing to
// find while a plan is known.
func (c *choice) gaveUp(err error) bool {
	for _, reason := range []error{space.ErrTooLarge, space.ErrMemory, space.ErrSteps, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return c.best != nil && errors.Is(err, diag.ErrInfeasible)
}

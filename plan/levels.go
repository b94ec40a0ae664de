package plan

import (
	"context"
	"errors"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/search"
	"autoshard/search/space"
)

// search looks for better plans in a space that is built in about a second, then in finer ones, and then proves a bound.
// Running out of time, steps or memory is no error; it fails if nobody waits any more.
func (c *choice) search(ctx context.Context) error {
	levels := c.space.Levels()
	first, at, err := c.first(ctx, levels)
	if err != nil {
		return err
	}
	if first == nil {
		c.coarse(nil)
		return c.smallest(ctx, first)
	}
	// Parts of axes are placed apart on all tensors only where that is a small problem.
	finer := slices.DeleteFunc(levels[:at], func(l space.Level) bool { return l.Apart })
	last := first
	if len(finer) == 0 {
		err = c.solve(ctx, first, 0.75, 0)
	} else {
		last, err = c.refine(ctx, first, finer)
	}
	if err != nil {
		return err
	}
	c.coarse(last)
	if err := c.prove(ctx, last); err != nil {
		return err
	}
	return c.smallest(ctx, last)
}

// first builds the finest level that is built in about a second and returns its place; there is none if the coarsest is too
// large, or its time or steps are over.
func (c *choice) first(ctx context.Context, levels []space.Level) (l *level, at int, err error) {
	for at := range levels {
		l, err := c.build(ctx, levels[at], at+1 < len(levels))
		if l != nil || err != nil || c.over(ctx) {
			return l, at, err
		}
	}
	return nil, 0, nil
}

// refine searches a coarse level, then the finest one of whole axes that is not too large, and then one that splits axes. It
// returns the last one.
func (c *choice) refine(ctx context.Context, first *level, finer []space.Level) (*level, error) {
	if err := c.solve(ctx, first, 0.25, firstSteps); err != nil {
		return nil, err
	}
	if err := c.smallest(ctx, first); err != nil {
		return nil, err
	}
	last, begun := first, c.spent
	next := func(at space.Level) (ok bool, err error) {
		l, err := c.build(ctx, at, false)
		if l == nil || err != nil {
			return false, err
		}
		last = l
		err = c.solve(ctx, l, 0.75, max(lastSteps-(c.spent-begun), search.DefaultSteps))
		return true, err
	}
	whole := slices.Index(finer, space.Level{Whole: true})
	for i := max(whole, 0); i < len(finer) && !c.over(ctx); i++ {
		if ok, err := next(finer[i]); err != nil {
			return nil, err
		} else if ok {
			break
		}
	}
	if whole > 0 && last.Groups == 0 && !c.over(ctx) {
		if _, err := next(finer[0]); err != nil {
			return nil, err
		}
	}
	return last, nil
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
				"together, so that %d parts were left, except where a baseline places them otherwise", last.Groups)
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
	solution []int32 // the latest
}

// build makes the problem of a level; it is nil if that is too large, or its time or steps are over.
func (c *choice) build(ctx context.Context, at space.Level, small bool) (*level, error) {
	c.tell("space")
	l := &level{Level: at, space: c.space.At(at)}
	effort := space.Effort{Steps: c.left(), Small: small}
	var err error
	l.problem, err = l.space.Build(ctx, 0, &effort)
	c.spent += effort.Spent
	if c.gaveUp(err) {
		c.large = c.large || !small && errors.Is(err, space.ErrTooLarge)
		return nil, c.late.Err()
	}
	if err != nil {
		return nil, err
	}
	if bytes := l.space.LeastPeak(); !c.built || bytes < c.floor {
		c.floor, c.built = bytes, true
	}
	return l, nil
}

// gaveUp says whether an error only means that something would take too long or too much, or that there is nothing to
// find while a plan is known.
func (c *choice) gaveUp(err error) bool {
	for _, reason := range []error{space.ErrTooLarge, space.ErrSteps, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return c.best != nil && errors.Is(err, diag.ErrInfeasible)
}

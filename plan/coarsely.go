package plan

import (
	"context"

	"autoshard/internal/lint"
)

// coarsely searches for plans of the whole batch that place leading axes as one, as those of meshes of fewer axes do, where memory rules
// out faster ones and the best is far from proven: with fewer ways to place axes searches get farther. With every axis on its own, they go
// on from what that finds. It may take as many steps as the search before, and half of the steps and of the time that are left. Where these
// are limited, they are left to the batch in parts, if that is to come.
func (c *choice) coarsely(ctx context.Context, l *level) error {
	axes := len(c.axes())
	if axes < 2 || c.parts > 0 || l.Groups > 0 || !c.confined() || !c.open(wideGap) {
		return nil
	}
	if c.inParts != nil && c.inParts.leads(c) {
		return nil
	}
	if c.inParts != nil && c.hasty {
		c.found.Add(lint.CoarseSearch, 0, "", "time or steps are limited: plans that place leading axes of the mesh as one were left out, "+
			"which may be faster where memory is as short as here")
		return nil
	}
	ctx, cancel := c.part(ctx, 0.5)
	defer cancel()
	each := max(c.spent, quickSteps)
	if left := c.left(); left > 0 {
		each = min(each, left/2)
	}
	each /= int64(axes - 1)
	for groups := 1; groups < axes && !c.over(ctx); groups++ {
		other, before := c.pinnedTo(nil, " among plans that place leading axes as one"), c.best
		other.groups = groups
		if err := c.searchAmong(ctx, other, each); err != nil {
			return err
		}
		if c.best == before {
			continue
		}
		known := len(l.space.WarmStarts())
		l.space.Suggest(c.best.annotated, c.best.assignment)
		for _, x := range l.space.WarmStarts()[known:] {
			if err := c.meeting(ctx, l, x, c.Memory); err != nil {
				return err
			}
		}
	}
	return nil
}

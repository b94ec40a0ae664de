package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/search"
	"autoshard/search/space"
)

// pinSteps bounds what is spent to find the pin that stands in the way of a limit.
const pinSteps = search.DefaultSteps / 4

// describe names what is pinned.
func (p *planner) describe(pin pinned) string {
	if pin.value != 0 {
		return p.found.Place(pin.value).What
	}
	return p.found.Result(pin.result).What
}

// withoutPins says which shardings of the user stand in the way of a plan that fits: all of them or, found by halving, fewer
// without which there is a plan, too.
func (c *choice) withoutPins(ctx context.Context) ([]string, error) {
	dropped := c.kept()
	if len(dropped) == 0 {
		return nil, nil
	}
	begun := c.spent
	found, err := c.without(ctx, dropped)
	if err != nil || found == nil {
		return nil, err
	}
	for more := true; more && len(dropped) > 1; {
		more = false
		for _, half := range [][]pinned{dropped[:len(dropped)/2], dropped[len(dropped)/2:]} {
			if c.spent-begun > pinSteps || c.Steps > 0 && c.spent >= c.Steps {
				break
			}
			l, err := c.without(ctx, half)
			if err != nil {
				return nil, err
			}
			if l != nil {
				dropped, found, more = half, l, true
				break
			}
		}
	}
	return []string{fmt.Sprintf("without %s there is a plan that needs %s", c.shardings(dropped), diag.Bytes(found.step.Peak))}, nil
}

// shownPins bounds the pins that are named.
const shownPins = 3

// shardings names those of pins.
func (p *planner) shardings(pins []pinned) string {
	if len(pins) == 1 {
		return "the sharding of " + p.describe(pins[0])
	}
	var what []string
	for _, pin := range pins[:min(len(pins), shownPins)] {
		what = append(what, p.describe(pin))
	}
	text := strings.Join(what, ", ")
	if len(pins) > shownPins {
		text += fmt.Sprintf(" and %d more", len(pins)-shownPins)
	}
	return "the shardings of " + text
}

// without returns a plan that fits where some pins do not count; nil if none is found.
func (c *choice) without(ctx context.Context, dropped []pinned) (*lowered, error) {
	s := space.New(c.module, c.mesh, c.model)
	c.switches(s)
	c.pin(s, slices.DeleteFunc(c.kept(), func(pin pinned) bool { return slices.Contains(dropped, pin) }))
	other := *c
	other.space, other.best, other.least = s, nil, nil
	l, err := other.finest(ctx)
	if err == nil {
		err = other.smallest(ctx, l)
	}
	c.spent = other.spent
	return other.best, err
}

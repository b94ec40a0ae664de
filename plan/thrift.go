package plan

import (
	"context"
	"math"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/rewrites"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// tollSteps bounds how often tolls are raised, each time by tollGrowth, until a plan keeps the budgets, and tollTries how often the middle
// is tried between one that was too low and one that was not.
const tollSteps, tollTries, tollGrowth = 7, 3, 8

// thrifty remembers, of the programs that memory holds, the fastest that keeps the budgets, and the one that is nearest to that.
type thrifty struct {
	best    *lowered // nil while none keeps them
	nearest *lowered
	over    float64 // by what part the nearest exceeds them
}

// watchBudgets takes notice of a program that memory holds.
func (c *choice) watchBudgets(l *lowered) {
	if len(c.Budgets) == 0 {
		return
	}
	t, over := &c.thrift, c.overBudget(l)
	if over == 0 && (t.best == nil || l.step.Total() < t.best.step.Total()) {
		t.best = l
	}
	if t.nearest == nil || over < t.over {
		t.nearest, t.over = l, over
	}
}

// spending returns a context for searches that look at time alone: where there are budgets they leave half of the time that is left to
// economize.
func (p *planner) spending(ctx context.Context) (context.Context, context.CancelFunc) {
	if len(p.Budgets) == 0 {
		return ctx, func() {}
	}
	return p.part(ctx, 0.5)
}

// thriftiest returns the fastest plan that keeps the budgets, if one was found, and otherwise the best one.
func (c *choice) thriftiest() *lowered {
	if c.thrift.best != nil && !c.within(c.best) {
		return c.thrift.best
	}
	return c.best
}

// beats says whether a choice has a better plan than another one: faster, or one that keeps the budgets where that has none.
func (c *choice) beats(other *choice) bool {
	a, b := c.thriftiest(), other.thriftiest()
	if kept := c.within(a); kept != c.within(b) {
		return kept
	}
	return a.step.Total() < b.step.Total()
}

// economize makes the fastest plan that keeps the budgets the best one. Where the best one does not, what counts for a budget costs a toll
// that is raised until what is found keeps them, and lowered again. The search with tolls is quick: no proof that there is no such plan.
func (c *choice) economize(ctx context.Context) error {
	if len(c.Budgets) == 0 || c.best == nil || c.screening || c.within(c.best) {
		return nil
	}
	fastest, low, high := c.best, 0.0, 0.0
	toll := 1e-3 * float64(c.best.step.Total())
	for n := 0; n < tollSteps && high == 0 && ctx.Err() == nil; n++ {
		found, err := c.searchTolled(ctx, toll)
		if err != nil {
			return err
		}
		if found {
			high = toll
		} else {
			low, toll = toll, toll*tollGrowth
		}
	}
	for n := 0; n < tollTries && low > 0 && high > 0 && ctx.Err() == nil; n++ {
		middle := math.Sqrt(low * high)
		found, err := c.searchTolled(ctx, middle)
		if err != nil {
			return err
		}
		if found {
			high = middle
		} else {
			low = middle
		}
	}
	if c.thrift.best == nil {
		return c.budgetError(fastest)
	}
	c.best = c.thrift.best
	return nil
}

// searchTolled searches where as many bytes as a budget has cost a toll, in picoseconds, and takes notice of what it finds. It reports
// whether that keeps the budgets.
func (c *choice) searchTolled(ctx context.Context, toll float64) (bool, error) {
	p := *c.planner
	p.model, p.prior, p.screening, p.Budgets, p.Progress, p.inParts = c.model.Tolled(c.toll(toll)), nil, true, nil, nil, nil
	p.Without |= rewrites.Of(rewrites.RecomputeActivations)
	p.found = c.found.clone()
	c.tell("search")
	other, err := p.choose(ctx, c.late, nil)
	if err != nil || other.best == nil {
		return false, err
	}
	c.spent += other.spent
	found, err := c.lowerWithout(c.late, other.best.layouts, c.Without|ofReshards, 0)
	if err != nil {
		return false, err
	}
	if found = c.planner.improve(ctx, found); found.step.Peak > c.Memory {
		return false, nil
	}
	c.watchBudgets(found)
	return c.within(found), nil
}

// toll returns what sending costs on top.
func (c *choice) toll(ps float64) estimate.Toll {
	mesh := &c.module.Mesh(c.planner.mesh).Mesh
	return func(kind collectives.Kind, axes []subaxis.Ref, bytes int64) int64 {
		sum := 0.0
		for i := range c.Budgets {
			b := &c.Budgets[i]
			if !b.concerns(kind, mesh, axes) {
				continue
			}
			limit := float64(max(b.Bytes, 1<<10))
			if b.Each {
				limit *= float64(mesh.Devices())
			}
			sum += ps * float64(bytes) / limit
		}
		return int64(sum)
	}
}

// budgetError is the error of class diag.ErrInfeasible that no plan was found that keeps the budgets: which collective of the nearest plan
// sends most of what is too much.
func (c *choice) budgetError(fastest *lowered) error {
	l := c.thrift.nearest
	list, m := describeCollectives(l), l.program.Module
	var err *diag.Error
	for i := range c.Budgets {
		b := &c.Budgets[i]
		sent, most := b.sends(list, l.program.Mesh.Devices())
		if sent <= b.Bytes {
			continue
		}
		text := "the plan that comes nearest sends %s where the budget `%s` has %s: %s of it by %s of %s over %s, %s"
		args := []any{diag.Bytes(sent), b, diag.Bytes(b.Bytes), diag.Bytes(list[most].Bytes), list[most].Kind, list[most].Type,
			answer.FormatAmong(list[most].Axes, list[most].Groups), list[most].Source}
		at := placeOf(m, &l.program.Collectives[most])
		if err == nil {
			err = diag.Infeasible(diag.BudgetLimit, at, "no plan found that keeps the budgets: "+text, args...)
		} else {
			err = err.WithNote(at, text, args...)
		}
	}
	err = err.WithNote(diag.Position{}, "that plan takes %s of a step; the fastest without budgets %s",
		diag.Seconds(float64(l.step.Total())/program.Picoseconds), diag.Seconds(float64(fastest.step.Total())/program.Picoseconds))
	return err.WithNote(diag.Position{}, "the price of what counts was raised to look for others, which is no proof that there is none")
}

// placeOf returns where the op was written that a collective is for, as far as that is known.
func placeOf(m *ir.Module, c *shardmap.Collective) diag.Position {
	if pos, ok := m.FilePos(c.Source); ok {
		return pos
	}
	return m.Position(c.Op)
}

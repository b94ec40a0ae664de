package plan

import (
	"context"
	"math"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
)

// DefaultTaste is the part of a step that a plainer plan may take more.
const DefaultTaste = 0.001

// tastePeak is the part of the peak that a plainer plan may hold more, as far as memory goes, and tasteSlack that for few and whole axes
// alone.
const tastePeak, tasteSlack = 0.01, 0.001

// Changes for taste may take so many steps, as those of the search are counted, or a tenth of what that took, or so many changes.
const tasteSteps, leastTastes = 50_000_000, 2

// taste returns the part of a step that a plainer plan may take more.
func (o *Options) taste() float64 {
	if o.Taste == 0 {
		return DefaultTaste
	}
	return max(o.Taste, 0)
}

// plainly cuts the inputs of the best plan more plainly as far as that costs next to nothing, with everything else as it is: inputs of one
// batch alike, equal layers alike, what an optimizer keeps of a parameter like that, few and whole axes to a dimension. Findings say where
// cost has the last word.
func (c *choice) plainly(ctx context.Context) error {
	taste := c.taste()
	if taste == 0 || ctx.Err() != nil {
		return nil
	}
	allowed := func(n int64, part float64) int64 { return n + int64(float64(n)*part) }
	step, each := &c.best.step, c.eachChange()
	most := max(step.Total(), min(allowed(step.Total(), taste), c.fastestWritten()))
	t := &tasting{choice: c, ctx: ctx, each: each, left: max(tasteSteps, c.spent/10, leastTastes*each), total: step.Total(), most: most,
		peak:    max(step.Peak, min(c.Memory, allowed(step.Peak, tastePeak))),
		layouts: inputLayouts(c.best.annotated)}
	t.wisher = wisher{likeness: likenessIn(c.module, c.state), module: c.module, mesh: &c.module.Mesh(c.planner.mesh).Mesh,
		slack: min(t.peak, allowed(step.Peak, tasteSlack)) - step.Peak}
	written := c.annotationsOnly().settled
	for _, v := range c.args() {
		t.free = append(t.free, written.Sharding(v) == 0)
	}
	return t.run()
}

// fastestWritten returns what the fastest of the programs takes that fits and is cut as people write it, baselines and those with state in
// blocks: plainness is no reason to be slower than that.
func (c *choice) fastestWritten() int64 {
	least := int64(math.MaxInt64)
	offer := func(l *lowered) {
		if l != nil && l.step.Peak <= c.Memory && c.within(l) {
			least = min(least, l.step.Total())
		}
	}
	for i := range c.baselines {
		offer(c.baselines[i].lowered)
	}
	for _, b := range c.sharded {
		offer(b.lowered)
	}
	return least
}

// tasting is the state of it: the layouts of the inputs of the best plan.
type tasting struct {
	*choice
	wisher
	ctx        context.Context
	total      int64 // of the plan that cost alone chose
	most, peak int64 // that a plainer one may take, time and memory
	each, left int64 // steps of a change, and of all
	layouts    []collectives.Layout
	said       int // of wishes that cost overrules
}

// mostOverruled bounds the wishes that findings speak of.
const mostOverruled = 3

// run grants all wishes at once or, where that is too dear, one after the other.
func (t *tasting) run() error {
	all := t.layouts
	wishes := t.wishes(t.layouts)
	for n := len(wishes) - 1; n >= 0; n-- {
		all = wishes[n].grant(all, 0)
	}
	if len(wishes) == 0 {
		return nil
	}
	if found, err := t.change(all); err != nil || t.takes(found, all) {
		return err
	}
	for _, w := range wishes {
		if w.granted(t.layouts) {
			continue
		}
		if err := t.grant(&w); err != nil {
			return err
		}
	}
	return nil
}

// grant changes to the first way of a wish that is taken. Where none is, a finding says what the cheapest costs.
func (t *tasting) grant(w *wish) error {
	var least *lowered
	for way := range w.ways {
		layouts := w.grant(t.layouts, way)
		found, err := t.change(layouts)
		if err != nil || t.takes(found, layouts) {
			return err
		}
		if found != nil && (least == nil || found.step.Total() < least.step.Total()) {
			least = found
		}
	}
	if least == nil || w.odd == "" || t.said == mostOverruled {
		return nil
	}
	t.said++
	if more := least.step.Total() - t.total; least.step.Total() > t.most {
		t.found.Add(lint.CostOverTaste, 0, "", "%s: alike, and with the rest as it is, a step would take %s more, %.2g %%", w.odd,
			diag.Seconds(float64(more)/1e12), 100*float64(more)/float64(t.total))
	} else {
		t.found.Add(lint.CostOverTaste, 0, "", "%s: alike, and with the rest as it is, a device would hold %s, and not %s", w.odd,
			diag.Bytes(least.step.Peak), diag.Bytes(t.best.step.Peak))
	}
	return nil
}

// takes makes a program the best plan if it costs next to nothing more than the one that cost alone chose, and there is less to wish for.
func (t *tasting) takes(found *lowered, layouts []collectives.Layout) bool {
	if found == nil || found.step.Total() > t.most || found.step.Peak > t.peak || !t.within(found) ||
		len(t.wishes(layouts)) >= len(t.wishes(t.layouts)) {
		return false
	}
	t.best, t.layouts = found, layouts
	return true
}

// change lowers the best plan with other layouts of its inputs. There is none where time or steps for that are over.
func (t *tasting) change(layouts []collectives.Layout) (*lowered, error) {
	if t.left < t.each || t.ctx.Err() != nil {
		return nil, t.late.Err()
	}
	t.left -= t.each
	from := t.best.layouts
	from.annotated = from.annotated.Clone()
	for k, v := range from.annotated.BlockArgs(from.annotated.MainFunc().Body) {
		if !layouts[k].Equal(&t.layouts[k]) {
			from.annotated.SetSharding(v, from.annotated.InternSharding(layouts[k].Sharding(t.choice.planner.mesh)))
		}
	}
	t.tie(from.annotated)
	return t.lowerWithout(t.late, from, t.best.without, 0)
}

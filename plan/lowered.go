package plan

import (
	"context"

	"autoshard/collectives"
	"autoshard/cost/estimate"
	"autoshard/internal/parallel"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/rewrites"
	"autoshard/shardmap"
)

// lowered is a program in all its forms, with its predicted cost.
type lowered struct {
	layouts
	without   rewrites.Set
	explicit  *ir.Module // with explicit collectives
	program   *shardmap.Program
	step      estimate.Step
	rewritten collectives.Rewritten
	again     int      // values that are made again
	exhausted bool     // nothing more was found to make again, and it was to hold less
	merging   *Merging // nil where nothing is merged
	merges    int64    // the peak with all merged that makes it faster, also where that does not fit; 0 if nothing does
}

// layouts is what a program is lowered from.
type layouts struct {
	annotated  *ir.Module // every value with its sharding
	assignment collectives.Assignment
	planner    *collectives.Planner
	reach      int
	most       int64 // bytes: values are made again until a device holds no more; 0: none are
}

// ofReshards are the rewrites of reshards. The search prices every reshard by itself, and knows which of its collectives can be sent as
// one: programs that it compares are lowered without them, those that are shown with those that make them faster.
var ofReshards = rewrites.Of(rewrites.SinkReshards, rewrites.HoistReshards, rewrites.SkipLayouts)

// lower makes communications explicit, overlaps products with collectives and merges collectives where that is faster and not more
// than memory holds, and predicts the cost of a step. It fails with the context's error where that ends.
func (p *planner) lower(ctx context.Context, annotated *ir.Module, assignment collectives.Assignment,
	planner *collectives.Planner, reach int) (*lowered, error) {
	return p.lowerWithout(ctx, layouts{annotated, assignment, planner, reach, 0}, p.Without|ofReshards, 0)
}

// lowerWithout does so without some rewrites; it returns nil where none of those that are needed changes anything.
func (p *planner) lowerWithout(ctx context.Context, from layouts, without, needed rewrites.Set) (*lowered, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &lowered{layouts: from, without: without, explicit: from.annotated.Clone()}
	how := collectives.Rewriting{Reach: from.reach, Without: without, Needed: needed}
	if without.Has(rewrites.ShareReshards) {
		how.Reach = 0
	}
	var err error
	if l.rewritten, err = collectives.Partition(ctx, l.explicit, p.mesh, from.assignment, from.planner, how); err != nil ||
		needed != 0 && l.rewritten.Changed&needed == 0 {
		return nil, err
	}
	ir.EraseDead(l.explicit)
	if from.most > 0 && !without.Has(rewrites.RecomputeActivations) {
		if err := p.recompute(ctx, l); err != nil {
			return nil, err
		}
	}
	if l.program, err = shardmap.Lower(ctx, l.explicit.Clone(), p.mesh); err != nil {
		return nil, err
	}
	if l.step, err = p.model.Program(ctx, l.program); err != nil {
		return l, err
	}
	if !without.Has(rewrites.CollectiveMatmul) {
		if err := p.overlap(ctx, l); err != nil {
			return l, err
		}
	}
	if !without.Has(rewrites.MergeCollectives) {
		err = p.merge(ctx, l)
	}
	return l, err
}

// improve returns a program with the rewrites of reshards that make it faster, all or one of them, as far as memory holds it, and without
// deferred reductions where that is faster: a product may hide a reduction that follows it at once. Where the context ends, it is as it
// was.
func (p *planner) improve(ctx context.Context, l *lowered) *lowered {
	l = p.rewrite(ctx, l)
	if l.rewritten.Changed.Has(rewrites.DeferReductions) {
		prompt, err := p.lowerWithout(ctx, l.layouts, l.without|rewrites.Of(rewrites.DeferReductions), 0)
		if err == nil && p.better(prompt, l) {
			return prompt
		}
	}
	return l
}

// rewrite returns a program with the rewrites of reshards that make it faster.
func (p *planner) rewrite(ctx context.Context, l *lowered) *lowered {
	wanted := ofReshards &^ p.Without
	if wanted == 0 {
		return l
	}
	all, err := p.lowerWithout(ctx, l.layouts, l.without&^wanted, wanted)
	if err != nil || all == nil {
		return l
	}
	if p.better(all, l) {
		return all
	}
	best := l
	for _, r := range (all.rewritten.Changed & wanted).List() {
		one, err := p.lowerWithout(ctx, l.layouts, l.without&^rewrites.Of(r), rewrites.Of(r))
		if err == nil && one != nil && p.better(one, best) {
			best = one
		}
	}
	return best
}

// better says whether a program is faster than another and fits, or takes no more memory, and keeps the budgets if the other one does.
func (p *planner) better(l, than *lowered) bool {
	return l.step.Total() < than.step.Total() && l.step.Peak <= max(p.Memory, than.step.Peak) &&
		(p.within(l) || !p.within(than))
}

// changed returns the rewrites that changed a program.
func (l *lowered) changed() rewrites.Set {
	changed := l.rewritten.Changed
	if l.again > 0 {
		changed |= rewrites.Of(rewrites.RecomputeActivations)
	}
	if len(l.program.Rings) > 0 {
		changed |= rewrites.Of(rewrites.CollectiveMatmul)
	}
	if l.merging != nil {
		changed |= rewrites.Of(rewrites.MergeCollectives)
	}
	return changed
}

// gains says what each rewrite of a program saves: it lowers the program without it, but for the last one, of which that is known. It
// returns the fastest of these programs if that is better than the one with all: rewrites are chosen together, and one may be in the way of
// another. Where the context ends, those that are not known yet are left out.
func (p *planner) gains(ctx context.Context, l *lowered) (gains []Gain, better *lowered) {
	with := program.EstimateOf(l.program, &l.step)
	gains = p.partsGain(with)
	changed := l.changed()
	list := (changed &^ rewrites.Of(rewrites.MergeCollectives)).List()
	others := make([]*lowered, len(list))
	parallel.Each(len(list), func(i int) {
		from := l.layouts
		from.planner = from.planner.Without(nil) // what a planner answers does not depend on what it was asked before
		if other, err := p.lowerWithout(ctx, from, l.without|rewrites.Of(list[i]), 0); err == nil {
			others[i] = other
		}
	})
	best := l
	for i, other := range others {
		if other == nil {
			return gains, nil
		}
		if p.better(other, best) {
			best, better = other, other
		}
		alone := program.EstimateOf(other.program, &other.step)
		if alone == with {
			continue
		}
		gains = append(gains, Gain{list[i].String(), alone.Seconds - with.Seconds, alone.SentBytes - with.SentBytes,
			alone.PeakBytes - with.PeakBytes})
	}
	if changed.Has(rewrites.MergeCollectives) {
		gains = append(gains, Gain{Rewrite: rewrites.MergeCollectives.String(), SavedSeconds: l.merging.SavedSeconds})
	}
	return gains, better
}

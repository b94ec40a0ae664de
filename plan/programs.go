package plan

import (
	"context"

	"autoshard/internal/lint"
	"autoshard/internal/lists"
	"autoshard/internal/parallel"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"
	"autoshard/shardmap/ring"
)

// overlap puts collective matmuls in the place of products and collectives where that is faster and not more than memory
// holds. The program with explicit collectives asks for them.
func (p *planner) overlap(ctx context.Context, l *lowered) error {
	choices, err := p.model.Rings(ctx, l.program)
	if err != nil || len(choices) == 0 {
		return err
	}
	rings := l.program.Clone()
	ask := func(m *ir.Module, op ir.OpID, way ring.Way) {
		m.SetAttrs(op, m.OpAttrs(op).With(ring.Attr, ir.StringAttr(way.String())))
	}
	for _, c := range choices {
		ask(rings.Module, rings.Collectives[c.Collective].Op, c.Way)
	}
	if err := ring.Rewrite(ctx, rings); err != nil {
		return err
	}
	step, err := p.model.Program(ctx, rings)
	if err != nil || step.Peak > max(p.Memory, l.step.Peak) {
		return err
	}
	for _, c := range choices {
		ask(l.explicit, l.program.Collectives[c.Collective].From, c.Way)
	}
	l.program, l.step = rings, step
	return nil
}

// mostMerged bounds the bytes that a merged collective reads and makes: what it takes before it sends is nothing beside them. Where memory
// does not hold that, an eighth of it is tried, and so on, to leastMerged.
const mostMerged, leastMerged = 64 << 20, 32

// merge sends collectives together where that is faster and not more than memory holds. The program with explicit collectives asks
// for it.
func (p *planner) merge(ctx context.Context, l *lowered) error {
	joined := [][]int{p.model.Joins(l.program)}
	if turned := p.model.JoinedGathers(l.program); len(turned) > 0 {
		joined = append(joined, append(turned, joined[0]...))
	}
	for most := int64(mostMerged); most >= leastMerged; most /= 8 {
		faster, best, err := p.fastestMerged(ctx, l, joined, most)
		switch {
		case err != nil || !faster:
			return err
		case best.merged != nil:
			merge.Ask(l.explicit, most)
			for _, i := range best.joined {
				merge.Join(l.explicit, l.program.Collectives[i].From)
			}
			l.merging = gained(l, best.merged)
			l.program, l.step = best.merged.program, best.merged.step
			return nil
		}
		for room := p.Memory - l.step.Peak; most/8 > room && most >= leastMerged; {
			most /= 8
		}
	}
	return nil
}

// mergedWay is a program with merged collectives, and those that are marked for that.
type mergedWay struct {
	joined []int
	merged *lowered
}

// fastestMerged returns the fastest program with merged collectives of at most so many bytes that memory holds, with some collectives or
// others marked, and says whether any is faster than without, whatever it holds. The first time it notes what the fastest one holds.
func (p *planner) fastestMerged(ctx context.Context, l *lowered, joined [][]int, most int64) (faster bool, best mergedWay, err error) {
	limit := l.step.Total() - int64(len(l.program.Collectives)) // which are rounded
	fastest, peak := limit, int64(0)
	ways, errs := make([]*lowered, len(joined)), make([]error, len(joined))
	parallel.Each(len(joined), func(i int) { ways[i], errs[i] = p.merged(ctx, l, joined[i], most) })
	for i, merged := range ways {
		if errs[i] != nil {
			return false, best, errs[i]
		}
		if merged == nil {
			continue
		}
		if merged.step.Total() < fastest {
			fastest, peak = merged.step.Total(), merged.step.Peak
		}
		if merged.step.Peak <= max(p.Memory, l.step.Peak) && merged.step.Total() < limit {
			limit, best = merged.step.Total(), mergedWay{joined[i], merged}
		}
	}
	if l.merges == 0 {
		l.merges = peak
	}
	return peak > 0, best, nil
}

// separate notes how many collectives of a program are not sent as one since hardware begins each array of a collective anew.
func (p *planner) separate(l *lowered) {
	n := 0
	for i := range l.program.Collectives {
		c := &l.program.Collectives[i]
		if len(c.Axes) > 0 && p.model.Price(c.Kind, c.Axes, 0) > 0 && p.model.Start(c.Kind, c.Axes) == 0 {
			n++
		}
	}
	if n > 1 {
		p.found.Add(lint.SeparateCollectives, 0, "", "%d collectives are sent one by one, although some could be one: the hardware profile says "+
			"that each array of a collective takes as long to begin as the first (arrays: 1)", n)
	}
}

// gained compares a program with one of merged collectives.
func gained(l, merged *lowered) *Merging {
	before, after, ops := l.program.Collectives, merged.program.Collectives, l.program.Module.NumOps()
	alone := lists.Filter(after, func(c shardmap.Collective) bool { return int(c.Op) < ops })
	return &Merging{Collectives: len(before) - len(alone), Into: len(after) - len(alone),
		SavedSeconds: float64(l.step.Total()-merged.step.Total()) / program.Picoseconds}
}

// merged returns a program with merged collectives of at most so many bytes, with some of them marked; nil if there are none.
func (p *planner) merged(ctx context.Context, l *lowered, joined []int, most int64) (*lowered, error) {
	out := &lowered{layouts: l.layouts, explicit: l.explicit, program: l.program.Clone()}
	merge.Ask(out.program.Module, most)
	for _, i := range joined {
		merge.Join(out.program.Module, l.program.Collectives[i].Op)
	}
	err := merge.Rewrite(ctx, out.program)
	if err != nil || len(out.program.Collectives) == len(l.program.Collectives) {
		return nil, err
	}
	out.step, err = p.model.Program(ctx, out.program)
	return out, err
}

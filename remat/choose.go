package remat

import (
	"cmp"
	"context"
	"slices"

	"autoshard/ir"
)

// rounds bounds how often values are chosen.
const rounds = 400

// share is the part of what is to be saved for which values are chosen at a time: a twelfth or, of large modules, up to a third.
func (d *Device) share() int64 { return min(max(60_000/int64(d.module.NumOps()), 3), 12) }

// Choose chooses values that are made again until a device holds no more than a limit: those first that save most bytes where too much is
// held for each second that making them takes. What turns out to be needless is taken back. Where no choice is small enough, the
// smallest is returned. The only error is the context's.
func (d *Device) Choose(ctx context.Context, limit int64) (Choice, error) {
	var chosen Choice
	now, err := d.see(ctx, &chosen)
	if err != nil {
		return chosen, err
	}
	smallest, least, banned := chosen, now.peak, map[pick]bool{}
	for range rounds {
		if now.peak <= limit {
			return d.prune(ctx, chosen, limit)
		}
		picks := slices.DeleteFunc(now.picks(limit), func(p *picked) bool { return banned[p.pick] })
		if len(picks) == 0 {
			break
		}
		next, then, err := d.try(ctx, &chosen, independent(picks, (now.peak-limit)/d.share()), now.excess(limit), limit)
		if err != nil {
			return chosen, err
		}
		if then == nil {
			next, then, err = d.try(ctx, &chosen, picks[:1], now.excess(limit), limit)
		}
		if err != nil {
			return chosen, err
		}
		if then == nil {
			banned[picks[0].pick] = true
			continue
		}
		if chosen, now = next, then; now.peak < least {
			smallest, least = chosen, now.peak
		}
	}
	smallest.Short = true
	return smallest, ctx.Err()
}

// try adds what was picked to a choice, and returns what is held then; nil where that exceeds the limit by as much as before.
func (d *Device) try(ctx context.Context, c *Choice, picks []*picked, excess, limit int64) (Choice, *view, error) {
	next := c.clone()
	for _, p := range picks {
		for _, x := range p.values {
			next.add(x.value, x.from)
		}
	}
	then, err := d.see(ctx, &next)
	if err != nil || then.excess(limit) >= excess {
		return next, nil, err
	}
	return next, then, nil
}

// independent returns the best of some picks that have no values in common, until they save enough.
func independent(picks []*picked, enough int64) (out []*picked) {
	saved, seen := int64(0), map[ir.ValueID]bool{}
	for _, p := range picks {
		touches := slices.ContainsFunc(p.values, func(x pick) bool { return seen[x.value] }) || slices.ContainsFunc(p.kept,
			func(v ir.ValueID) bool { return seen[v] })
		if touches {
			continue
		}
		for _, x := range p.values {
			seen[x.value] = true
		}
		for _, v := range p.kept {
			seen[v] = true
		}
		out = append(out, p)
		if saved += p.saved; saved > enough {
			break
		}
	}
	return out
}

// mostPruned bounds the ops that are looked at while needless copies are taken back, over all tries.
const mostPruned = 300_000

// prune takes back each copy without which a device holds no more than the limit, too, and a step takes less.
func (d *Device) prune(ctx context.Context, c Choice, limit int64) (Choice, error) {
	now, err := d.see(ctx, &c)
	if err != nil {
		return c, err
	}
	takes := now.takes()
	var all []pick
	for v, from := range c.from {
		for _, at := range from {
			all = append(all, pick{v, at})
		}
	}
	price := func(p pick) int64 { return d.price(d.module.DefiningOp(p.value), now.Fused) }
	slices.SortFunc(all, func(a, b pick) int {
		return cmp.Or(cmp.Compare(price(b), price(a)), cmp.Compare(a.value, b.value), cmp.Compare(a.from, b.from))
	})
	for _, p := range all[:min(len(all), mostPruned/d.module.NumOps())] {
		without := c.clone()
		without.drop(p.value, p.from)
		then, err := d.see(ctx, &without)
		if err != nil {
			return c, err
		}
		if less := then.takes(); then.peak <= limit && less <= takes {
			c, takes = without, less
		}
	}
	return c, nil
}

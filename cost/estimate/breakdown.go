package estimate

import (
	"context"

	"autoshard/cost"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Item is what an op of a program takes in one step.
type Item struct {
	Op          ir.OpID
	Collective  int // index in the program's list; -1 for a local op
	Runs        int64
	Picoseconds int64         // of all runs
	Bound       cost.Resource // what it waits for
}

// Breakdown returns what each op of a program takes, in program order: of branches those that take longest. The items that take something
// add up to [Step.Total]. The only error is the context's.
func (md *Model) Breakdown(ctx context.Context, p *shardmap.Program) ([]Item, error) {
	r, err := md.read(ctx, p)
	if err != nil {
		return nil, err
	}
	b := &breaker{reading: r, md: md, p: p}
	items, _, err := b.block(ctx, p.Module.Func(p.Main).Body, 1)
	return items, err
}

// breaker breaks the time of a program down.
type breaker struct {
	*reading
	md *Model
	p  *shardmap.Program
}

// block returns the items of a block that runs some times, and their local picoseconds.
func (b *breaker) block(ctx context.Context, block ir.BlockID, runs int64) (items []Item, local int64, err error) {
	m := b.p.Module
	for op := range m.Ops(block) {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		i, communicates := b.index[op]
		switch {
		case communicates:
			items = append(items, b.collective(i))
		case m.Kind(op).HasBodies():
			inside, ps, err := b.bodies(ctx, op, runs)
			if err != nil {
				return nil, 0, err
			}
			items, local = append(items, inside...), local+ps
		case !b.free[op] && !m.Kind(op).IsTerminator():
			item := b.op(op, runs)
			items, local = append(items, item), local+item.Picoseconds
		}
	}
	return items, local, nil
}

// bodies returns the items of a loop, or of that branch whose local ops take longest with the collectives of all.
func (b *breaker) bodies(ctx context.Context, op ir.OpID, runs int64) (items []Item, local int64, err error) {
	m := b.p.Module
	loop := m.Kind(op) == ir.OpWhile
	if loop {
		runs *= ir.Trips(m, op)
	}
	var longest []Item
	for i := range m.NumRegions(op) {
		inside, ps, err := b.block(ctx, m.RegionBlock(op, i), runs)
		if err != nil {
			return nil, 0, err
		}
		if loop {
			items, local = append(items, inside...), local+ps
			continue
		}
		for _, item := range inside {
			if item.Collective >= 0 {
				items = append(items, item)
			}
		}
		if longest == nil || ps > local {
			longest, local = inside, ps
		}
	}
	for _, item := range longest {
		if item.Collective < 0 {
			items = append(items, item)
		}
	}
	return items, local, nil
}

// op returns the item of a local op.
func (b *breaker) op(op ir.OpID, runs int64) Item {
	m := b.p.Module
	w := WorkOf(m, op, shapes(m, m.Operands(op)), shapes(m, m.ResultValues(op)), b.Fused)
	roof := b.md.hardware.Op(w, b.md.topology.Options())
	bound := cost.ResourceCompute
	switch {
	case roof.Seconds > max(roof.Math, roof.HBM):
		bound = cost.ResourceLatency
	case roof.HBM > roof.Math:
		bound = cost.ResourceMemory
	}
	return Item{op, -1, runs, cost.Picoseconds(roof.Seconds) * runs, bound}
}

// collective returns the item of a collective.
func (b *breaker) collective(i int) Item {
	c := &b.p.Collectives[i]
	bound := cost.ResourceNetwork
	if takes := b.md.costOf(b.p.Module, c); takes.Latency+takes.Overhead > takes.Bandwidth {
		bound = cost.ResourceLatency
	}
	return Item{c.Op, i, c.Runs, b.sent[c.Op] * c.Runs, bound}
}

package space

import (
	"math"

	"maps"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
)

// draft is a class that is being made for the first of its nodes.
type draft struct {
	*Space
	node           *node
	strategies     []strategy
	operands, kept [][]layoutID // by port and strategy
	seen           map[string]bool
	key            []byte
}

func (s *Space) draft(n *node) *draft {
	return &draft{Space: s, node: n, seen: map[string]bool{}, operands: make([][]layoutID, len(n.operands)),
		kept: make([][]layoutID, max(1, len(n.values)))}
}

// clone returns a copy that goes on for another node.
func (d *draft) clone(n *node) *draft {
	c := *d
	c.node, c.seen, c.key, c.strategies = n, maps.Clone(d.seen), nil, slices.Clip(d.strategies)
	c.operands, c.kept = slices.Clone(d.operands), slices.Clone(d.kept)
	for _, ports := range [][][]layoutID{c.operands, c.kept} {
		for i := range ports {
			ports[i] = slices.Clip(ports[i])
		}
	}
	return &c
}

// class ends the draft.
func (d *draft) class() *class {
	c := &class{strategies: slices.Clip(d.strategies), product: -1}
	for _, ids := range d.operands {
		c.operands = append(c.operands, d.lists.intern(ids))
	}
	for _, ids := range d.kept {
		c.kept = append(c.kept, d.lists.intern(ids))
	}
	if n := d.node; d.rings && n.op != 0 && multiplies(d.m.Kind(n.op)) {
		list := make([]work, len(d.strategies))
		for i := range list {
			list[i] = d.strategies[i].work
		}
		c.product = d.lists.product(list)
	}
	return c
}

// free adds strategies that keep the value in each of some layouts at no cost, and read all operands in the same one.
func (d *draft) free(layouts []collectives.Layout) {
	for _, l := range layouts {
		id := d.intern(l)
		for j := range d.operands {
			d.operands[j] = append(d.operands[j], id)
		}
		d.kept[0] = append(d.kept[0], id)
		d.strategies = append(d.strategies, strategy{bytes: d.bytes([]layoutID{id})})
	}
}

// ruled adds every way to cut an op by its rule, times every way to keep its results.
func (d *draft) ruled(r *ir.Rule, shardable []bool, reduction ir.Reduction) {
	d.factorings(r, shardable, func(factors collectives.Factors) { d.project(r, reduction, factors, nil) })
}

// project adds the strategies that cut an op by some factors and keep its results in the given layouts, or in every way.
func (d *draft) project(r *ir.Rule, reduction ir.Reduction, factors collectives.Factors, kept []collectives.Layout) {
	operands, results, ok := collectives.Project(r, factors, reduction)
	if !ok {
		return
	}
	c := d.cut(factors, operands, results)
	if kept != nil {
		d.once(&c, kept)
		return
	}
	for _, k := range d.keeps(d.node.values, results) {
		d.once(&c, k)
	}
}

// cut is a way to cut an op, with the price of its work on one device.
type cut struct {
	factors  collectives.Factors
	operands []layoutID
	results  []collectives.Layout // as they come out
	made     []layoutID
	cost     int64
	work     work
}

func (d *draft) cut(factors collectives.Factors, operands, results []collectives.Layout) cut {
	n := d.node
	local := func(values []ir.ValueID, layouts []collectives.Layout) [][]int64 {
		out := make([][]int64, len(values))
		for i, v := range values {
			if d.isTensor(v) {
				out[i] = layouts[i].LocalDims(d.m.Shape(v))
			}
		}
		return out
	}
	from, to := local(n.operands, operands), local(n.values, results)
	c := cut{factors, d.internAll(operands), results, d.internAll(results), d.model.Op(d.m, n.op, from, to, d.fused),
		work{time: d.model.Op(d.m, n.op, from, to, d.gone)}}
	if d.m.Kind(n.op) == ir.OpDotGeneral {
		t := d.m.ValueType(n.values[0])
		c.work.adding = d.model.Adding(t.DType, t.Elements()/results[0].Shards())
	}
	return c
}

// once adds a strategy if it respects the pins and is not there yet.
func (d *draft) once(c *cut, kept []collectives.Layout) {
	if !d.respects(d.node.values, kept) {
		return
	}
	d.key = d.key[:0]
	ids := d.internAll(kept)
	for _, list := range [][]layoutID{c.operands, c.made, ids} {
		for _, id := range list {
			d.key = append(d.key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
		}
	}
	if !d.seen[string(d.key)] {
		d.seen[string(d.key)] = true
		d.add(c, ids)
	}
}

// add adds a strategy with its price: the op on one device's blocks and sending its results to where they are kept.
func (d *draft) add(c *cut, kept []layoutID) {
	if !d.charge(strategyWork) || !d.bounded(d.count+len(d.strategies), maxStrategiesInAll, smallStrategies) {
		return
	}
	n := d.node
	st := strategy{factors: c.factors, cost: c.cost, work: c.work, bytes: d.bytes(kept)}
	sent, saved := int64(0), int64(0) // in all, and by overlap with this product
	for i, v := range n.values {
		if d.isTensor(v) && c.made[i] != kept[i] {
			p := d.reshard(c.made[i], kept[i], d.tensor(v))
			st.cost += p.all
			sent += p.least
			if d.rings && d.fed[d.same[v]] {
				sent -= p.last.saves(work{time: math.MaxInt64 / 2}, d.m.Shape(v), 0)
			}
			if d.rings && d.m.Kind(n.op) == ir.OpDotGeneral {
				saved = p.first.saves(st.work, d.m.Shape(v), 0)
			}
		}
	}
	st.least = st.work.time + sent - saved
	d.strategies = append(d.strategies, st)
	for j, id := range c.operands {
		d.operands[j] = append(d.operands[j], id)
	}
	for j, id := range kept {
		d.kept[j] = append(d.kept[j], id)
	}
}

// bytes returns those that the node's values take on one device.
func (d *draft) bytes(kept []layoutID) int64 {
	total := int64(0)
	for i, v := range d.node.values {
		if d.isTensor(v) && !d.fused[v] {
			total += d.m.ValueType(v).Bytes() / d.layouts[kept[i]].Shards()
		}
	}
	return total
}

func (s *Space) internAll(layouts []collectives.Layout) []layoutID {
	out := make([]layoutID, len(layouts))
	for i := range layouts {
		out[i] = s.intern(layouts[i])
	}
	return out
}

package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// price gives all strategies their prices.
func (s *Space) price() {
	s.aim()
	for _, d := range s.classes.drafts {
		d.price()
	}
	s.classes.drafts, s.classes.bases, s.classes.made = nil, nil, nil
}

// aim finds the ways on which results are sent to where they are kept, those of each tensor at once.
func (s *Space) aim() {
	type end struct {
		tensor *collectives.Tensor
		layout layoutID
		to     bool
	}
	var asks []collectives.Ask
	of, seen := map[*collectives.Tensor]int{}, map[end]bool{}
	isNew := func(e end) bool {
		known := seen[e]
		seen[e] = true
		return !known
	}
	for _, d := range s.classes.drafts {
		d.sends(func(t *collectives.Tensor, made, kept layoutID) {
			at, ok := of[t]
			if !ok {
				at = len(asks)
				of[t], asks = at, append(asks, collectives.Ask{Tensor: t})
			}
			if isNew(end{t, made, false}) {
				asks[at].From = append(asks[at].From, s.known[made])
			}
			if isNew(end{t, kept, true}) {
				asks[at].To = append(asks[at].To, s.known[kept])
			}
		})
	}
	if err := s.planner.Aim(s.effort.ctx, asks); s.err == nil {
		s.err = err
	}
}

// sends calls visit with every tensor that own strategies send, and between which layouts.
func (d *draft) sends(visit func(t *collectives.Tensor, made, kept layoutID)) {
	for x := d.inherited(); x < len(d.of); x++ {
		made := d.cuts[d.of[x]].made
		for j, v := range d.node.values {
			if kept := d.kept[j][x]; d.isTensor(v) && made[j] != kept {
				visit(d.tensor(v), made[j], kept)
			}
		}
	}
}

// inherited returns how many strategies are those of the base.
func (d *draft) inherited() int {
	if d.base == nil {
		return 0
	}
	return d.base.count
}

func (d *draft) price() {
	c, begin := d.class, d.inherited()
	if d.base != nil {
		copy(c.strategies, d.base.class.strategies)
	}
	kept := make([]layoutID, len(d.kept))
	var w priced
	for x := begin; x < len(c.strategies) && d.charge(strategyWork); x++ {
		for j := range d.node.values {
			kept[j] = d.kept[j][x]
		}
		st := &c.strategies[x]
		st.bytes = d.uses(kept)
		if d.of == nil {
			continue
		}
		if x == begin || d.of[x] != d.of[x-1] {
			w = d.compute(&d.cuts[d.of[x]])
		}
		st.cost, st.work = w.cost, w.surely
		d.send(st, d.cuts[d.of[x]].made, kept)
	}
	c.reduces = slices.ContainsFunc(c.strategies, func(st strategy) bool { return st.reduced > 0 })
	if d.mayOverlap(d.node.op) {
		c.product = d.lists.product(c.computed())
	}
}

// priced is the price of a cut op on one device, and what it surely computes.
type priced struct {
	cost   int64
	surely work
}

func (d *draft) compute(c *cut) priced {
	n := &d.node
	local := func(values []ir.ValueID, layouts []layoutID) [][]int64 {
		out := make([][]int64, len(values))
		for i, v := range values {
			if d.isTensor(v) {
				out[i] = d.layouts[layouts[i]].LocalDims(d.m.Shape(v))
			}
		}
		return out
	}
	var from [][]int64
	if c.operands != nil {
		from = local(n.operands, c.operands)
	}
	to := local(n.values, c.made)
	p := d.local(n, c, from, to)
	p.cost += d.masking(n, c, from)
	switch d.m.Kind(n.op) {
	case ir.OpDotGeneral:
		t := d.m.ValueType(n.values[0])
		p.surely.adding = d.model.Adding(t.DType, d.layouts[c.made[0]].LocalElements(t.Dims))
	case ir.OpIota:
		l := &d.layouts[c.made[0]]
		if t := d.m.ValueType(n.values[0]); len(l.Dims[d.m.OpAttrs(n.op).Int("iota_dimension", 0)]) > 0 {
			counting := d.model.Counting(t.DType, l.LocalElements(t.Dims))
			p.cost, p.surely.time = p.cost+counting, p.surely.time+counting
		}
	}
	return p
}

// masking prices what hides the padding of summed dimensions from an op, which reads and writes its operands for that. Reductions read
// them through the mask.
func (d *draft) masking(n *node, c *cut, from [][]int64) (price int64) {
	r := d.rules[n.op]
	if r == nil || c.operands == nil || d.m.Kind(n.op) == ir.OpReduce || len(r.Reduction) == 0 {
		return 0
	}
	for i, v := range n.operands {
		if !d.isTensor(v) {
			continue
		}
		hidden := false
		for k, size := range d.m.Shape(v) {
			f, ok := rule.Leading(r, r.Operands[i][k])
			hidden = hidden || ok && size%subaxis.Product(d.layouts[c.operands[i]].Dims[k]) != 0 && slices.Contains(r.Reduction, f)
		}
		if hidden {
			price += d.model.Price(collectives.AllSlice, nil, (&ir.Type{DType: d.m.ValueType(v).DType, Dims: from[i]}).Bytes())
		}
	}
	return price
}

// local prices an op on the blocks of a cut, with what it fetches of other blocks: programs surely send that.
func (d *draft) local(n *node, c *cut, from, to [][]int64) priced {
	if len(n.values) > 0 && d.isTensor(n.values[0]) && c.operands != nil {
		at := func(operand int) *collectives.Layout {
			if operand < 0 {
				return &d.layouts[c.made[0]]
			}
			return &d.layouts[c.operands[operand]]
		}
		if f := d.model.Fetch(d.m, n.op, at, from); f.Any {
			p := priced{f.Sent + f.Copied, work{time: f.Sent - f.Merged}}
			if !f.Done {
				p.cost += d.model.Op(d.m, n.op, f.Operands, to, d.fused)
				p.surely.time += d.model.Op(d.m, n.op, f.Operands, to, d.bare.Fused)
			}
			return p
		}
	}
	return priced{d.model.Op(d.m, n.op, from, to, d.fused), work{time: d.model.Op(d.m, n.op, from, to, d.bare.Fused)}}
}

// send adds the price of sending the results to where they are kept.
func (d *draft) send(st *strategy, made, kept []layoutID) {
	sent, saved := int64(0), int64(0) // in all, and by overlap with this product
	for i, v := range d.node.values {
		if !d.isTensor(v) || made[i] == kept[i] {
			continue
		}
		if !d.charge(pairWork) {
			return
		}
		w := d.planner.Way(d.tensor(v), d.known[made[i]], d.known[kept[i]])
		p := d.priceOf(&w, made[i], kept[i])
		d.reduce(st, v, &w)
		st.cost += p.all
		sent += p.least
		if d.merges { // a result that is pinned: what moves it may wait for anything
			sent = max(0, sent-p.gathered)
		}
		if d.rings && d.fed[d.same[v]] {
			sent -= d.saves(p.last, anything.time, d.m.Shape(v))
		}
		if d.rings && d.m.Kind(d.node.op) == ir.OpDotGeneral {
			saved = d.saves(p.first, st.work.time, d.m.Shape(v))
		}
	}
	st.least = st.work.time + sent - saved
}

// reduce notes what the reductions of a way on which a result is sent take. A reduce-scatter whose copies take half of what it could save
// stays alone.
func (d *draft) reduce(st *strategy, v ir.ValueID, w *collectives.Way) {
	w.Back(func(h collectives.Hop) {
		if !reduces(h.Kind) {
			return
		}
		st.summed += h.Price
		before, copied := d.latency(&h), int64(0)
		if h.Kind == collectives.ReduceScatter {
			turns := (&ir.Type{Dims: d.m.Shape(v)[:h.Dim]}).Elements() > d.m.Mesh(d.mesh).Devices()
			copied = d.model.Copying(h.Before, h.After, turns, writes(d.m.Kind(d.node.op))) - rounding
		}
		if 2*copied >= before.time {
			return
		}
		if before.time <= st.reduced || v != d.node.values[0] {
			st.free += before.time
			return
		}
		st.free += st.reduced
		st.reduced, st.copied, st.over, st.later = before.time, copied, before.over, d.laterWays(h.Axes)
	})
}

// writes says whether a device writes its part of a result of an op of a kind to memory by that op, and by none that follows it.
func writes(k ir.Kind) bool { return k == ir.OpDotGeneral || k == ir.OpConvolution || k == ir.OpReduce }

// uses returns the bytes that the node's values take on one device.
func (d *draft) uses(kept []layoutID) int64 {
	total := int64(0)
	for i, v := range d.node.values {
		if d.isTensor(v) && !d.unheld[v] {
			total += d.bytes(v, kept[i])
		}
	}
	return total
}

// computed lists what the strategies compute while their operands may be sent.
func (c *class) computed() []work {
	list := make([]work, len(c.strategies))
	for i := range list {
		list[i] = c.strategies[i].work
	}
	return list
}

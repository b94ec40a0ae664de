package remat

import (
	"cmp"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/fusion"
	"autoshard/shardmap"
)

// written is a module with copies of values.
type written struct {
	fusion.Values // of the module as it was

	m      *ir.Module
	choice *Choice
	place  []int32 // of each op in its block as it was; of the ops that make copies, that of the op that needs them
	copies map[copied]ir.ValueID
	origin map[ir.ValueID]ir.ValueID // of copies: the value

	repeated []ir.OpID // the ops of the values that are made again, as often as that is done
}

// copied is one of the copies of a value, counted from 1.
type copied struct {
	value ir.ValueID
	copy  int
}

// write puts the copies of a choice into a module.
func write(m *ir.Module, c *Choice) *written {
	w := &written{m: m, choice: c, Values: fusion.Of(m), place: make([]int32, m.NumOps()), copies: map[copied]ir.ValueID{},
		origin: map[ir.ValueID]ir.ValueID{}}
	w.block(m.MainFunc().Body)
	return w
}

// block lets the ops of a block, and of those inside it, read copies.
func (w *written) block(b ir.BlockID) {
	place := int32(0)
	for op := range w.m.Ops(b) {
		w.place[op] = place
		place++
	}
	for op := w.m.FirstOp(b); op != 0; op = w.m.NextOp(op) {
		w.supply(op)
		if w.m.Kind(op).HasBodies() {
			for i := range w.m.NumRegions(op) {
				w.block(w.m.RegionBlock(op, i))
			}
		}
	}
}

// supply makes the copies that an op of a block, and those inside it, read of the block's values, and lets them read these.
func (w *written) supply(op ir.OpID) {
	d := &demand{written: w, place: w.place[op], given: map[ir.ValueID]ir.ValueID{}}
	reads := slices.DeleteFunc(readBy(w.m, op), func(v ir.ValueID) bool { return w.choice.copyAt(v, d.place) == 0 })
	for _, v := range reads {
		d.need(v)
	}
	d.make(op)
	for _, v := range reads {
		w.m.ReplaceUsesIf(v, w.now(v, d.place), func(u ir.Use) bool { return isWithin(w.m, u.Op, op) })
	}
}

// now returns what ops read at a place in place of a value, 0 where that is a copy that is still to be made.
func (w *written) now(v ir.ValueID, place int32) ir.ValueID {
	if n := w.choice.copyAt(v, place); n > 0 {
		return w.copies[copied{v, n}]
	}
	return v
}

// operands returns what an op reads, copies by the values that they are of.
func (w *written) operands(op ir.OpID) []ir.ValueID {
	return lists.Map(w.m.Operands(op), func(v ir.ValueID) ir.ValueID { return cmp.Or(w.origin[v], v) })
}

// readBy returns the values of an op's block that it reads, or an op inside it, each once.
func readBy(m *ir.Module, op ir.OpID) (out []ir.ValueID) {
	b := m.OpBlock(op)
	read := func(inner ir.OpID) {
		for _, v := range m.Operands(inner) {
			if m.BlockOf(v) == b && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	read(op)
	if m.Kind(op).HasBodies() {
		for i := range m.NumRegions(op) {
			m.Walk(m.RegionBlock(op, i), read)
		}
	}
	return out
}

// isWithin says whether an op is another one, or inside it.
func isWithin(m *ir.Module, op, around ir.OpID) bool {
	for ; op != 0; op = m.ParentOp(op) {
		if op == around {
			return true
		}
	}
	return false
}

// demand is the copies that are made before one op.
type demand struct {
	*written
	place   int32
	values  []ir.ValueID // that are made again, in order
	sources []source     // that these are made of, in order
	given   map[ir.ValueID]ir.ValueID
}

// source is a value, and what ops read in its place.
type source struct{ value, now ir.ValueID }

// need lists a value that is made again, behind those that it is made of, unless that was done.
func (d *demand) need(v ir.ValueID) {
	if d.now(v, d.place) != 0 || slices.Contains(d.values, v) {
		return
	}
	m := d.m
	for _, w := range d.operands(m.DefiningOp(v)) {
		now := w
		if m.BlockOf(w) == m.BlockOf(v) {
			now = d.now(w, d.place)
		}
		switch {
		case now == 0:
			d.need(w)
		case isConstant(m, w):
			if m.BlockOf(w) == m.BlockOf(v) && costsNothing(m, w) && !slices.Contains(d.values, w) {
				d.values = append(d.values, w)
			}
		case !slices.Contains(d.sources, source{w, now}):
			d.sources = append(d.sources, source{w, now})
		}
	}
	d.values = append(d.values, v)
}

// make makes the values of a demand before an op.
func (d *demand) make(op ir.OpID) {
	if len(d.sources) > 0 {
		d.guard(op)
	}
	b := d.m.BuilderBefore(op)
	for _, v := range d.values {
		from := d.m.DefiningOp(v)
		for i, w := range d.operands(from) {
			if to, ok := d.given[w]; ok {
				d.given[d.m.Operand(from, i)] = to
			}
		}
		clone := d.m.CloneOp(b, from, d.given)
		d.m.SetAttrs(clone, d.m.OpAttrs(clone).With(shardmap.RecomputedAttr, ir.UnitAttr{}))
		d.note(clone)
		d.written.repeated = append(d.written.repeated, from)
		if n := d.choice.copyAt(v, d.place); n > 0 {
			d.copies[copied{v, n}], d.origin[d.m.Result(clone, 0)] = d.m.Result(clone, 0), v
		}
	}
}

// guard puts a barrier between the values of a demand and what they are made of, which lets them wait for what the op reads.
func (d *demand) guard(op ir.OpID) {
	through := lists.Map(d.sources, func(s source) ir.ValueID { return s.now })
	if last := d.latest(op); last != 0 {
		through = append(through, last)
	}
	b := d.m.BuilderBefore(op)
	barrier := b.Op(ir.OpOptimizationBarrier, d.m.TypesOf(through), ir.Attrs{}, through...)
	d.note(barrier)
	for i, v := range through {
		d.m.SetSharding(d.m.Result(barrier, i), d.m.Sharding(v))
	}
	for i, s := range d.sources {
		d.given[s.value] = d.m.Result(barrier, i)
	}
}

// latest returns what is made last of what an op reads from memory, if that is after the values of the demand were made first; 0 if there
// is nothing of that kind.
func (d *demand) latest(op ir.OpID) (last ir.ValueID) {
	m, after := d.m, int32(0)
	for _, v := range d.values {
		after = max(after, d.written.place[m.DefiningOp(v)])
	}
	var visit func(v ir.ValueID)
	visit = func(v ir.ValueID) {
		by := m.DefiningOp(v)
		switch {
		case by == 0 || int(v) >= len(d.Unheld) || m.OpBlock(by) != m.OpBlock(op) || d.now(v, d.place) != v:
		case d.Unheld[v]:
			for _, w := range m.DistinctOperands(by) {
				visit(w)
			}
		case d.written.place[by] > after && m.ValueType(v).Kind == ir.TensorKind:
			last, after = v, d.written.place[by]
		}
	}
	for _, v := range m.Operands(op) {
		visit(v)
	}
	return last
}

// note remembers the place of an op that was made.
func (d *demand) note(op ir.OpID) {
	w := d.written
	w.place = append(w.place, make([]int32, max(0, int(op)+1-len(w.place)))...)
	w.place[op] = d.place
}

// isConstant says whether an op that reads nothing makes a value.
func isConstant(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	return op != 0 && m.NumOperands(op) == 0
}

// costsNothing says whether a constant is computed on the fly wherever it is read: one number, or counted.
func costsNothing(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	value, dense := m.Attr(op, "value").(*ir.Dense)
	return m.Kind(op) == ir.OpIota || dense && value.Splat
}

package remat

import (
	"cmp"
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/ir/fusion"
)

// stack is what a loop writes in each of its iterations into a tensor of which a later loop reads a part in each of its own: what the
// layers of a model keep for the way back.
type stack struct {
	from, to   ir.OpID // the loops
	place, at  int     // where they carry it
	index      ir.ValueID
	update     ir.ValueID // what an iteration writes, with a leading dimension of 1
	write      ir.OpID
	reads      []ir.OpID
	iterations int64
}

// stacks returns the stacks of a module, in the order of their loops.
func stacks(m *ir.Module) (list []*stack) {
	for _, loop := range m.OpsOf(m.MainFunc().Body, ir.OpWhile) {
		for place := range m.NumOperands(loop) {
			if s := stackAt(m, loop, place); s != nil {
				list = append(list, s)
			}
		}
	}
	return list
}

// stackAt returns the stack that a loop writes in a place of what it carries, nil if there is none.
func stackAt(m *ir.Module, loop ir.OpID, place int) *stack {
	body := m.RegionBlock(loop, 1)
	arg, write := m.BlockArgs(body)[place], m.DefiningOp(m.Operand(m.LastOp(body), place))
	if write == 0 || m.OpBlock(write) != body || m.Kind(write) != ir.OpDynamicUpdateSlice || m.Operand(write, 0) != arg || !m.HasOneUse(arg) ||
		!m.HasOneUse(m.Result(write, 0)) || m.HasUses(m.BlockArgs(m.RegionBlock(loop, 0))[place]) {
		return nil
	}
	s := &stack{from: loop, place: place, update: m.Operand(write, 1), write: write, index: m.Operand(write, 2)}
	trips, known := ir.TripCount(m, loop)
	if s.iterations = trips; !known || !isPart(m, m.Shape(arg), m.Shape(s.update), m.Operands(write)[3:]) || m.Shape(arg)[0] != trips ||
		!countsFromZero(m, loop, s.index) || !m.HasOneUse(m.Result(loop, place)) {
		return nil
	}
	for u := range m.Uses(m.Result(loop, place)) {
		s.to, s.at = u.Op, u.Index
	}
	if m.Kind(s.to) != ir.OpWhile || m.OpBlock(s.to) != m.OpBlock(loop) || m.HasUses(m.Result(s.to, s.at)) || !isKept(m, s.to, s.at) {
		return nil
	}
	later := m.RegionBlock(s.to, 1)
	for u := range m.Uses(m.BlockArgs(later)[s.at]) {
		switch {
		case u.Op == m.LastOp(later):
		case m.Kind(u.Op) == ir.OpDynamicSlice && u.Index == 0 && m.OpBlock(u.Op) == later &&
			isPart(m, m.Shape(arg), m.Shape(m.Result(u.Op, 0)), m.Operands(u.Op)[2:]):
			s.reads = append(s.reads, u.Op)
		default:
			return nil
		}
	}
	return s
}

// isPart says whether a tensor is one of the parts along the first dimension of another one, given where it begins in the other dimensions.
func isPart(m *ir.Module, whole, part []int64, starts []ir.ValueID) bool {
	return len(whole) > 0 && part[0] == 1 && slices.Equal(whole[1:], part[1:]) && !slices.ContainsFunc(starts, func(v ir.ValueID) bool {
		n, known := m.ConstantInt(v)
		return !known || n != 0 || !isConstant(m, v)
	})
}

// isKept says whether a loop hands on what it carries in a place as it is, and its condition does not read it.
func isKept(m *ir.Module, loop ir.OpID, place int) bool {
	body := m.RegionBlock(loop, 1)
	return m.Operand(m.LastOp(body), place) == m.BlockArgs(body)[place] && !m.HasUses(m.BlockArgs(m.RegionBlock(loop, 0))[place])
}

// countsFromZero says whether a value counts the iterations of a loop.
func countsFromZero(m *ir.Module, loop ir.OpID, v ir.ValueID) bool {
	body := m.RegionBlock(loop, 1)
	if m.DefiningOp(v) != 0 || m.ArgBlock(v) != body {
		return false
	}
	begin, known := m.ConstantInt(m.Operand(loop, m.Index(v)))
	add := m.DefiningOp(m.Operand(m.LastOp(body), m.Index(v)))
	if !known || begin != 0 || add == 0 || m.Kind(add) != ir.OpAdd || m.Operand(add, 0) != v {
		return false
	}
	step, known := m.ConstantInt(m.Operand(add, 1))
	return known && step == 1
}

// written returns the value of an iteration that a stack keeps: what is written, without its leading dimension where an op adds that.
func (s *stack) written(m *ir.Module) ir.ValueID {
	op := m.DefiningOp(s.update)
	if op == 0 || m.OpBlock(op) != m.RegionBlock(s.from, 1) || !slices.Equal(m.Shape(m.Operand(op, 0)), m.Shape(s.update)[1:]) {
		return s.update
	}
	if k := m.Kind(op); k == ir.OpReshape || k == ir.OpBroadcastInDim {
		return m.Operand(op, 0)
	}
	return s.update
}

// remaker makes what loops stacked up again, in the loops that read it.
type remaker struct {
	d      *Device
	m      *ir.Module
	stacks []*stack
	drop   []bool // by stack
}

// stackOf returns the stack, of those that stay, between two loops that keeps a value of the first one's body, nil for none.
func (r *remaker) stackOf(s *stack, v ir.ValueID) *stack {
	for i, other := range r.stacks {
		if !r.drop[i] && other.from == s.from && other.to == s.to && (other.update == v || other.written(r.m) == v) {
			return other
		}
	}
	return nil
}

// needs returns the ops that make a value of an iteration again, in order; false where that cannot be done from what stays.
func (r *remaker) needs(s *stack, v ir.ValueID, list []ir.OpID) ([]ir.OpID, bool) {
	m, body := r.m, r.m.RegionBlock(s.from, 1)
	op := m.DefiningOp(v)
	switch {
	case op == 0 && m.ArgBlock(v) == body:
		return list, isKept(m, s.from, m.Index(v))
	case m.BlockOf(v) != body || r.stackOf(s, v) != nil || slices.Contains(list, op):
		return list, true
	case isConstant(m, v):
		return append(list, op), true
	case !r.d.canRepeat(op):
		return list, false
	}
	for i, w := range m.Operands(op) {
		if r.counts(s, op, i) {
			continue
		}
		var ok bool
		if list, ok = r.needs(s, w, list); !ok {
			return list, false
		}
	}
	return append(list, op), true
}

// counts says whether an op reads the number of the iteration as the place of the part that it takes of a tensor with one for each.
func (r *remaker) counts(s *stack, op ir.OpID, operand int) bool {
	m := r.m
	return m.Kind(op) == ir.OpDynamicSlice && operand == 1 && m.Operand(op, 1) == s.index &&
		m.Shape(m.Operand(op, 0))[0] == s.iterations && m.Shape(m.Result(op, 0))[0] == 1
}

// takes returns what it takes to make a stack's values again; false where that cannot be done.
func (r *remaker) takes(s *stack, fused []bool) (ps int64, ok bool) {
	ops, ok := r.needs(s, s.written(r.m), nil)
	for _, op := range ops {
		ps += r.d.price(op, fused) * s.iterations
	}
	return ps, ok
}

// Stacks are what loops of a module stack up for later loops that make it again instead, by their numbers.
type Stacks []int

// Apply writes into the module that they were chosen for, or a copy of it, that these are not stacked up.
func (x Stacks) Apply(d *Device, m *ir.Module) {
	r := &remaker{d: d, m: m, stacks: stacks(m)}
	r.drop = make([]bool, len(r.stacks))
	for _, i := range x {
		r.drop[i] = true
	}
	r.write()
}

// ChooseStacks chooses what is not stacked up until a device holds no more than a limit, as [Device.Choose] does. The only error is the
// context's.
func (d *Device) ChooseStacks(ctx context.Context, limit int64) (Stacks, error) {
	var chosen Stacks
	now, err := d.peakWithout(ctx, chosen)
	banned := map[int]bool{}
	for err == nil && now > limit {
		next := d.nextStack(chosen, banned)
		if next < 0 {
			break
		}
		with := append(slices.Clone(chosen), next)
		var then int64
		if then, err = d.peakWithout(ctx, with); then < now {
			chosen, now = with, then
		} else {
			banned[next] = true
		}
	}
	return chosen, err
}

// nextStack returns the stack that frees most bytes for the time that making its values again takes, -1 for none.
func (d *Device) nextStack(chosen Stacks, banned map[int]bool) int {
	r := &remaker{d: d, m: d.module, stacks: stacks(d.module)}
	r.drop = make([]bool, len(r.stacks))
	for _, i := range chosen {
		r.drop[i] = true
	}
	best, ratio, fused := -1, 0.0, fusion.Of(d.module).Fused
	for i, s := range r.stacks {
		if r.drop[i] || banned[i] {
			continue
		}
		r.drop[i] = true
		ps, ok := r.takes(s, fused)
		r.drop[i] = ok && r.remain()
		if r.drop[i] {
			if x := float64(d.module.ValueType(d.module.Result(s.from, s.place)).Bytes()) / float64(ps+1); x > ratio {
				best, ratio = i, x
			}
		}
		r.drop[i] = false
	}
	return best
}

// remain says whether all stacks that are dropped can be made again from those that stay.
func (r *remaker) remain() bool {
	for i, s := range r.stacks {
		if !r.drop[i] {
			continue
		}
		if _, ok := r.needs(s, s.written(r.m), nil); !ok {
			return false
		}
	}
	return true
}

// peakWithout returns what a device holds at most where some stacks are not there.
func (d *Device) peakWithout(ctx context.Context, x Stacks) (int64, error) {
	m := d.module.Clone()
	x.Apply(d, m)
	ir.EraseDead(m)
	held, err := d.hold(ctx, m)
	if err != nil {
		return 0, err
	}
	peak, _ := held.Peak()
	return peak, nil
}

// read is a part of a stack that is made again, and the first op that needs it.
type read struct {
	*stack
	op    ir.OpID // the slice
	value ir.ValueID
	place int32
	first ir.OpID
}

// write makes the values of stacks that are dropped again where they are read, and takes the stacks out of their loops.
func (r *remaker) write() {
	m := r.m
	for _, loop := range m.OpsOf(m.MainFunc().Body, ir.OpWhile) {
		reads := r.readsIn(loop)
		made := map[ir.ValueID]map[ir.ValueID]ir.ValueID{} // by the number of the iteration
		for _, x := range reads {
			at := m.Operand(x.op, 1)
			if made[at] == nil {
				made[at] = map[ir.ValueID]ir.ValueID{x.index: at}
			}
			r.remake(&x, made[at])
		}
	}
	places := map[ir.OpID][]int{}
	for i, s := range r.stacks {
		if r.drop[i] {
			places[s.from], places[s.to] = append(places[s.from], s.place), append(places[s.to], s.at)
		}
	}
	for _, loop := range slices.Backward(m.OpsOf(m.MainFunc().Body, ir.OpWhile)) { // that reads a stack before the one that makes it
		if len(places[loop]) > 0 {
			m.DropCarried(loop, places[loop])
		}
	}
}

// readsIn returns where the body of a loop reads stacks that are dropped, in the order of the ops that need them.
func (r *remaker) readsIn(loop ir.OpID) (reads []read) {
	m, place := r.m, map[ir.OpID]int32{}
	for op := range m.Ops(m.RegionBlock(loop, 1)) {
		place[op] = int32(len(place))
	}
	for i, s := range r.stacks {
		if !r.drop[i] || s.to != loop {
			continue
		}
		for _, op := range s.reads {
			x := read{stack: s, op: op, value: m.Result(op, 0), place: int32(len(place))}
			if after := m.OnlyReader(x.value); after != 0 && m.Kind(after) == ir.OpReshape && s.written(m) != s.update &&
				m.OpBlock(after) == m.OpBlock(op) && slices.Equal(m.Shape(m.Result(after, 0)), m.Shape(s.written(m))) {
				x.value = m.Result(after, 0)
			}
			for u := range m.Uses(x.value) {
				user := m.AncestorIn(u.Op, m.OpBlock(op))
				if place[user] < x.place {
					x.place, x.first = place[user], user
				}
			}
			if x.first != 0 {
				reads = append(reads, x)
			}
		}
	}
	slices.SortStableFunc(reads, func(a, b read) int { return cmp.Compare(a.place, b.place) })
	return reads
}

package collectives

import "autoshard/ir"

// Late is where the reduction of a partial value can be made later than where that is computed ([rewrites.DeferReductions]).
type Late struct {
	Sum    ir.ValueID // the last sum that it can be made of, with what else is added up there; 0: not later
	Trips  int64      // how often loops run that have ended by then
	Blocks bool       // what lies between takes tensors however they are cut
}

// LateReductions returns where reductions of values of a module can be made, which has no sharding constraints.
func LateReductions(m *ir.Module) func(v ir.ValueID) Late {
	l := &later{m: m, known: map[ir.ValueID]Late{}, swell: map[ir.ValueID]bool{}}
	return l.of
}

// swells says whether a sum of so many elements has no fewer than all that it is made of, and more than the largest part, since parts have
// been moved among zeros: to reduce it as one sends no less.
func swells(whole, largest, all int64) bool { return whole > largest && whole >= all }

type later struct {
	m     *ir.Module
	known map[ir.ValueID]Late
	swell map[ir.ValueID]bool // by sum
}

func (l *later) of(v ir.ValueID) Late {
	late, ok := l.known[v]
	if !ok {
		late = l.find(v)
		l.known[v] = late
	}
	return late
}

func (l *later) find(v ir.ValueID) Late {
	m, here := l.m, Late{Trips: 1, Blocks: true}
	use, ok := m.OnlyUse(v)
	by := m.DefiningOp(v)
	if !ok || by == 0 || m.OpBlock(by) != m.OpBlock(use.Op) {
		return here
	}
	loop := m.BlockOp(m.OpBlock(by))
	switch {
	case m.Kind(use.Op).IsTerminator() && m.Kind(loop) == ir.OpWhile && m.OpBlock(by) == m.RegionBlock(loop, 1):
		late := l.behind(loop, use.Index)
		late.Trips *= max(1, ir.Trips(m, loop))
		return late
	case m.Kind(use.Op) == ir.OpWhile:
		return l.behind(use.Op, use.Index)
	case addsUp(m, use.Op):
		return l.summed(m.Result(use.Op, 0))
	}
	if operand, ok := Linear(m, use.Op); ok && operand == use.Index {
		moved := m.Result(use.Op, 0)
		late := l.of(moved)
		if m.ValueType(moved).Elements() > m.ValueType(v).Elements() && late.Sum != 0 && l.swells(late.Sum) {
			return here
		}
		here = late
		here.Blocks = here.Blocks && keepsBlocks(m.Kind(use.Op))
	}
	return here
}

// swells says whether no summands of a sum are worth reducing as one.
func (l *later) swells(sum ir.ValueID) bool {
	out, ok := l.swell[sum]
	if !ok {
		largest, all := l.parts(sum)
		out = swells(l.m.ValueType(sum).Elements(), largest, all)
		l.swell[sum] = out
	}
	return out
}

// parts returns how many elements the largest of the values has that may be partial where a value is the sum of them, and all of them.
func (l *later) parts(v ir.ValueID) (largest, all int64) {
	m := l.m
	for {
		op := m.DefiningOp(v)
		if op != 0 && addsUp(m, op) {
			for _, x := range m.Operands(op) {
				part, sum := l.parts(x)
				largest, all = max(largest, part), all+sum
			}
			return largest, max(largest, all)
		}
		operand, linear := 0, false
		if op != 0 {
			operand, linear = Linear(m, op)
		}
		if !linear || makesPartial(m, op) {
			largest = max(largest, m.ValueType(v).Elements())
		}
		if !linear {
			return largest, largest
		}
		v = m.Operand(op, operand)
	}
}

// summed returns where the summands of a sum can be reduced.
func (l *later) summed(sum ir.ValueID) Late {
	late := l.of(sum)
	if late.Sum == 0 {
		late.Sum, late.Blocks = sum, true
	}
	return late
}

// behind returns where what enters a loop in a place, and what its rounds hand back there, can be reduced: after the loop if that only adds
// to zeros, or to what may be partial, too.
func (l *later) behind(loop ir.OpID, place int) Late {
	begin := l.m.Operand(loop, place)
	if accumulator(l.m, loop, place) == 0 || !IsZeros(l.m, begin) && !mayBePartial(l.m, begin) {
		return Late{Trips: 1, Blocks: true}
	}
	return l.summed(l.m.Result(loop, place))
}

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
	l := &later{m: m, known: map[ir.ValueID]Late{}}
	return l.of
}

type later struct {
	m     *ir.Module
	known map[ir.ValueID]Late
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
	use, ok := onlyUse(m, v)
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
		here = l.of(m.Result(use.Op, 0))
		here.Blocks = here.Blocks && keepsBlocks(m.Kind(use.Op))
	}
	return here
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

package ir

import "slices"

// InPlace returns for each value the one into whose memory it is written, 0 for those that take memory of their own, as XLA assigns
// buffers: what an op updates or scatters into, where nothing needs that any more; what enters a loop, for the loop's result; the loop's
// result for what its body takes and hands on, where that is made after the last use of what it took; and a branch's result for what the
// branch hands back. What passes an optimization barrier, or is carried through a loop as it is, stays where it is. Inputs of the function
// are written to only if the caller gives them up.
//
// Of the others it returns which ones elementwise ops write over an operand of as many bytes, or over one of what is computed as they read
// it, which nothing needs any more: those take memory of their own only behind their ops. What is unheld takes none.
func (l *Liveness) InPlace(donated func(arg ValueID) bool, unheld []bool) (into []ValueID, over []bool) {
	p := &placing{l, donated, unheld, make([]ValueID, l.m.NumValues())}
	p.block(l.body)
	over = make([]bool, l.m.NumValues())
	for _, op := range l.ops {
		if l.m.NumResults(op) != 1 {
			continue
		}
		if v := l.m.Result(op, 0); p.of[v] == 0 && !unheld[v] && l.m.HasUses(v) {
			over[v] = p.overwrites(op)
		}
	}
	return p.of, over
}

// Rewritten returns the operand into which an op writes one of its results, or into a copy of it where that is needed later: what it
// updates or scatters into, or what enters a loop. It is 0 for others.
func (m *Module) Rewritten(op OpID, result int) ValueID {
	switch k := m.Kind(op); {
	case k == OpWhile:
		return m.Operand(op, result)
	case (k == OpDynamicUpdateSlice || k == OpScatter) && m.NumResults(op) == 1:
		return m.Operand(op, 0)
	}
	return 0
}

// handedOn returns the operand that an op makes one of its results, 0 for none: what passes an optimization barrier, or what the body of a
// loop hands on as it took it.
func (m *Module) handedOn(op OpID, result int) ValueID {
	switch m.Kind(op) {
	case OpOptimizationBarrier:
		return m.Operand(op, result)
	case OpWhile:
		if body := m.RegionBlock(op, 1); m.Operand(m.LastOp(body), result) == m.BlockArgs(body)[result] {
			return m.Operand(op, result)
		}
	}
	return 0
}

// placing finds the places of values, in program order.
type placing struct {
	*Liveness
	donated func(arg ValueID) bool
	unheld  []bool
	of      []ValueID
}

func (p *placing) block(b BlockID) {
	for op := range p.m.Ops(b) {
		for i, v := range p.m.Results(op) {
			if p.of[v] = p.m.handedOn(op, i); p.of[v] != 0 {
				continue
			}
			if into := p.m.Rewritten(op, i); into != 0 && p.free(into, op) {
				p.of[v] = into
			}
		}
		switch p.m.Kind(op) {
		case OpWhile:
			p.loop(op)
		case OpCase, OpIf:
			for i := range p.m.NumRegions(op) {
				p.branch(op, p.m.RegionBlock(op, i))
			}
		case OpSdyManualComputation:
			p.block(p.m.RegionBlock(op, 0))
		}
	}
}

// loop places what a loop carries, and what its body makes.
func (p *placing) loop(op OpID) {
	cond, body := p.m.RegionBlock(op, 0), p.m.RegionBlock(op, 1)
	for i, v := range p.m.Results(op) {
		p.of[p.m.BlockArgs(cond)[i]], p.of[p.m.BlockArgs(body)[i]] = v, v
	}
	p.block(body)
	for i, arg := range p.m.BlockArgs(body) {
		v := p.m.Operand(p.m.LastOp(body), i)
		if p.madeIn(v, body) && p.over(arg, p.m.DefiningOp(v)) {
			p.of[v] = arg
			p.rounds(arg, v)
		}
	}
}

// rounds places what elementwise ops of a loop's body make of what it took, one after the other, until what it hands on is there.
func (p *placing) rounds(arg, handed ValueID) {
	bytes := p.m.ValueType(arg).Bytes()
	for last := arg; ; {
		op := p.ops[p.needed(last)-1]
		if p.m.OpBlock(op) != p.m.ArgBlock(arg) || !p.takes(op, op, func(v ValueID) bool { return v == last }) {
			return
		}
		last = p.m.Result(op, 0)
		if p.of[last] != 0 || p.m.ValueType(last).Bytes() != bytes || !p.over(last, p.m.DefiningOp(handed)) {
			return
		}
		p.of[last] = arg
	}
}

// branch places what a branch makes and hands back.
func (p *placing) branch(op OpID, body BlockID) {
	p.block(body)
	for i, v := range p.m.Results(op) {
		if from := p.m.Operand(p.m.LastOp(body), i); p.madeIn(from, body) {
			p.of[from] = v
		}
	}
}

// madeIn says whether an op of a block makes a value that has no place yet.
func (p *placing) madeIn(v ValueID, b BlockID) bool {
	op := p.m.DefiningOp(v)
	return op != 0 && p.m.OpBlock(op) == b && p.of[v] == 0
}

// over says whether an op may write where a value is: it is after the last use or, element by element, the last use itself.
func (p *placing) over(v ValueID, op OpID) bool {
	end := p.needed(v)
	return end <= p.start[op] || end == p.start[op]+1 && p.m.Kind(op).IsElementwise()
}

// free says whether an op may write into one of its operands: it is the last to read it, and reads it once.
func (p *placing) free(v ValueID, op OpID) bool {
	made := p.origin(v)
	if p.needed(made) != p.start[op]+1 {
		return false
	}
	reads := 0
	for _, operand := range p.m.Operands(op) {
		if operand == v {
			reads++
		}
	}
	carried, input := p.of[made] != 0, p.m.ArgBlock(made) == p.body
	return reads == 1 && (p.m.DefiningOp(made) != 0 || carried || input && p.donated(made))
}

// overwrites says whether the result of an elementwise op can be written over what it reads, or over what another one reads that is
// computed then.
func (p *placing) overwrites(op OpID) bool {
	bytes := p.m.ValueType(p.m.Result(op, 0)).Bytes()
	return p.takes(op, op, func(v ValueID) bool {
		return !(p.m.DefiningOp(v) != 0 && p.unheld[v]) && p.m.ValueType(v).Bytes() == bytes &&
			p.needed(p.origin(v)) == p.start[op]+1 && p.endsWith(v, op)
	})
}

// takes says whether an elementwise op reads a value that passes a test, or another one does that is computed with it.
func (p *placing) takes(op, with OpID, test func(ValueID) bool) bool {
	return p.m.Kind(with).IsElementwise() && slices.ContainsFunc(p.m.DistinctOperands(with), func(v ValueID) bool {
		by := p.m.DefiningOp(v)
		return test(v) || by != 0 && p.unheld[v] && p.reads[by] == p.start[op] && p.takes(op, by, test)
	})
}

// endsWith says whether nothing else may be in the memory of a value, which an op is the last to read, behind it.
func (p *placing) endsWith(v ValueID, op OpID) bool {
	for p.of[v] != 0 {
		v = p.of[v]
	}
	if by := p.m.DefiningOp(v); by != 0 {
		return p.m.OpBlock(by) == p.m.OpBlock(op)
	}
	return p.m.ArgBlock(v) == p.body && p.donated(v)
}

// origin returns the value that barriers and loops hand on as another one.
func (p *placing) origin(v ValueID) ValueID {
	for by := p.m.DefiningOp(v); by != 0; by = p.m.DefiningOp(v) {
		from := p.m.handedOn(by, p.m.Index(v))
		if from == 0 {
			break
		}
		v = from
	}
	return v
}

// needed returns the time after the last use of a value, and of what barriers and loops hand on of it.
func (p *placing) needed(v ValueID) int32 {
	_, end := p.Interval(v)
	for u := range p.m.Uses(v) {
		if p.m.handedOn(u.Op, u.Index) != 0 {
			end = max(end, p.needed(p.m.Result(u.Op, u.Index)))
		}
	}
	return end
}

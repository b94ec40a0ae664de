package ir

import "slices"

// DropCarried takes some places, but not all, out of what a loop carries: nothing reads them but what hands them on, or writes into them.
// It returns the loop that takes the place of the other one.
func (m *Module) DropCarried(loop OpID, places []int) OpID {
	keep := func(list []ValueID) (out []ValueID) {
		for i, v := range list {
			if !slices.Contains(places, i) {
				out = append(out, v)
			}
		}
		return out
	}
	results := keep(m.ResultValues(loop))
	b := m.BuilderBefore(loop)
	b.Loc = m.OpLoc(loop)
	other := b.OpRegions(OpWhile, m.TypesOf(results), m.OpAttrs(loop), m.NumRegions(loop), keep(m.Operands(loop))...)
	m.InheritPos(other, loop)
	for i := range m.NumRegions(loop) {
		from, to := m.RegionBlock(loop, i), m.AddBlock(m.Region(other, i))
		values := map[ValueID]ValueID{}
		for _, arg := range keep(m.BlockArgs(from)) {
			values[arg] = m.AddBlockArg(to, m.Type(arg))
			m.SetSharding(values[arg], m.Sharding(arg))
			m.SetArgLoc(values[arg], m.ArgLoc(arg))
		}
		last := m.LastOp(from)
		returned := m.Operands(last)
		if i == 1 { // what is dropped is neither written nor handed on
			returned = keep(returned)
			m.forgetReturned(last, places, returned[0])
		}
		inner := m.BuilderAtEnd(to)
		m.CloneInto(inner, from, values)
		for k, v := range returned {
			returned[k] = mapped(values, v)
		}
		inner.Loc = m.OpLoc(last)
		inner.Op(m.Kind(last), nil, m.OpAttrs(last), returned...)
	}
	for i, v := range results {
		m.SetSharding(m.Result(other, i), m.Sharding(v))
		m.ReplaceUses(v, m.Result(other, i))
	}
	m.Erase(loop)
	return other
}

// forgetReturned makes the end of a block return another value in some places, and erases what nothing needs for that.
func (m *Module) forgetReturned(last OpID, places []int, other ValueID) {
	for _, place := range places {
		m.SetOperand(last, place, other)
	}
	for op := m.PrevOp(last); op != 0; {
		before := m.PrevOp(op)
		if IsDead(m, op) {
			m.Erase(op)
		}
		op = before
	}
}

// SinkConstants makes constants of equal elements, and broadcasts of such ones, inside the loops that only carry them along: every op
// computes with them on the fly there, and they take no memory. Constants with shardings of the user stay. XLA has a pass like it,
// while-loop-constant-sinking.
func SinkConstants(m *Module) {
	for f := range m.Definitions() {
		m.sinkConstants(m.Func(f).Body)
	}
}

func (m *Module) sinkConstants(b BlockID) {
	for op := m.FirstOp(b); op != 0; op = m.NextOp(op) {
		if m.Kind(op) == OpWhile {
			op = m.sinkInto(op)
		}
		for inner := range m.InnerBlocks(op) {
			m.sinkConstants(inner)
		}
	}
}

// sinkInto does so for one loop, and returns what takes its place.
func (m *Module) sinkInto(loop OpID) OpID {
	body := m.RegionBlock(loop, 1)
	last := m.LastOp(body)
	var places []int
	for i, v := range m.Operands(loop) {
		if m.Operand(last, i) == m.BlockArgs(body)[i] && m.Sharding(m.Result(loop, i)) == 0 && m.isUniform(v) {
			places = append(places, i)
		}
	}
	if len(places) == 0 || len(places) == m.NumOperands(loop) {
		return loop
	}
	for _, i := range places {
		v := m.Operand(loop, i)
		m.ReplaceUses(m.Result(loop, i), v)
		for r := range m.NumRegions(loop) {
			m.makeInside(m.RegionBlock(loop, r), i, v, func(u Use) bool { return u.Op != last || u.Index != i })
		}
	}
	return m.DropCarried(loop, places)
}

// isUniform says whether a value is a constant of equal elements, or a broadcast of one.
func (m *Module) isUniform(v ValueID) bool {
	op := m.DefiningOp(v)
	switch {
	case op == 0 || m.Sharding(v) != 0:
		return false
	case m.Kind(op) == OpBroadcastInDim:
		return m.isUniform(m.Operand(op, 0))
	}
	return m.IsSplat(op)
}

// makeInside makes a uniform value in a block for the uses of an argument that read it.
func (m *Module) makeInside(b BlockID, i int, v ValueID, reads func(Use) bool) {
	arg := m.BlockArgs(b)[i]
	for use := range m.Uses(arg) {
		if reads(use) {
			m.TurnUses(arg, m.copyUniform(m.BuilderBefore(m.FirstOp(b)), v), reads)
			return
		}
	}
}

func (m *Module) copyUniform(b *Builder, v ValueID) ValueID {
	op, made := m.DefiningOp(v), map[ValueID]ValueID{}
	for _, w := range m.DistinctOperands(op) {
		made[w] = m.copyUniform(b, w)
	}
	return m.Result(m.CloneOp(b, op, made), 0)
}

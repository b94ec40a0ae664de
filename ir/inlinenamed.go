package ir

// InlineNamed replaces every sdy.named_computation by the ops of its body. Its in- and out-shardings become constraints.
func InlineNamed(m *Module) {
	if !m.MayHave(OpSdyNamedComputation) {
		return
	}
	var named []OpID
	m.Walk(m.Body(), func(op OpID) {
		if m.Kind(op) == OpSdyNamedComputation {
			named = append(named, op)
		}
	})
	for i := len(named) - 1; i >= 0; i-- { // inner ones first
		m.inlineNamed(named[i])
	}
}

func (m *Module) inlineNamed(op OpID) {
	body := m.RegionBlock(op, 0)
	b := m.BuilderBefore(op)
	values := map[ValueID]ValueID{}
	for i, arg := range m.BlockArgs(body) {
		values[arg] = m.constrained(b, op, m.Operand(op, i), m.Sharding(arg))
	}
	m.CloneInto(b, body, values)
	ret := m.LastOp(body)
	for i, v := range m.Results(op) {
		m.ReplaceUses(v, m.constrained(b, op, mapped(values, m.Operand(ret, i)), m.Sharding(v)))
	}
	m.Erase(op)
}

// ConstrainCalls makes constraints of what functions and calls say about shardings, but for the entry: those of arguments
// and results of functions inside of them, those of the results of calls behind them. Inlining forgets such places.
func ConstrainCalls(m *Module) {
	main, _ := m.Main()
	for op := range m.Ops(m.Body()) {
		f := m.FuncOf(op)
		if f == 0 || m.IsDeclaration(f) {
			continue
		}
		if f != main {
			m.constrainFunc(f)
		}
		m.Walk(m.Func(f).Body, func(call OpID) {
			if m.Kind(call) == OpCall {
				m.constrainResults(call)
			}
		})
	}
}

func (m *Module) constrainFunc(f FuncID) {
	fn := m.Func(f)
	first, last := m.FirstOp(fn.Body), m.LastOp(fn.Body)
	for _, arg := range m.BlockArgs(fn.Body) {
		if v := m.constrained(m.BuilderBefore(first), first, arg, m.Sharding(arg)); v != arg {
			m.ReplaceUsesIf(arg, v, func(u Use) bool { return u.Op != m.DefiningOp(v) })
			m.SetSharding(arg, 0)
		}
	}
	for i, id := range fn.ResultShardings {
		m.SetOperand(last, i, m.constrained(m.BuilderBefore(last), last, m.Operand(last, i), id))
		fn.ResultShardings[i] = 0
	}
}

func (m *Module) constrainResults(call OpID) {
	for _, v := range m.Results(call) {
		if c := m.constrained(m.BuilderAfter(call), call, v, m.Sharding(v)); c != v {
			m.ReplaceUsesIf(v, c, func(u Use) bool { return u.Op != m.DefiningOp(c) })
			m.SetSharding(v, 0)
		}
	}
}

// constrained returns a value with a sharding that stands at an op's place in the text, or the value itself where the
// sharding asks for nothing.
func (m *Module) constrained(b *Builder, at OpID, v ValueID, id ShardingID) ValueID {
	if id == 0 || m.asksNothing(id) {
		return v
	}
	c := b.Op1(OpSdyShardingConstraint, m.Type(v), nil, v)
	m.SetSharding(c, id)
	m.SetPos(m.DefiningOp(c), m.OpPos(at))
	return c
}

// asksNothing says whether a sharding leaves all to propagation: open dimensions without axes, and no axes beside them.
func (m *Module) asksNothing(id ShardingID) bool {
	s := m.ShardingOf(id)
	for _, d := range s.Dims {
		if len(d.Axes) > 0 || d.Closed {
			return false
		}
	}
	return len(s.Dims) > 0 && len(s.Replicated) == 0 && len(s.Unreduced) == 0
}

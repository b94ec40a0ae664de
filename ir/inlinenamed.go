package ir

import "slices"

// InlineNamed replaces every sdy.named_computation by the ops of its body. Its in- and out-shardings become constraints.
func InlineNamed(m *Module) {
	for _, op := range slices.Backward(m.OpsOf(m.Body(), OpSdyNamedComputation)) { // inner ones first
		m.inlineNamed(op)
	}
}

func (m *Module) inlineNamed(op OpID) {
	body := m.RegionBlock(op, 0)
	b := m.BuilderBefore(op)
	values := map[ValueID]ValueID{}
	for i, arg := range m.BlockArgs(body) {
		values[arg] = constrained(b, m.Operand(op, i), m.Sharding(arg))
	}
	m.CloneInto(b, body, values)
	ret := m.LastOp(body)
	for i, v := range m.Results(op) {
		m.ReplaceUses(v, constrained(b, mapped(values, m.Operand(ret, i)), m.Sharding(v)))
	}
	m.Erase(op)
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

package collectives

import (
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
)

// revise lets constants and numberings that one op reads, which every device makes, lie as that op needs them, once the factors of all ops
// are known.
func revise(m *ir.Module, op ir.OpID, a Assignment) {
	for i := range m.NumOperands(op) {
		if v := m.Operand(op, i); isMade(m, v) && m.HasOneUse(v) && a[op] != nil {
			operands := a.operands(m, op)
			m.SetSharding(v, m.InternSharding(operands[i].Sharding(m.ShardingOf(m.Sharding(v)).Mesh)))
		}
	}
}

// isMade says whether every device makes the block that it needs of a value.
func isMade(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	return op != 0 && (m.Kind(op).IsConstant() || m.Kind(op) == ir.OpIota)
}

// operands returns the layouts in which an op that is cut reads its operands.
func (a Assignment) operands(m *ir.Module, op ir.OpID) []Layout {
	operands, _, _ := a.project(m, op, rule.Computing(m, op))
	return operands
}

// project returns the layouts in which an op that is cut, and computed by a rule, reads its operands and makes its results ([Project]).
func (a Assignment) project(m *ir.Module, op ir.OpID, r *ir.Rule) (operands, results []Layout, ok bool) {
	_, reduction := rule.Shardable(m, op, r)
	return Project(r, a[op], reduction)
}

// carriedAround returns the loop that carries a value round unchanged, where a value is an argument of its body.
func carriedAround(m *ir.Module, v ir.ValueID) (while ir.OpID, ok bool) {
	if body := m.ArgBlock(v); body != 0 {
		while = m.BlockOp(body)
		ok = while != 0 && m.Kind(while) == ir.OpWhile && m.RegionBlock(while, 1) == body && dataflow.IsUnchanged(m, dataflow.Owner(m, v))
	}
	return while, ok
}

// repeats returns how often a value is read each time that it is brought to where it is read: in every round of the loop that carries it
// round unchanged.
func repeats(m *ir.Module, v ir.ValueID) int64 {
	if while, ok := carriedAround(m, v); ok {
		return max(1, ir.Trips(m, while))
	}
	return 1
}

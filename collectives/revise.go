package collectives

import (
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
)

// revise lets two kinds of values lie as what reads them needs them, once the factors of all ops are known: constants and numberings that
// one op reads, which every device makes, and what a loop carries round unchanged, which is resharded before the loop then.
func revise(m *ir.Module, op ir.OpID, a Assignment) {
	if m.Kind(op) == ir.OpWhile {
		for i, arg := range m.BlockArgs(m.RegionBlock(op, 1)) {
			if _, ok := carriedAround(m, arg); ok {
				a.carry(m, op, i, arg)
			}
		}
		return
	}
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
	return op != 0 && (m.Kind(op) == ir.OpConstant || m.Kind(op) == ir.OpSdyConstant || m.Kind(op) == ir.OpIota)
}

// operands returns the layouts in which an op that is cut reads its operands.
func (a Assignment) operands(m *ir.Module, op ir.OpID) []Layout {
	r := rule.Computing(m, op)
	_, reduction := rule.Shardable(m, op, r)
	operands, _, _ := Project(r, a[op], reduction)
	return operands
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

// carry lets value i of a loop lie as all that reads it in the body needs it, if less is sent then.
func (a Assignment) carry(m *ir.Module, while ir.OpID, i int, arg ir.ValueID) {
	needed, ok := a.needed(m, arg)
	result := m.Result(while, i)
	if !ok || m.Sharding(result) == 0 || m.HasUses(m.BlockArgs(m.RegionBlock(while, 0))[i]) {
		return
	}
	id, bytes := dataflow.ShardingOf(m, m.Operand(while, i)), m.ValueType(arg).Bytes()
	if id == 0 {
		return
	}
	before, now := LayoutOf(m.ShardingOf(id)), LayoutOf(m.ShardingOf(m.Sharding(result)))
	inside := leastSent(before, now, bytes) + leastSent(now, needed, bytes)*float64(ir.Trips(m, while))
	outside := leastSent(before, needed, bytes)
	if m.HasUses(result) {
		outside += leastSent(needed, now, bytes)
	}
	if outside < inside {
		m.SetSharding(result, m.InternSharding(needed.Sharding(m.ShardingOf(m.Sharding(result)).Mesh)))
	}
}

// needed returns the layout in which all ops of a body read one of its arguments, if they do so in one.
func (a Assignment) needed(m *ir.Module, arg ir.ValueID) (needed Layout, ok bool) {
	body := m.ArgBlock(arg)
	for use := range m.Uses(arg) {
		switch {
		case use.Op == m.LastOp(body):
		case m.OpBlock(use.Op) != body || a[use.Op] == nil:
			return Layout{}, false
		default:
			l := a.operands(m, use.Op)[use.Index]
			if ok && !l.Equal(&needed) {
				return Layout{}, false
			}
			needed, ok = l, true
		}
	}
	return needed, ok
}

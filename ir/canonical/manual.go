package canonical

import (
	"autoshard/ir"
)

// unusedArguments drops the arguments of a manual computation that its body does not use, with their operands and
// shardings.
func unusedArguments(r *rewriter, op ir.OpID) bool {
	m := r.m
	body := m.RegionBlock(op, 0)
	args := m.BlockArgs(body)
	var operands []ir.ValueID
	var kept []ir.ValueID
	for i, arg := range args {
		if m.HasUses(arg) {
			kept = append(kept, arg)
			operands = append(operands, m.Operand(op, i))
		}
	}
	if len(kept) == len(args) {
		return false
	}
	results := m.ResultValues(op)
	fresh := m.BuilderBefore(op).OpRegions(ir.OpSdyManualComputation, m.TypesOf(results), m.OpAttrs(op), 1, operands...)
	block := m.AddBlock(m.Regions(fresh)[0])
	for _, arg := range kept {
		v := m.AddBlockArg(block, m.Type(arg))
		m.SetSharding(v, m.Sharding(arg))
		m.SetArgLoc(v, m.ArgLoc(arg))
		m.ReplaceUses(arg, v)
	}
	for inner := range m.Ops(body) {
		m.MoveToEnd(inner, block)
	}
	for i, v := range results {
		m.SetSharding(m.Result(fresh, i), m.Sharding(v))
		r.redirect(v, m.Result(fresh, i))
	}
	r.erase(op)
	r.push(fresh)
	return true
}

// Package dataflow knows which values a control-flow op makes one. Data flow through regions is a set of edges. An edge
// says that several values are one: the operands and terminator operands that flow into it (its sources) and the results
// and block arguments that they become (its targets). One target owns the edge and holds its sharding:
//
//	while                 result i; sources operand i, body result i; other targets condition argument i, body argument i
//	case, if              result i; sources result i of each branch
//	optimization_barrier  result i; source operand i
//	manual_computation and named_computation
//	                      block argument i; source operand i
//	                      result i; source result i of the body
//
// Propagation, explicit reshards and the partitioner of plans follow the same edges. Specification: shardy.md sections 1.5,
// 1.7 and 1.8.
package dataflow

import "autoshard/ir"

// Has says whether ops of a kind have data-flow edges: loops, branches, barriers, manual and named computations.
func Has(k ir.Kind) bool {
	return k == ir.OpWhile || k == ir.OpCase || k == ir.OpIf || k == ir.OpOptimizationBarrier || IsComputation(k)
}

// MayHave says whether some op has data-flow edges.
func MayHave(m *ir.Module) bool {
	return m.MayHave(ir.OpWhile) || m.MayHave(ir.OpCase) || m.MayHave(ir.OpIf) || m.MayHave(ir.OpOptimizationBarrier) ||
		m.MayHave(ir.OpSdyManualComputation) || m.MayHave(ir.OpSdyNamedComputation)
}

// IsComputation says whether an op is a manual or named computation, whose block arguments own edges.
func IsComputation(k ir.Kind) bool {
	return k == ir.OpSdyManualComputation || k == ir.OpSdyNamedComputation
}

// Owner returns the value that owns the edge of a block argument, 0 if it belongs to none.
func Owner(m *ir.Module, arg ir.ValueID) ir.ValueID {
	op := m.BlockOp(m.ArgBlock(arg))
	switch kind := m.Kind(op); {
	case op == 0:
		return 0
	case IsComputation(kind):
		return arg
	case kind == ir.OpWhile && m.Index(arg) < m.NumResults(op):
		return m.Result(op, m.Index(arg))
	}
	return 0
}

// Sources returns the uses by which values flow into the edge of an owner.
func Sources(m *ir.Module, owner ir.ValueID) []ir.Use {
	i := m.Index(owner)
	op := m.DefiningOp(owner)
	if op == 0 {
		return []ir.Use{{Op: m.BlockOp(m.ArgBlock(owner)), Index: i}}
	}
	var list []ir.Use
	first := 0 // region whose terminator has sources
	switch m.Kind(op) {
	case ir.OpOptimizationBarrier:
		return []ir.Use{{Op: op, Index: i}}
	case ir.OpWhile:
		list, first = append(list, ir.Use{Op: op, Index: i}), 1
	}
	for r := first; r < m.NumRegions(op); r++ {
		if b := m.RegionBlock(op, r); b != 0 && m.LastOp(b) != 0 && i < m.NumOperands(m.LastOp(b)) {
			list = append(list, ir.Use{Op: m.LastOp(b), Index: i})
		}
	}
	return list
}

// OtherTargets returns the targets of an edge beside its owner.
func OtherTargets(m *ir.Module, owner ir.ValueID) []ir.ValueID {
	op := m.DefiningOp(owner)
	if op == 0 || m.Kind(op) != ir.OpWhile {
		return nil
	}
	var list []ir.ValueID
	for r := range m.NumRegions(op) {
		if args := m.BlockArgs(m.RegionBlock(op, r)); m.Index(owner) < len(args) {
			list = append(list, args[m.Index(owner)])
		}
	}
	return list
}

// IsUnchanged says whether the values of an edge are what a loop carries round as it entered it.
func IsUnchanged(m *ir.Module, owner ir.ValueID) bool {
	op, i := m.DefiningOp(owner), m.Index(owner)
	if op == 0 || m.Kind(op) != ir.OpWhile {
		return false
	}
	body := m.RegionBlock(op, 1)
	args, last := m.BlockArgs(body), m.LastOp(body)
	return i < len(args) && i < m.NumOperands(last) && m.Operand(last, i) == args[i]
}

// Owners returns the values of a data-flow op that own edges: block arguments, then results.
func Owners(m *ir.Module, op ir.OpID) []ir.ValueID {
	var list []ir.ValueID
	if IsComputation(m.Kind(op)) {
		list = append(list, m.BlockArgs(m.RegionBlock(op, 0))...)
	}
	for _, v := range m.Results(op) {
		list = append(list, v)
	}
	return list
}

// Into returns the owner of the edge that a use of a value is a source of and that looks again when the value
// changes, 0 if there is none. Edges of block arguments of computations do not: that is how Shardy has it, and what
// conflicts end in depends on it; the next round visits them all the same.
func Into(m *ir.Module, use ir.Use) ir.ValueID {
	op, i := use.Op, use.Index
	if m.Kind(op).IsTerminator() {
		block := m.OpBlock(op)
		op = m.BlockOp(block)
		if op == 0 || m.Kind(op) == ir.OpWhile && block != m.RegionBlock(op, 1) {
			return 0
		}
	} else if IsComputation(m.Kind(op)) {
		return 0
	}
	if op == 0 || !Has(m.Kind(op)) || i >= m.NumResults(op) || m.Kind(use.Op) == ir.OpCase || m.Kind(use.Op) == ir.OpIf {
		return 0
	}
	return m.Result(op, i)
}

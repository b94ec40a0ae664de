package propagate

import (
	"autoshard/ir"
)

// Data flow through regions is a set of edges. An edge says that several values are one: the operands and
// terminator operands that flow into it (its sources) and the results and block arguments that they become (its
// targets). One target owns the edge and holds its sharding (source: shardy.md sections 1.7 and 1.8):
//
//	while                 result i; sources operand i, body result i; other targets condition argument i, body argument i
//	case, if              result i; sources result i of each branch
//	optimization_barrier  result i; source operand i
//	manual_computation and named_computation
//	                      block argument i; source operand i
//	                      result i; source result i of the body

// HasDataFlow says whether ops of a kind have data-flow edges: loops, branches, barriers, manual and named computations.
func HasDataFlow(k ir.Kind) bool {
	return k == ir.OpWhile || k == ir.OpCase || k == ir.OpIf || k == ir.OpOptimizationBarrier || isComputation(k)
}

// mayHaveDataFlow says whether some op has data-flow edges.
func mayHaveDataFlow(m *ir.Module) bool {
	return m.MayHave(ir.OpWhile) || m.MayHave(ir.OpCase) || m.MayHave(ir.OpIf) || m.MayHave(ir.OpOptimizationBarrier) ||
		m.MayHave(ir.OpSdyManualComputation) || m.MayHave(ir.OpSdyNamedComputation)
}

// isComputation says whether an op is a manual or named computation, whose block arguments own edges.
func isComputation(k ir.Kind) bool {
	return k == ir.OpSdyManualComputation || k == ir.OpSdyNamedComputation
}

// edgeOwner returns the value that owns the edge of a block argument, 0 if it belongs to none.
func edgeOwner(m *ir.Module, arg ir.ValueID) ir.ValueID {
	op := m.BlockOp(m.ArgBlock(arg))
	switch kind := m.Kind(op); {
	case op == 0:
		return 0
	case isComputation(kind):
		return arg
	case kind == ir.OpWhile && m.Index(arg) < m.NumResults(op):
		return m.Result(op, m.Index(arg))
	}
	return 0
}

// sourcesOf returns the uses by which values flow into the edge of an owner.
func sourcesOf(m *ir.Module, owner ir.ValueID) []ir.Use {
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

// otherTargets returns the targets of an edge beside its owner.
func otherTargets(m *ir.Module, owner ir.ValueID) []ir.ValueID {
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

// owners returns the values of a data-flow op that own edges: block arguments, then results.
func owners(m *ir.Module, op ir.OpID) []ir.ValueID {
	var list []ir.ValueID
	if isComputation(m.Kind(op)) {
		list = append(list, m.BlockArgs(m.RegionBlock(op, 0))...)
	}
	for _, v := range m.Results(op) {
		list = append(list, v)
	}
	return list
}

// flowsInto returns the owner of the edge that a use of a value is a source of and that looks again when the value
// changes, 0 if there is none. Edges of block arguments of computations do not: that is how Shardy has it, and what
// conflicts end in depends on it; the next round visits them all the same.
func flowsInto(m *ir.Module, use ir.Use) ir.ValueID {
	op, i := use.Op, use.Index
	if m.Kind(op).IsTerminator() {
		block := m.OpBlock(op)
		op = m.BlockOp(block)
		if op == 0 || m.Kind(op) == ir.OpWhile && block != m.RegionBlock(op, 1) {
			return 0
		}
	} else if isComputation(m.Kind(op)) {
		return 0
	}
	if op == 0 || !HasDataFlow(m.Kind(op)) || i >= m.NumResults(op) || m.Kind(use.Op) == ir.OpCase || m.Kind(use.Op) == ir.OpIf {
		return 0
	}
	return m.Result(op, i)
}

// AddDataFlowEdges inserts an sdy.data_flow_edge after every owner of an edge that has a static shape; all uses of
// the owner go through it and it takes over the owner's sharding. Shardy: -sdy-add-data-flow-edges.
func AddDataFlowEdges(m *ir.Module) {
	if !mayHaveDataFlow(m) {
		return
	}
	walkPost(m, m.Body(), func(op ir.OpID) {
		if HasDataFlow(m.Kind(op)) {
			addOpEdges(m, op)
		}
	})
}

func addOpEdges(m *ir.Module, op ir.OpID) {
	if isComputation(m.Kind(op)) {
		addEdges(m, m.BlockArgs(m.RegionBlock(op, 0)), blockStart(m, m.RegionBlock(op, 0)))
	}
	addEdges(m, m.ResultValues(op), m.BuilderAfter(op))
}

func addEdges(m *ir.Module, values []ir.ValueID, b *ir.Builder) {
	for _, v := range values {
		if !m.ValueType(v).IsStatic() || m.EdgeOf(v) != 0 {
			continue
		}
		edge := b.Op(ir.OpSdyDataFlowEdge, []ir.TypeID{m.Type(v)}, nil, v)
		m.SetSharding(m.Result(edge, 0), ownerSharding(m, v))
		replaceUses(m, v, m.Result(edge, 0), func(u ir.Use) bool { return u.Op != edge })
	}
}

// blockStart returns a builder that inserts at the start of a block that is not empty.
func blockStart(m *ir.Module, b ir.BlockID) *ir.Builder { return m.BuilderBefore(m.FirstOp(b)) }

// walkPost visits the ops of a block and everything inside them, the inner ones first.
func walkPost(m *ir.Module, b ir.BlockID, visit func(ir.OpID)) {
	for op := range m.Ops(b) {
		for _, r := range m.Regions(op) {
			for _, inner := range m.Blocks(r) {
				walkPost(m, inner, visit)
			}
		}
		visit(op)
	}
}

// SinkDataFlowEdges gives every owner the sharding of its edge and removes the edges. If any edge of an op has a
// sharding, the owners without one become open on the same mesh. Shardy: -sdy-sink-data-flow-edges.
func SinkDataFlowEdges(m *ir.Module) { SinkDataFlowEdgesWith(m, Debug{}) }

// SinkDataFlowEdgesWith is SinkDataFlowEdges that keeps the debug information of the edges on their ops.
func SinkDataFlowEdgesWith(m *ir.Module, d Debug) {
	if !mayHaveDataFlow(m) {
		return
	}
	var ops []ir.OpID
	m.Walk(m.Body(), func(op ir.OpID) {
		if HasDataFlow(m.Kind(op)) {
			ops = append(ops, op)
		}
	})
	for _, op := range ops {
		sinkOpEdges(m, op, d)
	}
}

func sinkOpEdges(m *ir.Module, op ir.OpID, d Debug) {
	all := owners(m, op)
	args := len(all) - m.NumResults(op)
	sinkShardings(m, all[:args])
	sinkShardings(m, all[args:])
	d.sink(m, op, all[:args], all[args:])
	for _, v := range all {
		if edge := m.EdgeOf(v); edge != 0 {
			m.ReplaceUses(m.Result(edge, 0), v)
			m.Erase(edge)
		}
	}
}

func sinkShardings(m *ir.Module, owners []ir.ValueID) {
	var mesh ir.MeshID
	for _, v := range owners {
		if edge := m.EdgeOf(v); edge != 0 && mesh == 0 {
			if id := m.Sharding(m.Result(edge, 0)); id != 0 {
				mesh = m.ShardingOf(id).Mesh
			}
		}
	}
	if mesh == 0 {
		return
	}
	for _, v := range owners {
		id := ir.ShardingID(0)
		if edge := m.EdgeOf(v); edge != 0 {
			id = m.Sharding(m.Result(edge, 0))
		}
		if id == 0 {
			id = m.Replicated(mesh, len(m.Shape(v)), false)
		}
		setOwnerSharding(m, v, id)
	}
}

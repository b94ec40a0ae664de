package propagate

import (
	"autoshard/ir"
	"autoshard/ir/dataflow"
)

// AddDataFlowEdges inserts an sdy.data_flow_edge after every owner of an edge that has a static shape; all uses of
// the owner go through it and it takes over the owner's sharding. Shardy: -sdy-add-data-flow-edges.
func AddDataFlowEdges(m *ir.Module) {
	if !dataflow.MayHave(m) {
		return
	}
	walkPost(m, m.Body(), func(op ir.OpID) {
		if dataflow.Has(m.Kind(op)) {
			addOpEdges(m, op)
		}
	})
}

func addOpEdges(m *ir.Module, op ir.OpID) {
	if dataflow.IsComputation(m.Kind(op)) {
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
		m.SetSharding(m.Result(edge, 0), dataflow.OwnerSharding(m, v))
		m.TurnUses(v, m.Result(edge, 0), func(u ir.Use) bool { return u.Op != edge })
	}
}

// blockStart returns a builder that inserts at the start of a block that is not empty.
func blockStart(m *ir.Module, b ir.BlockID) *ir.Builder { return m.BuilderBefore(m.FirstOp(b)) }

// walkPost visits the ops of a block and everything inside them, the inner ones first.
func walkPost(m *ir.Module, b ir.BlockID, visit func(ir.OpID)) {
	for op := range m.Ops(b) {
		for inner := range m.InnerBlocks(op) {
			walkPost(m, inner, visit)
		}
		visit(op)
	}
}

// SinkDataFlowEdges gives every owner the sharding of its edge and removes the edges. If any edge of an op has a
// sharding, the owners without one become open on the same mesh. Shardy: -sdy-sink-data-flow-edges.
func SinkDataFlowEdges(m *ir.Module) { SinkDataFlowEdgesWith(m, Debug{}) }

// SinkDataFlowEdgesWith is SinkDataFlowEdges that keeps the debug information of the edges on their ops.
func SinkDataFlowEdgesWith(m *ir.Module, d Debug) {
	if !dataflow.MayHave(m) {
		return
	}
	for _, op := range m.OpsWhere(m.Body(), dataflow.Has) {
		sinkOpEdges(m, op, d)
	}
}

func sinkOpEdges(m *ir.Module, op ir.OpID, d Debug) {
	all := dataflow.Owners(m, op)
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
		dataflow.SetOwnerSharding(m, v, id)
	}
}

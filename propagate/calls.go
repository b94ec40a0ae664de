package propagate

import (
	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/ir/dataflow"
)

// Shardings cross calls in one of two ways. Either every call gets a body of its own (ImportCalls), so that two calls
// of one function may be sharded differently, and the bodies that ended up alike become one function again
// (ExportCalls). Or functions stay as they are (AddFuncDataFlowEdges), and all calls of one function agree:
//
//	call @f(%x)   %x flows into the edge of @f's argument, as do the operands of all other calls of @f
//	%y = call @f  what @f returns flows into the edge of %y

// ImportCalls replaces calls by named computations. If asked for, all named computations get data-flow edges where they
// have none. It fails where functions are recursive or have no body, or the module would grow beyond maxOps operations.
// Shardy: -sdy-import-func-calls.
func ImportCalls(m *ir.Module, withEdges bool, maxOps int) error {
	if err := calls.Import(m, maxOps); err != nil || !withEdges {
		return err
	}
	for _, op := range calls.Computations(m) {
		addOpEdges(m, op)
	}
	return nil
}

// ExportCalls turns named computations into calls of private functions. What their data-flow edges hold becomes the
// sharding of arguments and results. Shardy: -sdy-export-named-computations.
func ExportCalls(m *ir.Module) {
	for _, op := range calls.Computations(m) {
		sinkOpEdges(m, op, Debug{})
	}
	calls.Export(m)
}

// AddFuncDataFlowEdges inserts an sdy.func_data_flow_edge for every argument of functions other than the main one, and
// for every result of calls, that has a static shape; all uses go through the edge, which copies the sharding.
// Shardy: -sdy-add-func-data-flow-edges.
func AddFuncDataFlowEdges(m *ir.Module) {
	main, _ := m.Main()
	for f := range m.Definitions() {
		if f != main {
			addFuncEdges(m, m.BlockArgs(m.Func(f).Body), blockStart(m, m.Func(f).Body))
		}
	}
	for _, call := range calls.All(m) {
		addFuncEdges(m, m.ResultValues(call), m.BuilderAfter(call))
	}
}

func addFuncEdges(m *ir.Module, values []ir.ValueID, b *ir.Builder) {
	for _, v := range values {
		if !m.ValueType(v).IsStatic() {
			continue
		}
		edge := b.Op(ir.OpSdyFuncDataFlowEdge, []ir.TypeID{m.Type(v)}, nil, v)
		m.SetSharding(m.Result(edge, 0), m.Sharding(v))
		m.TurnUses(v, m.Result(edge, 0), func(u ir.Use) bool { return u.Op != edge })
	}
}

// SinkFuncDataFlowEdges gives arguments of functions and results of calls the shardings of their edges and removes
// the edges. What an edge without sharding leaves behind is open. Shardy: -sdy-sink-func-data-flow-edges.
func SinkFuncDataFlowEdges(m *ir.Module) {
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyFuncDataFlowEdge) {
		v, edge := m.Operand(op, 0), m.Result(op, 0)
		if id := m.Sharding(edge); id != 0 {
			dataflow.SetSharding(m, v, id)
		} else if had := m.Sharding(v); had != 0 {
			dataflow.SetSharding(m, v, m.Replicated(m.ShardingOf(had).Mesh, len(m.Shape(v)), false))
		}
		m.ReplaceUses(edge, v)
		m.Erase(op)
	}
}

// PropagateToResults gives the results of functions the shardings of what they return. Those that the main function
// has stay: its callers may rely on them. No result is bound to a single device. Shardy: -sdy-propagate-to-func-results.
func PropagateToResults(m *ir.Module) {
	main, _ := m.Main()
	for f := range m.Definitions() {
		last := m.LastOp(m.Func(f).Body)
		results := m.Func(f).ResultShardings
		for i := range results {
			if f == main && results[i] != 0 {
				continue
			}
			results[i] = 0
			home := dataflow.Home(m, m.Operand(last, i))
			if home == 0 {
				continue
			}
			if id := dataflow.OwnerSharding(m, home); id != 0 && !m.Mesh(m.ShardingOf(id).Mesh).IsMaximal() {
				results[i] = id
			}
		}
	}
}

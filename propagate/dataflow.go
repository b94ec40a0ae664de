package propagate

import "autoshard/ir"

// Inflow is what flows into one data-flow edge of an op: the uses by which values enter it, and the sharding that they
// have to have there, 0 where the edge has none.
type Inflow struct {
	Sources  []ir.Use
	Sharding ir.ShardingID
}

// HasDataFlow says whether ops of a kind have data-flow edges: loops, branches, barriers, manual and named computations.
func HasDataFlow(k ir.Kind) bool { return hasDataFlow(k) }

// Inflows returns what flows into the edges of a data-flow op: those of its results, then those of its block arguments
// (source: shardy.md sections 1.7 and 1.8).
func Inflows(m *ir.Module, op ir.OpID) []Inflow {
	var list []Inflow
	for i, v := range m.Results(op) {
		list = append(list, inflow(m, v, resultSources(m, op, i)))
	}
	if isComputation(m.Kind(op)) {
		for i, v := range m.BlockArgs(m.RegionBlock(op, 0)) {
			list = append(list, inflow(m, v, []ir.Use{{Op: op, Index: i}}))
		}
	}
	return list
}

func inflow(m *ir.Module, owner ir.ValueID, sources []ir.Use) Inflow {
	view := viewOf(m, owner)
	return Inflow{sources, view.beforePropagation(m, ownerSharding(m, owner))}
}

// resultSources returns the uses whose values become result i of a data-flow op.
func resultSources(m *ir.Module, op ir.OpID, i int) []ir.Use {
	var list []ir.Use
	regions := 0
	switch m.Kind(op) {
	case ir.OpOptimizationBarrier:
		return []ir.Use{{Op: op, Index: i}}
	case ir.OpWhile:
		list, regions = append(list, ir.Use{Op: op, Index: i}), 1
	}
	for r := regions; r < m.NumRegions(op); r++ {
		if b := m.RegionBlock(op, r); b != 0 && m.LastOp(b) != 0 && i < m.NumOperands(m.LastOp(b)) {
			list = append(list, ir.Use{Op: m.LastOp(b), Index: i})
		}
	}
	return list
}

// ShardingOf returns the sharding of a value, wherever it lives: on an edge, on the result that an argument of a loop
// belongs to, or on the value itself; 0 if there is none (source: shardy.md section 1.5).
func ShardingOf(m *ir.Module, v ir.ValueID) ir.ShardingID {
	home := homeOf(m, v)
	if home == 0 {
		return 0
	}
	return ownerSharding(m, home)
}

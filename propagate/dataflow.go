package propagate

import "autoshard/ir"

// Inflow is what flows into one data-flow edge of an op: the uses by which values enter it, and the sharding that they
// have to have there, 0 where the edge has none.
type Inflow struct {
	Sources  []ir.Use
	Sharding ir.ShardingID
}

// Inflows returns what flows into the edges of a data-flow op: those of its results, then those of its block arguments
// (source: shardy.md sections 1.7 and 1.8).
func Inflows(m *ir.Module, op ir.OpID) []Inflow {
	var list []Inflow
	for _, v := range m.Results(op) {
		list = append(list, inflow(m, v))
	}
	if isComputation(m.Kind(op)) {
		for _, v := range m.BlockArgs(m.RegionBlock(op, 0)) {
			list = append(list, inflow(m, v))
		}
	}
	return list
}

func inflow(m *ir.Module, owner ir.ValueID) Inflow {
	view := viewOf(m, owner)
	return Inflow{sourcesOf(m, owner), view.beforePropagation(m, ownerSharding(m, owner))}
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

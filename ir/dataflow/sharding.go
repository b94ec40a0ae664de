package dataflow

import "autoshard/ir"

// Home returns the value that holds the sharding of a value: an edge where it has one; 0 if nothing does.
func Home(m *ir.Module, v ir.ValueID) ir.ValueID {
	owner := v
	if m.DefiningOp(v) == 0 {
		op := m.BlockOp(m.ArgBlock(v))
		switch {
		case op == 0:
			return 0
		case m.Kind(op) == ir.OpAsyncStart && m.Index(v) < m.NumOperands(op):
			return Home(m, m.Operand(op, m.Index(v)))
		case m.FuncOf(op) == 0:
			owner = Owner(m, v)
		}
	}
	if owner != 0 {
		if edge := m.EdgeOf(owner); edge != 0 {
			return m.Result(edge, 0)
		}
	}
	return owner
}

// BehindBarriers returns the value that propagation barriers hide, the value itself where there is none.
func BehindBarriers(m *ir.Module, v ir.ValueID) ir.ValueID {
	for op := m.DefiningOp(v); op != 0 && m.Kind(op) == ir.OpSdyPropagationBarrier; op = m.DefiningOp(v) {
		v = m.Operand(op, 0)
	}
	return v
}

// SetSharding sets the sharding of a value; results of the same op without one become open.
func SetSharding(m *ir.Module, v ir.ValueID, id ir.ShardingID) {
	m.SetSharding(v, id)
	op := m.DefiningOp(v)
	if op == 0 || id == 0 {
		return
	}
	for _, other := range m.Results(op) {
		if m.Sharding(other) == 0 {
			m.SetSharding(other, m.Replicated(m.ShardingOf(id).Mesh, len(m.Shape(other)), false))
		}
	}
}

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
	if IsComputation(m.Kind(op)) {
		for _, v := range m.BlockArgs(m.RegionBlock(op, 0)) {
			list = append(list, inflow(m, v))
		}
	}
	return list
}

func inflow(m *ir.Module, owner ir.ValueID) Inflow {
	view := ViewOf(m, owner)
	return Inflow{Sources(m, owner), view.BeforePropagation(m, OwnerSharding(m, owner))}
}

// ShardingOf returns the sharding of a value, wherever it lives: on an edge, on the result that an argument of a loop
// belongs to, or on the value itself; 0 if there is none (source: shardy.md section 1.5).
func ShardingOf(m *ir.Module, v ir.ValueID) ir.ShardingID {
	home := Home(m, v)
	if home == 0 {
		return 0
	}
	return OwnerSharding(m, home)
}

package explain

import (
	"cmp"
	"slices"
	"strconv"

	"autoshard/answer"
	"autoshard/ir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// origins knows what dimensions were given before propagation, and who gave it.
type origins struct {
	m       *ir.Module
	written []bool // by value: whether the model gives it a sharding itself
	given   map[trace.Place][]subaxis.Ref
	sharded map[int32]bool    // by value: whether it had a sharding
	mesh    map[int32]int32   // by value
	by      map[int32]ir.OpID // by value: the constraint or manual computation whose sharding it took over
}

// newOrigins reads an imported module.
func newOrigins(m *ir.Module, written []bool) *origins {
	o := &origins{m: m, written: written, given: map[trace.Place][]subaxis.Ref{}, by: map[int32]ir.OpID{}, sharded: map[int32]bool{},
		mesh: map[int32]int32{}}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if id := m.Sharding(v); id != 0 {
			o.add(o.owner(v), id)
			o.findGiver(v, id)
		}
	}
	for i, id := range m.MainFunc().ResultShardings {
		o.add(^int32(i), id)
	}
	return o
}

// owner returns how the trace calls a value: edges are called by the value that owns them.
func (o *origins) owner(v ir.ValueID) int32 {
	if op := o.m.DefiningOp(v); op != 0 && o.m.Kind(op) == ir.OpSdyDataFlowEdge {
		return int32(o.m.Operand(op, 0))
	}
	return int32(v)
}

// add remembers the dimensions of a sharding that count from the start: those without a user priority.
func (o *origins) add(value int32, id ir.ShardingID) {
	if id == 0 {
		return
	}
	o.sharded[value], o.mesh[value] = true, int32(o.m.ShardingOf(id).Mesh)
	for d, dim := range o.m.ShardingOf(id).Dims {
		if dim.Priority <= 0 {
			o.given[trace.Place{Value: value, Dim: int32(d)}] = dim.Axes
		}
	}
}

// findGiver finds the user from which a value that the model gives no sharding has the one it has.
func (o *origins) findGiver(v ir.ValueID, id ir.ShardingID) {
	if int(v) < len(o.written) && o.written[v] {
		return
	}
	m := o.m
	for use := range m.Uses(v) {
		switch m.Kind(use.Op) {
		case ir.OpSdyShardingConstraint:
			if m.Sharding(m.Result(use.Op, 0)) == id {
				o.by[int32(v)] = use.Op
				return
			}
		case ir.OpSdyManualComputation:
			o.by[int32(v)] = use.Op
			return
		}
	}
}

// list returns what was given, by value and dimension.
func (o *origins) list() []trace.Given {
	out := make([]trace.Given, 0, len(o.given))
	for p, axes := range o.given {
		out = append(out, trace.Given{At: p, Mesh: o.mesh[p.Value], Axes: axes})
	}
	slices.SortFunc(out, func(a, b trace.Given) int {
		return cmp.Or(cmp.Compare(a.At.Value, b.At.Value), cmp.Compare(a.At.Dim, b.At.Dim))
	})
	return out
}

func (o *origins) axes(p trace.Place) []subaxis.Ref { return o.given[p] }

// isGiven says whether a value had a sharding before propagation.
func (o *origins) isGiven(p trace.Place) bool { return o.sharded[p.Value] }

// describe says in words who gave a dimension its axes, and where that is written.
func (o *origins) describe(p trace.Place, names *naming) (by, at string) {
	m := o.m
	if p.Value < 0 {
		return "as annotated at result " + strconv.Itoa(int(^p.Value)), answer.Line(m, m.OpLoc(m.MainFunc().Op))
	}
	v := ir.ValueID(p.Value)
	op := m.DefiningOp(v)
	switch {
	case o.by[p.Value] != 0:
		return "as wanted by " + names.Op(int32(o.by[p.Value]), trace.NoFactor), answer.Line(m, m.OpLoc(o.by[p.Value]))
	case op != 0 && m.Kind(op) == ir.OpSdyManualComputation:
		return "by out_shardings of " + m.OpName(op), answer.Line(m, m.OpLoc(op))
	case op != 0 && m.Kind(op) == ir.OpSdyShardingConstraint:
		return "by " + m.OpName(op), answer.Line(m, m.OpLoc(op))
	case op != 0:
		return "as annotated at " + m.OpName(op), answer.Line(m, m.OpLoc(op))
	}
	parent := m.BlockOp(m.ArgBlock(v))
	if m.Kind(parent) == ir.OpSdyManualComputation {
		return "by in_shardings of " + m.OpName(parent), answer.Line(m, m.OpLoc(parent))
	}
	if at = answer.Line(m, m.ArgLoc(v)); at == "" {
		at = answer.Line(m, m.OpLoc(parent))
	}
	return "as annotated at argument " + strconv.Itoa(m.Index(v)), at
}

package propagate

import (
	"cmp"
	"slices"

	"autoshard/ir"
)

// observer collects debug information while shardings move.
type observer struct {
	m       *ir.Module
	origins *origins             // nil if not asked for
	edges   map[ir.OpID]*opEdges // nil if not asked for; 0 stands for the results of the main function
	step    int64                // of the next change
}

// opEdges are the edges of an op with that many operands.
type opEdges struct {
	operands int32
	list     []edge
}

// edge is the way of an axis from one tensor of an op to another.
type edge struct {
	arrival
	mesh ir.MeshID
	step int64
}

// newObserver returns nil if nothing is asked for. Steps continue those that earlier passes left in the module.
func newObserver(m *ir.Module, d Debug) *observer {
	if !d.any() {
		return nil
	}
	o := &observer{m: m}
	if d.Origins {
		o.origins = newOrigins(m)
	}
	if d.Edges {
		o.edges = map[ir.OpID]*opEdges{}
		m.Walk(m.Body(), func(op ir.OpID) {
			if list, ok := m.Attr(op, edgesAttr).(ir.PropagationEdges); ok {
				for _, s := range list {
					o.step = max(o.step, s.Step+1)
				}
			}
		})
	}
	return o
}

// observe records one change: what arrived at the tensors of an op, 0 for a result of the main function. values are where
// the shardings of the tensors live.
func (o *observer) observe(op ir.OpID, s *sighting, values []ir.ValueID) {
	for _, a := range s.arrivals {
		if o.origins != nil && values[a.from] != 0 && values[a.to] != 0 {
			o.origins.arrive(values[a.from], values[a.to], s.mesh, a.axis)
		}
		if o.edges != nil {
			o.addEdge(op, s.operands, edge{a, s.mesh, o.step})
		}
	}
	o.step++
}

// valuesOf returns the values at which shardings live, 0 for results of functions.
func (e *engine) valuesOf(slots []slot) []ir.ValueID {
	out := make([]ir.ValueID, len(slots))
	for i, s := range slots {
		if int(s) < len(e.home) {
			out[i] = ir.ValueID(s)
		}
	}
	return out
}

// addEdge keeps the first step in which an axis went a way.
func (o *observer) addEdge(op ir.OpID, operands int, e edge) {
	edges := o.edges[op]
	if edges == nil {
		edges = &opEdges{operands: int32(operands)}
		o.edges[op] = edges
	}
	if !slices.ContainsFunc(edges.list, func(p edge) bool { return p.arrival == e.arrival }) {
		edges.list = append(edges.list, e)
	}
}

// save writes what was collected into the module.
func (o *observer) save() {
	if o == nil {
		return
	}
	if o.origins != nil {
		o.origins.save()
	}
	for op, edges := range o.edges {
		o.saveEdges(op, o.format(edges))
	}
}

// saveEdges writes the edges of an op, or of all results of the main function at the first of them.
func (o *observer) saveEdges(op ir.OpID, edges ir.PropagationEdges) {
	m := o.m
	if op == 0 {
		attrs := &m.MainFunc().ResultAttrs[0]
		*attrs = attrs.With(edgesAttr, edges)
	} else if m.OpBlock(op) != 0 {
		m.SetAttrs(op, m.OpAttrs(op).With(edgesAttr, edges))
	}
}

// format sorts edges by step, axis and target and joins those of one axis and source.
func (o *observer) format(edges *opEdges) ir.PropagationEdges {
	m, list := o.m, edges.list
	slices.SortStableFunc(list, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(axisName(m, a), axisName(m, b)), compareParts(m, a, b))
	})
	var out ir.PropagationEdges
	for _, e := range list {
		if n := len(out); n == 0 || out[n-1].Step != e.step {
			out = append(out, ir.PropagationStep{Step: e.step})
		}
		step := &out[len(out)-1]
		source, target := valueRef(e.from, edges.operands), valueRef(e.to, edges.operands)
		text := m.Mesh(e.mesh).Format(e.axis)
		i := slices.IndexFunc(step.Edges, func(p ir.PropagationEdge) bool { return p.Axis == text && p.Source == source })
		if i < 0 {
			i = len(step.Edges)
			step.Edges = append(step.Edges, ir.PropagationEdge{Axis: text, Name: axisName(m, e), Source: source})
		}
		step.Edges[i].Targets = append(step.Edges[i].Targets, target)
	}
	return out
}

func axisName(m *ir.Module, e edge) string { return m.Mesh(e.mesh).Axes[e.axis.Axis].Name }

// compareParts orders parts of one axis: a major part before the whole, the whole before minor parts.
func compareParts(m *ir.Module, a, b edge) int {
	rank := func(e edge) int32 {
		if m.Mesh(e.mesh).IsFull(e.axis) {
			return 1<<31 - 1 // after all parts with pre-size 1
		}
		return e.axis.Size
	}
	return cmp.Or(cmp.Compare(a.axis.Pre, b.axis.Pre), cmp.Compare(rank(a), rank(b)))
}

func valueRef(tensor, operands int32) ir.ValueRef {
	if tensor < operands {
		return ir.ValueRef{Index: int64(tensor)}
	}
	return ir.ValueRef{Result: true, Index: int64(tensor - operands)}
}

// observeCopy records that a constraint gave its sharding to its operand, which had none.
func (o *observer) observeCopy(constraint ir.OpID, to ir.ValueID) {
	if o == nil {
		return
	}
	s := o.m.ShardingOf(o.m.Sharding(o.m.Result(constraint, 0)))
	if len(s.Dims) == 0 && len(s.Replicated) == 0 && len(s.Unreduced) == 0 {
		return // nothing to see
	}
	var list []arrival
	for _, d := range s.Dims {
		for _, a := range d.Axes {
			list = append(list, arrival{a, 1, 0})
		}
	}
	o.observe(constraint, &sighting{list, 1, s.Mesh}, []ir.ValueID{to, o.m.Result(constraint, 0)})
}

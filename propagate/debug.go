package propagate

import (
	"autoshard/ir"
	"autoshard/subaxis"
	"cmp"
)

// Debug says which debug information passes leave in the module as attributes (source: shardy.md section 6). The
// zero value is none.
type Debug struct {
	Origins bool // debug-sharding-origins: who asked for each axis of each value
	Edges   bool // debug-propagation-edge-sharding: from which value of an op an axis went to which, and when
}

func (d Debug) any() bool { return d.Origins || d.Edges }

// The attributes of debug information.
const (
	originsAttr       = "sdy.sharding_origins"
	originNameAttr    = "sdy.sharding_origin_name"
	argOriginsAttr    = "sdy.block_arg_sharding_origins"
	resultOriginsAttr = "sdy.result_sharding_origins"
	edgesAttr         = "sdy.propagation_edges"
	argEdgesAttr      = "sdy.block_arg_propagation_edges"
	resultEdgesAttr   = "sdy.result_propagation_edges"
	selfOrigin        = "self"
	constraintOrigin  = "constraint_"
	computationOrigin = "mc_"
	computationInput  = "_input: "
	computationOutput = "_output: "
	inputOrigin       = "input: "
	outputOrigin      = "output: "
)

// arrival is an axis that one tensor of an op got from another in one step.
type arrival struct {
	axis     subaxis.Ref
	from, to int32
}

// arrivals lists the axes that the tensors of an op got, with the tensor that had them all before: operands come
// before results. Where the last axis of a factor continues that of the factor before it in the same dimension, the
// two count as one axis (source: shardy.md section 6.1).
func (s *step) arrivals() []arrival {
	var list []arrival
	for t := range s.tensors {
		for _, factors := range s.dims(t) {
			var last subaxis.Ref // of the previous factor of the dimension that changed
			for _, f := range factors {
				axes := s.tensors[t].factors[f].axes
				added := grownAxes(s.had(t, f), axes)
				from := s.holder(f, axes)
				if len(added) == 0 || from < 0 {
					continue
				}
				for i, a := range added {
					if i == len(added)-1 && last.Size > 0 && last.CanMerge(a) {
						list = without(list, last, int32(t))
						a = last.Merge(a)
					}
					list = append(list, arrival{a, int32(from), int32(t)})
				}
				last = added[len(added)-1]
			}
		}
	}
	return list
}

// without removes the arrival of an axis at a tensor.
func without(list []arrival, axis subaxis.Ref, to int32) []arrival {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].axis == axis && list[i].to == to {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// grownAxes returns the elements of a list that are not in an earlier state of it; a part that grew counts as a whole.
func grownAxes(old, new []subaxis.Ref) []subaxis.Ref {
	n := len(old)
	switch {
	case n == 0 || n > len(new):
		return new[min(n, len(new)):]
	case old[n-1] != new[n-1]:
		return new[n-1:]
	}
	return new[n:]
}

// holder returns the first tensor that had all these axes of a factor before the step, -1 if there is none.
func (s *step) holder(f int32, axes []subaxis.Ref) int {
	for t := range s.tensors {
		if s.tensors[t].factors[f].mapped && subaxis.PrefixStatus(axes, s.had(t, f)) != subaxis.NotPrefix {
			return t
		}
	}
	return -1
}

// sink collects the debug information of the edges of a data-flow op on the op itself: edges without any count as empty.
func (d Debug) sink(m *ir.Module, op ir.OpID, args, results []ir.ValueID) {
	attrs := m.OpAttrs(op)
	if d.Origins {
		attrs = attrs.With(argOriginsAttr, edgeAttrs(m, args, originsAttr, ir.DictAttr(nil)))
		attrs = attrs.With(resultOriginsAttr, edgeAttrs(m, results, originsAttr, ir.DictAttr(nil)))
	}
	if d.Edges {
		attrs = attrs.With(argEdgesAttr, edgeAttrs(m, args, edgesAttr, ir.PropagationEdges(nil)))
		attrs = attrs.With(resultEdgesAttr, edgeAttrs(m, results, edgesAttr, ir.PropagationEdges(nil)))
	}
	if d.any() {
		m.SetAttrs(op, attrs)
	}
}

// edgeAttrs returns an attribute of the edge of each owner.
func edgeAttrs(m *ir.Module, owners []ir.ValueID, name string, none ir.Attr) ir.ArrayAttr {
	list := ir.ArrayAttr{}
	for _, v := range owners {
		if edge := m.EdgeOf(v); edge != 0 {
			attr := m.Attr(edge, name)
			attr = cmp.Or(attr, none)
			list = append(list, attr)
		}
	}
	return list
}

// RemoveDebugInfo removes what Debug left in a module, but for the names of constraints and manual computations.
// Shardy: -sdy-remove-propagation-debug-info.
func RemoveDebugInfo(m *ir.Module) {
	m.Walk(m.Body(), func(op ir.OpID) {
		f := m.FuncOf(op)
		if f == 0 {
			m.SetAttrs(op, withoutDebug(m.OpAttrs(op)))
			return
		}
		for _, lists := range [...][]ir.Attrs{m.Func(f).ArgAttrs, m.Func(f).ResultAttrs} {
			for i := range lists {
				lists[i] = withoutDebug(lists[i])
			}
		}
	})
}

func withoutDebug(a ir.Attrs) ir.Attrs {
	for _, name := range [...]string{originsAttr, argOriginsAttr, resultOriginsAttr, edgesAttr, argEdgesAttr, resultEdgesAttr} {
		a = a.Without(name)
	}
	return a
}

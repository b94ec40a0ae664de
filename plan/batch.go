package plan

import (
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/modeljson"
	"autoshard/subaxis"
)

// inBatches returns the layout of an input that carries the batch, with its examples along some axes as far as these divide them.
func (p *planner) inBatches(v ir.ValueID, axes []subaxis.Ref) collectives.Layout {
	if stepped(p.module, v) {
		if len(p.module.Shape(v)) == 1 {
			return p.along(v, 0, nil)
		}
		return p.along(v, 1, axes)
	}
	return p.along(v, 0, axes)
}

// stepped says whether a loop takes one part after the other of an input along its leading dimension, as of microbatches, or of a sequence
// whose steps come first: the next dimension counts examples then.
func stepped(m *ir.Module, v ir.ValueID) bool {
	for u := range m.Uses(v) {
		if m.Kind(u.Op) != ir.OpWhile {
			continue
		}
		if trips, known := ir.TripCount(m, u.Op); !known || trips != m.Shape(v)[0] {
			continue
		}
		inside := m.BlockArgs(m.RegionBlock(u.Op, 1))[u.Index]
		for read := range m.Uses(inside) {
			if m.Kind(read.Op) == ir.OpDynamicSlice && read.Index == 0 && m.Shape(m.Result(read.Op, 0))[0] == 1 {
				return true
			}
		}
	}
	return false
}

// batchInputs returns the inputs that carry the batch: those that are new in every step, but for weights that a step only reads; or, where
// these may be parameters too, as in decoding, the inputs whose leading dimension is that of every result that replaces nothing, if there
// are any.
func batchInputs(m *ir.Module) []ir.ValueID {
	inputs, others := newInputs(m)
	counted := lists.Filter(m.BlockArgs(m.MainFunc().Body), func(v ir.ValueID) bool {
		return len(m.Shape(v)) > 0 && leads(m, others, m.Shape(v)[0])
	})
	if len(counted) > 0 {
		return counted
	}
	if returnsNumbers(m) || slices.ContainsFunc(inputs, func(v ir.ValueID) bool { return m.Shape(v)[0] != m.Shape(inputs[0])[0] }) {
		return withoutWeights(m, inputs)
	}
	return inputs
}

// withoutWeights returns those of some inputs whose leading dimension, or the next where a loop steps through that, counts what most of the
// values that a step computes have: examples. Ops do not bring it together with a dimension of another input. If there are none, it
// returns all.
func withoutWeights(m *ir.Module, inputs []ir.ValueID) []ir.ValueID {
	j := joined(m)
	size, others := map[int32]int{}, map[int32]bool{} // of what is together: in how many computed values, and in inputs that are not new
	for d := range j.parent {
		size[j.find(int32(d))]++
	}
	for _, v := range m.BlockArgs(m.MainFunc().Body) {
		for d := range m.Shape(v) {
			at := j.find(j.first[v] + int32(d))
			size[at]--
			others[at] = others[at] || !slices.Contains(inputs, v)
		}
	}
	counts := func(v ir.ValueID) int32 {
		d := j.first[v]
		if stepped(m, v) && len(m.Shape(v)) > 1 {
			d++
		}
		return j.find(d)
	}
	most := int32(-1)
	for _, v := range inputs {
		if d := counts(v); !others[d] && size[d] > 0 && (most < 0 || size[d] > size[most]) {
			most = d
		}
	}
	if most < 0 {
		return inputs
	}
	return lists.Filter(inputs, func(v ir.ValueID) bool { return counts(v) == most })
}

// newInputs returns the inputs that are new in every step: those with the role of a batch or, where no roles are known, those
// that are not state. State comes back as a result of the same type, and the types of other results are returned; where nothing
// comes back, as in inference, inputs whose leading dimension is that of every result are new, and all may be where results are numbers, as
// losses are.
func newInputs(m *ir.Module) (inputs []ir.ValueID, others []ir.TypeID) {
	f := m.MainFunc()
	var byRole, fresh, leading, tensors []ir.ValueID
	roles := hasRoles(f)
	unmatched := slices.Clone(f.ResultTypes)
	for i, arg := range m.BlockArgs(f.Body) {
		role := f.ArgAttrs[i].Str(modeljson.RoleAttr)
		dims := m.Shape(arg)
		if len(dims) == 0 {
			continue
		}
		tensors = append(tensors, arg)
		if role == modeljson.BatchRole {
			byRole = append(byRole, arg)
		}
		if at := slices.Index(unmatched, m.Type(arg)); at >= 0 {
			unmatched = slices.Delete(unmatched, at, at+1)
		} else {
			fresh = append(fresh, arg)
		}
		if leads(m, f.ResultTypes, dims[0]) {
			leading = append(leading, arg)
		}
	}
	switch {
	case roles:
		return byRole, nil
	case len(unmatched) < len(f.ResultTypes):
		return fresh, unmatched
	case returnsNumbers(m):
		return tensors, nil
	}
	return leading, nil
}

// returnsNumbers says whether all results are numbers.
func returnsNumbers(m *ir.Module) bool {
	return !slices.ContainsFunc(m.MainFunc().ResultTypes, func(t ir.TypeID) bool { return len(m.TypeOf(t).Dims) > 0 })
}

// hasRoles says whether the model says what its inputs are.
func hasRoles(f *ir.Func) bool {
	return slices.ContainsFunc(f.ArgAttrs, func(attrs ir.Attrs) bool { return attrs.Str(modeljson.RoleAttr) != "" })
}

// leads says whether every result that is not a scalar has this leading dimension.
func leads(m *ir.Module, results []ir.TypeID, size int64) bool {
	any := false
	for _, t := range results {
		if dims := m.TypeOf(t).Dims; len(dims) > 0 {
			any = true
			if dims[0] != size {
				return false
			}
		}
	}
	return any
}

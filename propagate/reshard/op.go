package reshard

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// collect fills shardings with those of the operands and results of an op.
func (r *inserter) collect(op ir.OpID) {
	m := r.m
	r.shardings = r.shardings[:0]
	for i := range m.NumOperands(op) {
		r.shardings = append(r.shardings, throughBarriers(m, m.Operand(op, i)))
	}
	for _, v := range m.Results(op) {
		r.shardings = append(r.shardings, throughBarriers(m, v))
	}
}

// tensor returns an operand or result by its index among both.
func (r *inserter) tensor(op ir.OpID, i int) ir.ValueID {
	if n := r.m.NumOperands(op); i >= n {
		return r.m.Result(op, i-n)
	}
	return r.m.Operand(op, i)
}

// ruled makes an op with a rule compatible with it, as far as the options ask for it, and reduces what it leaves
// unreduced.
func (r *inserter) ruled(op ir.OpID, rule *ir.Rule) {
	m := r.m
	mesh := r.opMesh()
	if mesh == 0 || !r.ranksMatch(rule) {
		return
	}
	full := r.full || m.Kind(op) == ir.OpConcatenate && r.isDiverse(op)
	if !full && r.plain && !maybeCrosses(m, op, r.shardings) {
		return
	}
	inputs := slices.Clone(r.shardings)
	for i, id := range inputs {
		if id == 0 {
			inputs[i] = m.Replicated(mesh, len(m.Shape(r.tensor(op, i))), true)
		}
	}
	r.factors.Project(m, mesh, rule, inputs)
	work := &task{inserter: r, op: op, rule: rule, mesh: mesh, flagged: make([]bool, len(inputs))}
	work.reduceResults(work.run(full))
}

// run makes the op compatible with its rule and returns the axes along which it leaves partial sums that have to be
// reduced. Without full, these are the business of the partitioner unless the results have unreduced axes.
func (w *task) run(full bool) []subaxis.Ref {
	m := w.m
	if full {
		return w.full()
	}
	if kind := m.Kind(w.op); kind == ir.OpDot || kind == ir.OpDotGeneral {
		w.crossProduct()
	}
	if m.NumResults(w.op) == 0 || len(w.unreduced(w.sharding(m.Result(w.op, 0)))) == 0 {
		return nil
	}
	if summed, ok := w.summed(); ok && !w.cuts(m.Result(w.op, 0), summed) {
		return summed
	}
	return w.full()
}

// cuts says whether a value is cut along some of the axes.
func (w *task) cuts(v ir.ValueID, axes []subaxis.Ref) bool {
	return slices.ContainsFunc(w.m.ShardingOf(w.sharding(v)).Dims, func(d ir.DimSharding) bool { return subaxis.Intersect(d.Axes, axes) })
}

// ranksMatch says whether the shardings of the op at hand have the ranks that the rule expects.
func (r *inserter) ranksMatch(rule *ir.Rule) bool {
	dims := slices.Concat(rule.Operands, rule.Results)
	if len(dims) != len(r.shardings) {
		return false
	}
	for i, id := range r.shardings {
		if id != 0 && len(r.m.ShardingOf(id).Dims) != len(dims[i]) {
			return false
		}
	}
	return true
}

// opMesh returns the mesh on which the op at hand runs: of meshes that differ in the order of devices alone, the first
// of those that most of its sharded tensors have. It is 0 where nothing is sharded, or on different meshes
// (source: shardy.md section 5.3, step 7).
func (r *inserter) opMesh() ir.MeshID {
	m := r.m
	common := r.commonMesh()
	if common == 0 || m.Mesh(common).IsMaximal() {
		return 0
	}
	best, most := common, 0
	var counted []ir.MeshID
	for _, id := range r.shardings {
		if r.isReplicated(id) {
			continue
		}
		mesh := m.ShardingOf(id).Mesh
		counted = append(counted, mesh)
		n := 0
		for _, other := range counted {
			if other == mesh {
				n++
			}
		}
		if n > most {
			best, most = mesh, n
		}
	}
	return best
}

// commonMesh returns a mesh with the axes of all meshes at hand, one with devices in order if there is one; 0 where
// there is none.
func (r *inserter) commonMesh() ir.MeshID {
	m := r.m
	common := ir.MeshID(0)
	for _, id := range r.shardings {
		if id == 0 {
			continue
		}
		mesh := m.ShardingOf(id).Mesh
		switch a, b := m.Mesh(common), m.Mesh(mesh); {
		case common == 0 || a.IsEmpty():
			common = mesh
		case b.IsEmpty():
		case a.IsMaximal() != b.IsMaximal() || !slices.Equal(a.Axes, b.Axes):
			return 0
		case len(b.DeviceIDs) == 0:
			if len(a.DeviceIDs) > 0 {
				common = mesh
			}
		}
	}
	return common
}

// task is one op on its way.
type task struct {
	*inserter
	op      ir.OpID
	rule    *ir.Rule
	mesh    ir.MeshID
	flagged []bool // tensors whose sharding changed
}

// set gives a tensor the axes of a factor.
func (w *task) set(tensor int, factor int32, axes, overflow []subaxis.Ref) {
	if w.factors.Set(tensor, factor, axes, overflow) {
		w.flagged[tensor] = true
	}
}

// apply reshards the operands whose shardings changed and, after the op, the results back.
func (w *task) apply() {
	m := w.m
	var after *ir.Builder
	for t, id := range w.shardings {
		if !w.flagged[t] && !w.isMisplaced(id) {
			continue
		}
		to := m.InternSharding(w.factors.Sharding(t, w.mesh))
		v := w.tensor(w.op, t)
		if t < m.NumOperands(w.op) {
			m.SetOperand(w.op, t, m.BuilderBefore(w.op).Reshard(v, to))
			continue
		}
		if id = m.Sharding(v); id == 0 { // the result before may have given it one
			id = m.Replicated(w.mesh, len(m.Shape(v)), true)
		}
		if after == nil {
			after = m.BuilderAfter(w.op)
		}
		w.m.Divert(v, after.Reshard(v, id))
		dataflow.SetSharding(w.m, v, to)
	}
}

// isMisplaced says whether a tensor is sharded over devices in another order than the op's.
func (w *task) isMisplaced(id ir.ShardingID) bool {
	return !w.isReplicated(id) && !slices.Equal(w.m.Mesh(w.m.ShardingOf(id).Mesh).DeviceIDs, w.m.Mesh(w.mesh).DeviceIDs)
}

// summed returns the axes along which the factors that the op sums over are sharded; false where tensors differ.
func (w *task) summed() ([]subaxis.Ref, bool) {
	var all []subaxis.Ref
	for _, f := range w.rule.Reduction {
		var axes []subaxis.Ref
		first := true
		for t := range w.factors.Tensors() {
			switch {
			case !w.factors.Maps(t, f):
			case first:
				axes, first = w.factors.Axes(t, f), false
			case !slices.Equal(axes, w.factors.Axes(t, f)):
				return nil, false
			}
		}
		all = append(all, axes...)
	}
	return all, true
}

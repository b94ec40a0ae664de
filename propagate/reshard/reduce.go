package reshard

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// reduceResults reduces the results of the op along axes that its summed factors are cut along, but for those along
// which the results stay unreduced.
func (w *task) reduceResults(axes []subaxis.Ref) {
	m := w.m
	if len(axes) == 0 || m.NumResults(w.op) == 0 {
		return
	}
	axes = subaxis.SortMerge(subaxis.Difference(axes, w.unreduced(m.Sharding(m.Result(w.op, 0)))))
	if len(axes) == 0 {
		return
	}
	kind, ok := w.reduction()
	if !ok {
		return
	}
	b := m.BuilderAfter(w.op)
	for _, v := range m.Results(w.op) {
		id := m.Sharding(v)
		if id == 0 {
			id = m.Replicated(w.mesh, len(m.Shape(v)), true)
		}
		w.m.Divert(v, w.allReduce(b, v, axes, kind, id))
	}
}

// reduction returns how partial results of the op combine. A scatter, or a reduction of several tensors, whose body is
// no sum, maximum or minimum leaves its results as they are, and any other reduction counts as a sum: that is how Shardy
// has it.
func (w *task) reduction() (ir.Reduction, bool) {
	kind := w.m.Kind(w.op)
	if kind != ir.OpReduce && kind != ir.OpScatter {
		return ir.ReduceSum, true
	}
	if r := combiner(w.m, w.op); r != nil {
		return *r, true
	}
	return ir.ReduceSum, kind == ir.OpReduce && w.m.NumResults(w.op) == 1
}

// reductions are the ops whose partial results axes can wait for.
var reductions = map[ir.Kind]ir.Reduction{ir.OpAdd: ir.ReduceSum, ir.OpMaximum: ir.ReduceMax, ir.OpMinimum: ir.ReduceMin}

// combiner returns the reduction that the body of an op stands for with Shardy, nil where it is none that axes can wait for.
func combiner(m *ir.Module, op ir.OpID) *ir.Reduction {
	with, _ := ir.ReducerOf(m, op, 0, ir.AsShardy)
	if r, ok := reductions[with]; ok {
		return &r
	}
	return nil
}

// reduceOperands reduces operands along axes that are not unreduced in the results.
func (r *inserter) reduceOperands(op ir.OpID) error {
	m := r.m
	if r.plain || m.NumResults(op) == 0 {
		return nil
	}
	target := r.sharding(m.Result(op, 0))
	for i := range m.NumOperands(op) {
		v := m.Operand(op, i)
		have := r.sharding(v)
		if len(r.unreduced(have)) == 0 {
			continue
		}
		if err := r.alikeUnreduced(op); err != nil {
			return err
		}
		if axes := r.dropped(have, target); len(axes) > 0 {
			out, _ := r.reduce(m.BuilderBefore(op), v, have, axes)
			m.SetOperand(op, i, out)
		}
	}
	return nil
}

// alikeUnreduced fails where the results of an op have different unreduced axes.
func (r *inserter) alikeUnreduced(op ir.OpID) error {
	m := r.m
	first := r.unreduced(r.sharding(m.Result(op, 0)))
	for i, v := range m.Results(op) {
		if !slices.Equal(r.unreduced(r.sharding(v)), first) {
			return diag.Unsupported(diag.NotSupported, m.Position(op),
				"results 0 and %d of `%s` have different unreduced axes: give them the same", i, m.OpName(op))
		}
	}
	return nil
}

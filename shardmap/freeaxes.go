package shardmap

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// CutFree cuts the body of a manual computation along axes that the computation leaves free, in place, as the shardings of its values in a
// settled copy of the module say it: along axes that divide them. Afterwards those axes are manual too: the body works on smaller blocks,
// with the collectives along those axes beside those that the user wrote, and the blocks that go in and come out are cut along them.
//
//	sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {"y"}]>] ... manual_axes={"x"} (%b: tensor<4x8xf32>) {
//	  %1 = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0]     // cut along "y"
//
// becomes
//
//	sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {"y"}]>] ... manual_axes={"x", "y"} (%b: tensor<4x4xf32>) {
//	  %1 = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0]
//	  %2 = "stablehlo.all_reduce"(%1) ...                                 // over "y"
//
// Manual computations inside the body, whose own bodies are cut already, become part of it.
//
// Errors are those of collectives.PartitionBody and of [Lower].
func CutFree(ctx context.Context, m *ir.Module, mesh ir.MeshID, op ir.OpID, planner *collectives.Planner,
	settled *ir.Module) error {
	main, _ := m.Main()
	f := &freeCutter{m: m, mesh: mesh, op: op, body: m.RegionBlock(op, 0), manual: m.Attr(op, "manual_axes").(*ir.AxesAttr).Axes,
		settled: settled}
	if !f.settle() {
		return nil
	}
	results := f.inside[len(m.BlockArgs(f.body)):]
	if err := collectives.PartitionBody(ctx, m, mesh, f.body, results, planner); err != nil {
		return err
	}
	DropHints(m, f.body)
	p := &Program{Module: m, Main: main, Mesh: m.Mesh(mesh).Mesh}
	l := newLowerer(ctx, p, mesh, newPlaces(p, f.body))
	if err := l.block(f.body); err != nil {
		return err
	}
	NameAxes(p, mesh, func(axes []subaxis.Ref) []subaxis.Ref { return axes })
	f.close()
	return nil
}

// freeCutter cuts one manual computation.
type freeCutter struct {
	m       *ir.Module
	mesh    ir.MeshID
	op      ir.OpID
	body    ir.BlockID
	manual  []subaxis.Ref
	settled *ir.Module
	owners  []ir.ValueID         // of the edges: arguments of the body and results
	outside []collectives.Layout // of each owner, along manual axes
	inside  []ir.ShardingID      // of each owner, along free axes
	used    []subaxis.Ref        // free axes that cut anything
}

// settle gives all values of the body their shardings from inside. It says whether anything is cut.
func (f *freeCutter) settle() bool {
	m := f.m
	args := m.BlockArgs(f.body)
	f.owners = append(slices.Clone(args), m.ResultValues(f.op)...)
	for i, owner := range f.owners {
		within := owner
		if i >= len(args) {
			within = m.Operand(m.LastOp(f.body), i-len(args))
		}
		f.outside = append(f.outside, f.along(m, m.Sharding(owner), m.Shape(owner), true))
		f.inside = append(f.inside, f.free(owner, within))
	}
	f.inner()
	values := map[ir.ValueID]ir.ShardingID{}
	f.results(func(v ir.ValueID) {
		in := f.settled
		if op := f.m.DefiningOp(v); f.m.Kind(op) == ir.OpSdyManualComputation {
			in = f.m // which says how its body was cut
		}
		values[v] = f.freeIn(in, v, v)
	})
	if len(f.used) == 0 {
		return false
	}
	for v, id := range values {
		m.SetSharding(v, id)
	}
	for i, arg := range args {
		m.SetSharding(arg, f.inside[i])
	}
	return true
}

// inner notes the axes along which manual computations inside the body are manual: it becomes manual along them, too.
func (f *freeCutter) inner() {
	for _, op := range f.m.OpsOf(f.body, ir.OpSdyManualComputation) {
		for _, r := range f.m.Attr(op, "manual_axes").(*ir.AxesAttr).Axes {
			f.uses(r)
		}
	}
}

// uses notes an axis that cuts something.
func (f *freeCutter) uses(r subaxis.Ref) {
	if whole := f.m.Mesh(f.mesh).Full(int(r.Axis)); !slices.Contains(f.used, whole) {
		f.used = append(f.used, whole)
	}
}

// results visits the tensors that ops of the body make, but for those inside manual computations there.
func (f *freeCutter) results(visit func(v ir.ValueID)) {
	f.m.Walk(f.body, func(op ir.OpID) {
		if around := f.m.ManualAround(f.m.ParentOp(op)); around != f.op {
			return
		}
		for _, v := range f.m.Results(op) {
			if f.m.ValueType(v).Kind == ir.TensorKind {
				visit(v)
			}
		}
	})
}

// free returns the settled sharding of a value along those free axes that divide it, with the shape that it has inside.
func (f *freeCutter) free(v, within ir.ValueID) ir.ShardingID { return f.freeIn(f.settled, v, within) }

// freeIn is free with the sharding of a module.
func (f *freeCutter) freeIn(m *ir.Module, v, within ir.ValueID) ir.ShardingID {
	l := f.along(m, m.Sharding(v), f.m.Shape(within), false)
	for d, axes := range l.Dims {
		l.Dims[d] = subaxis.Dividing(axes, f.m.Shape(within)[d])
		for _, r := range l.Dims[d] {
			f.uses(r)
		}
	}
	return f.m.InternSharding(l.Sharding(f.mesh))
}

// along returns the layout of a sharding of a module along the manual axes, or along the others.
func (f *freeCutter) along(m *ir.Module, id ir.ShardingID, shape []int64, manual bool) collectives.Layout {
	l := collectives.Layout{Dims: make([][]subaxis.Ref, len(shape))}
	if id == 0 {
		return l
	}
	for d, dim := range m.ShardingOf(id).Dims {
		for _, r := range dim.Axes {
			if _, is := subaxis.Overlapping(f.manual, r); is == manual {
				l.Dims[d] = append(l.Dims[d], r)
			}
		}
	}
	return l
}

// close makes the axes manual that cut anything, and says how blocks go in and come out.
func (f *freeCutter) close() {
	m := f.m
	f.results(func(v ir.ValueID) { m.SetSharding(v, 0) })
	for i, owner := range f.owners {
		l := f.outside[i]
		for d, dim := range m.ShardingOf(f.inside[i]).Dims {
			l.Dims[d] = append(l.Dims[d], dim.Axes...)
		}
		m.SetSharding(owner, m.InternSharding(l.Sharding(f.mesh)))
	}
	attr := m.Attr(f.op, "manual_axes").(*ir.AxesAttr)
	axes := subaxis.SortMerge(slices.Concat(f.manual, f.used))
	m.SetAttrs(f.op, m.OpAttrs(f.op).With("manual_axes", &ir.AxesAttr{Mesh: attr.Mesh, Axes: axes}))
}

package autoshard

import (
	"fmt"
	"slices"

	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
	"autoshard/subaxis"
)

// place is a value, or a result of the main function, as findings name it.
type place struct {
	op   ir.OpID // where it is written
	name string  // arg0, out1, or %3
	what string  // as in "dimension 0 of …"
	dims []int64
}

// place describes a value.
func (f *findings) place(v ir.ValueID) place {
	m := f.m
	main, _ := m.Main()
	op := m.DefiningOp(v)
	if op == 0 && m.ArgBlock(v) == m.Func(main).Body {
		if f.args.Names == nil {
			f.args = names.Args(m, main)
		}
		return place{m.Func(main).Op, f.args.Names[m.Index(v)], f.args.Describe(m.Index(v)), m.Shape(v)}
	}
	if op == 0 {
		op = m.BlockOp(m.ArgBlock(v))
	}
	if f.values == nil {
		f.values = mlir.ValueNames(m)
	}
	return place{op, f.values[v], fmt.Sprintf("%s (`%s`)", f.values[v], m.OpName(op)), m.Shape(v)}
}

// result describes a result of the main function.
func (f *findings) result(i int) place {
	main, _ := f.m.Main()
	fn := f.m.Func(main)
	if f.results.Names == nil {
		f.results = names.Results(f.m, main)
	}
	return place{fn.Op, f.results.Names[i], f.results.Describe(i), f.m.TypeOf(fn.ResultTypes[i]).Dims}
}

// keep returns what a plan keeps of a sharding that the user wrote, and notes what it does not: axes that do not divide,
// sums that are left to the reader, and the order of priorities. With whole, no part of an axis remains where the user
// wrote a whole one.
func (f *findings) keep(id ir.ShardingID, at place, whole bool) ir.ShardingID {
	m := f.m
	s := m.ShardingOf(id)
	mesh := m.Mesh(s.Mesh)
	out := s.Clone()
	ordered := false
	for d := range out.Dims {
		axes := s.Dims[d].Axes
		ordered = ordered || s.Dims[d].Priority > 0
		out.Dims[d].Priority = ir.NoPriority
		out.Dims[d].Axes = subaxis.Dividing(axes, at.dims[d])
		if n := len(out.Dims[d].Axes); whole && n > 0 && out.Dims[d].Axes[n-1] != axes[n-1] {
			out.Dims[d].Axes = out.Dims[d].Axes[:n-1]
		}
		if !slices.Equal(axes, out.Dims[d].Axes) {
			f.add(lint.UnevenSharding, at.op, at.name, "%s", uneven(mesh, at, d, axes, out.Dims[d].Axes))
		}
	}
	if len(s.Unreduced) > 0 {
		f.add(lint.UnreducedSharding, at.op, at.name, "%s is written as unreduced along %s, but a plan sums it up: partial values are kept only "+
			"between operations", at.what, mesh.FormatList(s.Unreduced))
	}
	out.Unreduced = nil
	if ordered {
		f.ordered = append(f.ordered, at)
	}
	return m.InternSharding(out)
}

// uneven says that axes do not divide a dimension, and which of them are left.
func uneven(mesh *ir.MeshDecl, at place, dim int, axes, kept []subaxis.Ref) string {
	text := fmt.Sprintf("dimension %d of %s has size %d, no multiple of the %d devices along %s, ", dim, at.what, at.dims[dim],
		subaxis.Product(axes), mesh.FormatList(axes))
	if len(kept) == 0 {
		return text + "and stays whole"
	}
	return text + "and is cut along " + mesh.FormatList(kept) + " alone"
}

// priorities notes, once for the model, that the user orders shardings: a plan keeps all of them alike.
func (f *findings) priorities() {
	if n := len(f.ordered); n > 0 {
		at := f.ordered[0]
		f.add(lint.ShardingPriority, at.op, at.name, "%s with user priorities, first at %s: a plan keeps all of them alike, their order counts "+
			"for propagation alone", counted(n, "sharding"), at.what)
	}
}

// unchanged says whether a value lies as the user wrote: along the same axes at each dimension.
func unchanged(from *ir.Module, wrote ir.ShardingID, to *ir.Module, got ir.ShardingID) bool {
	if wrote == 0 || got == 0 {
		return false
	}
	a, b := from.ShardingOf(wrote), to.ShardingOf(got)
	return len(a.Unreduced) == len(b.Unreduced) &&
		slices.EqualFunc(a.Dims, b.Dims, func(x, y ir.DimSharding) bool { return slices.Equal(x.Axes, y.Axes) })
}

// counted returns a number with its noun.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

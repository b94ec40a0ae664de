package answer

import (
	"fmt"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
	"autoshard/subaxis"
)

// Place is a value, or a result of the main function, as findings name it.
type Place struct {
	Op   ir.OpID // where it is written
	Name string  // arg0, out1, or %3
	What string  // as in "dimension 0 of …"
	Dims []int64
}

// Place describes a value.
func (f *Findings) Place(v ir.ValueID) Place {
	m := f.Module
	main, _ := m.Main()
	op := m.OpOf(v)
	if op == m.Func(main).Op {
		if f.args.Names == nil {
			f.args = names.Args(m, main)
		}
		return Place{m.Func(main).Op, f.args.Names[m.Index(v)], f.args.Describe(m.Index(v)), m.Shape(v)}
	}
	if f.values == nil {
		f.values = mlir.ValueNames(m)
	}
	return Place{op, f.values[v], fmt.Sprintf("%s (`%s`)", f.values[v], m.OpName(op)), m.Shape(v)}
}

// Result describes a result of the main function.
func (f *Findings) Result(i int) Place {
	main, _ := f.Module.Main()
	fn := f.Module.Func(main)
	if f.results.Names == nil {
		f.results = names.Results(f.Module, main)
	}
	return Place{fn.Op, f.results.Names[i], f.results.Describe(i), f.Module.TypeOf(fn.ResultTypes[i]).Dims}
}

// Uneven says that axes do not divide a dimension, and which of them are left.
func Uneven(mesh *ir.MeshDecl, at Place, dim int, axes, kept []subaxis.Ref) string {
	text := fmt.Sprintf("dimension %d of %s has size %d, no multiple of the %d devices along %s, ", dim, at.What, at.Dims[dim],
		subaxis.Product(axes), mesh.FormatList(axes))
	if len(kept) == 0 {
		return text + "and stays whole"
	}
	return text + "and is cut along " + mesh.FormatList(kept) + " alone"
}

// Padded says that axes do not divide a dimension, which is padded for them: how much of it is wasted, and how much of it the first and the
// last device have.
func Padded(mesh *ir.MeshDecl, at Place, dim int, axes []subaxis.Ref) string {
	n, devices := at.Dims[dim], subaxis.Product(axes)
	block := (n + devices - 1) / devices
	last := max(0, n-(devices-1)*block)
	return fmt.Sprintf("dimension %d of %s has size %d, no multiple of the %d devices along %s, and is padded to %d: %.3g %% of that is "+
		"wasted; the first device has %d of it, the last %d", dim, at.What, n, devices, mesh.FormatList(axes), devices*block,
		100*float64(devices*block-n)/float64(devices*block), min(block, n), last)
}

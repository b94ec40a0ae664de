package explain

import (
	"fmt"
	"slices"

	"autoshard/answer"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/propagate"
	"autoshard/subaxis"
)

// exportCut is what the export of a propagation takes from a dimension of an input or output.
type exportCut struct {
	dim         int
	found, kept []subaxis.Ref
	uneven      bool // the axes do not divide the dimension; else a part of an axis would cross the boundary
}

// cutsOf compares the sharding of an input or output that propagation found with what the export keeps of it.
func cutsOf(m *ir.Module, found ir.ShardingID, shape []int64) []exportCut {
	kept := propagate.Exported(m, found, shape)
	if kept == found {
		return nil
	}
	var out []exportCut
	a, b := m.ShardingOf(found), m.ShardingOf(kept)
	for d := range a.Dims {
		if axes := a.Dims[d].Axes; !slices.Equal(axes, b.Dims[d].Axes) {
			out = append(out, exportCut{d, axes, b.Dims[d].Axes, shape[d]%subaxis.Product(axes) != 0})
		}
	}
	return out
}

// why says why axes are dropped, for a dimension of a size.
func (c *exportCut) why(size int64) string {
	if c.uneven {
		return fmt.Sprintf("size %d is no multiple of %d devices", size, subaxis.Product(c.found))
	}
	return "a part of an axis does not cross the boundary of a program, whose callers take whole axes; a plan may keep it"
}

// findings are what is to be said about a propagated module.
type findings struct{ answer.Findings }

// boundary notes what the export of a propagation drops from the inputs and outputs of the main function. Before says
// what the user wrote.
func (f *findings) boundary(before *ir.Module) {
	m := f.Module
	main, _ := m.Main()
	fn, wrote := m.Func(main), before.Func(main)
	for i, v := range m.BlockArgs(fn.Body) {
		given := before.Sharding(before.BlockArgs(wrote.Body)[i])
		f.cuts(f.Place(v), m.Sharding(v), given != 0)
	}
	for i, id := range fn.ResultShardings {
		f.cuts(f.Result(i), id, wrote.ResultShardings[i] != 0)
	}
}

// cuts notes what the export drops from one input or output. What the user wrote is told from what follows from it.
func (f *findings) cuts(at answer.Place, found ir.ShardingID, written bool) {
	if found == 0 {
		return
	}
	mesh := f.Module.Mesh(f.Module.ShardingOf(found).Mesh)
	for _, c := range cutsOf(f.Module, found, at.Dims) {
		if written && c.uneven {
			f.Add(lint.UnevenSharding, at.Op, at.Name, "%s", answer.Uneven(mesh, at, c.dim, c.found, c.kept))
			continue
		}
		keeps := "none of it"
		if len(c.kept) > 0 {
			keeps = mesh.FormatList(c.kept)
		}
		f.Add(lint.BoundarySharding, at.Op, at.Name,
			"propagation finds %s at dimension %d of %s, the propagated program keeps %s: %s", mesh.FormatList(c.found), c.dim, at.What, keeps,
			c.why(at.Dims[c.dim]))
	}
}

package plan

import (
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/subaxis"
)

// findings are what is to be said about the module that is planned, or its program.
type findings struct {
	answer.Findings
	ordered []answer.Place // whose shardings have user priorities
}

// clone returns findings to go on with apart from these.
func (f *findings) clone() findings {
	return findings{f.Findings.Clone(), slices.Clip(f.ordered)}
}

// keep returns what a plan keeps of a sharding that the user wrote, and notes what it does not: axes that do not divide a dimension
// that cannot be padded, sums that are left to the reader, and the order of priorities. It notes what is padded, too. With whole, no
// part of an axis remains where the user wrote a whole one.
func (f *findings) keep(id ir.ShardingID, at answer.Place, whole bool, padded func(d int) bool) ir.ShardingID {
	m := f.Module
	s := m.ShardingOf(id)
	mesh := m.Mesh(s.Mesh)
	out := s.Clone()
	ordered := false
	for d := range out.Dims {
		axes := s.Dims[d].Axes
		ordered = ordered || s.Dims[d].Priority > 0
		out.Dims[d].Priority = ir.NoPriority
		if at.Dims[d]%subaxis.Product(axes) != 0 && padded(d) {
			f.Add(lint.UnevenSharding, at.Op, at.Name, "%s", answer.Padded(mesh, at, d, axes))
			continue
		}
		out.Dims[d].Axes = subaxis.Dividing(axes, at.Dims[d])
		if n := len(out.Dims[d].Axes); whole && n > 0 && out.Dims[d].Axes[n-1] != axes[n-1] {
			out.Dims[d].Axes = out.Dims[d].Axes[:n-1]
		}
		if !slices.Equal(axes, out.Dims[d].Axes) {
			f.Add(lint.UnevenSharding, at.Op, at.Name, "%s: `%s` cannot be computed with padding there",
				answer.Uneven(mesh, at, d, axes, out.Dims[d].Axes), m.OpName(at.Op))
		}
	}
	if len(s.Unreduced) > 0 {
		f.Add(lint.UnreducedSharding, at.Op, at.Name, "%s is written as unreduced along %s, but a plan sums it up: partial values are kept only "+
			"between operations", at.What, mesh.FormatList(s.Unreduced))
	}
	out.Unreduced = nil
	if ordered {
		f.ordered = append(f.ordered, at)
	}
	return m.InternSharding(out)
}

// priorities notes, once for the model, that the user orders shardings: a plan keeps all of them alike.
func (f *findings) priorities() {
	if n := len(f.ordered); n > 0 {
		at := f.ordered[0]
		f.Add(lint.ShardingPriority, at.Op, at.Name, "%s with user priorities, first at %s: a plan keeps all of them alike, their order counts "+
			"for propagation alone", diag.Count(n, "sharding", "shardings"), at.What)
	}
}

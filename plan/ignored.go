package plan

import (
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/subaxis"
)

// ignored notes what a model says about shardings that plans do not look at: axes that manual computations leave free, sharding
// groups, and barriers of propagation.
func (f *findings) ignored() {
	m := f.Module
	groups := newTally[int64]()
	var barriers []ir.OpID
	m.Walk(m.Body(), func(op ir.OpID) {
		switch m.Kind(op) {
		case ir.OpSdyManualComputation:
			f.manual(op)
		case ir.OpSdyPropagationBarrier:
			barriers = append(barriers, op)
		case ir.OpSdyShardingGroup:
			groups.note(m.OpAttrs(op).Int("group_id", 0), op)
		}
	})
	if len(barriers) > 0 {
		f.Add(lint.PropagationBarrier, barriers[0], "", "a plan chooses shardings by cost on both sides of %s",
			diag.Count(len(barriers), "propagation barrier", "propagation barriers"))
	}
	for _, id := range groups.keys {
		if n := groups.count[id]; n > 1 {
			f.Add(lint.ShardingGroup, groups.first[id], "",
				"the %d values of sharding group %d are sharded alike by propagation; a plan may keep them differently", n, id)
		}
	}
}

// manual notes the axes that a manual computation leaves free, with the shardings along them.
func (f *findings) manual(op ir.OpID) {
	m := f.Module
	axes, ok := m.Attr(op, "manual_axes").(*ir.AxesAttr)
	if !ok || axes.Mesh == 0 || m.ManualAround(m.ParentOp(op)) != 0 {
		return
	}
	decl, body := m.Mesh(axes.Mesh), m.RegionBlock(op, 0)
	taken := slices.Clone(axes.Axes)
	m.Walk(body, func(inner ir.OpID) {
		if a, ok := m.Attr(inner, "manual_axes").(*ir.AxesAttr); ok {
			taken = append(taken, a.Axes...)
		}
	})
	var free []subaxis.Ref
	for i, a := range decl.Axes {
		if _, manual := subaxis.Overlapping(taken, decl.Full(i)); !manual && a.Size > 1 {
			free = append(free, decl.Full(i))
		}
	}
	if len(free) == 0 {
		return
	}
	shardings := 0
	count := func(values []ir.ValueID) {
		for _, v := range values {
			if id := m.Sharding(v); id != 0 && uses(m.ShardingOf(id), free) {
				shardings++
			}
		}
	}
	count(append(m.ResultValues(op), m.BlockArgs(body)...))
	m.Walk(body, func(inner ir.OpID) { count(m.ResultValues(inner)) })
	text := fmt.Sprintf("all devices along %s, which this manual computation leaves free, compute its body alike", decl.FormatList(free))
	if shardings > 0 {
		text += fmt.Sprintf("; its %s along them count for nothing", diag.Count(shardings, "sharding", "shardings"))
	}
	f.Add(lint.FreeManualAxis, op, "", "%s", text)
}

// uses says whether a sharding cuts a dimension along an axis of a list.
func uses(s *ir.Sharding, axes []subaxis.Ref) bool {
	for _, d := range s.Dims {
		for _, r := range d.Axes {
			if _, ok := subaxis.Overlapping(axes, r); ok {
				return true
			}
		}
	}
	return false
}

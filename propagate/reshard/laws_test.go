package reshard_test

import (
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/propagate"
	"autoshard/propagate/reshard"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// After the full version every op with a rule has each factor sharded alike in all its tensors, on one mesh, no axis
// serves two factors, and factors that have to be whole are.
func TestFullMakesOpsCompatible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := read(randomProgram(rapid.Int64().Draw(t, "seed")))
		if err != nil {
			t.Skip(err)
		}
		rules := map[ir.OpID]*ir.Rule{} // as they are before: that of a concatenation depends on what made its operands
		var ops []ir.OpID
		m.Walk(m.Body(), func(op ir.OpID) {
			if r := rule.Of(m, op, false); r != nil && isSimple(r) {
				rules[op], ops = r, append(ops, op)
			}
		})
		if err := reshard.Insert(m, reshard.Options{Full: true}); err != nil {
			t.Skip(err)
		}
		for _, op := range ops {
			checkCompatible(t, m, op, rules[op])
		}
	})
}

// isSimple says whether no dimension has two factors: what such a dimension cannot say about its minor factor is lost.
func isSimple(r *ir.Rule) bool {
	return !slices.ContainsFunc(slices.Concat(r.Operands, r.Results), func(dims [][]int32) bool {
		return slices.ContainsFunc(dims, func(factors []int32) bool { return len(factors) > 1 })
	})
}

func checkCompatible(t *rapid.T, m *ir.Module, op ir.OpID, r *ir.Rule) {
	var shardings []ir.ShardingID
	for _, v := range slices.Concat(m.Operands(op), m.ResultValues(op)) {
		if from := m.DefiningOp(v); from != 0 && m.Kind(from) == ir.OpSdyPropagationBarrier {
			return // ops look through them
		}
		shardings = append(shardings, dataflow.ShardingOf(m, v))
	}
	mesh := meshOf(m, shardings)
	if mesh == 0 {
		return
	}
	var p propagate.Projection
	p.Project(m, mesh, r, shardings)
	var used []subaxis.Ref
	for f := range int32(len(r.Sizes)) {
		axes := agreement(t, &p, m.OpName(op), f)
		if len(axes) > 0 && slices.Contains(r.NeedReplication, f) {
			t.Errorf("factor %d of %s has to be whole, but is cut", f, m.OpName(op))
		}
		for _, a := range axes {
			if _, overlaps := subaxis.Overlapping(used, a); overlaps {
				t.Errorf("an axis cuts factor %d of %s and another one", f, m.OpName(op))
			}
		}
		used = append(used, axes...)
	}
}

// agreement returns the axes of a factor on which all tensors have to agree.
func agreement(t *rapid.T, p *propagate.Projection, name string, f int32) []subaxis.Ref {
	var axes []subaxis.Ref
	first := true
	for i := range p.Tensors() {
		switch {
		case !p.Maps(i, f):
		case first:
			axes, first = p.Axes(i, f), false
		case !slices.Equal(axes, p.Axes(i, f)):
			t.Errorf("factor %d of %s is cut along %v and %v", f, name, axes, p.Axes(i, f))
		}
	}
	return axes
}

// meshOf returns the mesh of shardings, 0 if there is none, or those that differ in more than the order of devices, or
// a single device.
func meshOf(m *ir.Module, shardings []ir.ShardingID) ir.MeshID {
	mesh := ir.MeshID(0)
	for _, id := range shardings {
		if id == 0 {
			continue
		}
		if mesh = m.ShardingOf(id).Mesh; m.Mesh(mesh).IsMaximal() {
			return 0
		}
	}
	return mesh
}

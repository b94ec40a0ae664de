package bytecode

import (
	"autoshard/internal/lists"
	"autoshard/ir"
)

const sdy = "sdy"

// manualAxes are axes in the form that manual computations have.
type manualAxes struct{ *ir.AxesAttr }

// partForm returns the form of an attribute of Shardy, or of a part of one; parts that several dialects have are
// written in the terms of the one that refers to them.
func (w *writer) partForm(a any, dialect string) (written, bool) {
	switch v := a.(type) {
	case subAxis:
		return written{dialectOfPart(dialect), partCode(dialect, 3, 19), v}, true
	case axisRef:
		return written{dialectOfPart(dialect), partCode(dialect, 4, 20), v}, true
	case meshAxis:
		return written{dialectOfPart(dialect), partCode(dialect, 1, 21), v}, true
	case inlineMesh:
		return written{sdy, 2, v}, true
	case dimSharding:
		return written{sdy, 5, v}, true
	case ir.ShardingAttr:
		return w.shardingForm(v), true
	case ir.ShardingsAttr:
		return w.shardingsForm(v), true
	case []int64:
		return written{sdy, 8, v}, true
	case [][]int64:
		return written{sdy, 9, v}, true
	case *ir.RuleAttr:
		return written{sdy, 10, ruleOf(v.Rule)}, true
	case manualAxes:
		names := []ir.StringAttr{}
		for _, r := range v.Axes {
			names = append(names, ir.StringAttr(w.m.Mesh(v.Mesh).Axes[r.Axis].Name))
		}
		return written{sdy, 0, names}, true
	case []axisRef:
		return written{sdy, 11, v}, true
	case *ir.AxesAttr:
		return written{sdy, 11, axisRefs(w.m.Mesh(v.Mesh), v.Axes)}, true
	case *ir.AllToAllAttr:
		moves := []allToAll{}
		for _, move := range v.Moves {
			moves = append(moves, allToAll{axisRefs(w.m.Mesh(v.Mesh), move.Axes), move.Src, move.Dst})
		}
		return written{sdy, 14, moves}, true
	case allToAll:
		return written{sdy, 13, v}, true
	}
	return written{}, false
}

func dialectOfPart(dialect string) string {
	if dialect == sdy {
		return sdy
	}
	return "stablehlo"
}

func partCode(dialect string, ofShardy, ofStablehlo uint64) uint64 {
	if dialect == sdy {
		return ofShardy
	}
	return ofStablehlo
}

// meshRef returns what a sharding refers to: the name of a mesh, or a mesh that is written in place.
func (w *writer) meshRef(id ir.MeshID) any {
	d := w.m.Mesh(id)
	if d.Name != "" {
		return ir.SymbolAttr{d.Name}
	}
	return inlineMesh{meshAxes(d), d.DeviceIDs}
}

func (w *writer) shardingForm(a ir.ShardingAttr) written {
	s := w.m.ShardingOf(ir.ShardingID(a))
	d := w.m.Mesh(s.Mesh)
	out := sharding{mesh: w.meshRef(s.Mesh), replicated: axisRefs(d, s.Replicated), unreduced: axisRefs(d, s.Unreduced),
		reduction: int64(s.Reduction)}
	for _, dim := range s.Dims {
		v := dimSharding{axes: axisRefs(d, dim.Axes), closed: dim.Closed}
		if dim.Priority != ir.NoPriority {
			p := uint64(dim.Priority)
			v.priority = &p
		}
		out.dims = append(out.dims, v)
	}
	switch {
	case len(s.Unreduced) == 0:
		return written{sdy, 6, out}
	case s.Reduction == ir.ReduceSum:
		return written{sdy, 15, out}
	}
	return written{sdy, 17, out}
}

func (w *writer) shardingsForm(list ir.ShardingsAttr) written {
	out, code := make([]ir.ShardingAttr, len(list)), uint64(7)
	for i, s := range list {
		out[i] = ir.ShardingAttr(s)
		if len(w.m.ShardingOf(s).Unreduced) > 0 {
			code = 16
		}
	}
	return written{sdy, code, out}
}

func ruleOf(r *ir.Rule) shardingRule {
	factors := func(list []int32) []int64 {
		return lists.Map(list, func(f int32) int64 { return int64(f) })
	}
	tensors := func(list [][][]int32) [][][]int64 {
		out := make([][][]int64, len(list))
		for i, dims := range list {
			out[i] = make([][]int64, len(dims))
			for j, d := range dims {
				out[i][j] = factors(d)
			}
		}
		return out
	}
	return shardingRule{sizes: r.Sizes, operands: tensors(r.Operands), results: tensors(r.Results), reduction: factors(r.Reduction),
		replication: factors(r.NeedReplication), permutation: factors(r.Permutation), blocked: factors(r.Blocked), custom: r.Custom}
}

package collectives

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// Unpermute replaces permutes that only bring the axes of a dimension into the order in which all-to-alls move them on. The dimension is
// reshaped to one for each axis, from which each moves, whatever stands behind it; those that stay move to the places that became free:
//
//	%1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"a", "y"}, {}]> : tensor<64x64xf32>   // which is cut by y, then by a
//	%2 = sdy.all_to_all [{"y"}: 0->1] %1 out_sharding=<@mesh, [{"a"}, {"y"}]> : tensor<64x64xf32>
//
// becomes
//
//	%1 = stablehlo.reshape %0 : (tensor<64x64xf32>) -> tensor<4x2x8x64xf32>                     // [{"y"}, {"a"}, {}, {}]
//	%2 = sdy.all_to_all [{"y"}: 0->3] %1 out_sharding=<@mesh, [{}, {"a"}, {}, {"y"}]> : tensor<4x2x8x64xf32>
//	%3 = sdy.all_to_all [{"a"}: 1->0] %2 out_sharding=<@mesh, [{"a"}, {}, {}, {"y"}]> : tensor<4x2x8x64xf32>
//	%4 = stablehlo.reshape %3 : (tensor<4x2x8x64xf32>) -> tensor<64x64xf32>                     // [{"a"}, {"y"}]
//
// Shardy: -sdy-optimize-collectives.
func Unpermute(m *ir.Module) {
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyCollectivePermute) {
		if u, ok := newUnpermuting(m, op); ok {
			u.rewrite()
		}
	}
}

// unpermuting is a permute with the all-to-alls behind it that move axes of the dimension whose axes it reorders.
type unpermuting struct {
	m     *ir.Module
	op    ir.OpID
	dim   int             // that is reordered
	parts []subaxis.Ref   // its axes before: one new dimension for each
	chain []ir.OpID       // the all-to-alls, of one axis each
	free  []int           // by step of the chain: the new dimension that its axis leaves
	moves [][2]int        // of axes that stay, afterwards: from one new dimension to another
	first ir.ShardingID   // of the permute's operand
	at    [][]subaxis.Ref // by new dimension: the axes that cut it, as steps go on
}

// newUnpermuting returns what a permute becomes; false where it stays.
func newUnpermuting(m *ir.Module, op ir.OpID) (*unpermuting, bool) {
	v := m.Result(op, 0)
	u := &unpermuting{m: m, op: op, first: dataflow.ShardingOf(m, m.Operand(op, 0))}
	if u.first == 0 || !m.HasOneUse(v) || !u.reorders(m.ShardingOf(u.first), m.ShardingOf(m.Sharding(v))) {
		return nil, false
	}
	u.follow(v)
	return u, len(u.chain) > 0 && u.settle()
}

// reorders finds the one dimension in which two shardings differ, by the order of axes that divide it.
func (u *unpermuting) reorders(from, to *ir.Sharding) bool {
	u.dim = -1
	for d := range from.Dims {
		if slices.Equal(from.Dims[d].Axes, to.Dims[d].Axes) {
			continue
		}
		if u.dim >= 0 {
			return false
		}
		u.dim = d
	}
	if u.dim < 0 || from.Mesh != to.Mesh {
		return false
	}
	before, after := from.Dims[u.dim].Axes, to.Dims[u.dim].Axes
	u.parts = pieces(before, after)
	n := u.m.Shape(u.m.Operand(u.op, 0))[u.dim]
	return len(subaxis.Difference(before, after)) == 0 && n%subaxis.Product(u.parts) == 0
}

// pieces cuts the axes of a list where those of another one begin or end.
func pieces(list, by []subaxis.Ref) (out []subaxis.Ref) {
	for _, r := range list {
		for _, o := range slices.SortedFunc(slices.Values(by), func(a, b subaxis.Ref) int { return int(a.Pre) - int(b.Pre) }) {
			if r.Contains(o) && r != o {
				out = append(out, o)
			}
		}
		if len(out) == 0 || !r.Contains(out[len(out)-1]) {
			out = append(out, r)
		}
	}
	return out
}

// follow finds the all-to-alls that move axes of the dimension on, one after the other.
func (u *unpermuting) follow(v ir.ValueID) {
	for u.m.HasOneUse(v) {
		var next ir.OpID
		for use := range u.m.Uses(v) {
			next = use.Op
		}
		a, ok := u.m.Attr(next, "params").(*ir.AllToAllAttr)
		if !ok || u.m.Kind(next) != ir.OpSdyAllToAll || len(a.Moves) != 1 || int(a.Moves[0].Src) != u.dim || len(a.Moves[0].Axes) != 1 {
			return
		}
		i := slices.Index(u.parts, a.Moves[0].Axes[0])
		if i < 0 {
			return
		}
		u.chain, u.free, v = append(u.chain, next), append(u.free, i), u.m.Result(next, 0)
	}
}

// settle finds where the axes go that stay: in their order to the first new dimensions, which must be or become free and, but for the last
// one, be as large.
func (u *unpermuting) settle() bool {
	last := u.m.Sharding(u.m.Result(u.chain[len(u.chain)-1], 0))
	stay := pieces(u.m.ShardingOf(last).Dims[u.dim].Axes, u.parts)
	at, taken := make([]int, len(stay)), make([]bool, len(u.parts))
	for k, r := range stay {
		at[k] = slices.Index(u.parts, r)
		if at[k] < 0 || u.parts[k].Size%r.Size != 0 || k < len(stay)-1 && u.parts[k].Size != r.Size {
			return false
		}
		taken[at[k]] = true
	}
	for moved := true; moved; {
		moved = false
		for k, i := range at {
			if i != k && !taken[k] {
				u.moves, taken[i], taken[k], at[k], moved = append(u.moves, [2]int{i, k}), false, true, k, true
			}
		}
	}
	return slices.IsSorted(at) && (len(at) == 0 || at[len(at)-1] == len(at)-1)
}

// rewrite puts the new ops in the place of the last of the old ones.
func (u *unpermuting) rewrite() {
	m, last := u.m, u.chain[len(u.chain)-1]
	v, end := m.Operand(u.op, 0), m.Result(last, 0)
	b := m.BuilderBefore(last)
	shape := m.Shape(v)
	dims := slices.Clone(shape[:u.dim])
	for _, r := range u.parts {
		dims, u.at = append(dims, int64(r.Size)), append(u.at, []subaxis.Ref{r})
	}
	if rest := shape[u.dim] / subaxis.Product(u.parts); rest > 1 {
		dims, u.at = append(dims, rest), append(u.at, nil)
	}
	dims = append(dims, shape[u.dim+1:]...)
	t := m.WithDims(m.Type(v), dims)
	v = b.Op1(ir.OpReshape, t, nil, v)
	m.SetSharding(v, u.sharding(u.first))
	move := func(axes []subaxis.Ref, from, to int, like ir.ShardingID) {
		u.at[from] = nil
		if inside := to - u.dim; inside >= 0 && inside < len(u.at) {
			u.at[inside] = axes
		}
		params := &ir.AllToAllAttr{Mesh: m.ShardingOf(like).Mesh,
			Moves: []ir.AllToAllMove{{Axes: axes, Src: int64(u.dim + from), Dst: int64(to)}}}
		v = b.Op1(ir.OpSdyAllToAll, t, ir.MakeAttrs(ir.Named("params", params)), v)
		m.SetSharding(v, u.sharding(like))
	}
	for i, op := range u.chain {
		a := m.Attr(op, "params").(*ir.AllToAllAttr).Moves[0]
		to := int(a.Dst)
		if to > u.dim {
			to += len(u.at) - 1
		}
		move(a.Axes, u.free[i], to, m.Sharding(m.Result(op, 0)))
	}
	for _, x := range u.moves {
		move(u.at[x[0]], x[0], u.dim+x[1], m.Sharding(end))
	}
	v = b.Op1(ir.OpReshape, m.Type(end), nil, v)
	m.SetSharding(v, m.Sharding(end))
	m.ReplaceUses(end, v)
	for _, op := range slices.Backward(append([]ir.OpID{u.op}, u.chain...)) {
		m.Erase(op)
	}
}

// sharding returns a sharding with the new dimensions, as they are cut now, in the place of the old one.
func (u *unpermuting) sharding(like ir.ShardingID) ir.ShardingID {
	s := u.m.ShardingOf(like).Clone()
	var dims []ir.DimSharding
	for _, axes := range u.at {
		dims = append(dims, ir.DimSharding{Axes: axes, Closed: true, Priority: ir.NoPriority})
	}
	s.Dims = slices.Concat(s.Dims[:u.dim], dims, s.Dims[u.dim+1:])
	return u.m.InternSharding(s)
}

package typed

import (
	"slices"
	"sort"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// members returns the size of the groups of a collective.
func (p *Program) members(c *Collective) int64 {
	if len(c.Groups) > 0 {
		return int64(len(c.Groups[0]))
	}
	return p.GroupSize(c.Axes)
}

// resultType returns the type of the result of a collective on operands of those types, and checks its attributes
// (specification: shardmap.md section 2, tiled forms).
func (p *Program) resultType(c *Collective, operands []ir.TypeID) (ir.TypeID, error) {
	if err := p.checkGroups(c); err != nil {
		return 0, err
	}
	if want := arity(c.Kind); len(operands) != want {
		return 0, p.bad(diag.BadOp, "E_OP", "takes %d operands, got %d", want, len(operands))
	}
	if c.Kind == ir.OpShardMapAxisIndex {
		return p.Module.TensorType(dtype.I32), nil
	}
	t := p.Module.TypeOf(operands[0])
	if !t.IsStatic() {
		return 0, p.bad(diag.TypeMismatch, "E_OP", "needs operands of static shape")
	}
	n := p.members(c)
	dims := slices.Clone(t.Dims)
	var err error
	switch c.Kind {
	case ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllGatherReduced:
		if err = p.checkDim("dim", c.Dim, dims); err == nil {
			dims[c.Dim] = times(dims[c.Dim], n)
		}
	case ir.OpShardMapPsumScatter, ir.OpShardMapUnreducedPsumScatter, ir.OpShardMapPscatter:
		err = p.cutDim("dim", c.Dim, dims, n)
	case ir.OpShardMapAllToAll:
		if err = p.checkDim("concat", c.Concat, dims); err == nil {
			if err = p.cutDim("split", c.Split, dims, n); err == nil {
				dims[c.Concat] = times(dims[c.Concat], n)
			}
		}
	case ir.OpShardMapPpermute:
		err = p.checkPermutation(c, n)
	case ir.OpShardMapPbroadcast:
		if c.Source < 0 || c.Source >= n {
			err = p.bad(diag.BadOp, "E_PERM", "source %d is not among the %d members", c.Source, n)
		}
	case ir.OpShardMapRaggedAllToAll:
		return p.raggedType(operands, n)
	}
	if err != nil {
		return 0, err
	}
	if _, _, err := dtype.Size(t.DType, dims); err != nil {
		return 0, err
	}
	return p.Module.WithDims(operands[0], dims), nil
}

// arity returns the number of operands of an op of shard_map programs.
func arity(kind ir.Kind) int {
	switch kind {
	case ir.OpShardMapAxisIndex:
		return 0
	case ir.OpShardMapRaggedAllToAll:
		return 6
	}
	return 1
}

func (p *Program) checkDim(what string, d int64, dims []int64) error {
	if d < 0 || d >= int64(len(dims)) {
		return p.bad(diag.BadOp, "E_COLL_SHAPE", "%s=%d is no dimension of a block of shape %s", what, d, formatDims(dims))
	}
	return nil
}

func (p *Program) cutDim(what string, d int64, dims []int64, n int64) error {
	if err := p.checkDim(what, d, dims); err != nil {
		return err
	}
	if dims[d]%n != 0 {
		return p.bad(diag.BadOp,
			"E_COLL_DIV", "dimension %s=%d of a block of shape %s is not divisible by the %d members of the group", what, d, formatDims(dims), n)
	}
	dims[d] /= n
	return nil
}

func (p *Program) checkGroups(c *Collective) error {
	if c.Groups == nil {
		return nil
	}
	n := p.GroupSize(c.Axes)
	if len(c.Groups) == 0 {
		return p.bad(diag.BadOp, "E_GROUPS", "groups is an empty list")
	}
	seen := map[int64]bool{}
	for _, g := range c.Groups {
		if len(g) != len(c.Groups[0]) {
			return p.bad(diag.BadOp, "E_GROUPS", "groups differ in length")
		}
		for _, k := range g {
			if k < 0 || k >= n || seen[k] {
				return p.bad(diag.BadOp, "E_GROUPS", "groups must name every member from 0 to %d once; see %d", n-1, k)
			}
			seen[k] = true
		}
	}
	if int64(len(seen)) != n {
		return p.bad(diag.BadOp, "E_GROUPS", "groups name %d of %d members", len(seen), n)
	}
	return nil
}

// checkPermutation checks the pairs of a ppermute. Axes must come in mesh order, as JAX asks for
// (specification: shardmap.md sections 2.4 and 2.8).
func (p *Program) checkPermutation(c *Collective, n int64) error {
	var from, to = map[int64]bool{}, map[int64]bool{}
	for _, pair := range c.Perm {
		for _, k := range pair {
			if k < 0 || k >= n {
				return p.bad(diag.BadOp, "E_PERM", "perm names member %d, the group has members 0 to %d", k, n-1)
			}
		}
		if from[pair[0]] || to[pair[1]] {
			return p.bad(diag.BadOp, "E_PERM", "sources and destinations of perm must be unique, (%d, %d) repeats one", pair[0], pair[1])
		}
		from[pair[0]], to[pair[1]] = true, true
	}
	if !sort.IntsAreSorted(c.Axes) {
		ordered := slices.Sorted(slices.Values(c.Axes))
		return p.bad(diag.BadOp, "E_PERM_ORDER", "axes must be in the same order as the mesh declares them; write axes=(%s) and perm=%s",
			p.axisNames(ordered, ", "), formatPairs(p.renumber(c, ordered)))
	}
	return nil
}

// renumber returns the pairs of a ppermute over the same axes in another order.
func (p *Program) renumber(c *Collective, axes []int) [][2]int64 {
	number := func(k int64) int64 {
		place := map[int]int64{}
		for _, a := range slices.Backward(c.Axes) {
			place[a] = k % p.Mesh.Axes[a].Size
			k /= p.Mesh.Axes[a].Size
		}
		n := int64(0)
		for _, a := range axes {
			n = n*p.Mesh.Axes[a].Size + place[a]
		}
		return n
	}
	out := lists.Map(c.Perm, func(pair [2]int64) [2]int64 { return [2]int64{number(pair[0]), number(pair[1])} })
	slices.SortFunc(out, func(x, y [2]int64) int { return int(x[0] - y[0]) })
	return out
}

// raggedType checks the operands of a ragged exchange: an array, the array to write to, and four lists of n·s numbers
// (specification: shardmap.md section 2.10).
func (p *Program) raggedType(operands []ir.TypeID, n int64) (ir.TypeID, error) {
	m := p.Module
	in, out := m.TypeOf(operands[0]), m.TypeOf(operands[1])
	if !out.IsStatic() || in.DType != out.DType || in.Rank() == 0 || !slices.Equal(in.Dims[1:], out.Dims[min(1, out.Rank()):]) {
		return 0, p.bad(diag.TypeMismatch,
			"E_COLL_SHAPE", "operand %s and output %s differ in more than their first dimension", formatType(in), formatType(out))
	}
	first := m.TypeOf(operands[2])
	for _, id := range operands[2:] {
		t := m.TypeOf(id)
		if !t.IsStatic() || t.Rank() != 1 || t.DType.Kind() != dtype.Signed || t.Dims[0] != first.Dims[0] || t.DType != first.DType {
			return 0, p.bad(diag.TypeMismatch, "E_COLL_SHAPE", "offsets and sizes must be four integer vectors of one length")
		}
	}
	if first.Dims[0]%n != 0 {
		return 0, p.bad(diag.BadOp, "E_COLL_DIV", "%d slices are not divisible by the %d members of the group", first.Dims[0], n)
	}
	return operands[1], nil
}

func formatPairs(pairs [][2]int64) string {
	return pyTuple(lists.Map(pairs, func(pair [2]int64) string { return intTuple(pair[:]) }))
}

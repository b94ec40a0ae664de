package canonical

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// reshardOfReshard skips a reshard that only another one uses.
func reshardOfReshard(r *rewriter, op ir.OpID) bool {
	inner := r.definedBy(r.m.Operand(op, 0), ir.OpSdyReshard)
	if inner == 0 || !r.m.HasOneUse(r.m.Result(inner, 0)) {
		return false
	}
	r.m.SetOperand(op, 0, r.m.Operand(inner, 0))
	r.erase(inner)
	r.push(op)
	return true
}

// repeatedReshard replaces a reshard by an earlier one of the same data to the same layout. Reshapes and transposes
// between the data and either reshard do not matter: with
//
//	%0 = sdy.reshard %arg0 <@mesh, [{"a"}, {}]> : tensor<2x4xf32>
//	%1 = stablehlo.reshape %arg0 : (tensor<2x4xf32>) -> tensor<8xf32>
//	%2 = sdy.reshard %1 <@mesh, [{"a"}]> : tensor<8xf32>
//
// %2 becomes a reshape of %0.
func repeatedReshard(r *rewriter, op ir.OpID) bool {
	root, path := r.rootOf(r.m.Operand(op, 0))
	target := r.viewFromRoot(op, path)
	found := r.earlierReshard(root, op, &target)
	if found == 0 || !r.usersAllow(op, found, len(path) > 0) {
		return false
	}
	v := r.m.Result(found, 0)
	b := r.m.BuilderAfter(found)
	if r.m.Type(v) != r.m.Type(root) {
		v = b.Op1(ir.OpReshape, r.m.Type(root), nil, v)
		r.push(r.m.DefiningOp(v))
	}
	for _, step := range path {
		clone := r.m.CloneOp(b, step, map[ir.ValueID]ir.ValueID{r.m.Operand(step, 0): v})
		v = r.m.Result(clone, 0)
		r.push(clone)
	}
	r.replace(op, v)
	return true
}

// usersAllow says whether the collectives that use a reshard are still right when another reshard takes its place, with
// reshapes between that have no sharding if moved is set. Layouts that are the same may differ in their unreduced axes
// and open dimensions.
func (r *rewriter) usersAllow(op, other ir.OpID, moved bool) bool {
	m := r.m
	a, b := m.ShardingOf(m.Sharding(m.Result(op, 0))), m.ShardingOf(m.Sharding(m.Result(other, 0)))
	replicated := a.IsReplicated() && len(a.Replicated) == 0 && len(a.Unreduced) == 0
	for use := range m.Uses(m.Result(op, 0)) {
		ok := true
		switch m.Kind(use.Op) {
		case ir.OpSdyAllSlice, ir.OpSdyAllReduce, ir.OpSdyReduceScatter:
			ok = moved && replicated || !moved && slices.Equal(a.Unreduced, b.Unreduced)
		case ir.OpSdyReplicatedToUnreduced:
			ok = !moved && m.Sharding(m.Result(op, 0)) == m.Sharding(m.Result(other, 0))
		case ir.OpSdyAllGather, ir.OpSdyAllToAll, ir.OpSdyCollectivePermute, ir.OpSdyShardedToUnreduced:
			ok = !moved && slices.Equal(a.Unreduced, b.Unreduced)
		}
		if !ok {
			return false
		}
	}
	return true
}

// rootOf returns the value that reshapes and transposes make a value from, and these, first to last.
func (r *rewriter) rootOf(v ir.ValueID) (root ir.ValueID, path []ir.OpID) {
	for root = v; ; {
		op := r.m.DefiningOp(root)
		if op == 0 || r.m.Kind(op) != ir.OpReshape && r.m.Kind(op) != ir.OpTranspose {
			slices.Reverse(path)
			return root, path
		}
		path = append(path, op)
		root = r.m.Operand(op, 0)
	}
}

// layout is a sharding of a shape.
type layout struct {
	mesh       ir.MeshID
	replicated ir.ShardAxes
	shape      []int64
	axes       []ir.ShardAxes // by dimension
}

func (r *rewriter) layoutOf(reshard ir.OpID) layout {
	v := r.m.Result(reshard, 0)
	s := r.m.ShardingOf(r.m.Sharding(v))
	l := layout{mesh: s.Mesh, replicated: s.Replicated, shape: r.m.Shape(v), axes: make([]ir.ShardAxes, len(s.Dims))}
	for d := range s.Dims {
		l.axes[d] = s.Dims[d].Axes
	}
	return l
}

// viewFromRoot returns the layout that a reshard makes as it would be before the transposes in front of it, up to the
// last reshape that changes the rank.
func (r *rewriter) viewFromRoot(reshard ir.OpID, path []ir.OpID) layout {
	l := r.layoutOf(reshard)
	for _, op := range slices.Backward(path) {
		from := r.m.Shape(r.m.Operand(op, 0))
		if len(from) != len(l.shape) {
			break
		}
		if r.m.Kind(op) == ir.OpReshape {
			continue
		}
		axes := make([]ir.ShardAxes, len(from))
		for i, d := range r.m.OpAttrs(op).Ints("permutation") {
			axes[d] = l.axes[i]
		}
		l.axes, l.shape = axes, from
	}
	return l
}

// earlierReshard returns a reshard of a value, or of a reshape of it, that stands before op and makes the same layout.
func (r *rewriter) earlierReshard(root ir.ValueID, op ir.OpID, target *layout) ir.OpID {
	stack := []ir.ValueID{root}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		top := len(stack)
		for use := range r.m.Uses(v) {
			switch r.m.Kind(use.Op) {
			case ir.OpReshape:
				stack = append(stack, r.m.Result(use.Op, 0))
			case ir.OpSdyReshard:
				if use.Op != op && r.isBefore(use.Op, op) {
					if l := r.layoutOf(use.Op); target.equals(&l) {
						return use.Op
					}
				}
			}
		}
		slices.Reverse(stack[top:])
	}
	return 0
}

// equals says whether two layouts, perhaps of different shapes, give every device the same elements in row-major order:
// the same axes step through the elements with the same strides.
func (l *layout) equals(o *layout) bool {
	return l.mesh == o.mesh && slices.Equal(l.replicated, o.replicated) && slices.Equal(l.strides(), o.strides())
}

// stride says how many elements apart the blocks of neighbours along an axis begin.
type stride struct {
	axis subaxis.Ref
	step int64
}

// strides returns the axes of a layout with their strides, parts of an axis that step on merged.
func (l *layout) strides() []stride {
	var list []stride
	inner := lists.Product(l.shape)
	for d, axes := range l.axes {
		inner /= max(l.shape[d], 1)
		shards := int64(1)
		for _, a := range axes {
			shards *= int64(a.Size)
			s := stride{a, (l.shape[d] + shards - 1) / shards * inner}
			if n := len(list); n > 0 && list[n-1].axis.CanMerge(a) && list[n-1].step == s.step*int64(a.Size) {
				list[n-1] = stride{list[n-1].axis.Merge(a), s.step}
				continue
			}
			list = append(list, s)
		}
	}
	return list
}

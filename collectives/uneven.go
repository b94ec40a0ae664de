package collectives

import (
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// soften drops axes that do not divide a dimension where an op ties it to another one that cannot be cut by them: of an op that is not
// padded, or of a value that is cut evenly. Blocks would have to be brought from the one to the other between any two ops. Inputs and
// constraints keep what the user asks for.
func soften(ctx context.Context, m *ir.Module, body ir.BlockID) error {
	if !m.Uneven() {
		return nil
	}
	for again := true; again; {
		again = false
		err := m.WalkContext(ctx, body, func(op ir.OpID) {
			if r := rule.Computing(m, op); r != nil && softenOp(m, op, r) {
				again = true
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tied is a dimension of a tensor of an op, with the factor whose padding is its.
type tied struct {
	value  ir.ValueID
	dim    int
	factor int32
	axes   []subaxis.Ref
	uneven bool
	made   bool // a result's
}

// softenOp does it for one op, and says whether it dropped any axis.
func softenOp(m *ir.Module, op ir.OpID, r *ir.Rule) bool {
	dims, dropped := tiedDims(m, op, r), false
	var paddable []bool
	for _, x := range dims {
		if !x.uneven {
			continue
		}
		if paddable == nil {
			paddable = rule.Paddable(m, op, r)
		}
		keep := paddable[x.factor]
		for _, y := range dims {
			sliced := len(y.axes) == 0 && !y.made
			keep = keep && (y.factor != x.factor || sliced || slices.Equal(y.axes, x.axes))
		}
		dropped = !keep && dropAxes(m, &x) || dropped
	}
	return dropped
}

// tiedDims returns the dimensions of an op's tensors that have a leading factor.
func tiedDims(m *ir.Module, op ir.OpID, r *ir.Rule) (all []tied) {
	add := func(v ir.ValueID, mapping [][]int32, made bool) {
		id := ir.ShardingID(0)
		if isTensor(m, v) {
			id = dataflow.ShardingOf(m, v)
		}
		if id == 0 {
			return
		}
		for d, factors := range mapping {
			if f, ok := rule.Leading(r, factors); ok {
				axes := m.ShardingOf(id).Dims[d].Axes
				all = append(all, tied{v, d, f, axes, m.Shape(v)[d]%subaxis.Product(axes) != 0, made})
			}
		}
	}
	for i, mapping := range r.Operands {
		add(m.Operand(op, i), mapping, false)
	}
	for i, mapping := range r.Results {
		add(m.Result(op, i), mapping, true)
	}
	return all
}

// dropAxes leaves those axes of a dimension that divide it, and says whether it could.
func dropAxes(m *ir.Module, x *tied) bool {
	home := dataflow.Home(m, x.value)
	op := m.DefiningOp(home)
	if op == 0 || m.Kind(op) == ir.OpSdyShardingConstraint {
		return false
	}
	s := m.ShardingOf(m.Sharding(home))
	l := LayoutOf(s)
	l.Dims[x.dim] = subaxis.Dividing(x.axes, m.Shape(x.value)[x.dim])
	m.SetSharding(home, m.InternSharding(l.Sharding(s.Mesh)))
	return true
}

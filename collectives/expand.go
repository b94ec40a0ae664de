package collectives

import (
	"context"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// Reshard is what one sdy.reshard asks for: a tensor of that shape and of that many bytes in all, laid out anew. Both
// layouts have its rank and independent axes, and every unreduced axis of To is one of From.
type Reshard struct {
	Shape     []int64
	Bytes     int64
	From, To  Layout
	Reordered bool // the mesh has its devices in another order afterwards
}

// Order finds the steps of a reshard. [Shardy] and [Planner.Cheapest] are orders.
type Order func(*Reshard) []Step

// Expansion says how reshards are expanded.
type Expansion struct {
	Order         Order
	KeepRedundant bool // leave reshards that ask for nothing
	KeepManual    bool // leave those inside manual computations: lowering makes all devices compute alike what they cut
}

// Expand replaces the reshards of a module by the sdy collectives that do what they ask for. Those that ask for nothing
// vanish. Those to or from a single device, or between meshes of other axes, stay: they are no business of collectives. A
// reshard to a tensor whole on every device ends on the mesh that the operand has. Propagation barriers before a reshard
// are passed over. It fails (ErrInvalid) on a reshard of a value of another rank and (ErrUnsupported) on one that
// introduces unreduced axes, which explicit reshards have ops of their own for, whose axes are not independent, or whose
// steps in Shardy's order are none, or with the error of the context.
// Shardy: -sdy-reshard-to-collectives (specification: shardy.md section 5.4).
func Expand(ctx context.Context, m *ir.Module, e Expansion) error {
	var failed error
	err := m.WalkContext(ctx, m.Body(), func(op ir.OpID) {
		if failed == nil && m.Kind(op) == ir.OpSdyReshard && !(e.KeepManual && m.ManualAround(op) != 0) {
			failed = e.reshard(m, op)
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// reshard replaces one reshard.
func (e *Expansion) reshard(m *ir.Module, op ir.OpID) error {
	v := dataflow.BehindBarriers(m, m.Operand(op, 0))
	want := m.ShardingOf(m.Sharding(m.Result(op, 0)))
	out := LayoutOf(want)
	have, in := want.Mesh, Layout{Dims: make([][]subaxis.Ref, len(out.Dims))} // a value without a sharding is whole
	if id := dataflow.ShardingOf(m, v); id != 0 {
		have, in = m.ShardingOf(id).Mesh, LayoutOf(m.ShardingOf(id))
	}
	mesh := want.Mesh
	if want.IsReplicated() {
		mesh = have
	}
	a, b, c := m.Mesh(have), m.Mesh(mesh), m.Mesh(want.Mesh)
	if a.IsMaximal() || c.IsMaximal() || !slices.Equal(a.Axes, b.Axes) || e.KeepRedundant && have == mesh && in.Equal(&out) {
		return nil
	}
	if len(in.Dims) != len(out.Dims) {
		return diag.Invalid(diag.BadSharding, m.Position(op), "`sdy.reshard` of a tensor with %d dimensions that is sharded along %d",
			len(out.Dims), len(in.Dims))
	}
	if !in.Independent() || !out.Independent() {
		return diag.Unsupported(diag.NotSupported, m.Position(op),
			"`sdy.reshard` from or to blocks along parts of one axis that depend on each other: cut by whole axes, or by parts that nest")
	}
	if len(subaxis.Difference(out.Unreduced, in.Unreduced)) > 0 {
		return diag.Unsupported(diag.NotSupported, m.Position(op),
			"`sdy.reshard` introduces unreduced axes: give its operand a sharding and run sdy-insert-explicit-reshards before")
	}
	steps := e.Order(&Reshard{Shape: m.Shape(v), Bytes: m.ValueType(v).Bytes(), From: in, To: out, Reordered: have != mesh})
	if d, before, after := resizes(in, steps); before != after {
		return diag.Unsupported(diag.NotSupported, m.Position(op), "the steps of `sdy.reshard` in Shardy's order permute blocks of other sizes: "+
			"dimension %d is cut in %d before and in %d after; Shardy fails here, too", d, before, after)
	}
	if len(steps) == 0 && want.IsReplicated() {
		v = m.Operand(op, 0) // Shardy does not look behind barriers here
	}
	m.ReplaceUses(m.Result(op, 0), emit(m.BuilderBefore(op), m, v, steps, have, mesh))
	m.Erase(op)
	return nil
}

// resizes finds a permutation of blocks of other sizes, which is none: the dimension, and in how many blocks it is cut before and after.
func resizes(at Layout, steps []Step) (d int, before, after int64) {
	for i := range steps {
		s := &steps[i]
		for d := range at.Dims {
			before, after = subaxis.Product(at.Dims[d]), subaxis.Product(s.After.Dims[d])
			if s.Kind == Permute && before != after {
				return d, before, after
			}
		}
		at = s.After
	}
	return 0, 0, 0
}

// ops are the sdy ops of the kinds.
var ops = [...]ir.Kind{
	AllSlice:      ir.OpSdyAllSlice,
	AllGather:     ir.OpSdyAllGather,
	ReduceScatter: ir.OpSdyReduceScatter,
	AllReduce:     ir.OpSdyAllReduce,
	AllToAll:      ir.OpSdyAllToAll,
	Permute:       ir.OpSdyCollectivePermute,
}

// emit inserts the ops of steps from a value on one mesh to another mesh of the same axes and returns the last result.
func emit(b *ir.Builder, m *ir.Module, v ir.ValueID, steps []Step, mesh, to ir.MeshID) ir.ValueID {
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && steps[n].Joint {
			n++
		}
		if steps[0].Kind == Permute {
			mesh = to
		}
		kind := ops[steps[0].Kind]
		var attrs ir.Attrs
		if name, _ := kind.CollectiveAxes(); name != "" {
			attrs = ir.MakeAttrs(ir.NamedAttr{Name: name, Value: axesOf(steps[:n], mesh, len(m.Shape(v)))})
		}
		if kind == ir.OpSdyAllReduce || kind == ir.OpSdyReduceScatter {
			if r := m.ShardingOf(dataflow.ShardingOf(m, v)).Reduction; r != ir.ReduceSum {
				attrs = attrs.With("reduction_op", ir.EnumAttr{Dialect: "sdy", Enum: "reduction_op", Value: r.String()})
			}
		}
		v = b.Op1(kind, m.Type(v), attrs, v)
		m.SetSharding(v, m.InternSharding(steps[n-1].After.Sharding(mesh)))
		steps = steps[n:]
	}
	return v
}

// axesOf returns the attribute that says what one op of joint steps is about.
func axesOf(steps []Step, mesh ir.MeshID, rank int) ir.Attr {
	switch first := steps[0]; first.Kind {
	case AllReduce:
		return &ir.AxesAttr{Mesh: mesh, Axes: subaxis.SortMerge(append([]subaxis.Ref(nil), first.Axes...))}
	case AllToAll:
		return &ir.AllToAllAttr{Mesh: mesh, Moves: []ir.AllToAllMove{{Axes: first.Axes, Src: int64(first.Dim), Dst: int64(first.To)}}}
	}
	dims := make([]ir.ShardAxes, rank)
	for _, s := range steps {
		dims[s.Dim] = s.Axes
	}
	return &ir.AxesPerDimAttr{Mesh: mesh, Dims: dims}
}

package shardmap

import (
	"context"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// lowerer walks the program in order. When it comes to an op, the op's operands have their local types already;
// their shardings still tell how they were cut.
type lowerer struct {
	ctx    context.Context
	m      *ir.Module
	p      *Program
	mesh   ir.MeshID
	runs   int64 // trip count of the loops around
	varies bool  // inside a branch, or a loop whose trip count is not plain to see
	places *Places

	numbering map[ir.ValueID]int // of values that number the elements of a dimension that is cut: which one
}

// newLowerer returns what lowers the ops of a program that know where on a mesh their device stands.
func newLowerer(ctx context.Context, p *Program, mesh ir.MeshID, places *Places) *lowerer {
	return &lowerer{ctx: ctx, m: p.Module, p: p, mesh: mesh, runs: 1, places: places, numbering: map[ir.ValueID]int{}}
}

// ruleAttr is the attribute of a sharding rule, which holds sizes of whole tensors.
const ruleAttr = "sdy.sharding_rule"

// lowerings are the ops whose local form is more than the same op on local types, by family.
var lowerings map[ir.Kind]func(*lowerer, ir.OpID) error

func init() {
	lowerings = map[ir.Kind]func(*lowerer, ir.OpID) error{
		ir.OpConstant:             (*lowerer).constant,
		ir.OpSdyConstant:          (*lowerer).constant,
		ir.OpIota:                 (*lowerer).iota,
		ir.OpSlice:                (*lowerer).slice,
		ir.OpSort:                 (*lowerer).sort,
		ir.OpPad:                  (*lowerer).pad,
		ir.OpReverse:              (*lowerer).reverse,
		ir.OpConcatenate:          (*lowerer).concatenate,
		ir.OpReduce:               (*lowerer).reduce,
		ir.OpReduceWindow:         (*lowerer).reduceWindow,
		ir.OpDynamicSlice:         (*lowerer).dynamicSlice,
		ir.OpDynamicUpdateSlice:   (*lowerer).dynamicUpdateSlice,
		ir.OpGather:               (*lowerer).gather,
		ir.OpScatter:              (*lowerer).scatter,
		ir.OpConvolution:          (*lowerer).convolution,
		ir.OpSelectAndScatter:     (*lowerer).selectAndScatter,
		ir.OpWhile:                (*lowerer).while,
		ir.OpCase:                 (*lowerer).branches,
		ir.OpIf:                   (*lowerer).branches,
		ir.OpChloTopK:             (*lowerer).topK,
		ir.OpRngBitGenerator:      (*lowerer).draw,
		ir.OpSdyAllGather:         sending((*lowerer).allGather),
		ir.OpSdyAllSlice:          (*lowerer).allSlice,
		ir.OpSdyAllReduce:         sending((*lowerer).allReduce),
		ir.OpSdyReduceScatter:     sending((*lowerer).reduceScatter),
		ir.OpSdyAllToAll:          sending((*lowerer).allToAll),
		ir.OpSdyCollectivePermute: sending((*lowerer).permute),
		ir.OpSdyManualComputation: (*lowerer).manual,
	}
}

func (l *lowerer) block(b ir.BlockID) error {
	for _, arg := range l.m.BlockArgs(b) {
		l.localise(arg)
	}
	for op := range l.m.Ops(b) {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		if lower, ok := lowerings[l.m.Kind(op)]; ok {
			if err := lower(l, op); err != nil {
				return err
			}
			continue
		}
		l.results(op)
	}
	return nil
}

// results gives the results of an op their local types.
func (l *lowerer) results(op ir.OpID) {
	for _, v := range l.m.Results(op) {
		l.localise(v)
	}
}

func (l *lowerer) localise(v ir.ValueID) {
	l.m.SetType(v, localType(l.m, l.m.Type(v), l.m.Sharding(v)))
}

// finish drops the shardings and the rules given for them, which only described global tensors, and what says why an op is there.
func (l *lowerer) finish() {
	for v := ir.ValueID(1); int(v) < l.m.NumValues(); v++ {
		l.m.SetSharding(v, 0)
	}
	l.m.Walk(l.m.Func(l.p.Main).Body, func(op ir.OpID) {
		if a := l.m.OpAttrs(op); a.Get(ruleAttr) != nil || a.Get(RecomputedAttr) != nil {
			l.m.SetAttrs(op, a.Without(ruleAttr, RecomputedAttr))
		}
	})
}

// axes returns the axes that cut dimension d of a value.
func (l *lowerer) axes(v ir.ValueID, d int) []subaxis.Ref {
	if s := l.m.Sharding(v); s != 0 {
		return l.m.ShardingOf(s).Dims[d].Axes
	}
	return nil
}

// replace puts a new value in the place of an op's only result and removes the op.
func (l *lowerer) replace(op ir.OpID, with ir.ValueID) {
	old := l.m.Result(op, 0)
	l.m.SetSharding(with, l.m.Sharding(old))
	l.m.ReplaceUses(old, with)
	l.m.Erase(op)
	l.p.Move(old, with)
}

// along returns the attributes of an op over axes.
func (l *lowerer) along(axes []subaxis.Ref) ir.Attrs {
	return ir.MakeAttrs(ir.Named("axes", &ir.AxesAttr{Mesh: l.mesh, Axes: axes}))
}

// axisIndex returns an i32 scalar with the number of this device's block along a list of axes.
func (l *lowerer) axisIndex(refs []subaxis.Ref) ir.ValueID {
	return l.places.Along(&ir.AxesAttr{Mesh: l.mesh, Axes: refs})
}

// offset emits the index in the whole tensor of the first element of this device's block along axes whose block has
// that size, as a scalar of any element type but i1.
func (l *lowerer) offset(b *ir.Builder, refs []subaxis.Ref, block int64, e dtype.Type) ir.ValueID {
	index, wide := l.axisIndex(refs), dtype.I32
	if e == dtype.I64 || e == dtype.UI64 {
		index, wide = b.Op1(ir.OpConvert, l.m.TensorType(e), nil, index), e
	}
	if block != 1 {
		index = b.Op1(ir.OpMultiply, l.m.TensorType(wide), nil, index, b.Integer(wide, block))
	}
	if e != wide {
		index = b.Op1(ir.OpConvert, l.m.TensorType(e), nil, index)
	}
	return index
}

// broadcast emits a scalar as a tensor of those dimensions.
func (l *lowerer) broadcast(b *ir.Builder, v ir.ValueID, dims []int64) ir.ValueID {
	if len(dims) == 0 {
		return v
	}
	return b.Broadcast(l.m.WithDims(l.m.Type(v), dims), v)
}

// cut emits this device's part of a value along each dimension's axes, with where it begins.
func (l *lowerer) cut(b *ir.Builder, v ir.ValueID, axes [][]subaxis.Ref) ir.ValueID {
	m := l.m
	dims := append([]int64(nil), m.Shape(v)...)
	operands := []ir.ValueID{v}
	var zero ir.ValueID
	for d, refs := range axes {
		if len(refs) == 0 {
			if zero == 0 {
				zero = b.Integer(dtype.I32, 0)
			}
			operands = append(operands, zero)
			continue
		}
		dims[d] /= subaxis.Product(refs)
		operands = append(operands, l.offset(b, refs, dims[d], dtype.I32))
	}
	return b.Op1(ir.OpShardMapPscatter, m.WithDims(m.Type(v), dims),
		ir.MakeAttrs(ir.Named("axes", &ir.AxesPerDimAttr{Mesh: l.mesh, Dims: axes})), operands...)
}

// while gives the arguments of its regions the shardings of its operands, which the text of a program does not hold.
func (l *lowerer) while(op ir.OpID) error {
	l.results(op)
	for r := range l.m.NumRegions(op) {
		for i, arg := range l.m.BlockArgs(l.m.RegionBlock(op, r)) {
			if l.m.Sharding(arg) == 0 {
				l.m.SetSharding(arg, l.m.Sharding(l.m.Operand(op, i)))
			}
		}
	}
	runs, varies := l.runs, l.varies
	defer func() { l.runs, l.varies = runs, varies }()
	l.enterLoop(op)
	return l.regions(op)
}

// enterLoop multiplies the runs by a loop's trip count.
func (l *lowerer) enterLoop(op ir.OpID) {
	if _, ok := ir.TripCount(l.m, op); !ok {
		l.varies = true
	}
	l.runs *= ir.Trips(l.m, op)
}

func (l *lowerer) branches(op ir.OpID) error {
	l.results(op)
	outer := l.varies
	l.varies = true
	defer func() { l.varies = outer }()
	return l.regions(op)
}

func (l *lowerer) regions(op ir.OpID) error {
	for i := range l.m.NumRegions(op) {
		if err := l.block(l.m.RegionBlock(op, i)); err != nil {
			return err
		}
	}
	return nil
}

// manual replaces a manual computation by its body, which works on local blocks already. Axes that it leaves free are replicated.
func (l *lowerer) manual(op ir.OpID) error {
	m := l.m
	body := m.RegionBlock(op, 0)
	DropHints(m, body)
	for i, arg := range m.BlockArgs(body) {
		operand := m.Operand(op, i)
		if m.Type(operand) != m.Type(arg) {
			return diag.Unsupported(diag.NotSupported, diag.Position{},
				"operand %d of a manual computation is cut into blocks of another shape than its body takes", i)
		}
		m.ReplaceUses(arg, operand)
	}
	for inner := range m.Ops(body) {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		l.userCollectives(inner)
	}
	for i, v := range m.Results(op) {
		out := m.Operand(m.LastOp(body), i)
		m.SetSharding(out, m.Sharding(v))
		l.p.Move(v, out)
	}
	m.Splice(op, body)
	return nil
}

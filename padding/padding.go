// Package padding makes all blocks of a program equal: dimensions that the axes which cut them do not divide are padded, at the
// high end, to a size that they do divide. What comes after it, from the steps of a reshard to the program of a device, sees sizes
// that divide.
//
//	%0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [0]   // tensor<10xf32> along x=4
//
// becomes
//
//	%0 = stablehlo.pad %arg0, %zero, low = [0], high = [2], interior = [0] {autoshard.boundary}   // tensor<12xf32>
//	%1 = stablehlo.compare LT, %iota, %ten
//	%2 = stablehlo.select %1, %0, %zeros
//	%3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [0]
//
// What padding holds is undefined: whoever stores an argument in blocks fills them up with anything, and ops compute with it. Where it
// could reach an element that counts, it is replaced before: by the identity of a reduction, by zeros in both operands of a product.
// Indices are clamped as they are on the whole tensor, and windows and their like are moved to where they are on it. Which
// dimensions of an op may be padded is a verdict of its family ([rule.Paddable]), which those who cut an op ask before; the others
// are cut evenly.
//
// Dimensions that are the same factor of an op have one padded size, and so have both sides of a reshard that are cut: reshards stay
// plain collectives. Whole dimensions keep their size: they are padded, or what is padded is taken off them, where nothing has to be
// sent for that.
// Specification: localforms.md sections 1 and 2.6.
package padding

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// Boundary is the attribute of pads of arguments and of slices of results that nobody computes: whoever cuts an argument into blocks
// fills them up, and whoever joins the blocks of a result leaves out what is more.
const Boundary = "autoshard.boundary"

// AtBoundary says whether an op stands between a whole tensor and how it is stored in blocks.
func AtBoundary(m *ir.Module, op ir.OpID) bool { return op != 0 && m.Attr(op, Boundary) != nil }

// Forget removes what says that an op stands at the boundary, for readers who do not know it: there it is an op like any other.
func Forget(m *ir.Module) {
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if AtBoundary(m, op) {
			m.SetAttrs(op, m.OpAttrs(op).Without(Boundary))
		}
	})
}

// Pad pads the main function of a module with explicit reshards, in which every value lies as its maker makes it and its readers read
// it. The only error is the context's.
func Pad(ctx context.Context, m *ir.Module, mesh ir.MeshID) error {
	main, ok := m.Main()
	if !ok || !m.Uneven() {
		return ctx.Err()
	}
	p := &padder{ctx: ctx, m: m, mesh: mesh, body: m.Func(main).Body, made: ir.OpID(m.NumOps()), roles: map[ir.OpID]*roles{},
		masks: map[maskKey]ir.ValueID{}, ranges: map[rangeKey]ir.ValueID{}}
	p.number()
	p.tie()
	p.size()
	p.arguments()
	return p.block(p.body)
}

// padder pads one function.
type padder struct {
	ctx   context.Context
	m     *ir.Module
	mesh  ir.MeshID
	body  ir.BlockID
	first []int32 // by value: the number of its first dimension, 0 for values that have none here
	dims  []dimension
	roles map[ir.OpID]*roles
	made  ir.OpID // the first op that padding adds

	masks  map[maskKey]ir.ValueID
	ranges map[rangeKey]ir.ValueID
}

// eachOp calls visit for the ops of a block and of what is carried out in the same way inside of them.
func (p *padder) eachOp(b ir.BlockID, visit func(op ir.OpID)) {
	for op := range p.m.Ops(b) {
		visit(op)
		if p.enters(op) {
			for inner := range p.m.InnerBlocks(op) {
				p.eachOp(inner, visit)
			}
		}
	}
}

// enters says whether the regions of an op are part of the function: loops and branches. The bodies of manual computations see blocks.
func (p *padder) enters(op ir.OpID) bool {
	k := p.m.Kind(op)
	return dataflow.Has(k) && k != ir.OpSdyManualComputation
}

// number gives every dimension of a tensor a number.
func (p *padder) number() {
	p.first = make([]int32, p.m.NumValues())
	p.dims = make([]dimension, 1, 2*p.m.NumValues())
	add := func(v ir.ValueID) {
		t := p.m.ValueType(v)
		if t.Kind != ir.TensorKind {
			return
		}
		p.first[v] = int32(len(p.dims))
		for d, n := range t.Dims {
			p.dims = append(p.dims, dimension{size: n, shards: subaxis.Product(p.axes(v, d)), to: int32(len(p.dims))})
		}
	}
	for _, v := range p.m.BlockArgs(p.body) {
		add(v)
	}
	p.eachOp(p.body, func(op ir.OpID) {
		for _, v := range p.m.Results(op) {
			add(v)
		}
		if p.enters(op) {
			for b := range p.m.InnerBlocks(op) {
				for _, v := range p.m.BlockArgs(b) {
					add(v)
				}
			}
		}
	})
}

// axes returns the axes that cut a dimension of a value.
func (p *padder) axes(v ir.ValueID, d int) []subaxis.Ref {
	if s := p.m.Sharding(v); s != 0 {
		return p.m.ShardingOf(s).Dims[d].Axes
	}
	return nil
}

// at returns the number of a dimension of a value.
func (p *padder) at(v ir.ValueID, d int) int32 { return p.first[v] + int32(d) }

// has says whether a value has dimensions here.
func (p *padder) has(v ir.ValueID) bool {
	return int(v) < len(p.first) && p.first[v] > 0 && len(p.m.Shape(v)) > 0
}

// alias says that a new value stands for another one.
func (p *padder) alias(v, of ir.ValueID) {
	for int(v) >= len(p.first) {
		p.first = append(p.first, 0)
	}
	p.first[v] = p.first[of]
}

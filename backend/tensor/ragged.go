package tensor

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// RaggedDims says which dimensions of a product are multiplied how: as for DotGeneral, and that of lhs which is cut into groups.
// Group is the dimension of rhs with an entry for each group, -1 where the groups cut a contracting or a batching dimension.
type RaggedDims struct {
	DotDims
	Ragged, Group int64
}

// Prefix returns the dimensions of lhs along which group sizes may differ: the batching ones before the ragged one and, unless that is
// one of them, all of them and those of its own sort before it. Sizes are [groups], or have these dimensions before the groups.
func (d *RaggedDims) Prefix(rank int) []int64 {
	before := func(list []int64) []int64 { return list[:slices.Index(list, d.Ragged)] }
	switch {
	case slices.Contains(d.LHSBatch, d.Ragged):
		return before(d.LHSBatch)
	case slices.Contains(d.LHSContract, d.Ragged):
		return slices.Concat(d.LHSBatch, before(d.LHSContract))
	}
	return slices.Concat(d.LHSBatch, before(lists.Others(rank, d.LHSBatch, d.LHSContract)))
}

// RaggedDot multiplies groups of consecutive indices of the ragged dimension (stablehlo.md section 2.13), of the sizes that sizes has,
// each by itself:
//
//	rows         lhs[b, m, k], rhs[g, b, k, n] to [b, m, n]: each group of rows by its own matrix; what is in no group is 0
//	contracting  lhs[b, m, k], rhs[b, k, n] to [g, b, m, n]: a product of each group of k
//	batching     lhs[b, m, k], rhs[b, k, n] to [b, m, n]: as if there were no groups
//
// The result has element type out.
func RaggedDot(lhs, rhs, sizes Tensor, d RaggedDims, out dtype.Type) Tensor {
	if slices.Contains(d.LHSBatch, d.Ragged) {
		return DotGeneral(lhs, rhs, d.DotDims, out)
	}
	exact := out
	if out.Kind() == dtype.Float && out.Bits() < 32 {
		exact = dtype.F32 // of sums of several cells
	}
	groups := sizes.Shape[sizes.Rank()-1]
	p := newRaggedProduct(lhs, rhs, d, groups, exact)
	prefix := d.Prefix(lhs.Rank())
	if sizes.Rank() == 1 {
		prefix = nil
	}
	counts := indices(sizes)
	at := newCounter(lists.Map(prefix, func(dim int64) int64 { return lhs.Shape[dim] }))
	for row := int64(0); row*groups < int64(len(counts)); row++ {
		cell := whole(lhs.Shape)
		for i, dim := range prefix {
			cell[dim] = span{at.index[i], at.index[i] + 1}
		}
		start := int64(0)
		for g := range groups {
			size := clampIndex(counts[row*groups+g], lhs.Shape[d.Ragged]-start)
			cell[d.Ragged] = span{start, start + size}
			if size > 0 {
				p.add(g, cell)
			}
			start += size
		}
		at.next()
	}
	return Convert(p.out, out)
}

// span is a range of indices of a dimension.
type span struct{ from, to int64 }

// whole returns the spans of all indices of a shape.
func whole(shape []int64) []span { return lists.Map(shape, func(n int64) span { return span{0, n} }) }

// cut returns the elements whose indices are in spans.
func cut(x Tensor, spans []span) Tensor {
	return Slice(x, lists.Map(spans, func(s span) int64 { return s.from }), lists.Map(spans, func(s span) int64 { return s.to }),
		slices.Repeat([]int64{1}, x.Rank()))
}

// raggedProduct collects the products of groups.
type raggedProduct struct {
	lhs, rhs         Tensor
	dims             RaggedDims
	product          DotDims // of a group, whose matrices have no group dimension
	lhsFree, rhsFree []int64
	out              Tensor
}

func newRaggedProduct(lhs, rhs Tensor, d RaggedDims, groups int64, out dtype.Type) *raggedProduct {
	p := &raggedProduct{lhs: lhs, rhs: rhs, dims: d, product: d.DotDims, lhsFree: lists.Others(lhs.Rank(), d.LHSBatch, d.LHSContract)}
	shape := slices.Concat(lists.Pick(lhs.Shape, d.LHSBatch), lists.Pick(lhs.Shape, p.lhsFree))
	group := []int64{}
	if d.Group >= 0 {
		group = append(group, d.Group)
		without := func(dim int64) int64 { // of the group dimension
			if dim > d.Group {
				return dim - 1
			}
			return dim
		}
		p.product.RHSBatch, p.product.RHSContract = lists.Map(d.RHSBatch, without), lists.Map(d.RHSContract, without)
	}
	if d.Group < 0 {
		shape = slices.Insert(shape, 0, groups)
	}
	p.rhsFree = lists.Others(rhs.Rank(), d.RHSBatch, d.RHSContract, group)
	p.out = New(out, append(shape, lists.Pick(rhs.Shape, p.rhsFree)...))
	return p
}

// add computes the product of the indices of lhs in a cell, which belong to group g. Where groups cut a contracting dimension, the cells
// along the contracting dimensions before it are terms of one sum.
func (p *raggedProduct) add(g int64, cell []span) {
	d := &p.dims
	right := whole(p.rhs.Shape)
	for i, dim := range d.LHSBatch {
		right[d.RHSBatch[i]] = cell[dim]
	}
	for i, dim := range d.LHSContract {
		right[d.RHSContract[i]] = cell[dim]
	}
	place := slices.Concat(lists.Pick(cell, d.LHSBatch), lists.Pick(cell, p.lhsFree), lists.Pick(whole(p.rhs.Shape), p.rhsFree))
	if d.Group < 0 {
		place = slices.Insert(place, 0, span{g, g + 1})
	} else {
		right[d.Group] = span{g, g + 1}
	}
	matrix := cut(p.rhs, right)
	if d.Group >= 0 {
		matrix = Reshape(matrix, slices.Delete(slices.Clone(matrix.Shape), int(d.Group), int(d.Group)+1))
	}
	part := DotGeneral(cut(p.lhs, cell), matrix, p.product, p.out.DType)
	part = Reshape(part, lists.Map(place, func(s span) int64 { return s.to - s.from }))
	if d.Group < 0 {
		part = Add(cut(p.out, place), part)
	}
	starts := lists.Map(place, func(s span) Tensor { return FromInts(dtype.I64, nil, s.from) })
	DynamicUpdateSliceInPlace(p.out, part, starts)
}

package rule

import (
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
)

func init() {
	register(&Family{
		Name:  "cholesky",
		Why:   "matrices of a batch are independent; each matrix has to be whole",
		build: buildCholesky,
		pads:  passing,
	}, ir.OpCholesky)
	register(&Family{
		Name:  "triangular_solve",
		Why:   "systems of a batch and right-hand sides are independent; the matrix has to be whole",
		build: buildTriangularSolve,
		seeks: true,
		pads:  passing,
	}, ir.OpTriangularSolve)
	register(&Family{
		Name:  "fft",
		Why:   "only the transformed dimensions have to be whole",
		build: buildFFT,
		pads:  passing,
	}, ir.OpFft)
	register(&Family{
		Name:  "rng_bit_generator",
		Why:   "the state has to be whole; every shard draws its part of the numbers",
		build: buildRngBitGenerator,

		judge: drawWhole,
	}, ir.OpRngBitGenerator)
}

func buildCholesky(b *builder) bool {
	rank := len(b.in[0])
	return b.passing(b.in[0], func(d int) bool { return d < rank-2 }, needReplication, false)
}

func buildTriangularSolve(b *builder) bool {
	a, rhs := b.in[0], b.in[1]
	rows, cols := len(a)-2, len(a)-1
	b.pointwise(a[:rows])
	transposed := b.transposed()
	free, contracted := rows, cols
	if b.m.OpAttrs(b.op).Bool("left_side") == transposed {
		free, contracted = cols, rows
	}
	nr, side := needReplication, needReplication
	if b.computing {
		side = passThrough
	}
	if b.m.OpAttrs(b.op).Bool("left_side") {
		b.factor([]int{free, rows}, []int{none}, a[free], nr, false)
		b.factor([]int{none, cols}, []int{cols}, rhs[cols], side, false)
		b.factor([]int{contracted, none}, []int{rows}, a[contracted], nr, false)
		return true
	}
	b.factor([]int{none, rows}, []int{rows}, rhs[rows], side, false)
	b.factor([]int{free, cols}, []int{none}, a[free], nr, false)
	b.factor([]int{contracted, none}, []int{cols}, a[contracted], nr, false)
	return true
}

func (b *builder) transposed() bool {
	t := b.m.OpAttrs(b.op).Str("transpose_a")
	return t == "TRANSPOSE" || t == "ADJOINT"
}

func buildFFT(b *builder) bool {
	in, out := b.in[0], b.out[0]
	rank, transformed := len(in), len(b.ints("fft_length"))
	for d, size := range in {
		switch {
		case d < rank-transformed:
			b.everywhere(d, size, passThrough, false)
		case d < rank-1:
			b.everywhere(d, size, needReplication, false)
		default:
			b.everywhere(d, size, needReplication, size != out[d])
		}
	}
	return true
}

func buildRngBitGenerator(b *builder) bool {
	for d, size := range b.in[0] {
		b.factor([]int{d}, []int{d, none}, size, needReplication, true)
	}
	for d, size := range b.out[1] {
		b.factor([]int{none}, []int{none, d}, size, passThrough, false)
	}
	return true
}

// drawWhole lets every device draw all numbers, or its block of the first dimension, where that is drawn as a part of the whole is: by the
// same algorithm, from a later value of its counter on.
func drawWhole(v *verdict) {
	if v.m.OpAttrs(v.op).Str("rng_algorithm") == "DEFAULT" {
		v.wholly("the backend chooses the algorithm, and only all numbers together are known to be the same")
		return
	}
	v.wholly("blocks of it are not drawn as parts of the whole are")
	shape := v.m.Shape(v.m.Result(v.op, 1))
	if d, ok := localform.Drawn(v.m, v.op, shape); ok && v.m.ValueType(v.m.Operand(v.op, 0)).DType == dtype.UI64 {
		f := v.rule.Results[1][d.Dim][0]
		v.parts[f] = d.Parts(shape[d.Dim])
	}
}

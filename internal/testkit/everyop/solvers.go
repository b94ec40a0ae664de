package everyop

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var solverOps = family{
	ir.OpCholesky: (*drawing).cholesky, ir.OpTriangularSolve: (*drawing).triangularSolve, ir.OpFft: (*drawing).fft,
	ir.OpBatchNormInference: (*drawing).batchNorm, ir.OpBatchNormTraining: (*drawing).batchNorm, ir.OpBatchNormGrad: (*drawing).batchNorm,
	ir.OpRngBitGenerator: (*drawing).randomBits,
}

// solvable are the types of factorizations.
func solvable(e dtype.Type) bool { return isInexact(e) && e.Bits() >= 32 }

// dominant draws matrices whose diagonal outweighs the rest, so that errors stay small.
func (d *drawing) dominant(e dtype.Type, batch []int64, n int64) ir.ValueID {
	dims := append(slices.Clone(batch), n, n)
	x := d.tensorOf(e, dims, whole)
	large := tensor.Convert(tensor.FromInts(dtype.I32, nil, 4*n+4), e)
	eye := tensor.Compare(tensor.Iota(dtype.I32, dims, int64(len(dims)-1)), tensor.Iota(dtype.I32, dims, int64(len(dims)-2)), tensor.EQ, false)
	y := tensor.Select(eye, tensor.BroadcastInDim(large, nil, dims), *x)
	return d.given(&y)
}

func (d *drawing) cholesky(k ir.Kind) {
	n := d.some()
	a := ir.Attrs{}
	if d.odds("lower", 2) {
		a = attrs("lower", d.bool("lower"))
	}
	d.rounds(d.emitOp(k, 0, a, d.dominant(d.drawType(solvable), d.shape(0, 2), n)), n)
}

func (d *drawing) triangularSolve(k ir.Kind) {
	e, n, batch, side := d.drawType(solvable), d.some(), d.shape(0, 2), d.bool("left side")
	dims := append(slices.Clone(batch), d.some(), n)
	if side {
		dims = append(slices.Clone(batch), n, d.some())
	}
	a := attrs("left_side", side, "lower", d.bool("lower"), "unit_diagonal", d.bool("unit diagonal"),
		"transpose_a", d.enum("transpose", "TRANSPOSE_INVALID"))
	d.rounds(d.emitOp(k, 0, a, d.dominant(e, batch, n), d.input(e, dims, whole)), n)
}

func (d *drawing) fft(k ir.Kind) {
	lengths := each(int(d.between(1, 3, "dimensions")), func(int) int64 { return pick(d, []int64{1, 2, 3, 4, 5, 7, 8}, "length") })
	dims := slices.Concat(d.shape(0, 1), lengths)
	kind := d.enum("fft_type")
	e := pick(d, []dtype.Type{dtype.F32, dtype.F64}, "element type")
	if kind.Value == "IRFFT" {
		dims[len(dims)-1] = lengths[len(lengths)-1]/2 + 1
	}
	if kind.Value != "RFFT" {
		e = dtype.ComplexOf(e)
	}
	op := d.emitOp(k, 0, attrs("fft_type", kind, "fft_length", ir.Ints(lengths)), d.input(e, dims, plain))
	d.rounds(op, lists.Product(lengths))
}

// batchNorm draws a normalization of few elements, whose variance is positive. Where the op computes it, peers take the difference of
// squares, which may lose all digits of a small one, so that epsilon is no less than they are.
func (d *drawing) batchNorm(k ir.Kind) {
	e := d.drawType(func(e dtype.Type) bool { return isFloat(e) && e.Bits() >= 16 })
	dims := each(int(d.between(1, 4, "rank")), func(int) int64 { return d.some() })
	at := d.between(0, int64(len(dims))-1, "feature")
	vector := func() ir.ValueID { return d.input(e, dims[at:at+1], positive) }
	operands := []ir.ValueID{d.input(e, dims, positive)}
	for range k.MinOperands() - 1 {
		operands = append(operands, vector())
	}
	if k == ir.OpBatchNormGrad {
		operands[4] = d.input(e, dims, positive)
	}
	least := []float64{1, 0.1, 0.001}
	if k == ir.OpBatchNormTraining {
		least = least[:1]
	}
	epsilon := ir.FloatAttr{Bits: dtype.Encode(dtype.F32, pick(d, least, "epsilon")), Type: d.m.ScalarType(dtype.F32)}
	op := d.emitOp(k, 0, attrs("epsilon", epsilon, "feature_index", d.m.I64(at)), operands...)
	d.rounds(op, lists.Product(dims))
}

func (d *drawing) randomBits(k ir.Kind) {
	algorithm := d.enum("rng_algorithm")
	n := int64(2)
	if algorithm.Value == "PHILOX" {
		n = d.between(2, 3, "state")
	}
	state := d.input(dtype.UI64, []int64{n}, anything)
	e := d.drawType(func(e dtype.Type) bool { return isInteger(e) && e.Bits() >= 8 })
	results := []ir.TypeID{d.m.Type(state), d.m.TensorType(e, d.shape(0, 3)...)}
	d.made(d.b.Op(k, results, attrs("rng_algorithm", algorithm), state))
}

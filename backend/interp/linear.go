package interp

import (
	"slices"
	"strings"
	"sync/atomic"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var linearOps = map[ir.Kind]builder{
	ir.OpDot:                reading(buildDot),
	ir.OpDotGeneral:         reading(buildDotGeneral),
	ir.OpEinsum:             buildEinsum,
	ir.OpUnaryEinsum:        buildEinsum,
	ir.OpConvolution:        reading(buildConvolution),
	ir.OpDynamicConv:        reading(buildDynamicConv),
	ir.OpFft:                reading(buildFft),
	ir.OpCholesky:           reading(buildCholesky),
	ir.OpTriangularSolve:    reading(buildTriangularSolve),
	ir.OpBatchNormTraining:  reading(buildBatchNormTraining),
	ir.OpBatchNormInference: reading(buildBatchNormInference),
	ir.OpBatchNormGrad:      reading(buildBatchNormGrad),
	ir.OpRngBitGenerator:    reading(buildRngBitGenerator),
}

var linearManners = map[ir.Kind]manner{
	ir.OpDot:                blockwise,
	ir.OpDotGeneral:         batched,
	ir.OpEinsum:             blockwise,
	ir.OpUnaryEinsum:        blockwise,
	ir.OpConvolution:        batched,
	ir.OpFft:                batched,
	ir.OpCholesky:           batched,
	ir.OpTriangularSolve:    batched,
	ir.OpBatchNormTraining:  blockwise,
	ir.OpBatchNormInference: blockwise,
	ir.OpBatchNormGrad:      blockwise,
	ir.OpRngBitGenerator:    blockwise,
}

func buildDotGeneral(r *attrReader) kernel {
	a, ok := r.m.Attr(r.op, "dot_dimension_numbers").(*ir.DotDims)
	if !ok {
		r.missing("dot_dimension_numbers")
		return nil
	}
	dims := dotDims(a)
	out := r.element(r.op)
	lhs, rhs := rounding(r.compiler, r.op)
	if r.batch != nil {
		d := r.dots(dims, out)
		return one(func(in []tensor.Tensor) tensor.Tensor { return d.Of(lhs(in[0]), rhs(in[1])) })
	}
	multiply := preparing(func(l, r []int64) *tensor.Dot { return tensor.NewDot(l, r, dims, out) })
	return one(func(in []tensor.Tensor) tensor.Tensor { return multiply(lhs(in[0]), rhs(in[1])) })
}

// preparing makes a function of two tensors of what prepares one for tensors of two shapes, which seldom change.
func preparing[P any, Q interface {
	*P
	Fits(lhs, rhs []int64) bool
	Of(lhs, rhs tensor.Tensor) tensor.Tensor
}](prepare func(lhs, rhs []int64) *P) func(x, y tensor.Tensor) tensor.Tensor {
	var last atomic.Pointer[P]
	return func(x, y tensor.Tensor) tensor.Tensor {
		p := last.Load()
		if p == nil || !Q(p).Fits(x.Shape, y.Shape) {
			p = prepare(x.Shape, y.Shape)
			last.Store(p)
		}
		return Q(p).Of(x, y)
	}
}

// dots returns the products of the blocks of two operands.
func (r *attrReader) dots(dims tensor.DotDims, out dtype.Type) *tensor.Dot {
	sources := func(k int) []int32 { return r.joint.spreads[r.m.Operand(r.op, k)].sources(r.batch) }
	return tensor.NewDots(r.m.Shape(r.m.Operand(r.op, 0)), r.m.Shape(r.m.Operand(r.op, 1)), dims, out, sources(0), sources(1))
}

func dotDims(a *ir.DotDims) tensor.DotDims {
	return tensor.DotDims{LHSBatch: a.LhsBatch, RHSBatch: a.RhsBatch, LHSContract: a.LhsContract, RHSContract: a.RhsContract}
}

// rounding returns how an algorithm rounds the operands of a product: to bf16 or tf32 where it names one of these
// (stablehlo.md section 2.5).
func rounding(c *compiler, op ir.OpID) (lhs, rhs func(tensor.Tensor) tensor.Tensor) {
	a, ok := c.m.Attr(op, "algorithm").(*ir.DotAlgorithm)
	if !ok || a.Operations > 1 || a.LhsCount > 1 || a.RhsCount > 1 {
		return same, same
	}
	return roundTo(c.m.TypeOf(a.LhsType).DType), roundTo(c.m.TypeOf(a.RhsType).DType)
}

func same(x tensor.Tensor) tensor.Tensor { return x }

func roundTo(t dtype.Type) func(tensor.Tensor) tensor.Tensor {
	if t != dtype.BF16 && t != dtype.TF32 {
		return same
	}
	return func(x tensor.Tensor) tensor.Tensor {
		if x.DType != dtype.F32 && x.DType != dtype.F64 {
			return x
		}
		return tensor.ReducePrecision(x, t.Exponent(), t.Mantissa())
	}
}

// buildDot contracts the last dimension of lhs with the first of rhs.
func buildDot(r *attrReader) kernel {
	dims := tensor.DotDims{LHSContract: []int64{int64(r.rank(0)) - 1}, RHSContract: []int64{0}}
	out := r.element(r.op)
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.DotGeneral(in[0], in[1], dims, out) })
}

func convDims(r *attrReader) tensor.ConvDims {
	a, ok := r.m.Attr(r.op, "dimension_numbers").(*ir.ConvDims)
	if !ok {
		r.missing("dimension_numbers")
		return tensor.ConvDims{}
	}
	return tensor.ConvDims{
		InputBatch: a.InBatch, InputFeature: a.InFeature, InputSpatial: a.InSpatial,
		KernelInput: a.KernelIn, KernelOutput: a.KernelOut, KernelSpatial: a.KernelSpatial,
		OutputBatch: a.OutBatch, OutputFeature: a.OutFeature, OutputSpatial: a.OutSpatial,
	}
}

func convParams(r *attrReader) tensor.ConvParams {
	return tensor.ConvParams{
		Dims:              convDims(r),
		Stride:            r.ints("window_strides"),
		Padding:           r.pairs("padding"),
		LHSDilation:       r.ints("lhs_dilation"),
		RHSDilation:       r.ints("rhs_dilation"),
		Reverse:           r.bools("window_reversal"),
		FeatureGroupCount: r.int("feature_group_count", 1),
		BatchGroupCount:   r.int("batch_group_count", 1),
	}
}

func buildConvolution(r *attrReader) kernel {
	p := convParams(r)
	out := r.element(r.op)
	convolve := preparing(func(x, w []int64) *tensor.Conv { return tensor.NewConv(x, w, p, out) })
	if r.batch != nil {
		shape := r.result().Dims
		images := slices.Clone(r.m.Shape(r.m.Operand(r.op, 0)))
		images[0] *= r.batch.Blocks()
		return one(func(in []tensor.Tensor) tensor.Tensor {
			return tensor.Reshape(convolve(tensor.Reshape(in[0], images), in[1]), shape)
		})
	}
	return one(func(in []tensor.Tensor) tensor.Tensor { return convolve(in[0], in[1]) })
}

// convolvesBlocks says whether images of several blocks can be convolved as images of one: they come first, and their number counts for
// nothing else.
func (c *compiler) convolvesBlocks(op ir.OpID) bool {
	a, ok := c.m.Attr(op, "dimension_numbers").(*ir.ConvDims)
	return ok && a.InBatch == 0 && a.OutBatch == 0 && c.m.OpAttrs(op).Int("batch_group_count", 1) == 1
}

// buildDynamicConv reads the padding from the third operand.
func buildDynamicConv(r *attrReader) kernel {
	p := convParams(r)
	out := r.element(r.op)
	return func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		flat := in[2].Ints()
		q := p
		q.Padding = make([][2]int64, len(flat)/2)
		for k := range q.Padding {
			q.Padding[k] = [2]int64{flat[2*k], flat[2*k+1]}
			if low, high := flat[2*k], flat[2*k+1]; max(low, high) > 1<<30 || min(low, high) < -1<<30 {
				return nil, badShape("padding %d and %d is too large", low, high)
			}
		}
		return f.p.only(tensor.Convolution(in[0], in[1], q, out)), nil
	}
}

func buildFft(r *attrReader) kernel {
	kind := enumOf(r, "fft_type", tensor.FFT, tensor.IFFT, tensor.RFFT, tensor.IRFFT)
	length := r.ints("fft_length")
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Fft(in[0], kind, length) })
}

func buildCholesky(r *attrReader) kernel {
	lower := r.bool("lower")
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Cholesky(in[0], lower) })
}

func buildTriangularSolve(r *attrReader) kernel {
	p := tensor.TriangularParams{
		LeftSide: r.bool("left_side"), Lower: r.bool("lower"), UnitDiagonal: r.bool("unit_diagonal"),
		Transpose: enumOf(r, "transpose_a", tensor.NoTranspose, tensor.TransposeA, tensor.Adjoint),
	}
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.TriangularSolve(in[0], in[1], p) })
}

func buildBatchNormTraining(r *attrReader) kernel {
	epsilon, feature := r.float("epsilon", 0), r.dimension("feature_index", r.rank(0))
	return many(func(in []tensor.Tensor) []tensor.Tensor {
		return results(tensor.BatchNormTraining(in[0], in[1], in[2], epsilon, feature))
	})
}

func buildBatchNormInference(r *attrReader) kernel {
	epsilon, feature := r.float("epsilon", 0), r.dimension("feature_index", r.rank(0))
	return one(func(in []tensor.Tensor) tensor.Tensor {
		return tensor.BatchNormInference(in[0], in[1], in[2], in[3], in[4], epsilon, feature)
	})
}

func buildBatchNormGrad(r *attrReader) kernel {
	epsilon, feature := r.float("epsilon", 0), r.dimension("feature_index", r.rank(0))
	return many(func(in []tensor.Tensor) []tensor.Tensor {
		return results(tensor.BatchNormGrad(in[0], in[1], in[2], in[3], in[4], epsilon, feature))
	})
}

func buildRngBitGenerator(r *attrReader) kernel {
	algorithm := enumOf(r, "rng_algorithm", tensor.RngDefault, tensor.RngThreeFry, tensor.RngPhilox)
	output := r.m.Result(r.op, 1)
	dims, element := r.static(output), r.m.ValueType(output).DType
	return many(func(in []tensor.Tensor) []tensor.Tensor {
		return results(tensor.RngBitGenerator(in[0], algorithm, element, dims))
	})
}

// buildEinsum runs a contraction in NumPy's notation, such as "ab,bc->ac": labels that only one operand has and the
// result lacks are summed first, then the operands are multiplied, then the result is transposed.
func buildEinsum(c *compiler, op ir.OpID, i *instr) error {
	config := c.attrs(op).str("einsum_config")
	left, right, ok := strings.Cut(config, "->")
	terms := strings.Split(left, ",")
	ok = ok && len(terms) == c.m.NumOperands(op) && distinct(right)
	for k := range terms {
		terms[k] = strings.TrimSpace(terms[k])
		ok = ok && len(terms[k]) == c.attrs(op).rank(k) && distinct(terms[k])
	}
	right = strings.TrimSpace(right)
	for _, label := range right {
		ok = ok && strings.ContainsRune(left, label)
	}
	if !ok {
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "einsum config %q cannot be run: write one distinct letter per dimension",
			config)
	}
	out := c.element(op)
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		x, labels, err := sumLabels(tensor.Convert(in[0], out), terms[0], right+strings.Join(terms[1:], ""))
		if err == nil && len(in) == 2 {
			y, other, err2 := sumLabels(tensor.Convert(in[1], out), terms[1], right+terms[0])
			err = err2
			if err == nil {
				x, labels = product(x, y, labels, other, right, out)
			}
		}
		if err != nil {
			return nil, err
		}
		perm := make([]int64, len(right))
		for k, label := range right {
			perm[k] = int64(strings.IndexRune(labels, label))
		}
		return f.p.only(tensor.Transpose(x, perm)), nil
	}
	return nil
}

func distinct(labels string) bool {
	for k, label := range labels {
		if strings.ContainsRune(labels[:k], label) {
			return false
		}
	}
	return true
}

// sumLabels sums a tensor over the labels that are not needed.
func sumLabels(x tensor.Tensor, labels, needed string) (tensor.Tensor, string, error) {
	var dims []int64
	kept := ""
	for d, label := range labels {
		if strings.ContainsRune(needed, label) {
			kept += string(label)
		} else {
			dims = append(dims, int64(d))
		}
	}
	if len(dims) == 0 {
		return x, labels, nil
	}
	zero := tensor.New(x.DType, nil)
	out, err := tensor.Reduce([]tensor.Tensor{x}, []tensor.Tensor{zero}, dims, tensor.Combiner{Monoid: tensor.MonoidAdd})
	if err != nil {
		return x, labels, err
	}
	return out[0], kept, nil
}

// product contracts the labels that both have and the result lacks; the result's labels are returned.
func product(x, y tensor.Tensor, xs, ys, result string, out dtype.Type) (tensor.Tensor, string) {
	dims, labels := ir.Contraction([]byte(xs), []byte(ys), func(label byte) bool { return strings.IndexByte(result, label) >= 0 })
	return tensor.DotGeneral(x, y, dotDims(&dims), out), string(labels)
}

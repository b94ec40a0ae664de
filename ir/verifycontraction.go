package ir

import (
	"slices"
	"strings"

	"autoshard/ir/dtype"
)

// contractionChecks are the rules of products, convolutions and linear algebra (specification: stablehlo.md section
// 2.15).
var contractionChecks = map[Kind]func(*verifier, OpID) error{
	OpDotGeneral:         checkDotGeneral,
	OpDot:                checkDot,
	OpConvolution:        checkConvolution,
	OpFft:                checkFft,
	OpCholesky:           checkCholesky,
	OpTriangularSolve:    checkTriangularSolve,
	OpRng:                checkRng,
	OpRngBitGenerator:    checkRngBitGenerator,
	OpBatchNormGrad:      checkBatchNorm,
	OpBatchNormInference: checkBatchNorm,
	OpBatchNormTraining:  checkBatchNorm,
}

func checkDotGeneral(v *verifier, op OpID) error {
	d, ok := v.m.Attr(op, "dot_dimension_numbers").(*DotDims)
	if !ok {
		return missing("dot_dimension_numbers")
	}
	lhs, rhs := v.in(op, 0), v.in(op, 1)
	if len(d.LhsBatch) != len(d.RhsBatch) {
		return badAttr("lhs and rhs should have the same number of batching dimensions")
	}
	if len(d.LhsContract) != len(d.RhsContract) {
		return badAttr("lhs and rhs should have the same number of contracting dimensions")
	}
	for _, s := range []struct {
		name            string
		batch, contract []int64
		rank            int
	}{{"lhs", d.LhsBatch, d.LhsContract, lhs.Rank()}, {"rhs", d.RhsBatch, d.RhsContract, rhs.Rank()}} {
		all := append(slices.Clone(s.batch), s.contract...)
		if !unique(all) {
			return badAttr("has duplicated dimension from %s_batching_dimensions and %s_contracting_dimensions: %v", s.name, s.name, all)
		}
		if !within(all, s.rank) {
			return badAttr("%s_batching_dimensions or %s_contracting_dimensions value is out of range: %v of rank %d", s.name, s.name, all, s.rank)
		}
	}
	for i := range d.LhsBatch {
		if !agree(lhs.Dims[d.LhsBatch[i]], rhs.Dims[d.RhsBatch[i]]) {
			return badType("batching dimension sizes must match for lhs/rhs: '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
		}
	}
	for i := range d.LhsContract {
		if !agree(lhs.Dims[d.LhsContract[i]], rhs.Dims[d.RhsContract[i]]) {
			return badType("contracting dimension sizes must match for lhs/rhs: size %d of dimension %d of '%s' vs size %d of dimension %d of '%s'",
				lhs.Dims[d.LhsContract[i]], d.LhsContract[i], v.inText(op, 0), rhs.Dims[d.RhsContract[i]], d.RhsContract[i], v.inText(op, 1))
		}
	}
	if err := v.precision(op); err != nil {
		return err
	}
	if a, ok := v.m.Attr(op, "algorithm").(*DotAlgorithm); ok && !v.knownAlgorithm(a) {
		return badAttr("dot algorithm not known to be supported on any hardware: %s x %s to %s with %d x %d components in %d operations, imprecise %t",
			v.m.FormatType(a.LhsType), v.m.FormatType(a.RhsType), v.m.FormatType(a.AccumulationType), a.LhsCount, a.RhsCount, a.Operations, a.AllowImprecise)
	}
	return v.infers(op, 0, v.out(op, 0), dotShape(d, lhs, rhs))
}

// dotAlgorithms are the products that some hardware has, with the numbers of operations that they may be made of.
var dotAlgorithms = map[[3]string][]int64{
	{"f16", "f16", "f16"}: {1}, {"f16", "f16", "f32"}: {1}, {"bf16", "bf16", "bf16"}: {1}, {"bf16", "bf16", "f32"}: {1, 3, 6, 9},
	{"tf32", "tf32", "f32"}: {1, 3}, {"f32", "f32", "f32"}: {1}, {"f64", "f64", "f64"}: {1},
}

// knownAlgorithm says whether some hardware has an algorithm: one of the table, or a product of two numbers of 8 bits,
// which may also be imprecise.
func (v *verifier) knownAlgorithm(a *DotAlgorithm) bool {
	lhs, rhs, sum := v.m.FormatType(a.LhsType), v.m.FormatType(a.RhsType), v.m.FormatType(a.AccumulationType)
	if a.LhsCount != 1 || a.RhsCount != 1 {
		return false
	}
	if isSmallFloat(lhs) && isSmallFloat(rhs) {
		return sum == "f32" && a.Operations == 1
	}
	return !a.AllowImprecise && slices.Contains(dotAlgorithms[[3]string{lhs, rhs, sum}], a.Operations)
}

// isSmallFloat says whether a type is a float of 8 bits with a sign.
func isSmallFloat(name string) bool { return strings.HasPrefix(name, "f8") && name != "f8E8M0FNU" }

// dotShape returns batch, free lhs and free rhs dimensions in order.
func dotShape(d *DotDims, lhs, rhs *Type) []int64 {
	var dims []int64
	for _, b := range d.LhsBatch {
		dims = append(dims, lhs.Dims[b])
	}
	for _, s := range []struct {
		t               *Type
		batch, contract []int64
	}{{lhs, d.LhsBatch, d.LhsContract}, {rhs, d.RhsBatch, d.RhsContract}} {
		for i, n := range s.t.Dims {
			if !slices.Contains(s.batch, int64(i)) && !slices.Contains(s.contract, int64(i)) {
				dims = append(dims, n)
			}
		}
	}
	return dims
}

func (v *verifier) precision(op OpID) error {
	list, ok := v.m.Attr(op, "precision_config").(ArrayAttr)
	if ok && len(list) > 2 {
		return badAttr("expects precision config to be empty or have <= 2 elements")
	}
	return nil
}

func checkDot(v *verifier, op OpID) error {
	lhs, rhs := v.in(op, 0), v.in(op, 1)
	if lhs.Rank() < 1 || lhs.Rank() > 2 || rhs.Rank() < 1 || rhs.Rank() > 2 {
		return badType("expected both lhs/rhs ranks to be either 1 or 2, but got '%s' and '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	d := &DotDims{LhsContract: []int64{int64(lhs.Rank() - 1)}, RhsContract: []int64{0}}
	if !agree(lhs.Dims[lhs.Rank()-1], rhs.Dims[0]) {
		return badType("contracting dimension sizes must match for lhs/rhs: '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	return v.infers(op, 0, v.out(op, 0), dotShape(d, lhs, rhs))
}

// window is how the output size of one dimension follows from its input size.
type window struct{ size, stride, low, high, baseDilation, dilation int64 }

// outSize returns the number of places of the window (specification: stablehlo.md section 2.10).
func (w window) outSize(n int64) int64 {
	if n == Dynamic || w.size == Dynamic {
		return Dynamic
	}
	base := n
	if n > 0 {
		base = (n-1)*w.baseDilation + 1
	}
	base += w.low + w.high
	dilated := w.size
	if w.size > 0 {
		dilated = (w.size-1)*w.dilation + 1
	}
	if base <= 0 || dilated > base {
		return 0
	}
	return (base-dilated)/w.stride + 1
}

// windows reads the window attributes of an op for a number of dimensions.
func (v *verifier) windows(op OpID, sizes []int64, strides, baseDilations, dilations string) ([]window, error) {
	n := len(sizes)
	out := make([]window, n)
	for i := range out {
		out[i] = window{size: sizes[i], stride: 1, baseDilation: 1, dilation: 1}
	}
	for _, f := range []struct {
		name string
		set  func(w *window, x int64)
	}{
		{strides, func(w *window, x int64) { w.stride = x }},
		{baseDilations, func(w *window, x int64) { w.baseDilation = x }},
		{dilations, func(w *window, x int64) { w.dilation = x }},
	} {
		list, ok := v.ints(op, f.name)
		if !ok {
			continue
		}
		if len(list) != n {
			return nil, badAttr("expects %s to have %d entries, the number of window dimensions, but got %d", f.name, n, len(list))
		}
		for i, x := range list {
			if x <= 0 {
				return nil, badAttr("expects window to have positive values of %s, but got %d in dimension %d", f.name, x, i)
			}
			f.set(&out[i], x)
		}
	}
	return out, v.windowPadding(op, out)
}

func (v *verifier) windowPadding(op OpID, out []window) error {
	padding, ok := v.m.Attr(op, "padding").(*Dense)
	if !ok {
		return nil
	}
	t := v.m.TypeOf(padding.Type)
	if len(t.Dims) != 2 || t.Dims[1] != 2 || t.Dims[0] != int64(len(out)) || t.DType != dtype.I64 {
		return badAttr("expects padding of type tensor<%dx2xi64>, but got '%s'", len(out), v.m.FormatType(padding.Type))
	}
	values := padding.Int64s()
	for i := range out {
		if padding.Splat {
			out[i].low, out[i].high = values[0], values[0]
		} else {
			out[i].low, out[i].high = values[2*i], values[2*i+1]
		}
	}
	return nil
}

func checkConvolution(v *verifier, op OpID) error {
	d, ok := v.m.Attr(op, "dimension_numbers").(*ConvDims)
	if !ok {
		return missing("dimension_numbers")
	}
	lhs, rhs := v.in(op, 0), v.in(op, 1)
	n := len(d.InSpatial)
	if lhs.Rank() != rhs.Rank() {
		return badType("expects convolution arguments to have same number of dimensions. Got: '%s' and '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	if lhs.Rank() < 2 {
		return badType("expects convolution arguments to have >= 2 dimensions. Got: '%s'", v.inText(op, 0))
	}
	if len(d.KernelSpatial) != n || len(d.OutSpatial) != n {
		return badAttr("expects the same size for input, kernel and output spatial dimensions, but got %d, %d, and %d resp", n, len(d.KernelSpatial), len(d.OutSpatial))
	}
	for _, dims := range [][]int64{append([]int64{d.InBatch, d.InFeature}, d.InSpatial...), append([]int64{d.KernelIn, d.KernelOut}, d.KernelSpatial...),
		append([]int64{d.OutBatch, d.OutFeature}, d.OutSpatial...)} {
		if len(dims) != lhs.Rank() || !unique(dims) || !within(dims, lhs.Rank()) {
			return badAttr("expects dimension-numbers to be unique and in range [0, %d), got %v", lhs.Rank(), dims)
		}
	}
	if err := v.precision(op); err != nil {
		return err
	}
	return v.convolutionShape(op, d)
}

func (v *verifier) convolutionShape(op OpID, d *ConvDims) error {
	lhs, rhs := v.in(op, 0), v.in(op, 1)
	a := v.m.OpAttrs(op)
	features, batches := a.Int("feature_group_count", 1), a.Int("batch_group_count", 1)
	if err := v.convolutionGroups(d, lhs, rhs, features, batches); err != nil {
		return err
	}
	sizes := make([]int64, len(d.KernelSpatial))
	for i, k := range d.KernelSpatial {
		sizes[i] = rhs.Dims[k]
	}
	windows, err := v.windows(op, sizes, "window_strides", "lhs_dilation", "rhs_dilation")
	if err != nil {
		return err
	}
	if reversal, ok := a.Get("window_reversal").(Bools); ok && len(reversal) != len(sizes) {
		return badAttr("expects window_reversal to have %d entries, but got %d", len(sizes), len(reversal))
	}
	dims := make([]int64, lhs.Rank())
	dims[d.OutBatch] = Dynamic
	if n := lhs.Dims[d.InBatch]; n != Dynamic {
		dims[d.OutBatch] = n / batches
	}
	dims[d.OutFeature] = rhs.Dims[d.KernelOut]
	for i, w := range windows {
		dims[d.OutSpatial[i]] = w.outSize(lhs.Dims[d.InSpatial[i]])
	}
	return v.infers(op, 0, v.out(op, 0), dims)
}

func (v *verifier) convolutionGroups(d *ConvDims, lhs, rhs *Type, features, batches int64) error {
	switch {
	case features <= 0:
		return badAttr("expects feature_group_count to be a positive number, got %d", features)
	case batches <= 0:
		return badAttr("expects batch_group_count to be a positive number, got %d", batches)
	case features > 1 && batches > 1:
		return badAttr("expects batch_group_count and feature_group_count not to be both greater than 1. Got %d and %d resp", batches, features)
	}
	in, batch, kernelIn, kernelOut := lhs.Dims[d.InFeature], lhs.Dims[d.InBatch], rhs.Dims[d.KernelIn], rhs.Dims[d.KernelOut]
	switch {
	case batch != Dynamic && batch%batches != 0:
		return badType("expects input batch dimension (%d) to be divisible by batch_group_count. Got batch_group_count = %d", batch, batches)
	case in != Dynamic && in%features != 0:
		return badType("expects input feature dimension (%d) to be a multiple of feature_group_count. Got feature_group_count = %d", in, features)
	case in != Dynamic && kernelIn != Dynamic && in/features != kernelIn:
		return badType("expects input feature dimension (%d) / feature_group_count = kernel input feature dimension (%d). Got feature_group_count = %d",
			in, kernelIn, features)
	case kernelOut != Dynamic && kernelOut%batches != 0:
		return badType("expects output feature dimension size (%d) to be a multiple of batch_group_count. Got batch_group_count = %d", kernelOut, batches)
	case kernelOut != Dynamic && kernelOut%features != 0:
		return badType("expects kernel output feature dimension (%d) to be divisible by feature_group_count. Got feature_group_count = %d", kernelOut, features)
	}
	return nil
}

func checkFft(v *verifier, op OpID) error {
	x, a := v.in(op, 0), v.m.OpAttrs(op)
	lengths, ok := v.ints(op, "fft_length")
	if !ok {
		return missing("fft_length")
	}
	if len(lengths) < 1 || len(lengths) > 3 {
		return badAttr("rank must be between 1 and 3, but got %d", len(lengths))
	}
	if x.Rank() < len(lengths) {
		return badType("operand rank must not be less than fft rank of %d for operand of type '%s'", len(lengths), v.inText(op, 0))
	}
	kind := a.Str("fft_type")
	if (kind == "RFFT") != (classOf(x) == floatElem) {
		return badType("%s requires %s input type, but is given '%s'", kind, map[bool]string{true: "float", false: "complex"}[kind == "RFFT"], v.inText(op, 0))
	}
	dims, elem := slices.Clone(x.Dims), x
	tail := dims[len(dims)-len(lengths):]
	for i, n := range lengths {
		if last := i == len(lengths)-1; kind == "IRFFT" && last {
			if want := n/2 + 1; n != 0 && !agree(tail[i], want) {
				return badType("IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: %d but fft_length is %v", tail[i], lengths)
			}
			continue
		}
		if kind == "RFFT" && !agree(tail[i], n) {
			return badType("%s requires innermost dimensions to be compatible with fft_length. Got: %v but wanted %v", kind, tail, lengths)
		}
	}
	last := lengths[len(lengths)-1]
	switch kind {
	case "RFFT":
		elem = elemOf(map[dtype.Type]dtype.Type{dtype.F32: dtype.C64, dtype.F64: dtype.C128}[x.DType])
		if tail[len(tail)-1] = last/2 + 1; last == 0 {
			tail[len(tail)-1] = 0
		}
	case "IRFFT":
		elem = realPart(x)
		tail[len(tail)-1] = last
	}
	return v.infers(op, 0, elem, dims)
}

// square checks that the last two dimensions of an operand are equal.
func (v *verifier) square(op OpID, i int) error {
	t := v.in(op, i)
	if t.Rank() < 2 {
		return badType("operand #%d must have rank >= 2, but got '%s'", i, v.inText(op, i))
	}
	if !agree(t.Dims[t.Rank()-2], t.Dims[t.Rank()-1]) {
		return badType("minor dimensions of operand #%d must have equal size, got shape '%s'", i, v.inText(op, i))
	}
	if classOf(t)&(floatElem|complexElem) == 0 {
		return badType("operand #%d must be a tensor of float or complex values, but got '%s'", i, v.inText(op, i))
	}
	return nil
}

func checkCholesky(v *verifier, op OpID) error {
	if err := v.square(op, 0); err != nil {
		return err
	}
	return v.infers(op, 0, v.in(op, 0), v.in(op, 0).Dims)
}

func checkTriangularSolve(v *verifier, op OpID) error {
	if err := v.square(op, 0); err != nil {
		return err
	}
	a, b := v.in(op, 0), v.in(op, 1)
	attrs := v.m.OpAttrs(op)
	if !sameElem(a, b) || a.Rank() != b.Rank() {
		return badType("operands must have equal rank and element type, but got '%s' and '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	n := a.Rank()
	shared := b.Dims[n-1]
	if attrs.Bool("left_side") {
		shared = b.Dims[n-2]
	}
	if !agree(a.Dims[n-2], shared) {
		return badType("shared dimension of operands 'a' and 'b' does not match, but got '%s' and '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	if !sameShape(a.Dims[:n-2], b.Dims[:n-2]) {
		return badType("leading batch dimensions of the operands must be same, but got '%s' and '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	if attrs.Str("transpose_a") == "TRANSPOSE_INVALID" {
		return badAttr("invalid transpose option value for triangular solve")
	}
	return v.infers(op, 0, b, b.Dims)
}

func checkRng(v *verifier, op OpID) error {
	for i := range 2 {
		if len(v.in(op, i).Dims) != 0 {
			return badType("operand #%d must be a 0D tensor, but got '%s'", i, v.inText(op, i))
		}
	}
	if err := v.sizesOperand(op, 2); err != nil {
		return err
	}
	if n := v.in(op, 2).Dims[0]; n != int64(v.out(op, 0).Rank()) {
		return badType("shape has %d entries, but the result has rank %d", n, v.out(op, 0).Rank())
	}
	return nil
}

func checkRngBitGenerator(v *verifier, op OpID) error {
	state := v.in(op, 0)
	if state.Rank() != 1 {
		return badType("output state shape must be rank 1, but got '%s'", v.inText(op, 0))
	}
	if n := state.Dims[0]; state.DType != dtype.UI64 && state.DType != dtype.UI32 {
		return badType("operand #0 must be a tensor of ui32 or ui64 values, but got '%s'", v.inText(op, 0))
	} else if algorithm := v.m.OpAttrs(op).Str("rng_algorithm"); state.DType == dtype.UI64 && n != Dynamic {
		if algorithm == "THREE_FRY" && n != 2 {
			return badType("output state shape must be of size 2 for THREE_FRY algorithm, but got '%s'", v.inText(op, 0))
		}
		if algorithm == "PHILOX" && n != 2 && n != 3 {
			return badType("output state shape must be of size 2 or 3 for PHILOX algorithm, but got '%s'", v.inText(op, 0))
		}
	}
	return v.infers(op, 0, state, state.Dims)
}

func checkBatchNorm(v *verifier, op OpID) error {
	x := v.in(op, 0)
	d := v.m.OpAttrs(op).Int("feature_index", -1)
	if d < 0 || d >= int64(x.Rank()) {
		return badAttr("expects feature_index to be in range [0, %d), got %d", x.Rank(), d)
	}
	vectors := v.m.NumOperands(op)
	if v.m.Kind(op) == OpBatchNormGrad {
		vectors--
	}
	for i := 1; i < vectors; i++ {
		if t := v.in(op, i); t.Rank() != 1 || !agree(t.Dims[0], x.Dims[d]) || !sameElem(t, x) {
			return badType("operand #%d must be a 1D tensor with the size of the feature dimension (%d), but got '%s'", i, x.Dims[d], v.inText(op, i))
		}
	}
	for i := 1; i < v.m.NumResults(op); i++ {
		if err := v.infers(op, i, x, []int64{x.Dims[d]}); err != nil {
			return err
		}
	}
	return v.infers(op, 0, x, x.Dims)
}

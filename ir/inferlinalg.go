package ir

import (
	"cmp"
	"slices"
)

func inferFft(f *inference) error {
	x, a := f.operand(0), f.attrs
	lengths := f.attrs.Ints("fft_length")
	if len(lengths) < 1 || len(lengths) > 3 {
		return badAttr("rank must be between 1 and 3, but got %d", len(lengths))
	}
	if x.Rank() < len(lengths) {
		return badType("operand rank must not be less than fft rank of %d for operand of type '%s'", len(lengths), f.text(0))
	}
	kind := a.Str("fft_type")
	if (kind == "RFFT") != (classOf(x) == floatElem) {
		return badType("%s requires %s input type, but is given '%s'",
			kind, map[bool]string{true: "float", false: "complex"}[kind == "RFFT"], f.text(0))
	}
	dims, elem := slices.Clone(x.Dims), x
	tail := dims[len(dims)-len(lengths):]
	for i, n := range lengths {
		if last := i == len(lengths)-1; kind == "IRFFT" && last {
			if want := n/2 + 1; n != 0 && !agree(tail[i], want) {
				return badType("IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: %d but fft_length is %v",
					tail[i], lengths)
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
		elem = complexOf(x.DType)
		if tail[len(tail)-1] = last/2 + 1; last == 0 {
			tail[len(tail)-1] = 0
		}
	case "IRFFT":
		elem = realPart(x)
		tail[len(tail)-1] = last
	}
	return f.result(elem, dims)
}

// square checks that the last two dimensions of an operand are equal.
func (f *inference) square(i int) error {
	t := f.operand(i)
	if t.Rank() < 2 {
		return badType("operand #%d must have rank >= 2, but got '%s'", i, f.text(i))
	}
	if !agree(t.Dims[t.Rank()-2], t.Dims[t.Rank()-1]) {
		return badType("minor dimensions of operand #%d must have equal size, got shape '%s'", i, f.text(i))
	}
	if classOf(t)&(floatElem|complexElem) == 0 {
		return badType("operand #%d must be a tensor of float or complex values, but got '%s'", i, f.text(i))
	}
	return nil
}

func inferCholesky(f *inference) error {
	return cmp.Or(f.square(0), f.same(f.operands[0]))
}

func inferTriangularSolve(f *inference) error {
	if err := f.square(0); err != nil {
		return err
	}
	a, b := f.operand(0), f.operand(1)
	attrs := f.attrs
	if !sameElem(a, b) || a.Rank() != b.Rank() {
		return badType("operands must have equal rank and element type, but got '%s' and '%s'", f.text(0), f.text(1))
	}
	n := a.Rank()
	shared := b.Dims[n-1]
	if attrs.Bool("left_side") {
		shared = b.Dims[n-2]
	}
	if !agree(a.Dims[n-2], shared) {
		return badType("shared dimension of operands 'a' and 'b' does not match, but got '%s' and '%s'", f.text(0), f.text(1))
	}
	if !sameShape(a.Dims[:n-2], b.Dims[:n-2]) {
		return badType("leading batch dimensions of the operands must be same, but got '%s' and '%s'", f.text(0), f.text(1))
	}
	if attrs.Str("transpose_a") == "TRANSPOSE_INVALID" {
		return badAttr("invalid transpose option value for triangular solve")
	}
	return f.same(f.operands[1])
}

func inferBatchNorm(f *inference) error {
	x := f.operand(0)
	d := f.attrs.Int("feature_index", -1)
	if d < 0 || d >= int64(x.Rank()) {
		return badAttr("expects feature_index to be in range [0, %d), got %d", x.Rank(), d)
	}
	vectors := len(f.operands)
	if f.kind == OpBatchNormGrad {
		vectors--
	}
	for i := 1; i < vectors; i++ {
		if t := f.operand(i); t.Rank() != 1 || !agree(t.Dims[0], x.Dims[d]) || !sameElem(t, x) {
			return badType("operand #%d must be a 1D tensor with the size of the feature dimension (%d), but got '%s'", i, x.Dims[d], f.text(i))
		}
	}
	f.same(f.operands[0])
	if f.kind != OpBatchNormInference {
		f.result(x, []int64{x.Dims[d]})
		f.result(x, []int64{x.Dims[d]})
	}
	return nil
}

package interp

import (
	"slices"
	"strconv"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// quantization reads the parameters of a tensor type such as tensor<4x!quant.uniform<i8:f32, 2.0:15>>; with scales
// per index of a dimension, i8:f32:1, {2.0:15, 3.0}.
func (c *compiler) quantization(t *ir.Type) (tensor.Quantization, error) {
	if t.Quant == 0 {
		return tensor.Quantization{}, diag.Invalid(diag.TypeMismatch, diag.Position{}, "the type is not quantized")
	}
	text := c.m.TypeOf(t.Quant).Text
	unknown := diag.Unsupported(diag.NotSupported, diag.Position{}, "quantized type `%s` cannot be run", text)
	_, inner, found := strings.Cut(text, "<")
	head, params, ok := strings.Cut(strings.TrimSuffix(inner, ">"), ",")
	if !found || !ok {
		return tensor.Quantization{}, unknown
	}
	lo, hi := dtype.IntRange(t.DType)
	q := tensor.Quantization{Min: lo, Max: int64(hi)}
	fields := strings.Split(head, ":")
	if _, limits, ok := strings.Cut(fields[0], "<"); ok && len(fields) > 1 { // a narrower range of storage: i8<-127:127>
		low, err1 := strconv.ParseInt(limits, 10, 64)
		high, err2 := strconv.ParseInt(strings.TrimSuffix(fields[1], ">"), 10, 64)
		if err1 != nil || err2 != nil {
			return q, unknown
		}
		q.Min, q.Max = low, high
		fields = fields[1:]
	}
	if len(fields) == 3 {
		dim, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 32)
		if err != nil || dim < 0 || dim >= int64(len(t.Dims)) {
			return q, unknown
		}
		q.Dim = dim
	}
	if !readScales(&q, params) || len(q.Scales) > 1 && (len(fields) != 3 || int64(len(q.Scales)) != t.Dims[q.Dim]) {
		return q, unknown
	}
	return q, nil
}

// expressed returns the type of the numbers that elements of a quantized type stand for, false where the type is none.
func (c *compiler) expressed(t *ir.Type) (dtype.Type, bool) {
	if t.Quant == 0 {
		return 0, false
	}
	_, inner, _ := strings.Cut(c.m.TypeOf(t.Quant).Text, "<")
	head, _, _ := strings.Cut(inner, ",")
	_, rest, _ := strings.Cut(head[strings.LastIndexByte(head, '>')+1:], ":")
	name, _, _ := strings.Cut(rest, ":")
	return dtype.Parse(strings.TrimSpace(name))
}

// wrapQuantized has an op on quantized tensors computed on the numbers that their elements stand for: operands are dequantized, results
// quantized (specification of StableHLO: dequantize_op_quantize). What only moves elements gives the stored ones back by that.
func (c *compiler) wrapQuantized(op ir.OpID, i *instr) error {
	switch c.m.Kind(op) {
	case ir.OpUniformQuantize, ir.OpUniformDequantize, ir.OpConstant, ir.OpOptimizationBarrier, ir.OpBitcastConvert:
		return nil
	}
	if i.control != nil { // it only hands values on
		return nil
	}
	before, some, err := c.convertQuantized(c.m.Operands(op), func(c *compiler, t *ir.Type, q tensor.Quantization) quantizedStep {
		out, _ := c.expressed(t)
		return func(x tensor.Tensor) tensor.Tensor { return tensor.UniformDequantize(spread(x, t, q), q, out) }
	})
	if err != nil {
		return err
	}
	after, more, err := c.convertQuantized(c.results(op), func(_ *compiler, t *ir.Type, q tensor.Quantization) quantizedStep {
		return func(x tensor.Tensor) tensor.Tensor { return tensor.UniformQuantize(spread(x, t, q), q, t.DType) }
	})
	if err != nil || !some && !more {
		return err
	}
	if c.m.NumRegions(op) > 0 || len(before) != len(i.in) {
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "quantized operands cannot be run: dequantize them first")
	}
	plain := i.kernel
	i.kernel = func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		out, err := plain(f, i, apply(before, in))
		return apply(after, out), err
	}
	return nil
}

// quantizedStep is what becomes of an operand or result, nil for nothing.
type quantizedStep func(tensor.Tensor) tensor.Tensor

// convertQuantized returns what becomes of values, and whether there is a quantized one among them.
func (c *compiler) convertQuantized(values []ir.ValueID, of func(*compiler, *ir.Type, tensor.Quantization) quantizedStep) ([]quantizedStep,
	bool, error) {
	some, steps := false, make([]quantizedStep, len(values))
	for k, v := range values {
		t := c.m.ValueType(v)
		if t.Kind != ir.TensorKind || t.Quant == 0 {
			continue
		}
		q, err := c.quantization(t)
		if err != nil {
			return nil, false, err
		}
		steps[k], some = of(c, t, q), true
	}
	return steps, some, nil
}

func apply(steps []quantizedStep, in []tensor.Tensor) []tensor.Tensor {
	out := slices.Clone(in)
	for k, step := range steps {
		if step != nil && k < len(out) {
			out[k] = step(out[k])
		}
	}
	return out
}

// spread gives a scalar that stands for a whole tensor the shape of that, where scales differ by index.
func spread(x tensor.Tensor, t *ir.Type, q tensor.Quantization) tensor.Tensor {
	if len(q.Scales) > 1 && x.Rank() == 0 {
		return tensor.BroadcastInDim(x, nil, t.Dims)
	}
	return x
}

// readScales reads a scale with an optional zero point, 2.0:15, or a list of them in braces.
func readScales(q *tensor.Quantization, text string) bool {
	for _, pair := range strings.Split(strings.Trim(strings.TrimSpace(text), "{}"), ",") {
		scaleText, zeroText, hasZero := strings.Cut(strings.TrimSpace(pair), ":")
		scale, err := strconv.ParseFloat(scaleText, 64)
		zero := int64(0)
		if err == nil && hasZero {
			zero, err = strconv.ParseInt(zeroText, 10, 64)
		}
		if err != nil {
			return false
		}
		q.Scales, q.ZeroPoints = append(q.Scales, scale), append(q.ZeroPoints, zero)
	}
	return true
}

func (c *compiler) results(op ir.OpID) []ir.ValueID {
	return lists.Of(c.m.NumResults(op), func(k int) ir.ValueID { return c.m.Result(op, k) })
}

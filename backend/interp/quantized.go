package interp

import (
	"strconv"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
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

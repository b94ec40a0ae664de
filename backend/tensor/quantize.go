package tensor

import (
	"math"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// Quantization is a uniform quantized type: value = (stored - zero point)·scale. Both lists have one entry, or one
// per index of dimension Dim. Stored values lie in [Min, Max].
type Quantization struct {
	Scales     []float64
	ZeroPoints []int64
	Dim        int64
	Min, Max   int64
}

// UniformQuantize returns the stored values, of integer type storage, for floats x: the nearest, halves to even,
// clamped to the range.
func UniformQuantize(x Tensor, q Quantization, storage dtype.Type) Tensor {
	out := make([]float64, x.Len())
	values := x.Floats()
	q.each(x.Shape, func(i int, scale float64, zero int64) {
		stored := math.RoundToEven(values[i]/scale) + float64(zero)
		out[i] = min(max(stored, float64(q.Min)), float64(q.Max))
	})
	return Convert(Of(dtype.F64, x.Shape, out...), storage)
}

// UniformDequantize returns the values, of float type out, of stored integers.
func UniformDequantize(x Tensor, q Quantization, out dtype.Type) Tensor {
	values := make([]float64, x.Len())
	stored := x.Ints()
	q.each(x.Shape, func(i int, scale float64, zero int64) { values[i] = float64(stored[i]-zero) * scale })
	return Convert(Of(dtype.F64, x.Shape, values...), out)
}

func (q Quantization) each(shape []int64, visit func(i int, scale float64, zero int64)) {
	inner := int64(1)
	if len(q.Scales) > 1 {
		inner = lists.Product(shape[q.Dim+1:])
	}
	for i := range lists.Product(shape) {
		k := i / inner % int64(len(q.Scales))
		visit(int(i), q.Scales[k], q.ZeroPoints[k])
	}
}

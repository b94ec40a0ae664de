package tensor

import (
	"cmp"
	"math"

	"autoshard/backend/tensor/vector"
	"autoshard/ir/dtype"
)

// Direction is a comparison_direction.
type Direction uint8

// The directions.
const (
	EQ Direction = iota
	NE
	GE
	GT
	LE
	LT
)

var directionNames = [...]string{"EQ", "NE", "GE", "GT", "LE", "LT"}

// String returns the direction's MLIR spelling.
func (d Direction) String() string { return directionNames[d] }

// Compare returns i1: x compared with y. Integers and i1 compare by their type's signedness. Floats compare as
// in IEEE 754, every comparison with NaN false but NE, or, if totalOrder is set, by
// -NaN < -inf < … < -0 < +0 < … < inf < NaN. Complex numbers compare lexicographically.
func Compare(x, y Tensor, d Direction, totalOrder bool) Tensor {
	out := newUnset(dtype.I1, resultShape(x, y))
	switch x.DType.Kind() {
	case dtype.Bool:
		compareElems(out, x.Data, y.Data, d)
	case dtype.Signed, dtype.Unsigned:
		integers(x.DType).compare(out, x, y, d)
	case dtype.Complex:
		compareComplex(out, Elems[complex128](Convert(x, dtype.C128)), Elems[complex128](Convert(y, dtype.C128)), d)
	default:
		compareFloats(out, x, y, d, totalOrder)
	}
	return out
}

func (storedAs[T]) compare(out, x, y Tensor, d Direction) {
	compareElems(out, Elems[T](x), Elems[T](y), d)
}

func compareFloats(out, x, y Tensor, d Direction, totalOrder bool) {
	switch {
	case x.DType == dtype.F64 && totalOrder:
		compareElems(out, totalKeys64(Elems[float64](x)), totalKeys64(Elems[float64](y)), d)
	case x.DType == dtype.F64:
		compareElems(out, Elems[float64](x), Elems[float64](y), d)
	case totalOrder && manyNaNs(x.DType):
		compareElems(out, totalKeys8(x), totalKeys8(y), d)
	case totalOrder:
		compareElems(out, totalKeys32(float32s(x)), totalKeys32(float32s(y)), d)
	default:
		compareElems(out, float32s(x), float32s(y), d)
	}
}

// manyNaNs says whether a type of eight bits has NaN of several payloads, which have an order, too, and no place in a float32.
func manyNaNs(e dtype.Type) bool {
	return e.Bits() == 8 && math.IsInf(dtype.Decode(e, dtype.Encode(e, math.Inf(1))), 1)
}

// totalKeys8 maps floats of eight bits to integers of the same total order.
func totalKeys8(x Tensor) []int8 {
	keys := make([]int8, x.Len())
	for i, b := range x.Data {
		keys[i] = int8(b) ^ int8(uint8(int8(b)>>7)>>1)
	}
	return keys
}

// totalKeys32 maps floats to integers of the same total order.
func totalKeys32(values []float32) []int32 {
	keys := make([]int32, len(values))
	for i, v := range values {
		bits := int32(math.Float32bits(v))
		keys[i] = bits ^ int32(uint32(bits>>31)>>1)
	}
	return keys
}

// totalKeys64 maps floats to integers of the same total order.
func totalKeys64(values []float64) []int64 {
	keys := make([]int64, len(values))
	for i, v := range values {
		bits := int64(math.Float64bits(v))
		keys[i] = bits ^ int64(uint64(bits>>63)>>1)
	}
	return keys
}

func compareElems[T cmp.Ordered](out Tensor, x, y []T, d Direction) {
	eachBlock(out.Len(), x, y, func(lo int, x, y []T) { compareLoop(out.Data[lo:lo+len(x)], x, y, d) })
}

func compareLoop[T cmp.Ordered](dst []byte, x, y []T, d Direction) {
	x, y = x[:len(dst)], y[:len(dst)]
	switch d {
	case EQ:
		for i := range dst {
			dst[i] = bit(x[i] == y[i])
		}
	case NE:
		for i := range dst {
			dst[i] = bit(x[i] != y[i])
		}
	case GE:
		for i := range dst {
			dst[i] = bit(x[i] >= y[i])
		}
	case GT:
		for i := range dst {
			dst[i] = bit(x[i] > y[i])
		}
	case LE:
		for i := range dst {
			dst[i] = bit(x[i] <= y[i])
		}
	case LT:
		for i := range dst {
			dst[i] = bit(x[i] < y[i])
		}
	}
}

// bit returns 1 for true; the compiler makes it a single instruction.
func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func compareComplex(out Tensor, x, y []complex128, d Direction) {
	eachBlock(out.Len(), x, y, func(lo int, x, y []complex128) {
		for i := range x {
			var holds bool
			switch d {
			case EQ:
				holds = x[i] == y[i]
			case NE:
				holds = x[i] != y[i]
			case GE:
				holds = complexLess(y[i], x[i]) || x[i] == y[i]
			case GT:
				holds = complexLess(y[i], x[i])
			case LE:
				holds = complexLess(x[i], y[i]) || x[i] == y[i]
			case LT:
				holds = complexLess(x[i], y[i])
			}
			out.Data[lo+i] = bit(holds)
		}
	})
}

// Select returns elements of onTrue where the i1 tensor pred is true, otherwise of onFalse.
func Select(pred, onTrue, onFalse Tensor) Tensor {
	shape := resultShape(pred, onTrue, onFalse)
	if pred.Rank() == 0 && len(shape) > 0 {
		chosen := onFalse
		if pred.Data[0] != 0 {
			chosen = onTrue
		}
		return expand(chosen, shape)
	}
	out := newUnset(onTrue.DType, shape)
	if out.DType.Bytes() == 4 && len(out.Data) > 0 {
		vector.Choose(view[uint32](out), pred.Data, view[uint32](onTrue), view[uint32](onFalse))
		return out
	}
	widths[out.DType.Bytes()].choose(out, pred.Data, expand(onTrue, shape), expand(onFalse, shape))
	return out
}

// expand repeats a scalar over a shape; other tensors have it already.
func expand(x Tensor, shape []int64) Tensor {
	if len(x.Shape) == len(shape) {
		return x
	}
	return BroadcastInDim(x, nil, shape)
}

func (wideAs[T]) choose(out Tensor, pred []byte, onTrue, onFalse Tensor) {
	dst, t, f := view[T](out), view[T](onTrue), view[T](onFalse)
	t, f, pred = t[:len(dst)], f[:len(dst)], pred[:len(dst)]
	for i := range dst {
		v := f[i]
		if pred[i] != 0 {
			v = t[i]
		}
		dst[i] = v
	}
}

// Clamp returns minimum(maximum(x, low), high): high where low > high, NaN where any of them is NaN.
func Clamp(low, x, high Tensor) Tensor { return Minimum(Maximum(x, low), high) }

package tensor

import (
	"cmp"
	"math"

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
	out := New(dtype.I1, resultShape(x, y))
	switch x.DType {
	case dtype.I1, dtype.UI2, dtype.UI4, dtype.UI8:
		compareElems(out, Elems[uint8](x), Elems[uint8](y), d)
	case dtype.I2, dtype.I4, dtype.I8:
		compareElems(out, Elems[int8](x), Elems[int8](y), d)
	case dtype.I16:
		compareElems(out, Elems[int16](x), Elems[int16](y), d)
	case dtype.I32:
		compareElems(out, Elems[int32](x), Elems[int32](y), d)
	case dtype.I64:
		compareElems(out, Elems[int64](x), Elems[int64](y), d)
	case dtype.UI16:
		compareElems(out, Elems[uint16](x), Elems[uint16](y), d)
	case dtype.UI32:
		compareElems(out, Elems[uint32](x), Elems[uint32](y), d)
	case dtype.UI64:
		compareElems(out, Elems[uint64](x), Elems[uint64](y), d)
	case dtype.C64, dtype.C128:
		compareComplex(out, Elems[complex128](Convert(x, dtype.C128)), Elems[complex128](Convert(y, dtype.C128)), d)
	case dtype.F64:
		if totalOrder {
			compareElems(out, totalKeys64(Elems[float64](x)), totalKeys64(Elems[float64](y)), d)
			break
		}
		compareElems(out, Elems[float64](x), Elems[float64](y), d)
	default:
		if totalOrder {
			compareElems(out, totalKeys32(float32s(x)), totalKeys32(float32s(y)), d)
			break
		}
		compareElems(out, float32s(x), float32s(y), d)
	}
	return out
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
	out, t, f := New(onTrue.DType, shape), expand(onTrue, shape), expand(onFalse, shape)
	switch out.DType.Bytes() {
	case 1:
		selectElems(Elems[uint8](out), pred.Data, Elems[uint8](t), Elems[uint8](f))
	case 2:
		selectElems(Elems[uint16](out), pred.Data, Elems[uint16](t), Elems[uint16](f))
	case 4:
		selectElems(Elems[uint32](out), pred.Data, Elems[uint32](t), Elems[uint32](f))
	case 8:
		selectElems(Elems[uint64](out), pred.Data, Elems[uint64](t), Elems[uint64](f))
	case 16:
		selectElems(Elems[complex128](out), pred.Data, Elems[complex128](t), Elems[complex128](f))
	default:
		selectElems(triples(out), pred.Data, triples(t), triples(f))
	}
	return out
}

// expand repeats a scalar over a shape; other tensors have it already.
func expand(x Tensor, shape []int64) Tensor {
	if len(x.Shape) == len(shape) {
		return x
	}
	return BroadcastInDim(x, nil, shape)
}

func selectElems[T any](dst []T, pred []byte, onTrue, onFalse []T) {
	onTrue, onFalse, pred = onTrue[:len(dst)], onFalse[:len(dst)], pred[:len(dst)]
	for i := range dst {
		v := onFalse[i]
		if pred[i] != 0 {
			v = onTrue[i]
		}
		dst[i] = v
	}
}

// Clamp returns minimum(maximum(x, low), high): high where low > high, NaN where any of them is NaN.
func Clamp(low, x, high Tensor) Tensor { return Minimum(Maximum(x, low), high) }

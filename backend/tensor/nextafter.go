package tensor

import (
	"math"

	"autoshard/ir/dtype"
)

// NextAfter returns the next number after x toward y; NaN if either is NaN, y if they are equal.
func NextAfter(x, y Tensor) Tensor {
	out := New(x.DType, resultShape(x, y))
	switch x.DType.Bytes() {
	case 1:
		nextAfter(out.Data, x.Data, y.Data, x.DType)
	case 2:
		nextAfter(Elems[uint16](out), Elems[uint16](x), Elems[uint16](y), x.DType)
	case 4:
		nextAfter(Elems[uint32](out), Elems[uint32](x), Elems[uint32](y), x.DType)
	default:
		nextAfter(Elems[uint64](out), Elems[uint64](x), Elems[uint64](y), x.DType)
	}
	return out
}

func nextAfter[T uint8 | uint16 | uint32 | uint64](dst, x, y []T, t dtype.Type) {
	signBit := T(1) << (t.Bits() - 1)
	zip(dst, x, y, func(dst, x, y []T) {
		for i := range dst {
			a, b := dtype.Decode(t, uint64(x[i])), dtype.Decode(t, uint64(y[i]))
			switch {
			case a != a || b != b:
				dst[i] = T(dtype.Encode(t, math.NaN()))
			case a == b:
				dst[i] = y[i]
			case a == 0:
				dst[i] = y[i]&signBit | 1
			case (a < b) == (a > 0):
				dst[i] = x[i] + 1
			default:
				dst[i] = x[i] - 1
			}
		}
	})
}

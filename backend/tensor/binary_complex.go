package tensor

import (
	"fmt"
	"math/cmplx"

	"autoshard/ir/dtype"
)

func complexBinary(op BinaryOp, out, x, y Tensor) {
	f, ok := complexFuncs[op]
	if !ok {
		panic(fmt.Sprintf("tensor: binary op %d on complex numbers", op))
	}
	loop := func(dst, x, y []complex128) {
		for i := range dst {
			dst[i] = f(x[i], y[i])
		}
	}
	if out.DType == dtype.C128 {
		zip(Elems[complex128](out), Elems[complex128](x), Elems[complex128](y), loop)
		return
	}
	zip(Elems[complex64](out), Elems[complex64](x), Elems[complex64](y), func(dst, x, y []complex64) {
		for i := range dst {
			dst[i] = complex64(f(complex128(x[i]), complex128(y[i])))
		}
	})
}

var complexFuncs = map[BinaryOp]func(x, y complex128) complex128{
	OpAdd:      func(x, y complex128) complex128 { return x + y },
	OpSubtract: func(x, y complex128) complex128 { return x - y },
	OpMultiply: func(x, y complex128) complex128 { return x * y },
	OpDivide:   func(x, y complex128) complex128 { return x / y },
	OpMaximum: func(x, y complex128) complex128 {
		if complexLess(x, y) || cmplx.IsNaN(y) {
			return y
		}
		return x
	},
	OpMinimum: func(x, y complex128) complex128 {
		if complexLess(y, x) || cmplx.IsNaN(y) {
			return y
		}
		return x
	},
	OpPower: complexPower,
	OpAtan2: func(y, x complex128) complex128 { return -1i * complexLog((x+1i*y)/cmplx.Sqrt(x*x+y*y)) },
}

// complexLess is the lexicographic order.
func complexLess(x, y complex128) bool {
	return real(x) < real(y) || real(x) == real(y) && imag(x) < imag(y)
}

package tensor

import (
	"fmt"
	"math"
	"slices"

	"autoshard/backend/tensor/vector"
	"autoshard/ir/dtype"
)

// BinaryOp is an elementwise op on two operands of one type, of which either may be a scalar that is repeated.
type BinaryOp uint8

// The ops. What has no comment here does what the function of its name does.
const (
	OpAdd BinaryOp = iota
	OpSubtract
	OpMultiply
	// OpDivide returns x / y. Integers truncate toward zero; by zero they give all bits set, and the smallest
	// integer by -1 itself.
	OpDivide
	// OpRemainder returns the remainder of OpDivide, with the sign of x; of integers by zero it is x.
	OpRemainder
	OpMaximum
	OpMinimum
	// OpPower returns x to the power y: C pow for floats. Integers multiply modulo 2^n; negative exponents give 0,
	// except for base 1 and -1.
	OpPower
	// OpAtan2 returns the angle of the point (y, x): the operands are y, then x, as in C.
	OpAtan2
	// OpPolygamma returns derivative n of digamma at x; NaN where n is not a natural number.
	OpPolygamma
	// OpZeta returns the Hurwitz zeta function, the sum of (q+k)^-x over k ≥ 0.
	OpZeta
	OpAnd
	OpOr
	OpXor
	// OpShiftLeft shifts x by y bits, read as unsigned; by the width and more gives 0.
	OpShiftLeft
	opShiftRight // of T as it is: logical for unsigned, arithmetic for signed
	// OpShiftRightLogical shifts zeros in from the left; the amount is read as unsigned.
	OpShiftRightLogical
	// OpShiftRightArithmetic shifts copies of the top bit in from the left; the amount is read as unsigned.
	OpShiftRightArithmetic
	// OpMulhi returns the high half of the double-width product of integers.
	OpMulhi
)

// Add returns x + y; integers wrap, i1 is or.
func Add(x, y Tensor) Tensor { return OpAdd.Of(x, y) }

// Subtract returns x - y; integers wrap.
func Subtract(x, y Tensor) Tensor { return OpSubtract.Of(x, y) }

// Multiply returns x * y; integers wrap, i1 is and.
func Multiply(x, y Tensor) Tensor { return OpMultiply.Of(x, y) }

// Maximum returns the larger, NaN if either is NaN, +0 above -0; complex numbers compare lexicographically.
func Maximum(x, y Tensor) Tensor { return OpMaximum.Of(x, y) }

// Minimum returns the smaller, as Maximum.
func Minimum(x, y Tensor) Tensor { return OpMinimum.Of(x, y) }

// And returns the bitwise and.
func And(x, y Tensor) Tensor { return OpAnd.Of(x, y) }

// Or returns the bitwise or.
func Or(x, y Tensor) Tensor { return OpOr.Of(x, y) }

// Xor returns the bitwise exclusive or.
func Xor(x, y Tensor) Tensor { return OpXor.Of(x, y) }

// resultShape returns the shape of an elementwise result: an operand of rank 0 is repeated.
func resultShape(xs ...Tensor) []int64 {
	shape := xs[0].Shape
	for _, x := range xs[1:] {
		if len(x.Shape) > len(shape) {
			shape = x.Shape
		}
	}
	return shape
}

// Of returns the op's result.
func (op BinaryOp) Of(x, y Tensor) Tensor {
	out := newUnset(x.DType, resultShape(x, y))
	op.Into(out, x, y)
	return out
}

// Into is Of into a tensor of the result's type, which may be one of the operands.
func (op BinaryOp) Into(out, x, y Tensor) {
	switch op {
	case OpShiftRightLogical:
		shiftRight(out, x, y, unsignedOf(x.DType))
		return
	case OpShiftRightArithmetic:
		shiftRight(out, x, y, signedOf(x.DType))
		return
	}
	switch x.DType.Kind() {
	case dtype.Bool:
		zip(out.Data, x.Data, y.Data, func(dst, x, y []uint8) { boolLoop(op, dst, x, y) })
	case dtype.Signed, dtype.Unsigned:
		integers(x.DType).binary(op, out, x, y)
	case dtype.Complex:
		complexBinary(op, out, x, y)
	default:
		floatBinary(op, out, x, y)
	}
}

// shiftRight shifts integers that are read as those of a type.
func shiftRight(out, x, y Tensor, as dtype.Type) {
	shifted := asType(out, as)
	opShiftRight.Into(shifted, asType(x, as), asType(y, as))
	if as.Bits() < 8 {
		copy(out.Data, asType(shifted, out.DType).Data)
	}
}

// blockSize is the number of elements that kernels work on at a time where they need scratch.
const blockSize = 1024

// zip calls f on operands and result, as eachBlock does.
func zip[T any](dst, x, y []T, f func(dst, x, y []T)) {
	eachBlock(len(dst), x, y, func(lo int, x, y []T) { f(dst[lo:lo+len(x)], x, y) })
}

// eachBlock calls f on the operands of a result of n elements: on all of them, or, when one is a scalar to be
// repeated, on blocks that begin at lo.
func eachBlock[T any](n int, x, y []T, f func(lo int, x, y []T)) {
	if len(x) == n && len(y) == n {
		f(0, x, y)
		return
	}
	fx, fy := filler(x, n), filler(y, n)
	for lo := 0; lo < n; lo += blockSize {
		hi := min(lo+blockSize, n)
		f(lo, fx(lo, hi), fy(lo, hi))
	}
}

// filler returns x[lo:hi], or for a scalar that is to have n elements as many copies of it.
func filler[T any](x []T, n int) func(lo, hi int) []T {
	if len(x) == n {
		return func(lo, hi int) []T { return x[lo:hi] }
	}
	copies := slices.Repeat(x[:1], min(n, blockSize))
	return func(lo, hi int) []T { return copies[:hi-lo] }
}

func floatBinary(op BinaryOp, out, x, y Tensor) {
	switch x.DType {
	case dtype.F32:
		if v, ok := vectorOp(op); ok {
			v.Float32(Elems[float32](out), Elems[float32](x), Elems[float32](y))
			return
		}
		zip(Elems[float32](out), Elems[float32](x), Elems[float32](y), func(dst, x, y []float32) { floatLoop(op, dst, x, y) })
	case dtype.F64:
		zip(Elems[float64](out), Elems[float64](x), Elems[float64](y), func(dst, x, y []float64) { floatLoop(op, dst, x, y) })
	default:
		smallFloatBinary(op, out, x, y)
	}
}

// smallFloatBinary computes floats below 32 bits in f32, which rounds arithmetic on them correctly.
func smallFloatBinary(op BinaryOp, out, x, y Tensor) {
	n := out.Len()
	load := func(t Tensor) func(lo, hi int) []float32 {
		if t.Len() != n {
			return filler(float32s(t), n)
		}
		scratch := make([]float32, min(n, blockSize))
		return func(lo, hi int) []float32 {
			widen(scratch[:hi-lo], t, lo)
			return scratch[:hi-lo]
		}
	}
	lx, ly := load(x), load(y)
	result := make([]float32, min(n, blockSize))
	for lo := 0; lo < n; lo += blockSize {
		hi := min(lo+blockSize, n)
		if v, ok := vectorOp(op); ok {
			v.Float32(result[:hi-lo], lx(lo, hi), ly(lo, hi))
		} else {
			floatLoop(op, result[:hi-lo], lx(lo, hi), ly(lo, hi))
		}
		narrow32(out, lo, result[:hi-lo])
	}
}

// vectorOp returns the op on vectors of f32, if it is one.
func vectorOp(op BinaryOp) (v vector.Op, ok bool) {
	switch op {
	case OpAdd:
		return vector.Add, true
	case OpSubtract:
		return vector.Subtract, true
	case OpMultiply:
		return vector.Multiply, true
	case OpDivide:
		return vector.Divide, true
	case OpMaximum:
		return vector.Maximum, true
	case OpMinimum:
		return vector.Minimum, true
	}
	return 0, false
}

func boolLoop(op BinaryOp, dst, x, y []uint8) {
	for i := range dst {
		switch op {
		case OpAdd, OpMaximum, OpOr:
			dst[i] = x[i] | y[i]
		case OpMultiply, OpMinimum, OpAnd:
			dst[i] = x[i] & y[i]
		case OpSubtract, OpXor:
			dst[i] = x[i] ^ y[i]
		default:
			panic(fmt.Sprintf("tensor: binary op %d on i1", op))
		}
	}
}

func floatLoop[T float32 | float64](op BinaryOp, dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	switch {
	case arithmetic(op, dst, x, y):
	case op == OpDivide:
		for i := range dst {
			dst[i] = x[i] / y[i]
		}
	default:
		f := floatFuncs[op]
		for i := range dst {
			dst[i] = T(f(float64(x[i]), float64(y[i])))
		}
	}
}

// arithmetic computes the ops that integers and floats have in common, and says whether op is one.
func arithmetic[T integer | float32 | float64](op BinaryOp, dst, x, y []T) bool {
	x, y = x[:len(dst)], y[:len(dst)]
	switch op {
	case OpAdd:
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	case OpSubtract:
		for i := range dst {
			dst[i] = x[i] - y[i]
		}
	case OpMultiply:
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	case OpMaximum:
		for i := range dst {
			dst[i] = max(x[i], y[i])
		}
	case OpMinimum:
		for i := range dst {
			dst[i] = min(x[i], y[i])
		}
	default:
		return false
	}
	return true
}

var floatFuncs = map[BinaryOp]func(x, y float64) float64{
	OpRemainder: math.Mod,
	OpPower:     pow,
	OpAtan2:     atan2,
	OpPolygamma: polygamma,
	OpZeta:      zeta,
}

package tensor

import (
	"cmp"
	"fmt"
	"math/bits"

	"autoshard/backend/tensor/vector"
	"autoshard/ir/dtype"
)

// integer lists the Go types that integers are stored in.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// integerKernels are the kernels of integers that are stored in one Go type.
type integerKernels interface {
	unary(out, x Tensor, f func(int64) int64)
	binary(op BinaryOp, out, x, y Tensor)
	compare(out, x, y Tensor, d Direction)
	convert(x Tensor, to dtype.Type) Tensor
}

type storedAs[T integer] struct{}

var integerTypes = [...]integerKernels{
	dtype.I2: storedAs[int8]{}, dtype.I4: storedAs[int8]{}, dtype.I8: storedAs[int8]{},
	dtype.I16: storedAs[int16]{}, dtype.I32: storedAs[int32]{}, dtype.I64: storedAs[int64]{},
	dtype.UI2: storedAs[uint8]{}, dtype.UI4: storedAs[uint8]{}, dtype.UI8: storedAs[uint8]{},
	dtype.UI16: storedAs[uint16]{}, dtype.UI32: storedAs[uint32]{}, dtype.UI64: storedAs[uint64]{},
}

// integers returns the kernels of an integer type.
func integers(t dtype.Type) integerKernels {
	if k := t.Kind(); k != dtype.Signed && k != dtype.Unsigned {
		panic("tensor: integer op on " + t.String())
	}
	return integerTypes[t]
}

var (
	unsignedTypes = map[dtype.Type]dtype.Type{
		dtype.I2: dtype.UI2, dtype.I4: dtype.UI4, dtype.I8: dtype.UI8, dtype.I16: dtype.UI16, dtype.I32: dtype.UI32, dtype.I64: dtype.UI64,
	}
	signedTypes = map[dtype.Type]dtype.Type{
		dtype.UI2: dtype.I2, dtype.UI4: dtype.I4, dtype.UI8: dtype.I8, dtype.UI16: dtype.I16, dtype.UI32: dtype.I32, dtype.UI64: dtype.I64,
	}
)

func unsignedOf(t dtype.Type) dtype.Type { return cmp.Or(unsignedTypes[t], t) }

func signedOf(t dtype.Type) dtype.Type { return cmp.Or(signedTypes[t], t) }

// asType reads integers as those of the other signedness.
func asType(x Tensor, t dtype.Type) Tensor {
	if t.Bits() < 8 {
		return Convert(x, t)
	}
	return Tensor{t, x.Shape, x.Data}
}

// bitOps are the ops on integers of 32 bits that run on vectors.
var bitOps = [...]struct {
	op vector.BitOp
	ok bool
}{
	OpAdd: {vector.IntAdd, true}, OpSubtract: {vector.IntSubtract, true}, OpMultiply: {vector.IntMultiply, true},
	OpAnd: {vector.And, true}, OpOr: {vector.Or, true}, OpXor: {vector.Xor, true},
	OpShiftLeft: {vector.ShiftLeft, true}, opShiftRight: {vector.ShiftRightLogical, true}, OpMulhi: {},
}

// binary32 computes what runs on vectors, and says whether op does.
func binary32(op BinaryOp, out, x, y Tensor) bool {
	bit := bitOps[op]
	if bit.op == vector.ShiftRightLogical && out.DType == dtype.I32 {
		bit.op = vector.ShiftRightArithmetic
	}
	if bit.ok {
		bit.op.Int32(Elems[uint32](out), Elems[uint32](x), Elems[uint32](y))
	}
	return bit.ok
}

func (storedAs[T]) binary(op BinaryOp, out, x, y Tensor) {
	if out.DType.Bits() == 32 && binary32(op, out, x, y) {
		return
	}
	zip(Elems[T](out), Elems[T](x), Elems[T](y), func(dst, x, y []T) {
		if op == OpMulhi {
			mulhiLoop(out.DType, dst, x, y)
			return
		}
		intLoop(op, dst, x, y)
		wrapNarrow(dst, out.DType)
	})
}

func intLoop[T integer](op BinaryOp, dst, x, y []T) {
	if arithmetic(op, dst, x, y) || bitwise(op, dst, x, y) {
		return
	}
	f := intFunc[T](op)
	for i := range dst {
		dst[i] = f(x[i], y[i])
	}
}

// bitwise computes the ops on bits, and says whether op is one. Amounts of shifts are read as unsigned.
func bitwise[T integer](op BinaryOp, dst, x, y []T) bool {
	x, y = x[:len(dst)], y[:len(dst)]
	switch op {
	case OpAnd:
		for i := range dst {
			dst[i] = x[i] & y[i]
		}
	case OpOr:
		for i := range dst {
			dst[i] = x[i] | y[i]
		}
	case OpXor:
		for i := range dst {
			dst[i] = x[i] ^ y[i]
		}
	case OpShiftLeft:
		for i := range dst {
			dst[i] = x[i] << uint64(y[i])
		}
	case opShiftRight:
		for i := range dst {
			dst[i] = x[i] >> uint64(y[i])
		}
	default:
		return false
	}
	return true
}

func intFunc[T integer](op BinaryOp) func(x, y T) T {
	switch op {
	case OpDivide:
		return func(x, y T) T {
			if y == 0 {
				return ^T(0)
			}
			return x / y
		}
	case OpRemainder:
		return func(x, y T) T {
			if y == 0 {
				return x
			}
			return x % y
		}
	case OpPower:
		return intPower[T]
	}
	panic(fmt.Sprintf("tensor: binary op %d on integers", op))
}

func intPower[T integer](base, exponent T) T {
	if exponent < 0 {
		switch {
		case base == 1, base == ^T(0) && exponent&1 == 0:
			return 1
		case base == ^T(0):
			return base
		}
		return 0
	}
	result := T(1)
	for ; exponent != 0; exponent >>= 1 {
		if exponent&1 != 0 {
			result *= base
		}
		base *= base
	}
	return result
}

func mulhiLoop[T integer](t dtype.Type, dst, x, y []T) {
	width := t.Bits()
	for i := range dst {
		if width < 64 {
			product := int64(x[i]) * int64(y[i])
			if t.Kind() == dtype.Unsigned {
				dst[i] = T(uint64(product) >> width)
			} else {
				dst[i] = T(product >> width)
			}
			continue
		}
		high, _ := bits.Mul64(uint64(x[i]), uint64(y[i]))
		if x[i] < 0 {
			high -= uint64(y[i])
		}
		if y[i] < 0 {
			high -= uint64(x[i])
		}
		dst[i] = T(high)
	}
}

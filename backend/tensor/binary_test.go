package tensor

import (
	"fmt"
	"testing"

	"autoshard/ir/dtype"
)

// An op that overwrites an operand gives the bits that it gives in memory of its own, on vectors and on what is left beside them, also
// where the other operand is a scalar.
func TestOverwrite(t *testing.T) {
	for _, dt := range allTypes {
		ops := []BinaryOp{OpAdd, OpSubtract, OpMultiply, OpMaximum, OpMinimum}
		switch dt.Kind() {
		case dtype.Float:
			ops = append(ops, OpDivide, OpPower, OpAtan2, OpPolygamma, OpZeta)
		case dtype.Complex:
			ops = append(ops, OpDivide, OpPower)
		case dtype.Signed, dtype.Unsigned:
			ops = append(ops, OpDivide, OpRemainder, OpAnd, OpOr, OpXor, OpShiftLeft, OpShiftRightLogical, OpShiftRightArithmetic, OpMulhi)
		}
		for _, n := range []int64{1, 7, 19, 3000} {
			x, y := numbered(dt, []int64{n}), counting(dt, n, 5)
			scalar := Tensor{DType: dt, Data: y.Data[:dt.Bytes()]}
			for _, op := range ops {
				name := fmt.Sprintf("op %d on %d of %v", op, n, dt)
				overwrites(t, name, op, x, y)
				overwrites(t, name+" and a scalar", op, x, scalar)
				overwrites(t, name+" after a scalar", op, scalar, y)
			}
		}
	}
}

// counting returns n elements that go up to a small number again and again.
func counting(dt dtype.Type, n, most int64) Tensor {
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i)%most + 1
	}
	return FromInts(dt, []int64{n}, values...)
}

// overwrites compares an op in the place of each operand of the result's shape with the op in its own memory.
func overwrites(t *testing.T, name string, op BinaryOp, x, y Tensor) {
	t.Helper()
	want := op.Of(x, y)
	if x.Rank() == want.Rank() {
		got := x.Clone()
		op.Into(got, got, y)
		if !got.Equal(want) {
			t.Errorf("%s: %v in the place of the first operand, want %v", name, got, want)
		}
	}
	if y.Rank() == want.Rank() {
		got := y.Clone()
		op.Into(got, x, got)
		if !got.Equal(want) {
			t.Errorf("%s: %v in the place of the second operand, want %v", name, got, want)
		}
	}
}

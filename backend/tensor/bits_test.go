package tensor

import (
	"math"
	"testing"

	"autoshard/ir/dtype"
)

// Logarithms of numbers below the smallest normal one are as precise as others.
func TestLogarithmsOfSubnormalNumbers(t *testing.T) {
	x := FromFloats(dtype.F64, []int64{3}, 5e-324, 1e-314, 0x1p-1022)
	for name, c := range map[string]struct {
		got  Tensor
		want []float64
	}{
		"log": {Log(x), []float64{-744.4400719213812, -723.0117192001665, -708.3964185322641}},
		"power": {OpPower.Of(x, FromFloats(dtype.F64, nil, -0.25)),
			[]float64{0x1p268 * math.Sqrt2, 1 / math.Sqrt(math.Sqrt(1e-314)), 0x1p255 * math.Sqrt2}},
		"lgamma":  {Lgamma(x), []float64{744.4400719213812, 723.0117192001665, 708.3964185322641}},
		"complex": {Real(Log(Complex(x, New(dtype.F64, x.Shape)))), []float64{-744.4400719213812, -723.0117192001665, -708.3964185322641}},
	} {
		for i, got := range c.got.Floats() {
			if math.Abs(got-c.want[i]) > 2e-6*math.Abs(c.want[i]) {
				t.Errorf("%s of %v is %v, want %v", name, x.Floats()[i], got, c.want[i])
			}
		}
	}
}

// The next number of a type of one byte is its neighbour.
func TestNextAfterOfBytes(t *testing.T) {
	x, y := FromFloats(dtype.F8E4M3FN, []int64{4}, 1, 1, 0, -1), FromFloats(dtype.F8E4M3FN, []int64{4}, 2, 0, -1, 448)
	want := FromFloats(dtype.F8E4M3FN, []int64{4}, 1.125, 0.9375, -0x1p-9, -0.9375)
	if got := NextAfter(x, y); !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Bits of elements that lie in two bytes are all there, both ways.
func TestBitcastOfSixBits(t *testing.T) {
	x := FromFloats(dtype.F6E3M2FN, []int64{3}, 0, -28, 28)
	bits := BitcastConvert(x, dtype.I1, []int64{3, 6})
	if want := FromInts(dtype.I1, []int64{3, 6}, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0); !bits.Equal(want) {
		t.Errorf("%v, want %v", bits, want)
	}
	if back := BitcastConvert(bits, dtype.F6E3M2FN, []int64{3}); !back.Equal(x) {
		t.Errorf("%v, want %v", back, x)
	}
}

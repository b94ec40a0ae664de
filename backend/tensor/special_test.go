package tensor

import (
	"bytes"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"autoshard/ir/dtype"
)

// Below zero the zeta function is the sum of its terms, in a time that does not grow with how many of them are below zero.
func TestZetaBelowZero(t *testing.T) {
	for _, x := range []float64{2, 3, 4, 7, 20} {
		for _, q := range []float64{-0.25, -0.5, -1.75, -7.125, -1000.375, -1e-3} {
			want := mathext.Zeta(x, q) // which adds them one by one
			if got := zeta(x, q); math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("zeta(%v, %v) = %v, want %v", x, q, got, want)
			}
		}
	}
	if got, want := zeta(2, -0x1p50-0.5), math.Pi*math.Pi; math.Abs(got-want) > 1e-14 {
		t.Errorf("zeta(2, -2^50-0.5) = %v, want %v", got, want)
	}
}

// An angle has the sign of y, also where y/x is zero.
func TestAngleHasTheSignOfY(t *testing.T) {
	for _, y := range []float64{0x1p-1022, -0x1p-1022} {
		if got, want := atan2(y, -1e30), math.Copysign(math.Pi, y); got != want {
			t.Errorf("atan2(%v, -1e30) = %v, want %v", y, got, want)
		}
		if got, want := imag(complexLog(complex(-1e30, y))), math.Copysign(math.Pi, y); got != want {
			t.Errorf("the imaginary part of log(-1e30%+vi) = %v, want %v", y, got, want)
		}
	}
}

// The scaled Bessel function of a number near the largest is not zero.
func TestBesselFarOut(t *testing.T) {
	if got, want := besselI1e(0x1p1023), 1/math.Sqrt(2*math.Pi)*0x1p-512*math.Sqrt2; math.Abs(got-want) > 1e-15*want {
		t.Errorf("bessel_i1e(2^1023) = %v, want %v", got, want)
	}
}

// NaN of a type of eight bits have an order, which is that of their bits, as in XLA.
func TestTotalOrderOfNarrowNaN(t *testing.T) {
	of := func(bits ...byte) Tensor { return Tensor{dtype.F8E5M2, []int64{4}, bits} }
	x, y := of(0x7d, 0xfd, 0xff, 0x80), of(0x7e, 0x00, 0xfe, 0x00)
	if got := Compare(x, y, LT, true); !bytes.Equal(got.Data, []byte{1, 1, 1, 1}) {
		t.Errorf("%v < %v in total order: %v", x, y, got)
	}
}

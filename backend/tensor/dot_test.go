package tensor

import (
	"testing"

	"autoshard/ir/dtype"
)

// One Dot multiplies operands of its shapes again and again, whose matrices lie as one or have to be moved, as DotGeneral does.
func TestDotAgain(t *testing.T) {
	lhs, rhs := []int64{2, 3, 5, 4}, []int64{5, 6, 2, 4}
	for _, dims := range []DotDims{
		{LHSBatch: []int64{0}, RHSBatch: []int64{2}, LHSContract: []int64{3}, RHSContract: []int64{3}},
		{LHSContract: []int64{2, 0}, RHSContract: []int64{0, 2}},
		{LHSBatch: []int64{2, 0}, RHSBatch: []int64{0, 2}},
	} {
		for _, out := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I64} {
			d := NewDot(lhs, rhs, dims, out)
			if !d.Fits(lhs, rhs) || d.Fits(rhs, lhs) {
				t.Errorf("%+v fits %v and %v: %t, the other way round: %t", dims, lhs, rhs, d.Fits(lhs, rhs), d.Fits(rhs, lhs))
			}
			for most := int64(3); most < 6; most++ {
				x := Convert(Reshape(counting(dtype.I64, 120, most), lhs), out)
				y := Convert(Reshape(counting(dtype.I64, 240, most+2), rhs), out)
				if got, want := d.Of(x, y), DotGeneral(x, y, dims, out); !got.Equal(want) {
					t.Errorf("%+v in %v: %v, want %v", dims, out, got, want)
				}
			}
		}
	}
}

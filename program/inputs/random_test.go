package inputs

import (
	"testing"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// Random inputs exist for all types, are the same for the same seed, and stay in their ranges.
func TestRandom(t *testing.T) {
	for dt := dtype.I1; dt <= dtype.C128; dt++ {
		name := dt.String() + "[3,5]"
		tensors := []answer.Tensor{{Type: name}, {Type: name}}
		a, err := Random(tensors, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, _ := Random(tensors, 1)
		if !a[0].Equal(*b[0]) || a[0].DType != dt || a[0].Len() != 15 {
			t.Errorf("%s: the same seed gives %v and %v", name, a[0], b[0])
		}
		if dt.Bits() > 8 && a[0].Equal(*a[1]) {
			t.Errorf("%s: both inputs are %v", name, a[0])
		}
		for _, v := range a[0].Floats() {
			if !(v >= 0 && v <= 3) {
				t.Errorf("%s holds %v", name, v)
			}
		}
	}
}

func TestRandomLimits(t *testing.T) {
	for text, want := range map[string]error{"f32[1000000,1000000]": diag.ErrTooLarge, "!stablehlo.token": diag.ErrUnsupported,
		"f32[99999999999999999999]": diag.ErrUnsupported, "i8[9223372036854775807,9]": diag.ErrTooLarge} {
		_, err := Random([]answer.Tensor{{Type: text}}, 0)
		if diag.ExitCode(err) != diag.ExitCode(want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

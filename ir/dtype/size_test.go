package dtype

import (
	"errors"
	"testing"

	"autoshard/internal/diag"
)

func TestSize(t *testing.T) {
	if n, bytes, err := Size(C64, []int64{2, 3}); n != 6 || bytes != 48 || err != nil {
		t.Errorf("c64[2,3]: %d elements of %d bytes, %v", n, bytes, err)
	}
	if _, _, err := Size(F32, []int64{1 << 40, 1 << 40}); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("2^80 elements: %v", err)
	}
	if _, _, err := Size(F32, []int64{-1}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("negative size: %v", err)
	}
	if n, bytes, err := Size(F32, []int64{1 << 60, 0}); n != 0 || bytes != 0 || err != nil {
		t.Errorf("no elements: %d, %d, %v", n, bytes, err)
	}
}

func TestFormat(t *testing.T) {
	if got := Format(BF16, []int64{2, -1, 0}) + " " + Format(C64, nil); got != "bf16[2,?,0] complex<f32>[]" {
		t.Errorf("got %s", got)
	}
}

// Types in their short form are read as they are written, and nothing else is.
func TestParseTensor(t *testing.T) {
	for _, text := range []string{"f32[]", "bf16[2,8]", "complex<f32>[0]"} {
		if e, dims, ok := ParseTensor(text); !ok || Format(e, dims) != text {
			t.Errorf("%s is read as %s, %v", text, Format(e, dims), ok)
		}
	}
	for text, want := range map[string]string{"2x8xf32": "f32[2,8]", "tensor<4xcomplex<f32>>": "complex<f32>[4]", "tensor<i1>": "i1[]"} {
		if e, dims, ok := ParseTensor(text); !ok || Format(e, dims) != want {
			t.Errorf("%s is read as %s, %v", text, Format(e, dims), ok)
		}
	}
	for _, text := range []string{"", "f32", "2x8", "2x", "x2xf32", "2xf32x4", "tensor<2xf32", "tensor<2x?xf32>", "[2]",
		"f33[2]", "f32[2", "f32[2,]", "f32[-2]", "f32[?]", "f32[2]x",
		"f32[99999999999999999999]"} {
		if e, dims, ok := ParseTensor(text); ok {
			t.Errorf("%s is read as %s", text, Format(e, dims))
		}
	}
}

package inputs

import (
	"bytes"
	"errors"
	"testing"

	"autoshard/answer"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

func TestSize(t *testing.T) {
	got, err := Size([]answer.Tensor{{Type: "f32[2,3]"}, {Type: "!stablehlo.token"}, {Type: "i1[4]"}})
	if err != nil || got != 28 {
		t.Errorf("%d bytes, %v", got, err)
	}
	if _, err := Size([]answer.Tensor{{Type: "f32[1000000,1000000]"}}); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

// A file is read as far as the program has room for it, in whatever number format.
func TestReadIsBounded(t *testing.T) {
	file := func(dt dtype.Type, dims ...int64) []byte {
		var out bytes.Buffer
		if err := npz.Write(&out, []npz.Array{{Name: "arg0", Tensor: tensor.New(dt, dims)}}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	wanted := []answer.Tensor{{Type: "f16[1024,256]"}}
	if _, err := Read("in", file(dtype.F64, 1024, 256), "arg", wanted); err != nil {
		t.Errorf("wider numbers: %v", err)
	}
	if _, err := Read("in", file(dtype.F64, 1024, 1024), "arg", wanted); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("more numbers: %v", err)
	}
}

package tensor_test

import (
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// What is prepared for a shape gives the same as what is not, again and again, and says what it is for.
func TestRearrangements(t *testing.T) {
	x := tensor.FromInts(dtype.I32, []int64{2, 3}, 0, 1, 2, 3, 4, 5)
	for name, c := range map[string]struct {
		prepared *tensor.Rearrangement
		want     tensor.Tensor
	}{
		"broadcast": {tensor.NewBroadcast(x.Shape, []int64{1, 2}, []int64{2, 2, 3}),
			tensor.FromInts(dtype.I32, []int64{2, 2, 3}, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5)},
		"transpose": {tensor.NewTranspose(x.Shape, []int64{1, 0}), tensor.FromInts(dtype.I32, []int64{3, 2}, 0, 3, 1, 4, 2, 5)},
		"nothing":   {tensor.NewTranspose(x.Shape, []int64{0, 1}), x},
		"slice":     {tensor.NewSlice(x.Shape, []int64{0, 0}, []int64{1, 3}, []int64{1, 2}), tensor.FromInts(dtype.I32, []int64{1, 2}, 0, 2)},
		"empty":     {tensor.NewSlice(x.Shape, []int64{1, 0}, []int64{1, 3}, []int64{1, 1}), tensor.New(dtype.I32, []int64{0, 3})},
		"reverse":   {tensor.NewReverse(x.Shape, []int64{1}), tensor.FromInts(dtype.I32, []int64{2, 3}, 2, 1, 0, 5, 4, 3)},
	} {
		for range 2 {
			if got := c.prepared.Of(x); !got.Equal(c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
		if !c.prepared.Fits([]int64{2, 3}) || c.prepared.Fits([]int64{3, 2}) {
			t.Errorf("%s fits other shapes", name)
		}
	}
}

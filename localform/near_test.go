package localform_test

import (
	"fmt"
	"slices"
	"testing"

	"autoshard/ir/mlir"
	"autoshard/localform"
)

// The first rows of a tensor lie on one device, which would send them to one device after the other: to few, that is done.
func TestNear(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%a: tensor<4096xf32>) {
  %0 = stablehlo.slice %a [0:64] : (tensor<4096xf32>) -> tensor<64xf32>
  return
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := localform.Dims(m, m.FirstOp(m.MainFunc().Body), m.Shape)[0]
	for k, want := range map[int64]bool{1: true, 8: true, 16: true, 32: false, 64: false} {
		if d.Parts()%k != 0 || d.Near(k) != want {
			t.Errorf("%d of %d blocks: near is %v, want %v", k, d.Parts(), d.Near(k), want)
		}
	}
}

// Pieces of 3, 4 and 2 elements in two blocks each: the first device has the first five of them afterwards.
func TestConcatenatedPieces(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%a: tensor<3xf32>, %b: tensor<4xf32>, %c: tensor<2xf32>) {
  %0 = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<3xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<9xf32>
  return
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pieces := localform.Dims(m, m.FirstOp(m.MainFunc().Body), m.Shape)[0].Pieces(2)
	for i, want := range []struct {
		lo  []int64
		way string
	}{{[]int64{0, 5}, "[[1 0]]"}, {[]int64{-3, 2}, ""}, {[]int64{-7, -2}, "[[0 1]]"}} {
		got := ""
		for _, round := range pieces[i].Placed(0).Rounds {
			got += fmt.Sprint(round.Pairs)
		}
		if !slices.Equal(pieces[i].Lo, want.lo) || pieces[i].Rows != 5 || got != want.way {
			t.Errorf("piece %d: %d rows from %v, sent %s", i, pieces[i].Rows, pieces[i].Lo, got)
		}
	}
}

package localform_test

import (
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

package explain_test

import (
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/explain"
	"autoshard/ir/mlir"
)

// layer is a product of which one operand wants the rows cut and the other one the columns, along the same axis.
const layer = `sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> tensor<4x6xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %z = stablehlo.tanh %y : tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}
`

// The graph of an explanation has a box for what the user wrote, a double line for what was asked about, and an edge for each step
// between them, each once; what was refused is dashed.
func TestGraphOfExplanation(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(layer), mlir.Options{File: "layer.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	x, err := explain.Explain(t.Context(), &answer.Source{Name: "layer", Module: m}, explain.Question{Value: "out0", WhyNot: "data"})
	if err != nil {
		t.Fatal(err)
	}
	want := `digraph explanation {
  "result 0[0]" [peripheries=2]
  "as annotated at argument 0" [shape=box]
  "as annotated at argument 0" -> "%arg0[0]" [label="\"data\""]
  "%arg0[0]" -> "%0[0]" [style=dashed, color=red, label="\"data\"\n%0 = stablehlo.dot_general\nused by another dimension"]
  "%0[0]" -> "%1[0]" [style=dotted]
  "%1[0]" -> "result 0[0]" [style=dotted]
  "result 0[1]" [peripheries=2]
  "as annotated at argument 1" [shape=box]
  "as annotated at argument 1" -> "%arg1[1]" [label="\"data\""]
  "%arg1[1]" -> "%0[1]" [label="\"data\"\n%0 = stablehlo.dot_general"]
  "%0[1]" -> "%1[1]" [label="\"data\"\n%1 = stablehlo.tanh"]
  "%1[1]" -> "result 0[1]" [label="\"data\"\nthe function's result"]
}`
	if got := x.DOT(); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

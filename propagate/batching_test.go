package propagate_test

import (
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"
)

// steps writes into row i of a tensor, for every i, at a place that is given: as JAX writes x.at[arange(8), j].set(v). GUARD makes %i of
// the iota %n.
const steps = `func.func @main(%x: tensor<8x16xf32>, %j: tensor<8x1xi32>, %v: tensor<8xf32>, %p: tensor<8xi1>) -> tensor<8x16xf32> {
  %n = stablehlo.iota dim = 0 : tensor<8xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<8xi32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %eights = stablehlo.constant dense<8> : tensor<8xi32>
  %behind = stablehlo.add %n, %eights : tensor<8xi32>
  GUARD
  %k = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
  %at = stablehlo.concatenate %k, %j, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %0 = "stablehlo.scatter"(%x, %at, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1],
    scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<8x16xf32>, tensor<8x2xi32>, tensor<8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}`

// Indices in step with a batch make it one where no guard changes them, and stay where one could. Shardy takes that for granted.
func TestBatchSteps(t *testing.T) {
	for guard, surely := range map[string]bool{
		`%i = stablehlo.reshape %n : (tensor<8xi32>) -> tensor<8xi32>`: true,
		`%c = stablehlo.compare LT, %n, %zeros : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %i = stablehlo.select %c, %behind, %n : tensor<8xi1>, tensor<8xi32>`: true,
		`%c = stablehlo.compare LT, %n, %eights : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %i = stablehlo.select %c, %behind, %n : tensor<8xi1>, tensor<8xi32>`: false,
		`%c = stablehlo.compare GT, %n, %zeros : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %i = stablehlo.select %c, %behind, %n : tensor<8xi1>, tensor<8xi32>`: false,
		`%i = stablehlo.select %p, %behind, %n : tensor<8xi1>, tensor<8xi32>`:                                 false,
		`%i = stablehlo.clamp %zero, %n, %seven : (tensor<i32>, tensor<8xi32>, tensor<i32>) -> tensor<8xi32>`: true,
		`%i = stablehlo.clamp %zero, %n, %four : (tensor<i32>, tensor<8xi32>, tensor<i32>) -> tensor<8xi32>`:  false,
		`%i = stablehlo.clamp %four, %n, %seven : (tensor<i32>, tensor<8xi32>, tensor<i32>) -> tensor<8xi32>`: false,
	} {
		for _, batch := range []struct {
			run  func(*ir.Module)
			want bool
		}{{propagate.BatchSteps, surely}, {propagate.BatchGathers, true}} {
			m, err := mlir.Parse(t.Context(), []byte(strings.Replace(steps, "GUARD", guard, 1)), mlir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			batch.run(m)
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			text := string(mlir.Print(m, mlir.PrintOptions{}))
			if strings.Contains(text, "input_batching_dims = [0]") != batch.want {
				t.Errorf("%s\nbatched should be %t:\n%s", guard, batch.want, text)
			}
		}
	}
}

// An iota of eight bits does not count to 300.
func TestBatchStepsThatWrap(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(strings.NewReplacer("i32", "i8", "tensor<8x", "tensor<300x", "GUARD",
		"%i = stablehlo.reshape %n : (tensor<300xi8>) -> tensor<300xi8>").Replace(steps)), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	propagate.BatchSteps(m)
	if text := string(mlir.Print(m, mlir.PrintOptions{})); strings.Contains(text, "batching") {
		t.Errorf("batched:\n%s", text)
	}
}

package plan

import (
	"slices"
	"testing"

	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// Of microbatches and of sequences whose steps come first, of which a loop takes one after the other, the second dimension counts
// examples; of what a loop reads otherwise, the first.
func TestStepped(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
func.func @main(%micro: tensor<3x8x4xf32>, %rate: tensor<3xf32>, %whole: tensor<3x4xf32>, %rows: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:5 = stablehlo.while(%i = %zero, %sum = %rows, %xs = %micro, %rates = %rate, %w = %whole)
      : tensor<i32>, tensor<8x4xf32>, tensor<3x8x4xf32>, tensor<3xf32>, tensor<3x4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %x = stablehlo.dynamic_slice %xs, %i, %c, %c, sizes = [1, 8, 4] : (tensor<3x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
    %y = stablehlo.reshape %x : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
    %s = stablehlo.dynamic_slice %rates, %i, sizes = [1] : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
    %f = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %z = stablehlo.multiply %y, %b : tensor<8x4xf32>
    %a = stablehlo.slice %w [0:1, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %d = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %e = stablehlo.add %z, %d : tensor<8x4xf32>
    %next = stablehlo.add %sum, %e : tensor<8x4xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next, %xs, %rates, %w : tensor<i32>, tensor<8x4xf32>, tensor<3x8x4xf32>, tensor<3xf32>, tensor<3x4xf32>
  }
  return %r#1 : tensor<8x4xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &planner{module: m, mesh: m.AddMesh("mesh", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 8}}}, nil, 0)}
	args := m.BlockArgs(m.MainFunc().Body)
	for i, want := range []int64{8, 1, 1, 8} { // 3 rows are not cut
		if l := p.inBatches(args[i], p.axes()); l.Shards() != want {
			t.Errorf("argument %d: %d blocks, want %d", i, l.Shards(), want)
		}
		if want := i < 2; stepped(m, args[i]) != want {
			t.Errorf("argument %d is stepped through: %v", i, !want)
		}
	}
	if l := p.inBatches(args[0], p.axes()); len(l.Dims[1]) != 1 {
		t.Errorf("microbatches are cut as %v", l.Dims)
	}
}

// Weights that a step only reads are no batch: what counts examples is what most values have.
func TestBatchInputsWithoutWeights(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
func.func @main(%frozen: tensor<16x32xf32>, %a: tensor<32x4xf32>, %x: tensor<8x16xf32>, %y: tensor<8x4xf32>) -> tensor<32x4xf32> {
  %0 = stablehlo.dot_general %x, %frozen, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.subtract %1, %y : tensor<8x4xf32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [0] x [0] : (tensor<8x32xf32>, tensor<8x4xf32>) -> tensor<32x4xf32>
  %4 = stablehlo.subtract %a, %3 : tensor<32x4xf32>
  return %4 : tensor<32x4xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args := m.BlockArgs(m.MainFunc().Body)
	if got := batchInputs(m); !slices.Equal(got, args[2:]) {
		t.Errorf("%v carry the batch of %v", got, args)
	}
}

// Nor are the weights of a loss, which has no result that counts examples, whatever their sizes.
func TestBatchInputsOfLoss(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
func.func @main(%w: tensor<8x8xf32>, %u: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %u, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args := m.BlockArgs(m.MainFunc().Body)
	if got := batchInputs(m); !slices.Equal(got, args[2:]) {
		t.Errorf("%v carry the batch of %v", got, args)
	}
}

package run_test

import (
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// A manual computation in a loop runs on the devices of its mesh, whose order is another one, though all else runs on one device: its
// argument goes in twice, cut and whole.
func TestManual(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
func.func @main(%v: tensor<4xi32>) -> tensor<4xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %v) : tensor<i32>, tensor<4xi32>
  cond {
    %go = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %b = sdy.manual_computation(%a, %a) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"} (%p: tensor<2xi32>, %w: tensor<4xi32>) {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %sum = stablehlo.reduce(%w init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
      %id = stablehlo.partition_id : tensor<ui32>
      %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %s = stablehlo.add %sum, %n : tensor<i32>
      %k = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %q = stablehlo.add %p, %k : tensor<2xi32>
      %all = "stablehlo.all_reduce"(%q) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 2], [1, 0]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%e: tensor<i32>, %f: tensor<i32>):
        %g = stablehlo.maximum %e, %f : tensor<i32>
        stablehlo.return %g : tensor<i32>
      }) : (tensor<2xi32>) -> tensor<2xi32>
      sdy.return %all : tensor<2xi32>
    } : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %b : tensor<i32>, tensor<4xi32>
  }
  return %r#1 : tensor<4xi32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := interp.New(m, interp.Options{Manual: run.Manual(m, run.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	v := tensor.FromInts(dtype.I32, []int64{4}, 1, 2, 3, 4)
	got, err := in.Run(t.Context(), main, []*tensor.Tensor{&v})
	// Of the places along x, the first has devices 3 and 2, the second 1 and 0: the sum of all and 3 or 1 are added, twice.
	want := tensor.FromInts(dtype.I32, []int64{4}, 1+10+3+58+3, 2+10+3+58+3, 3+10+1+58+1, 4+10+1+58+1)
	if err != nil || !got[0].Equal(want) {
		t.Errorf("%v, %v", got, err)
	}
}

// A program without manual computations has none, and needs nothing to run them.
func TestHasManual(t *testing.T) {
	const text = "func.func @main(%v: tensor<4xi32>) -> tensor<4xi32> {\n  return %v : tensor<4xi32>\n}"
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil || run.HasManual(m) || run.Manual(m, run.Options{}) != nil {
		t.Errorf("a program without manual computations has some, or %v", err)
	}
}

// Results that a manual computation says are equal, and devices that hold other copies of them, are told of.
func TestDiffer(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`sdy.mesh @mesh = <["x"=2]>
func.func @main(%v: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %r:2 = sdy.manual_computation(%v) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] manual_axes={"x"} (%p: tensor<2xi32>) {
    sdy.return %p, %p : tensor<2xi32>, tensor<2xi32>
  } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<2xi32>)
  return %r#0, %r#1 : tensor<4xi32>, tensor<2xi32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var told []run.Difference
	in, err := interp.New(m, interp.Options{Manual: run.Manual(m, run.Options{
		Differ: func(_ ir.OpID, d run.Difference) { told = append(told, d) }})})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	x := tensor.FromFloats(dtype.I32, []int64{4}, 1, 2, 3, 4)
	if _, err := in.Run(t.Context(), main, []*tensor.Tensor{&x}); err != nil {
		t.Fatal(err)
	}
	want := []run.Difference{{Output: 1, First: 0, Second: 1}}
	if !slices.Equal(told, want) {
		t.Errorf("told of %v, want %v", told, want)
	}
	mesh, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err == nil {
		err = shardmap.LowerAxes(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Program(t.Context(), p, []*tensor.Tensor{&x}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Differences(p); !slices.Equal(got, want) {
		t.Errorf("outputs differ by %v, want %v", got, want)
	}
}

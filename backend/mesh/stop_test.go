package mesh_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
)

// endless is a program whose devices exchange a value for ever.
const endless = `func.func @main() -> tensor<1xi32> {
  %x = stablehlo.iota dim = 0 : tensor<1xi32>
  %0:1 = stablehlo.while(%v = %x) : tensor<1xi32>
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<1xi32>) -> tensor<1xi32>
    stablehlo.return %1 : tensor<1xi32>
  }
  return %0 : tensor<1xi32>
}`

// TestFailureStopsOthers has one device fail while the others compute without end or wait for it.
func TestFailureStopsOthers(t *testing.T) {
	m, fn := parse(t, `func.func @main() -> tensor<1xui32> {
  %p = stablehlo.partition_id : tensor<ui32>
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %bad = stablehlo.compare EQ, %p, %two, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  "stablehlo.if"(%bad) ({
    check.expect_eq %p, %one : tensor<ui32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  %busy = stablehlo.compare EQ, %p, %one, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %0:1 = stablehlo.while(%v = %busy) : tensor<i1>
  cond {
    stablehlo.return %v : tensor<i1>
  } do {
    stablehlo.return %v : tensor<i1>
  }
  %x = stablehlo.reshape %p : (tensor<ui32>) -> tensor<1xui32>
  %1 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<1xui32>) -> tensor<1xui32>
  return %1 : tensor<1xui32>
}`)
	_, _, err := mesh.Run(context.Background(), m, fn, 3, make([][]*tensor.Tensor, 3), mesh.Options{})
	if !errors.Is(err, diag.ErrFinding) || !strings.Contains(err.Error(), "device 2: check.expect_eq") {
		t.Errorf("got %v, want the failed check of device 2", err)
	}
}

// TestPanic shows that a kernel's panic reaches the caller's goroutine.
func TestPanic(t *testing.T) {
	m, fn := parse(t, `func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.reshape %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}`)
	body := m.Func(fn).Body
	m.SetType(m.Result(m.NextOp(m.FirstOp(body)), 0), m.TensorType(m.ValueType(m.BlockArgs(body)[0]).DType, 5))
	defer func() {
		if p := recover(); p == nil {
			t.Error("the panic did not arrive")
		}
	}()
	x, y := tensor.New(m.ValueType(m.BlockArgs(body)[0]).DType, []int64{2}), tensor.New(m.ValueType(m.BlockArgs(body)[0]).DType, []int64{3})
	args := [][]*tensor.Tensor{{&x, &y}, {&x, &y}}
	_, _, err := mesh.Run(context.Background(), m, fn, 2, args, mesh.Options{})
	t.Errorf("a reshape of two elements to five gave %v", err)
}

// The limit of bytes is for all devices together.
func TestLimit(t *testing.T) {
	m, fn := parse(t, `func.func @main() -> tensor<1000xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<1000xf32>
  return %0 : tensor<1000xf32>
}`)
	_, _, err := mesh.Run(context.Background(), m, fn, 4, make([][]*tensor.Tensor, 4), mesh.Options{MaxBytes: 15999})
	if !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("got %v, want too large", err)
	}
	if _, _, err := mesh.Run(context.Background(), m, fn, 4, make([][]*tensor.Tensor, 4), mesh.Options{MaxBytes: 16000}); err != nil {
		t.Error(err)
	}
}

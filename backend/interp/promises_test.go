package interp_test

import (
	"errors"
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// rows adds up the rows of a matrix twice: by a reduction, and by a loop that also writes down each row's number.
const rows = `func.func @main(%x: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<3xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %numbers = stablehlo.constant dense<[7, 8, 9]> : tensor<3xi32>
  %sums = stablehlo.constant dense<[0.5, 1.5]> : tensor<2xf32>
  %total = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<3x2xf32>, tensor<f32>) -> tensor<2xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }
  %0:3 = stablehlo.while(%i = %zero, %sum = %sums, %ns = %numbers) : tensor<i32>, tensor<2xf32>, tensor<3xi32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 2] : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %flat = stablehlo.reshape %row : (tensor<1x2xf32>) -> tensor<2xf32>
    %next = stablehlo.add %sum, %flat : tensor<2xf32>
    %n = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %noted = stablehlo.dynamic_update_slice %ns, %n, %i : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next, %noted : tensor<i32>, tensor<2xf32>, tensor<3xi32>
  }
  return %total, %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>, tensor<3xi32>
}`

// An observer sees the ops that are shown and no others. Each gives its results again, and by itself, on what it was given.
func TestObservedSteps(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(rows), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := interp.New(m, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	seen := map[ir.OpID]int{}
	observe := func(s *interp.Step) error {
		seen[s.Op]++
		again, err := s.Again(s.Operands)
		if err != nil || !slices.EqualFunc(again, s.Results, tensor.Tensor.Equal) {
			t.Errorf("%s is %v, again %v, %v", m.OpName(s.Op), s.Results, again, err)
		}
		if m.NumRegions(s.Op) > 0 {
			return nil
		}
		if alone, err := interp.Fold(m, s.Op, s.Operands); err != nil || !slices.EqualFunc(alone, s.Results, tensor.Tensor.Equal) {
			t.Errorf("%s is %v, by itself %v, %v", m.OpName(s.Op), s.Results, alone, err)
		}
		return nil
	}
	x := tensor.FromFloats(dtype.F32, []int64{3, 2}, 1, 2, 3, 4, 5, 6)
	out, _, err := in.RunProcess(t.Context(), main, interp.Process{Observe: observe}, []*tensor.Tensor{&x})
	if err != nil {
		t.Fatal(err)
	}
	if got := out[0].String() + out[1].String() + out[2].String(); got != "f32[2] [9, 12]f32[2] [9.5, 13.5]i32[3] [0, 1, 2]" {
		t.Error(got)
	}
	m.Walk(m.Func(main).Body, func(op ir.OpID) {
		want := map[ir.Kind]int{ir.OpFunc: 1, ir.OpWhile: 3, ir.OpReduce: 0}[m.Kind(m.ParentOp(op))] // by what the op stands in
		switch m.Kind(op) {
		case ir.OpDynamicUpdateSlice: // happens in place
			want = 0
		case ir.OpAdd, ir.OpReshape, ir.OpReduce, ir.OpDynamicSlice:
		default:
			return
		}
		if seen[op] != want || interp.Shown(m, op) != (want > 0) {
			t.Errorf("%s is shown: %t, and seen %d times, want %d", m.OpName(op), interp.Shown(m, op), seen[op], want)
		}
	})
}

// Fold gives results of the types that an op has, also where one element stands for all; what needs regions, or other operands than
// it has, it refuses.
func TestFold(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(rows), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	scalar, err := mlir.Parse(t.Context(), []byte(`func.func @main(%x: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<2.0> : tensor<3xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	two := tensor.FromFloats(dtype.F32, nil, 2)
	first := func(m *ir.Module, kind ir.Kind) (found ir.OpID) {
		m.Walk(m.Body(), func(op ir.OpID) {
			if m.Kind(op) == kind {
				found = op
			}
		})
		return found
	}
	broadcast := first(scalar, ir.OpBroadcastInDim)
	for op, operands := range map[ir.OpID][]tensor.Tensor{broadcast: {two}, first(scalar, ir.OpConstant): nil} {
		if out, err := interp.Fold(scalar, op, operands); err != nil || out[0].String() != "f32[3] [2, 2, 2]" {
			t.Errorf("%s: %v, %v", scalar.OpName(op), out, err)
		}
	}
	called, err := mlir.Parse(t.Context(), []byte(`func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %1 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := interp.Fold(called, first(called, ir.OpCall), []tensor.Tensor{two}); err != nil || out[0].String() != "f32[] 4" {
		t.Errorf("a call: %v, %v", out, err)
	}
	if out, err := interp.Fold(scalar, broadcast, nil); !errors.Is(err, diag.ErrUnsupported) {
		t.Errorf("without operands: %v, %v", out, err)
	}
	if out, err := interp.Fold(m, first(m, ir.OpReduce), []tensor.Tensor{two, two}); !errors.Is(err, diag.ErrUnsupported) {
		t.Errorf("with a region: %v, %v", out, err)
	}
}

// Elements of tuples are arguments of their own, tokens are none; a grid has replicas times partitions of processes.
func TestNumberOfArguments(t *testing.T) {
	in, fn := parse(t, `func.func @main(%x: tensor<f32>, %t: !stablehlo.token, %p: tuple<tensor<f32>, tensor<i32>>) -> tensor<f32> {
  return %x : tensor<f32>
}`)
	if n, err := in.NumArgs(fn); n != 3 || err != nil {
		t.Errorf("%d arguments, %v, want 3", n, err)
	}
	for _, o := range []interp.Options{{}, {Replicas: 2}, {Partitions: 3}, {Replicas: 2, Partitions: 3}} {
		in, err := interp.New(ir.NewModule(), o)
		if want := max(1, o.Replicas) * max(1, o.Partitions); err != nil || in.Processes() != want {
			t.Errorf("%+v: %v, %d processes, want %d", o, err, in.Processes(), want)
		}
	}
}

// Every process finds the group that it is in, and its place there.
func TestGroupOfProcess(t *testing.T) {
	c := &interp.Collective{Groups: [][]int{{3, 0}, {2}}}
	for id, want := range map[int]int{3: 0, 0: 1, 2: 0} {
		if members, k := c.Group(id); k != want || members[k] != id {
			t.Errorf("process %d is at %d of %v, want %d", id, k, members, want)
		}
	}
	if members, _ := c.Group(1); members != nil {
		t.Errorf("process 1 is in %v", members)
	}
}

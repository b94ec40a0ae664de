package ir_test

import (
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// Each case is a function with the values that are written over others, as their lines read: what a value is written over is named by its
// position among the inputs, or by the op that makes it.
func TestInPlace(t *testing.T) {
	for _, c := range []struct {
		name, body string
		donated    bool
		over       map[ir.Kind]ir.Kind // of a result's op: what makes the value that it is written over; OpInvalid: an argument
	}{
		{"a slice that is updated", `
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %0, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpDynamicUpdateSlice: ir.OpTanh}},
		{"one that is needed later", `
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %0, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>`, false, nil},
		{"an input", `
  %1 = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>`, false, nil},
		{"an input that is given up", `
  %1 = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>`, true, map[ir.Kind]ir.Kind{ir.OpDynamicUpdateSlice: 0}},
		{"what passed a barrier", `
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %b = stablehlo.optimization_barrier %0 : tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %b, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpOptimizationBarrier: ir.OpTanh, ir.OpDynamicUpdateSlice: ir.OpOptimizationBarrier}},
		{"what passed a barrier and is needed later as it was", `
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %b = stablehlo.optimization_barrier %0 : tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %b, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpOptimizationBarrier: ir.OpTanh}},
		{"what is read later as it passed a barrier", `
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %b = stablehlo.optimization_barrier %0 : tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %0, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  %2 = stablehlo.add %b, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpOptimizationBarrier: ir.OpTanh}},
		{"what a loop carries", `
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %1 = stablehlo.while(%a = %0) : tensor<8xf32>
   cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %u = stablehlo.dynamic_update_slice %a, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
    %n = stablehlo.negate %u : tensor<8xf32>
    stablehlo.return %n : tensor<8xf32>
  }
  return %1 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpWhile: ir.OpTanh, ir.OpDynamicUpdateSlice: 0, ir.OpNegate: 0}},
		{"what elementwise ops of a loop make of what it took", `
  %1 = stablehlo.while(%a = %x) : tensor<8xf32>
   cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.negate %a : tensor<8xf32>
    %r = stablehlo.reverse %n, dims = [0] : tensor<8xf32>
    %p = stablehlo.add %n, %r : tensor<8xf32>
    %e = stablehlo.exponential %p : tensor<8xf32>
    stablehlo.return %e : tensor<8xf32>
  }
  return %1 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpNegate: 0, ir.OpAdd: 0, ir.OpExponential: 0}},
		{"what a loop makes beside what it took", `
  %1 = stablehlo.while(%a = %x) : tensor<8xf32>
   cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %r = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
    %n = stablehlo.subtract %r, %a : tensor<8xf32>
    stablehlo.return %r : tensor<8xf32>
  }
  return %1 : tensor<8xf32>`, false, nil},
		{"an input that a loop hands on", `
  %1:2 = stablehlo.while(%a = %x, %b = %x) : tensor<8xf32>, tensor<8xf32>
   cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %r = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
    stablehlo.return %a, %r : tensor<8xf32>, tensor<8xf32>
  }
  %2 = stablehlo.dynamic_update_slice %1#0, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpWhile: 0, ir.OpReverse: 0}},
		{"what a branch hands back", `
  %1 = "stablehlo.case"(%i) ({
    %r = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
    stablehlo.return %r : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>`, false, map[ir.Kind]ir.Kind{ir.OpReverse: ir.OpCase}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := mlir.Parse(t.Context(), []byte("func.func @main(%x: tensor<8xf32>, %y: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {"+
				c.body+"\n}\n"), mlir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			body := m.MainFunc().Body
			of, _ := ir.NewLiveness(m, body).InPlace(func(ir.ValueID) bool { return c.donated }, make([]bool, m.NumValues()))
			seen := 0
			m.Walk(body, func(op ir.OpID) {
				for _, v := range m.Results(op) {
					if of[v] == 0 {
						continue
					}
					made := ir.Kind(0)
					if by := m.DefiningOp(of[v]); by != 0 {
						made = m.Kind(by)
					}
					if want, ok := c.over[m.Kind(op)]; !ok || want != made {
						t.Errorf("%s is written over what %s makes", m.Kind(op), made)
					}
					seen++
				}
			})
			if seen != len(c.over) {
				t.Errorf("%d values are written over others, %v are", seen, c.over)
			}
		})
	}
}

// Each case is a function whose ops make values of eight floats; those that are written over what is read are the ops in the list. Nothing
// holds what a negation makes, which its reader computes.
func TestWrittenOver(t *testing.T) {
	for _, c := range []struct {
		name, body string
		donated    bool
		over       []ir.Kind
	}{
		{"an operand that nothing needs any more", `
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  return %1 : tensor<8xf32>`, false, []ir.Kind{ir.OpTanh}},
		{"one that is needed later", `
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  return %0 : tensor<8xf32>`, false, nil},
		{"an input", `
  %1 = stablehlo.tanh %x : tensor<8xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<8xf32>
  return %2 : tensor<8xf32>`, false, nil},
		{"an input that is given up", `
  %1 = stablehlo.tanh %x : tensor<8xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<8xf32>
  return %2 : tensor<8xf32>`, true, []ir.Kind{ir.OpTanh}},
		{"what is read by what is computed on the way", `
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
  %n = stablehlo.negate %0 : tensor<8xf32>
  %1 = stablehlo.tanh %n : tensor<8xf32>
  return %1 : tensor<8xf32>`, false, []ir.Kind{ir.OpTanh}},
		{"what is needed until then by something else that is computed on the way", `
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %n = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.add %1, %n : tensor<8xf32>
  return %2 : tensor<8xf32>`, false, []ir.Kind{ir.OpAdd}},
		{"elements of another size", `
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
  %1 = stablehlo.convert %0 : (tensor<8xf32>) -> tensor<8xf64>
  %2 = stablehlo.convert %1 : (tensor<8xf64>) -> tensor<8xi64>
  %3 = stablehlo.convert %2 : (tensor<8xi64>) -> tensor<8xf32>
  return %3 : tensor<8xf32>`, false, []ir.Kind{ir.OpConvert}},
		{"what a loop takes", `
  %1 = stablehlo.while(%a = %x) : tensor<8xf32>
   cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %t = stablehlo.tanh %a : tensor<8xf32>
    %r = stablehlo.reverse %t, dims = [0] : tensor<8xf32>
    %s = stablehlo.add %t, %r : tensor<8xf32>
    %u = stablehlo.reverse %s, dims = [0] : tensor<8xf32>
    stablehlo.return %u : tensor<8xf32>
  }
  return %1 : tensor<8xf32>`, false, []ir.Kind{ir.OpAdd}},
		{"what stays in the place of what a loop took, read by what is computed on the way", `
  %1 = stablehlo.while(%a = %x) : tensor<8xf32>
   cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.negate %a : tensor<8xf32>
    %t = stablehlo.tanh %n : tensor<8xf32>
    %e = stablehlo.exponential %t : tensor<8xf32>
    %s = stablehlo.sine %e : tensor<8xf32>
    stablehlo.return %s : tensor<8xf32>
  }
  return %1 : tensor<8xf32>`, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := mlir.Parse(t.Context(), []byte("func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {"+c.body+"\n}\n"), mlir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			body, flows := m.MainFunc().Body, make([]bool, m.NumValues())
			m.Walk(body, func(op ir.OpID) {
				if m.Kind(op) == ir.OpNegate {
					flows[m.Result(op, 0)] = true
				}
			})
			l := ir.NewLiveness(m, body)
			l.Through(flows)
			_, over := l.InPlace(func(ir.ValueID) bool { return c.donated }, flows)
			var found []ir.Kind
			m.Walk(body, func(op ir.OpID) {
				if m.NumResults(op) == 1 && over[m.Result(op, 0)] {
					found = append(found, m.Kind(op))
				}
			})
			if !slices.Equal(found, c.over) {
				t.Errorf("written over what they read: %v, want %v", found, c.over)
			}
		})
	}
}

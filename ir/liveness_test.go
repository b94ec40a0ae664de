package ir_test

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// The argument is needed until the last op that reads it, or until what that makes is read if nothing computes it before.
func TestThrough(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.reverse %y, dims = [0] : tensor<8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	body := m.MainFunc().Body
	tanh := m.FirstOp(body)
	negate := m.NextOp(tanh)
	for _, c := range []struct {
		name        string
		through     []ir.OpID
		reads, ends int32
	}{
		{"at its own op", nil, 0, 1},
		{"where the tanh is read", []ir.OpID{tanh}, 1, 2},
		{"where the negated tanh is read", []ir.OpID{tanh, negate}, 3, 4},
		{"where the tanh is read, which is held until it is negated", []ir.OpID{negate}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			values := make([]bool, m.NumValues())
			for _, op := range c.through {
				values[m.Result(op, 0)] = true
			}
			l := ir.NewLiveness(m, body)
			l.Through(values)
			_, end := l.Interval(m.Operand(tanh, 0))
			if l.Reads(tanh) != c.reads || end != c.ends || l.At(tanh) != 0 {
				t.Errorf("the tanh, op %d, reads at %d and its operand is needed until %d, want 0, %d and %d", l.At(tanh), l.Reads(tanh), end,
					c.reads, c.ends)
			}
			again := ir.NewLiveness(m, body)
			for i := len(c.through) - 1; i >= 0; i-- {
				again.Delay(c.through[i])
			}
			if again.Reads(tanh) != l.Reads(tanh) || again.Reads(negate) != l.Reads(negate) {
				t.Errorf("one by one the ops read at %d and %d, want %d and %d", again.Reads(tanh), again.Reads(negate), l.Reads(tanh), l.Reads(negate))
			}
		})
	}
}

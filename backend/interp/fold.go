package interp

import (
	"context"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// Fold computes one op without regions on given operands, whose types need not be static. Errors are those of Run.
func Fold(m *ir.Module, op ir.OpID, operands []tensor.Tensor) ([]tensor.Tensor, error) {
	if m.NumRegions(op) > 0 || m.NumOperands(op) != len(operands) {
		return nil, diag.Unsupported(diag.NotSupported, m.OpPos(op), "`%s` cannot be computed by itself", m.OpName(op))
	}
	in, err := New(m, Options{})
	if err != nil {
		return nil, err
	}
	c := &compiler{locator: locator{m: m}, in: in, slots: map[ir.ValueID][]int32{}, order: map[ir.OpID]int32{}}
	for i := range operands {
		if _, twice := c.slots[m.Operand(op, i)]; !twice {
			c.allocate(m.Operand(op, i), 1)
		}
	}
	code := &block{}
	if err := c.op(code, op, m.OpBlock(op), map[ir.OpID][]int32{}); err != nil {
		return nil, c.located(op, err)
	}
	code.code[0].dead = nil // the results are wanted
	p := &process{locator: locator{m: m}, in: in, ctx: context.Background(), peers: solo{}, atOnce: 1, scratch: newScratch()}
	f := &frame{slots: make([]value, c.next), p: p}
	for i := range operands {
		f.slots[c.slots[m.Operand(op, i)][0]] = value{operands[i], foreign}
	}
	if err := f.runCode(code); err != nil {
		return nil, err
	}
	var results []tensor.Tensor
	for i, s := range code.code[0].out {
		t := f.slots[s].t
		if want := m.ValueType(m.Result(op, i)); want.IsStatic() && t.Rank() != want.Rank() { // a splat that stays a scalar
			t = tensor.BroadcastInDim(t, nil, want.Dims)
		}
		results = append(results, t)
	}
	return results, nil
}

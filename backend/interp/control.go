package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
)

var controlOps = map[ir.Kind]builder{
	ir.OpWhile:      buildWhile,
	ir.OpIf:         buildBranches,
	ir.OpCase:       buildBranches,
	ir.OpCall:       func(c *compiler, op ir.OpID, i *instr) error { return buildCall(c, op, i, "callee") },
	ir.OpComposite:  func(c *compiler, op ir.OpID, i *instr) error { return buildCall(c, op, i, "decomposition") },
	ir.OpCustomCall: buildCustomCall,
	ir.OpAsyncStart: buildInline,
	ir.OpAsyncDone:  identity,
}

// release drops the operands that die at an instruction before its bodies run, so that a body may be their only
// holder. Operands that the bodies capture as well stay.
func (i *instr) release(f *frame, captured []int32) {
	for k, s := range i.in {
		if i.reuse[k] && !slices.Contains(captured, s) {
			f.drop(s)
		}
	}
}

// buildWhile runs cond and body on one set of slots for the carried values.
func buildWhile(c *compiler, op ir.OpID, i *instr) error {
	condBlock, bodyBlock := c.m.RegionBlock(op, 0), c.m.RegionBlock(op, 1)
	if condBlock == 0 || bodyBlock == 0 || len(c.m.BlockArgs(condBlock)) != len(c.m.BlockArgs(bodyBlock)) {
		return diag.Invalid(diag.BadOp, diag.Position{}, "the regions of a loop take the same values")
	}
	for k, arg := range c.m.BlockArgs(bodyBlock) {
		s, err := c.define(arg)
		if err != nil {
			return err
		}
		c.slots[c.m.BlockArgs(condBlock)[k]] = s
	}
	cond, err := c.block(condBlock, op, false)
	if err != nil {
		return err
	}
	body, err := c.block(bodyBlock, op, true)
	if err != nil {
		return err
	}
	if len(cond.returns) != 1 || len(body.args) != len(i.in) || len(body.returns) != len(i.in) {
		return diag.Invalid(diag.BadOp, diag.Position{}, "a loop over %d values has a body of %d arguments and %d returned values",
			len(i.in), len(body.args), len(body.returns))
	}
	i.control = (&loop{cond, body, c.captured(op)}).run
	return nil
}

// loop is a compiled while. The arguments of cond and body are the same slots.
type loop struct {
	cond, body *block
	captured   []int32
}

func (l *loop) run(f *frame, i *instr) error {
	f.take(i.in)
	i.release(f, l.captured)
	for {
		if err := f.p.stopped(); err != nil {
			return err
		}
		f.putAll(l.body.args)
		if err := f.runCode(l.cond); err != nil {
			return err
		}
		again := f.slots[l.cond.returns[0]].t.Data[0] != 0
		f.dropAll(l.cond.dead)
		if !again {
			break
		}
		if err := f.run(l.body); err != nil {
			return err
		}
	}
	f.take(l.body.args)
	f.putAll(i.out)
	f.dropAll(l.body.args)
	return nil
}

// captured returns the slots of values from outside that the regions of an op use.
func (c *compiler) captured(op ir.OpID) []int32 {
	var out []int32
	for k := range c.m.NumRegions(op) {
		c.m.Walk(c.m.RegionBlock(op, k), func(inner ir.OpID) {
			for _, v := range c.m.Operands(inner) {
				if s, ok := c.slots[v]; ok && c.outside(v, op) {
					out = append(out, s...)
				}
			}
		})
	}
	return out
}

// outside says whether a value is defined outside the regions of an op.
func (c *compiler) outside(v ir.ValueID, op ir.OpID) bool {
	block := c.m.BlockOf(v)
	for parent := c.m.BlockOp(block); parent != 0; parent = c.m.ParentOp(parent) {
		if parent == op {
			return false
		}
	}
	return true
}

// buildBranches runs the region that a predicate or index chooses.
func buildBranches(c *compiler, op ir.OpID, i *instr) error {
	var branches []*block
	for k := range c.m.NumRegions(op) {
		b, err := c.block(c.m.RegionBlock(op, k), op, true)
		if err != nil {
			return err
		}
		branches = append(branches, b)
	}
	types := 0
	for _, v := range c.m.Results(op) {
		t, err := c.flatten(c.m.Type(v))
		if err != nil {
			return err
		}
		types += len(t)
	}
	for _, b := range branches {
		if len(b.returns) != types || len(b.args) != 0 {
			return diag.Invalid(diag.BadOp, diag.Position{}, "a branch returns %d values, the op has %d", len(b.returns), types)
		}
	}
	isIf := c.m.Kind(op) == ir.OpIf
	if len(branches) == 0 || isIf && len(branches) != 2 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "%d branches do not fit the op", len(branches))
	}
	i.control = func(f *frame, i *instr) error {
		index := tensor.Scalar(f.slots[i.in[0]].t)
		switch {
		case isIf:
			index = 1 - index
		case index < 0 || index >= int64(len(branches)):
			index = int64(len(branches)) - 1
		}
		if err := f.run(branches[index]); err != nil {
			return err
		}
		f.putAll(i.out)
		return nil
	}
	return nil
}

// buildCall runs a function in a frame of its own.
func buildCall(c *compiler, op ir.OpID, i *instr, attr string) error {
	r := c.attrs(op)
	fn := r.function(attr)
	if r.err != nil {
		return r.err
	}
	callee, err := c.in.function(fn)
	if err != nil {
		return err
	}
	if len(callee.params) != len(i.in) {
		return diag.Invalid(diag.BadOp, diag.Position{}, "function @%s takes %d arguments, %d are given", c.m.Func(fn).Name, len(callee.params),
			len(i.in))
	}
	i.control = func(f *frame, i *instr) error {
		f.take(i.in)
		i.release(f, nil)
		if err := f.p.call(callee); err != nil {
			return err
		}
		f.putAll(i.out)
		return nil
	}
	return nil
}

// buildInline runs the one region of an op on its operands. The result of async_start, a future, has the slots of
// what the region returns.
func buildInline(c *compiler, op ir.OpID, i *instr) error {
	body, err := c.block(c.m.RegionBlock(op, 0), op, true)
	if err != nil {
		return err
	}
	if len(body.args) != len(i.in) {
		return diag.Invalid(diag.BadOp, diag.Position{}, "the region takes %d arguments, %d are given", len(body.args), len(i.in))
	}
	if c.m.Kind(op) == ir.OpAsyncStart {
		c.allocate(c.m.Result(op, 0), len(body.returns))
	}
	captured := c.captured(op)
	i.control = func(f *frame, i *instr) error {
		f.take(i.in)
		i.release(f, captured)
		f.putAll(body.args)
		if err := f.run(body); err != nil {
			return err
		}
		f.putAll(i.out)
		return nil
	}
	return nil
}

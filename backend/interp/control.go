package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
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

var controlManners = map[ir.Kind]manner{
	ir.OpWhile:     itself,
	ir.OpIf:        itself,
	ir.OpCase:      itself,
	ir.OpCall:      itself,
	ir.OpComposite: itself,
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
	l, err := c.loop(op, condBlock, bodyBlock)
	if err != nil {
		return err
	}
	cond, body := l.cond, l.body
	if len(cond.returns) != 1 || len(body.args) != len(i.in) || len(body.returns) != len(i.in) {
		return diag.Invalid(diag.BadOp, diag.Position{}, "a loop over %d values has a body of %d arguments and %d returned values",
			len(i.in), len(body.args), len(body.returns))
	}
	l.captured = c.captured(op)
	i.control = l.run
	return nil
}

// loop compiles the blocks of a loop. Of processes that run together, what is carried is spread as it is when the loop begins and behind
// every round: that is found by compiling the blocks until it is so.
func (c *compiler) loop(op ir.OpID, condBlock, bodyBlock ir.BlockID) (*loop, error) {
	l := &loop{}
	carried := c.spreads(c.m.Operands(op))
	for {
		c.setSpreads(c.m.BlockArgs(condBlock), carried)
		c.setSpreads(c.m.BlockArgs(bodyBlock), carried)
		var err error
		if l.cond, err = c.block(condBlock, op, false); err != nil {
			return nil, err
		}
		if l.body, err = c.block(bodyBlock, op, true); err != nil {
			return nil, err
		}
		if c.joint == nil {
			return l, nil
		}
		returned := c.m.Operands(c.m.LastOp(bodyBlock))
		if c.refine(carried, c.spreads(returned)) {
			continue
		}
		c.setSpreads(c.m.ResultValues(op), carried)
		l.enter, l.again = c.widenAll(c.m.Operands(op), carried), c.widenAll(returned, carried)
		return l, nil
	}
}

// loop is a compiled while. The arguments of cond and body are the same slots.
type loop struct {
	cond, body   *block
	captured     []int32
	enter, again []widening // of values that are carried into the first round and into others, if any
}

func (l *loop) run(f *frame, i *instr) error {
	f.take(i.in)
	i.release(f, l.captured)
	f.conform(l.enter)
	for {
		if err := f.p.stopped(); err != nil {
			return err
		}
		f.putAll(l.body.args)
		if err := f.runCode(l.cond); err != nil {
			return err
		}
		if !f.agreed(l.cond.returns[0]) {
			return ErrApart
		}
		again := f.slots[l.cond.returns[0]].t.Data[0] != 0
		f.dropAll(l.cond.dead)
		if !again {
			break
		}
		if err := f.run(l.body); err != nil {
			return err
		}
		f.conform(l.again)
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
	widen := c.joinBranches(op)
	i.control = func(f *frame, i *instr) error {
		if !f.agreed(i.in[0]) {
			return ErrApart
		}
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
		if widen != nil {
			f.conform(widen[index])
		}
		f.putAll(i.out)
		return nil
	}
	return nil
}

// joinBranches spreads the results of branches as all of them do, and returns what becomes of those of each.
func (c *compiler) joinBranches(op ir.OpID) [][]widening {
	if c.joint == nil {
		return nil
	}
	returned := lists.Of(c.m.NumRegions(op), func(k int) []ir.ValueID { return c.m.Operands(c.m.LastOp(c.m.RegionBlock(op, k))) })
	results := c.spreads(returned[0])
	for _, values := range returned[1:] {
		c.refine(results, c.spreads(values))
	}
	c.setSpreads(c.m.ResultValues(op), results)
	return lists.Map(returned, func(values []ir.ValueID) []widening { return c.widenAll(values, results) })
}

// buildCall runs a function in a frame of its own.
func buildCall(c *compiler, op ir.OpID, i *instr, attr string) error {
	r := c.attrs(op)
	fn := r.function(attr)
	if r.err != nil {
		return r.err
	}
	callee, err := c.callee(op, fn)
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

// callee returns a function that an op calls.
func (c *compiler) callee(op ir.OpID, fn ir.FuncID) (*function, error) {
	if c.joint == nil {
		return c.in.function(unit{fn, c.fuses})
	}
	f, err := c.in.form(fn, c.spreads(c.m.Operands(op)))
	if err == nil {
		c.setSpreads(c.m.ResultValues(op), f.returns)
	}
	return f, err
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

package interp

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// paramType is the type of an argument of a function.
type paramType struct {
	DType dtype.Type
	Dims  []int64
	given bool // away by the caller, who does not need it any more
}

// unit is what is compiled for one process by itself.
type unit struct {
	fn    ir.FuncID
	fused bool // ops are computed where their results are read; otherwise one by one, for an observer
}

// compile returns the compiled form of a function and of all that it calls.
func (in *Interpreter) compile(u unit) (*function, error) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	return in.function(u)
}

// function compiles one function; a nil entry of funcs marks one that is being compiled.
func (in *Interpreter) function(u unit) (*function, error) {
	m, fn := in.m, u.fn
	if f, ok := in.funcs[u]; ok {
		if f == nil {
			return nil, diag.Unsupported(diag.NotSupported, m.OpPos(m.Func(fn).Op), "function @%s calls itself", m.Func(fn).Name)
		}
		return f, nil
	}
	if m.IsDeclaration(fn) {
		return nil, diag.Invalid(diag.Undefined, m.OpPos(m.Func(fn).Op), "function @%s has no body", m.Func(fn).Name)
	}
	in.funcs[u] = nil
	f, err := in.compileBody(u, nil)
	if err != nil {
		delete(in.funcs, u)
		return nil, err
	}
	in.funcs[u] = f
	return f, nil
}

// compileBody compiles the body of a function, for one process or for several that run together.
func (in *Interpreter) compileBody(u unit, together *joint) (*function, error) {
	m, fn := in.m, u.fn
	body := m.Func(fn).Body
	c := &compiler{locator: locator{m: m}, in: in, slots: map[ir.ValueID][]int32{}, order: map[ir.OpID]int32{}, joint: together,
		fuses: u.fused}
	c.number(body)
	if main, ok := m.Main(); ok && u.fused && fn == main {
		c.findFused(body)
	}
	f := &function{}
	for k, arg := range m.BlockArgs(body) {
		if together != nil {
			if k == len(together.args) || !m.ValueType(arg).IsStatic() {
				return nil, ErrApart
			}
			together.spreads[arg] = together.args[k]
			f.argBlocks = append(f.argBlocks, together.args[k].Blocks())
			f.argShapes = append(f.argShapes, stacked(together.args[k], m.Shape(arg)))
		}
		types, err := c.flatten(m.Type(arg))
		if err != nil {
			return nil, c.located(m.Func(fn).Op, err)
		}
		for _, t := range types {
			t.given = m.Func(fn).ArgAttrs[k].Donated()
			f.params = append(f.params, t)
		}
	}
	var err error
	if f.body, err = c.block(body, m.Func(fn).Op, true); err != nil {
		return nil, err
	}
	f.values = make([]ir.ValueID, c.next)
	for v, slots := range c.slots {
		for _, s := range slots {
			f.values[s] = v
		}
	}
	if together != nil {
		f.layOut(together)
		for _, v := range m.Operands(m.LastOp(body)) {
			f.returns = append(f.returns, together.spreads[v])
		}
	}
	return f, nil
}

// compiler translates one function.
type compiler struct {
	locator
	in       *Interpreter
	slots    map[ir.ValueID][]int32 // one per tensor: none for tokens, several for tuples
	order    map[ir.OpID]int32      // place of every op in the text of the function
	next     int32
	fuses    bool                // what the main function allows
	with     map[ir.OpID]ir.OpID // of ops that are fused: the last reader, with which they are run
	foreseen map[ir.OpID]bool    // of ops that could be fused, had the compiler not computed them
	joint    *joint              // of processes that run together; nil for one by itself
	batch    Spread              // of the blocks that the op at hand takes as its first dimension; nil: it takes none
}

func (c *compiler) number(b ir.BlockID) {
	c.m.Walk(b, func(op ir.OpID) { c.order[op] = int32(len(c.order)) })
}

// flatten returns the tensors that a value of the type consists of.
func (c *compiler) flatten(id ir.TypeID) ([]paramType, error) {
	t := c.m.TypeOf(id)
	switch t.Kind {
	case ir.TensorKind:
		if t.Unranked {
			return nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "unranked tensors cannot be run")
		}
		if t.IsStatic() {
			if _, _, err := dtype.Size(t.DType, t.Dims); err != nil {
				return nil, err
			}
		}
		return []paramType{{DType: t.DType, Dims: t.Dims}}, nil
	case ir.TokenKind, ir.NoneKind:
		return nil, nil
	case ir.TupleKind:
		var out []paramType
		for _, e := range t.Elems {
			inner, err := c.flatten(e)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		}
		return out, nil
	}
	return nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "values of type `%s` cannot be run", t.Text)
}

// allocate gives n slots to a value.
func (c *compiler) allocate(v ir.ValueID, n int) []int32 {
	s := make([]int32, n)
	for k := range s {
		s[k] = c.next
		c.next++
	}
	c.slots[v] = s
	return s
}

// define gives a value as many slots as its type has tensors.
func (c *compiler) define(v ir.ValueID) ([]int32, error) {
	types, err := c.flatten(c.m.Type(v))
	if err != nil {
		return nil, err
	}
	return c.allocate(v, len(types)), nil
}

// operands returns the slots of an op's operands.
func (c *compiler) operands(op ir.OpID) ([]int32, error) {
	var out []int32
	for k := range c.m.NumOperands(op) {
		s, ok := c.slots[c.m.Operand(op, k)]
		if !ok {
			return nil, diag.Invalid(diag.Undefined, diag.Position{}, "operand %d is used before it is defined", k)
		}
		out = append(out, s...)
	}
	return out, nil
}

// located gives an error without a place the place of an op.
func (c *compiler) located(op ir.OpID, err error) error {
	site := siteOf(c.m, op)
	return c.locate(err, &site)
}

func siteOf(m *ir.Module, op ir.OpID) site {
	pos := m.OpPos(op)
	if pos.Line != 0 {
		return site{m.OpName(op), pos, true}
	}
	if at, ok := m.FilePos(m.OpLoc(op)); ok {
		pos = at
	}
	return site{name: m.OpName(op), pos: pos}
}

// block compiles a block of an op. Arguments that have no slots yet get some; consume says whether the block may
// empty them when it is done with them.
func (c *compiler) block(b ir.BlockID, owner ir.OpID, consume bool) (*block, error) {
	if b == 0 {
		return nil, c.located(owner, diag.Invalid(diag.BadOp, diag.Position{}, "a region has no block"))
	}
	if n := len(c.m.Blocks(c.m.BlockRegion(b))); n != 1 {
		return nil, c.located(owner, diag.Unsupported(diag.NotSupported, diag.Position{}, "a region of %d blocks cannot be run", n))
	}
	last := c.m.LastOp(b)
	if last == 0 || !c.m.Kind(last).IsTerminator() {
		return nil, c.located(owner, diag.Invalid(diag.BadOp, diag.Position{}, "a block does not end with a return"))
	}
	out := &block{}
	dying := map[ir.OpID][]int32{}
	for _, arg := range c.m.BlockArgs(b) {
		s, given := c.slots[arg]
		if !given {
			var err error
			if s, err = c.define(arg); err != nil {
				return nil, c.located(owner, err)
			}
		}
		out.args = append(out.args, s...)
		if consume {
			out.unused = append(out.unused, c.schedule(arg, s, b, dying)...)
		}
	}
	for op := range c.m.Ops(b) {
		if op == last {
			break
		}
		if err := c.op(out, op, b, dying); err != nil {
			return nil, c.located(op, err)
		}
	}
	returns, err := c.operands(last)
	if err != nil {
		return nil, c.located(last, err)
	}
	for _, v := range c.m.Operands(last) {
		if c.joint != nil && c.joint.spreads[v] != nil && !inline(c.m, last) {
			return nil, ErrApart // a region works on one block
		}
	}
	out.returns, out.dead = returns, dying[last]
	return out, nil
}

// op compiles one op to the end of a block's code, with those that are fused with it.
func (c *compiler) op(out *block, op ir.OpID, b ir.BlockID, dying map[ir.OpID][]int32) error {
	if c.with[op] != 0 {
		return nil
	}
	ops := c.fused(op)
	if len(ops) > 1 && !c.isOneTile(op) {
		return c.emit(out, ops, b, dying, c.buildGroup)
	}
	for k, op := range ops {
		if err := c.emit(out, ops[k:k+1], b, dying, c.build); err != nil {
			return c.located(op, err)
		}
	}
	return nil
}

// emit adds the instruction of some ops, which has the results of the last one, to the end of a block's code.
func (c *compiler) emit(out *block, ops []ir.OpID, b ir.BlockID, dying map[ir.OpID][]int32, build func([]ir.OpID, *instr) error) error {
	op := ops[len(ops)-1]
	i := instr{site: siteOf(c.m, op), fleeting: c.with[op] != 0 || c.foreseen[op]}
	for _, op := range ops {
		i.dead = append(i.dead, dying[op]...)
	}
	if err := build(ops, &i); err != nil {
		return err
	}
	for _, v := range c.m.Results(op) {
		s, given := c.slots[v]
		if !given {
			var err error
			if s, err = c.define(v); err != nil {
				return err
			}
		}
		i.out = append(i.out, s...)
		if t := c.m.ValueType(v); t.IsStatic() && !i.fleeting {
			i.bytes += t.Bytes()
		}
		i.dead = append(slices.Clip(i.dead), c.schedule(v, s, b, dying)...)
	}
	if inline(c.m, op) {
		i.metered = op
	}
	if Shown(c.m, op) {
		i.op = op
	}
	out.code = append(out.code, i)
	return nil
}

// build has an instruction compute one op, the only one of a list.
func (c *compiler) build(ops []ir.OpID, i *instr) error {
	op := ops[0]
	var err error
	if i.in, err = c.operands(op); err != nil {
		return err
	}
	how, err := c.arrange(op)
	if err != nil {
		return err
	}
	build, ok := builders[c.m.Kind(op)]
	if !ok {
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "this op cannot be run on tensors")
	}
	if err := c.computable(op); err != nil {
		return err
	}
	i.reuses()
	err = build(c, op, i)
	c.batch = nil
	if err != nil {
		return err
	}
	if err := c.wrapQuantized(op, i); err != nil {
		return err
	}
	c.join(op, i, how)
	return nil
}

// Shown says whether an observer sees an op that computes: it stands in a function's body or in that of a loop or branch,
// and does not update its operand in place.
func Shown(m *ir.Module, op ir.OpID) bool {
	return m.Kind(op) != ir.OpDynamicUpdateSlice && inline(m, op)
}

// inline says whether an op stands in a function's body or in that of a loop or branch, not in the region of a reduction.
func inline(m *ir.Module, op ir.OpID) bool {
	for around := m.ParentOp(op); m.Kind(around) != ir.OpFunc; around = m.ParentOp(around) {
		switch m.Kind(around) {
		case ir.OpWhile, ir.OpIf, ir.OpCase:
		default:
			return false
		}
	}
	return true
}

// schedule has the slots of a value emptied after its last use in its block; it returns them where there is none.
func (c *compiler) schedule(v ir.ValueID, slots []int32, b ir.BlockID, dying map[ir.OpID][]int32) []int32 {
	user := c.lastUse(v, b)
	if user == 0 {
		return slots
	}
	dying[user] = append(dying[user], slots...)
	return nil
}

// lastUse returns the last op of a block that uses one of the block's values, itself or in its regions; 0 for none.
func (c *compiler) lastUse(v ir.ValueID, b ir.BlockID) ir.OpID {
	last := ir.OpID(0)
	for use := range c.m.Uses(v) {
		op := c.m.AncestorIn(use.Op, b)
		if op != 0 && (last == 0 || c.runsBefore(last, op)) {
			last = op
		}
	}
	return last
}

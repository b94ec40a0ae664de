package ir

import (
	"context"

	"autoshard/internal/diag"
)

// maxInlinedOps bounds what InlineCalls may make of a module: call graphs can double at every level.
const maxInlinedOps = 20_000_000

// InlineCalls replaces every func.call by the body of its function, and every composite by the op of CHLO that it stands
// for or by its decomposition. Composites that carry a sharding rule stay: their users say how they are cut. Functions
// that the entry does not refer to any more go. It fails where calls are recursive, have no definition, or would grow the
// module beyond a limit, and with the context's error.
func InlineCalls(ctx context.Context, m *Module) error {
	main, ok := m.Main()
	if !ok {
		return diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	in := inliner{ctx: ctx, m: m, state: map[FuncID]int{}, sites: map[[2]LocID]LocID{}}
	if err := in.function(main, diag.Position{}); err != nil {
		return err
	}
	if last := m.LastOp(m.Func(main).Body); last != 0 && m.Kind(last) != OpReturn && m.Kind(last).IsTerminator() {
		m.SetKind(last, OpReturn)
	}
	live := referred(m, main)
	m.EraseFuncs(func(f FuncID) bool { return !live[f] })
	return nil
}

// referred returns a function and those that it and they refer to, such as the comparators of custom calls.
func referred(m *Module, f FuncID) map[FuncID]bool {
	live := map[FuncID]bool{f: true}
	for queue := []FuncID{f}; len(queue) > 0; queue = queue[1:] {
		m.Walk(m.Func(queue[0]).Body, func(op OpID) {
			m.OpAttrs(op).Visit(func(a Attr) {
				name, ok := a.(SymbolAttr)
				if !ok || len(name) == 0 {
					return
				}
				if to, ok := m.LookupFunc(name[0]); ok && !live[to] {
					live[to] = true
					queue = append(queue, to)
				}
			})
		})
	}
	return live
}

type inliner struct {
	ctx   context.Context
	m     *Module
	state map[FuncID]int     // 1 while a function is being inlined, 2 when it is free of calls
	sites map[[2]LocID]LocID // of locations in functions and those of calls
}

// maxCallSites bounds the calls that a location tells: each level has locations of its own.
const maxCallSites = 8

// locate says of the ops from first on that they were called from a named place, so that the scope around the call is
// not lost.
func (in *inliner) locate(first OpID, call LocID) {
	m := in.m
	if m.LocOf(call).Kind != LocName {
		return
	}
	for op := first; int(op) < len(m.ops); op++ {
		loc := m.OpLoc(op)
		calls := 1
		for l := m.LocOf(loc); l.Kind == LocCallSite; l = m.LocOf(l.Children[0]) {
			calls++
		}
		if loc == 0 || calls > maxCallSites {
			continue
		}
		key := [2]LocID{loc, call}
		site, ok := in.sites[key]
		if !ok {
			site = m.AddLoc(Location{Kind: LocCallSite, Children: []LocID{loc, call}})
			in.sites[key] = site
		}
		m.SetLoc(op, site)
	}
}

// function inlines the calls of a function, which is called at a place of the text.
func (in *inliner) function(f FuncID, at diag.Position) error {
	switch in.state[f] {
	case 1:
		return diag.Unsupported(diag.NotSupported, at, "function @%s calls itself", in.m.Func(f).Name)
	case 2:
		return nil
	}
	in.state[f] = 1
	err := in.block(in.m.Func(f).Body)
	in.state[f] = 2
	return err
}

func (in *inliner) block(b BlockID) error {
	m := in.m
	for op := range m.Ops(b) {
		if err := in.ctx.Err(); err != nil {
			return err
		}
		for inner := range m.InnerBlocks(op) {
			if err := in.block(inner); err != nil {
				return err
			}
		}
		var err error
		switch m.Kind(op) {
		case OpCall:
			err = in.call(op, "callee")
		case OpComposite:
			if !recognise(m, op) && m.Attr(op, "sdy.sharding_rule") == nil {
				err = in.call(op, "decomposition")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// call puts the body of the function that an attribute of an op names in the place of the op.
func (in *inliner) call(op OpID, attr string) error {
	m := in.m
	callee, _ := m.Attr(op, attr).(SymbolAttr)
	var f FuncID
	if len(callee) == 1 {
		f, _ = m.LookupFunc(callee[0])
	}
	if f == 0 || m.IsDeclaration(f) {
		return diag.Invalid(diag.Undefined, m.OpPos(op), "call of %v, which has no definition", []string(callee))
	}
	if n := len(m.Blocks(m.Regions(m.Func(f).Op)[0])); n != 1 {
		return diag.Unsupported(diag.NotSupported, m.OpPos(op), "function @%s has %d blocks; only functions of one block can be inlined",
			m.Func(f).Name, n)
	}
	if err := in.function(f, m.OpPos(op)); err != nil {
		return err
	}
	if m.NumOps() > maxInlinedOps {
		return diag.TooLarge(diag.InputTooLarge, m.OpPos(op), "inlining calls makes more than %d operations", maxInlinedOps)
	}
	body := m.Func(f).Body
	values, b := map[ValueID]ValueID{}, m.BuilderBefore(op)
	b.Loc = m.OpLoc(op)
	for i, arg := range m.BlockArgs(body) {
		values[arg] = constrained(b, m.Operand(op, i), m.Sharding(arg))
	}
	first := OpID(len(m.ops))
	m.CloneInto(b, body, values)
	in.locate(first, m.OpLoc(op))
	ret := m.LastOp(body)
	for i, v := range m.Results(op) {
		out := constrained(b, mapped(values, m.Operand(ret, i)), m.Func(f).ResultShardings[i])
		m.ReplaceUses(v, constrained(b, out, m.Sharding(v)))
	}
	m.Erase(op)
	return nil
}

// constrained returns a value with the sharding that the user gave it at the border of a function, if any.
func constrained(b *Builder, v ValueID, id ShardingID) ValueID {
	if id == 0 || b.m.Sharding(v) == id || b.m.asksNothing(id) {
		return v
	}
	out := b.Op1(OpSdyShardingConstraint, b.m.Type(v), nil, v)
	b.m.SetSharding(out, id)
	b.m.SetPos(b.m.DefiningOp(out), b.m.OpPos(b.before))
	return out
}

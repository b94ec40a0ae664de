package ir

import "autoshard/internal/diag"

// maxInlinedOps bounds what InlineCalls may make of a module: call graphs can double at every level.
const maxInlinedOps = 20_000_000

// InlineCalls replaces every func.call by the body of its function and removes functions other than the entry.
// It fails where calls are recursive, have no definition, or would grow the module beyond a limit.
func InlineCalls(m *Module) error {
	main, ok := m.Main()
	if !ok {
		return diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	in := inliner{m: m, state: map[FuncID]int{}}
	if err := in.function(main); err != nil {
		return err
	}
	for op := range m.Ops(m.Body()) {
		if f := m.FuncOf(op); f != 0 && f != main {
			m.Erase(op)
		}
	}
	return nil
}

type inliner struct {
	m     *Module
	state map[FuncID]int // 1 while a function is being inlined, 2 when it is free of calls
}

func (in *inliner) function(f FuncID) error {
	switch in.state[f] {
	case 1:
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "function @%s calls itself", in.m.Func(f).Name)
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
		for _, r := range m.Regions(op) {
			for _, inner := range m.Blocks(r) {
				if err := in.block(inner); err != nil {
					return err
				}
			}
		}
		if m.Kind(op) == OpCall {
			if err := in.call(op); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *inliner) call(op OpID) error {
	m := in.m
	callee, _ := m.Attr(op, "callee").(SymbolAttr)
	var f FuncID
	if len(callee) == 1 {
		f, _ = m.LookupFunc(callee[0])
	}
	if f == 0 || m.IsDeclaration(f) {
		return diag.Invalid(diag.Undefined, diag.Position{}, "call of %v, which has no definition", []string(callee))
	}
	if n := len(m.Blocks(m.Regions(m.Func(f).Op)[0])); n != 1 {
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "function @%s has %d blocks; only functions of one block can be inlined",
			m.Func(f).Name, n)
	}
	if err := in.function(f); err != nil {
		return err
	}
	if m.NumOps() > maxInlinedOps {
		return diag.TooLarge(diag.InputTooLarge, diag.Position{}, "inlining calls makes more than %d operations", maxInlinedOps)
	}
	body := m.Func(f).Body
	values := map[ValueID]ValueID{}
	for i, arg := range m.BlockArgs(body) {
		values[arg] = m.Operand(op, i)
	}
	m.CloneInto(m.BuilderBefore(op), body, values)
	ret := m.LastOp(body)
	for i, v := range m.Results(op) {
		m.ReplaceUses(v, mapped(values, m.Operand(ret, i)))
	}
	m.Erase(op)
	return nil
}

// EraseDead removes ops without side effects whose results nobody uses, until none is left.
func EraseDead(m *Module) {
	for op := range m.Ops(m.Body()) {
		if f := m.FuncOf(op); f != 0 && !m.IsDeclaration(f) {
			m.eraseDeadIn(m.Func(f).Body)
		}
	}
}

func (m *Module) eraseDeadIn(b BlockID) {
	for op := m.LastOp(b); op != 0; {
		prev := m.PrevOp(op)
		if m.isDead(op) {
			m.Erase(op)
		} else {
			for _, r := range m.Regions(op) {
				for _, inner := range m.Blocks(r) {
					m.eraseDeadIn(inner)
				}
			}
		}
		op = prev
	}
}

func (m *Module) isDead(op OpID) bool {
	for _, v := range m.Results(op) {
		if m.HasUses(v) {
			return false
		}
	}
	return !m.Kind(op).IsTerminator() && m.isPure(op)
}

// isPure says whether the op and everything inside it has no side effects.
func (m *Module) isPure(op OpID) bool {
	if !m.Kind(op).IsPure() && !m.Kind(op).IsTerminator() {
		return false
	}
	for _, r := range m.Regions(op) {
		for _, b := range m.Blocks(r) {
			for inner := range m.Ops(b) {
				if !m.isPure(inner) {
					return false
				}
			}
		}
	}
	return true
}

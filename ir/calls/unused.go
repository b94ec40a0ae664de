package calls

import "autoshard/ir"

// EraseUnused removes the functions that are not public and that nothing refers to but such functions.
// MLIR: -symbol-dce.
func EraseUnused(m *ir.Module) {
	e := eraser{left: countHidden(m)}
	if e.left == 0 {
		return
	}
	e.t, e.live = NewTable(m), map[ir.FuncID]bool{}
	m.Attrs.Visit(e.attr)
	for op := range m.Ops(m.Body()) {
		if f := m.FuncOf(op); f == 0 || !isHidden(m, f) {
			e.live[f] = true
			e.refer(op)
		}
	}
	for len(e.queue) > 0 {
		f := e.queue[0]
		e.queue = e.queue[1:]
		e.refer(m.Func(f).Op)
	}
	m.EraseFuncs(func(f ir.FuncID) bool { return !e.live[f] })
}

// isHidden says whether only the module itself can refer to a function.
func isHidden(m *ir.Module, f ir.FuncID) bool {
	return m.Func(f).Visibility != "" && m.Func(f).Visibility != "public"
}

func countHidden(m *ir.Module) int {
	n := 0
	for f := range m.Funcs() {
		if isHidden(m, f) {
			n++
		}
	}
	return n
}

// eraser finds what is in use.
type eraser struct {
	t     *Table
	left  int // hidden functions that are not known to be in use
	live  map[ir.FuncID]bool
	queue []ir.FuncID
}

// refer marks what an op and everything inside it refers to.
func (e *eraser) refer(op ir.OpID) {
	if e.left == 0 {
		return
	}
	m := e.t.m
	for dict := range m.AttrDicts(op) {
		dict.Visit(e.attr)
	}
	for b := range m.InnerBlocks(op) {
		for inner := range m.Ops(b) {
			e.refer(inner)
		}
	}
}

// attr marks the function that a symbol refers to.
func (e *eraser) attr(a ir.Attr) {
	name, ok := a.(ir.SymbolAttr)
	if !ok || len(name) == 0 {
		return
	}
	if f := e.t.funcs[name[0]]; f != 0 && !e.live[f] {
		e.live[f] = true
		if isHidden(e.t.m, f) {
			e.left--
		}
		e.queue = append(e.queue, f)
	}
}

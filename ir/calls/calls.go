// Package calls rewrites programs of several functions: the call graph and passes over it.
//
// Shardings are decided per use, but a function is shared by its calls. Propagation therefore takes the program
// apart before and puts it together after:
//
//	call @f, call @f           two calls of one function
//	    │ Flatten              a function of its own for each call: call @f, call @f_0
//	    │ Import               the bodies move to the calls: sdy.named_computation<"f">, twice
//	    ▼ (propagation)
//	    │ Export               the bodies become functions again, that remember whose body they were
//	    │ Unflatten            functions that are sharded alike become one
//	    ▼ InsertReshards       what a call gives and what its users expect is made the same
//	call @f, call @f
//
// Functions are visited callees first, in the order of MLIR's call graph: from every function of the module in
// order, along its calls in order. Names of new functions are made as MLIR's symbol tables make them, so that
// programs compare with those of Shardy byte for byte (specification: shardy.md sections 4.9 and 4.10).
package calls

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// originalName is the attribute of a function that remembers which function its body was cloned from.
const originalName = "sdy.original_func_name"

// Table finds functions by name and makes names that are not taken. It stays valid while functions are added
// through this package.
type Table struct {
	m      *ir.Module
	funcs  map[string]ir.FuncID
	taken  map[string]bool
	next   int // counter of new names, shared by all of them
	sizes  map[ir.FuncID]int
	bodies map[ir.FuncID]body
}

// body is what passes ask about the body of a function.
type body struct {
	calls []ir.OpID // in the order of the program
	ops   int
}

// NewTable returns the symbols of a module.
func NewTable(m *ir.Module) *Table {
	t := &Table{m: m, funcs: map[string]ir.FuncID{}, taken: map[string]bool{}, sizes: map[ir.FuncID]int{}, bodies: map[ir.FuncID]body{}}
	for f := range m.Funcs() {
		t.funcs[m.Func(f).Name], t.taken[m.Func(f).Name] = f, true
	}
	for id := range m.NamedMeshes() {
		t.taken[m.Mesh(id).Name] = true
	}
	return t
}

// Callee returns the function that a func.call calls, 0 if the module has none of that name.
func (t *Table) Callee(call ir.OpID) ir.FuncID {
	if name, ok := t.m.Attr(call, "callee").(ir.SymbolAttr); ok && len(name) == 1 {
		return t.funcs[name[0]]
	}
	return 0
}

// Original returns the name under which the user knows a function.
func (t *Table) Original(f ir.FuncID) string {
	if name, ok := t.m.Attr(t.m.Func(f).Op, originalName).(ir.StringAttr); ok {
		return string(name)
	}
	return t.m.Func(f).Name
}

func (t *Table) setCallee(call ir.OpID, name string) {
	t.m.SetAttrs(call, t.m.OpAttrs(call).With("callee", ir.SymbolAttr{name}))
}

// body returns what is inside a function. It looks once: passes that change calls drop what it knows.
func (t *Table) body(f ir.FuncID) body {
	if b, ok := t.bodies[f]; ok {
		return b
	}
	var b body
	if !t.m.IsDeclaration(f) {
		t.m.Walk(t.m.Func(f).Body, func(op ir.OpID) {
			b.ops++
			if t.m.Kind(op) == ir.OpCall {
				b.calls = append(b.calls, op)
			}
		})
	}
	t.bodies[f] = b
	return b
}

// All returns the calls of a module in the order of the program.
func All(m *ir.Module) []ir.OpID { return m.OpsOf(m.Body(), ir.OpCall) }

// PostOrder returns all functions, callees before callers. Of functions that call each other, the one that is met
// first comes last.
func (t *Table) PostOrder() []ir.FuncID {
	order, _ := t.walk()
	return order
}

// Acyclic returns all functions, callees before callers, or fails (ErrUnsupported) at a call that leads back to
// the function around it.
func (t *Table) Acyclic() ([]ir.FuncID, error) {
	order, cycle := t.walk()
	if cycle != 0 {
		return nil, diag.Unsupported(diag.NotSupported, t.m.OpPos(cycle),
			"function @%s calls itself; recursive programs cannot be flattened", t.m.Func(t.Callee(cycle)).Name)
	}
	return order, nil
}

// walk visits the call graph depth first. cycle is a call that closes a cycle, 0 if there is none.
func (t *Table) walk() (order []ir.FuncID, cycle ir.OpID) {
	const entered, left = 1, 2
	state := map[ir.FuncID]int{}
	var visit func(f ir.FuncID)
	visit = func(f ir.FuncID) {
		state[f] = entered
		for _, call := range t.body(f).calls {
			callee := t.Callee(call)
			switch {
			case callee == 0 || state[callee] == left:
			case state[callee] == entered:
				cycle = call
			case !t.m.IsDeclaration(callee):
				visit(callee)
			}
		}
		state[f] = left
		order = append(order, f)
	}
	for f := range t.m.Definitions() {
		if state[f] == 0 {
			visit(f)
		}
	}
	return order, cycle
}

// PreOrder moves the functions to the end of the module such that callers come before callees.
// Shardy: -sdy-pre-order-funcs.
func PreOrder(m *ir.Module) {
	order := NewTable(m).PostOrder()
	for i := len(order) - 1; i >= 0; i-- {
		m.MoveToEnd(m.Func(order[i]).Op, m.Body())
	}
}

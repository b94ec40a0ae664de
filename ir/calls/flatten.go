package calls

import (
	"math"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// MaxOps is the default bound of what Flatten and Import may make of a module, in operations: a chain of functions
// that each call the next twice doubles at every level.
const MaxOps = 2_000_000

// Flatten gives every call a function of its own: the first call of a function keeps it, each later one gets a
// clone, whose calls get clones in turn. It fails where functions are recursive, or where the module would grow
// beyond maxOps operations (ErrTooLarge). Shardy: -sdy-flatten-call-graph.
func Flatten(m *ir.Module, maxOps int) error {
	if !m.MayHave(ir.OpCall) {
		return nil
	}
	t := NewTable(m)
	order, err := t.bounded(maxOps)
	if err != nil {
		return err
	}
	called := map[ir.FuncID]bool{}
	for _, f := range order {
		for _, call := range t.body(f).calls {
			if callee := t.Callee(call); !called[callee] {
				called[callee] = true
			} else if callee != 0 {
				t.setCallee(call, t.clone(callee))
			}
		}
	}
	return nil
}

// bounded is Acyclic that fails also at a call if a body for each call would make more than maxOps operations.
func (t *Table) bounded(maxOps int) ([]ir.FuncID, error) {
	order, err := t.Acyclic()
	called := map[ir.FuncID]bool{}
	for _, f := range order {
		for _, call := range t.body(f).calls {
			called[t.Callee(call)] = true
		}
	}
	total := 0
	for _, f := range order {
		if !called[f] {
			total += t.size(f)
		}
		if max(total, t.size(f)) > maxOps {
			if inside := t.body(f).calls; len(inside) > 0 {
				return nil, tooLarge(t.m, inside[0], maxOps)
			}
		}
	}
	return order, err
}

// OwnCallee lets a call call a clone of its function, whose calls call clones in turn. It fails where the module would
// grow beyond maxOps operations. The call graph must have no cycle.
func (t *Table) OwnCallee(call ir.OpID, maxOps int) error {
	clear(t.bodies) // the caller changes them
	callee := t.Callee(call)
	if t.m.NumOps()+t.size(callee) > maxOps {
		return tooLarge(t.m, call, maxOps)
	}
	t.setCallee(call, t.clone(callee))
	return nil
}

func tooLarge(m *ir.Module, call ir.OpID, maxOps int) error {
	return diag.TooLarge(diag.InputTooLarge, m.OpPos(call),
		"a function for each call makes more than %d operations; call functions from fewer places", maxOps)
}

// size returns how many ops the body of a function and those of its calls make, at most a number that is too large.
func (t *Table) size(f ir.FuncID) int {
	if n := t.sizes[f]; n != 0 || f == 0 {
		return n
	}
	n := 1 + t.body(f).ops
	for _, call := range t.body(f).calls {
		n = min(n+t.size(t.Callee(call)), math.MaxInt32)
	}
	t.sizes[f] = n
	return n
}

// clone appends a copy of a function, after copies of the functions that it calls, and returns its name.
func (t *Table) clone(f ir.FuncID) string {
	m := t.m
	var callees []string
	for _, call := range t.body(f).calls {
		name := ""
		if callee := t.Callee(call); callee != 0 {
			name = t.clone(callee)
		}
		callees = append(callees, name)
	}
	copied := t.cloneOne(f)
	for i, call := range t.body(copied).calls {
		if callees[i] != "" {
			t.setCallee(call, callees[i])
		}
	}
	return m.Func(copied).Name
}

func (t *Table) cloneOne(f ir.FuncID) ir.FuncID {
	m := t.m
	from := *m.Func(f)
	spec := ir.FuncSpec{Name: t.unique(from.Name), Visibility: from.Visibility, Results: from.ResultTypes,
		ArgAttrs: append([]ir.Attrs(nil), from.ArgAttrs...), ResultAttrs: append([]ir.Attrs(nil), from.ResultAttrs...),
		Attrs: m.OpAttrs(from.Op).With(originalName, ir.StringAttr(t.Original(f))),
		Loc:   m.OpLoc(from.Op), Declaration: m.IsDeclaration(f), Args: m.TypesOf(m.BlockArgs(from.Body))}
	clone := m.AddFunc(spec)
	copy(m.Func(clone).ResultShardings, from.ResultShardings)
	t.add(clone)
	cloneBody(m, from.Body, m.Func(clone).Body)
	return clone
}

// cloneBody copies the ops of a block to the end of another one, which has arguments of the same types.
func cloneBody(m *ir.Module, from, to ir.BlockID) {
	values := map[ir.ValueID]ir.ValueID{}
	for i, arg := range m.BlockArgs(from) {
		v := m.BlockArgs(to)[i]
		m.SetSharding(v, m.Sharding(arg))
		m.SetArgLoc(v, m.ArgLoc(arg))
		values[arg] = v
	}
	b := m.BuilderAtEnd(to)
	for op := range m.Ops(from) {
		m.CloneOp(b, op, values)
	}
}

// unique returns a name that is not taken: the given one with the next free number.
func (t *Table) unique(name string) string {
	for {
		candidate := name + "_" + strconv.Itoa(t.next)
		t.next++
		if !t.taken[candidate] {
			return candidate
		}
	}
}

func (t *Table) add(f ir.FuncID) {
	name := t.m.Func(f).Name
	t.funcs[name], t.taken[name] = f, true
}

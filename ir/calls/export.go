package calls

import "autoshard/ir"

// Export turns every sdy.named_computation into a call of a private function with its body, which is appended to the
// module. in_shardings become shardings of the arguments, out_shardings those of the call; the function remembers the
// computation's name. Edges of data flow must have been sunk. Shardy: -sdy-export-named-computations.
func Export(m *ir.Module) {
	computations := Computations(m)
	if len(computations) == 0 {
		return
	}
	t := NewTable(m)
	for _, op := range computations {
		t.export(op)
	}
}

// Computations returns the named computations of a module, inner ones first.
func Computations(m *ir.Module) []ir.OpID {
	if !m.MayHave(ir.OpSdyNamedComputation) {
		return nil
	}
	return computationsIn(m, m.Body())
}

func computationsIn(m *ir.Module, b ir.BlockID) []ir.OpID {
	var list []ir.OpID
	for op := range m.Ops(b) {
		for inner := range m.InnerBlocks(op) {
			list = append(list, computationsIn(m, inner)...)
		}
		if m.Kind(op) == ir.OpSdyNamedComputation {
			list = append(list, op)
		}
	}
	return list
}

func (t *Table) export(op ir.OpID) {
	m := t.m
	f := t.function(op)
	attrs := m.OpAttrs(op).Without("name", "execution_thread").With("callee", ir.SymbolAttr{m.Func(f).Name})
	call := at(m, op, m.BuilderBefore(op).Op(ir.OpCall, m.Func(f).ResultTypes, attrs, m.Operands(op)...))
	for i, v := range m.Results(op) {
		m.SetSharding(m.Result(call, i), m.Sharding(v))
		m.TurnUses(v, m.Result(call, i), nil)
	}
	m.Erase(op)
}

// function moves the body of a computation to a new function.
func (t *Table) function(op ir.OpID) ir.FuncID {
	m := t.m
	name := m.OpAttrs(op).Str("name")
	spec := ir.FuncSpec{Name: name, Visibility: "private", Loc: m.OpLoc(op), Declaration: true,
		Args: m.TypesOf(m.BlockArgs(m.RegionBlock(op, 0))), Results: m.TypesOf(m.ResultValues(op)),
		Attrs: ir.MakeAttrs(ir.NamedAttr{Name: originalName, Value: ir.StringAttr(name)})}
	if t.taken[name] {
		spec.Name = t.unique(name)
	}
	if thread := m.Attr(op, "execution_thread"); thread != nil {
		spec.Attrs = spec.Attrs.With("execution_thread", thread)
	}
	f := m.AddFunc(spec)
	at(m, op, m.Func(f).Op)
	m.AdoptRegions(m.Func(f).Op, m.Regions(op))
	m.Func(f).Body = m.RegionBlock(m.Func(f).Op, 0)
	replaceTerminator(m, m.Func(f).Body, ir.OpReturn)
	t.add(f)
	return f
}

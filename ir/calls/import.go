package calls

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// Import replaces every call by an sdy.named_computation with the body of its function and the function's original
// name, and removes the functions that were called. Shardings of the function's arguments become in_shardings, those
// of the call out_shardings. It fails where functions are recursive or have no body, or where the module would grow
// beyond maxOps operations (ErrTooLarge).
// Shardy: -sdy-import-func-calls, without data-flow edges.
func Import(m *ir.Module, maxOps int) error {
	if !m.MayHave(ir.OpCall) {
		return nil
	}
	t := NewTable(m)
	order, err := t.bounded(maxOps)
	if err != nil {
		return err
	}
	in := importer{Table: t, bodies: map[ir.FuncID]ir.BlockID{}}
	var called []ir.FuncID
	for _, f := range order {
		for _, call := range t.body(f).calls {
			callee := t.Callee(call)
			if _, again := in.bodies[callee]; !again {
				called = append(called, callee)
			}
			if err := in.call(call, callee); err != nil {
				return err
			}
		}
	}
	for _, f := range called {
		m.Erase(m.Func(f).Op)
	}
	return nil
}

type importer struct {
	*Table
	bodies map[ir.FuncID]ir.BlockID // of functions whose body has moved to a call
}

func (in *importer) call(call ir.OpID, f ir.FuncID) error {
	m := in.m
	if f == 0 || in.bodies[f] == 0 && m.IsDeclaration(f) {
		callee, _ := m.Attr(call, "callee").(ir.SymbolAttr)
		return diag.Unsupported(diag.NotSupported, m.OpPos(call),
			"call of %v, which has no body; give it one, or use a custom call", []string(callee))
	}
	body, again := in.bodies[f]
	op := in.computation(call, f, again)
	if again {
		cloneBody(m, body, m.RegionBlock(op, 0))
	} else {
		shardArgs(m, f)
		m.AdoptRegions(op, m.Regions(m.Func(f).Op))
		in.bodies[f] = m.RegionBlock(op, 0)
		replaceTerminator(m, in.bodies[f], ir.OpSdyReturn)
	}
	for i, v := range m.Results(call) {
		m.SetSharding(m.Result(op, i), m.Sharding(v))
		m.TurnUses(v, m.Result(op, i), nil)
	}
	m.Erase(call)
	return nil
}

// computation makes the op that takes the place of a call, with an empty block of its own or without any region.
func (in *importer) computation(call ir.OpID, f ir.FuncID, ownBlock bool) ir.OpID {
	m := in.m
	attrs := m.OpAttrs(call).Without("callee", "arg_attrs", "res_attrs", "no_inline").With("name", ir.StringAttr(in.Original(f)))
	if thread := m.Attr(m.Func(f).Op, "execution_thread"); thread != nil {
		attrs = attrs.With("execution_thread", thread)
	}
	types := m.TypesOf(m.ResultValues(call))
	b := m.BuilderBefore(call)
	if !ownBlock {
		return at(m, call, b.OpRegions(ir.OpSdyNamedComputation, types, attrs, 0, m.Operands(call)...))
	}
	op := at(m, call, b.OpRegions(ir.OpSdyNamedComputation, types, attrs, 1, m.Operands(call)...))
	block := m.AddBlock(m.Regions(op)[0])
	for _, arg := range m.BlockArgs(in.bodies[f]) {
		m.AddBlockArg(block, m.Type(arg))
	}
	return op
}

// at lets a new op stand where another one stands in the source text.
func at(m *ir.Module, like, op ir.OpID) ir.OpID {
	if pos := m.OpPos(like); pos.IsKnown() {
		m.SetPos(op, pos)
	}
	return op
}

// shardArgs gives the arguments of a function the shardings that a list of shardings would have, none where there is no list.
func shardArgs(m *ir.Module, f ir.FuncID) {
	ids := ArgShardings(m, f)
	for i, v := range m.BlockArgs(m.Func(f).Body) {
		var id ir.ShardingID
		if ids != nil {
			id = ids[i]
		}
		m.SetSharding(v, id)
	}
}

// replaceTerminator ends a block by another kind of return.
func replaceTerminator(m *ir.Module, b ir.BlockID, kind ir.Kind) {
	last := m.LastOp(b)
	at(m, last, m.BuilderBefore(last).Op(kind, nil, m.OpAttrs(last), m.Operands(last)...))
	m.Erase(last)
}

package typed

import (
	"slices"

	"autoshard/ir"
)

// Rebuild returns a builder of a program without parameters, ops and results, over the mesh, manual axes and check of
// p. It works in a copy of p's module, where the ops of p keep their ids, so that Copy can copy them; Finish drops
// them.
func Rebuild(p *Program) *Builder {
	q := p.Clone()
	m := q.Module
	old := m.Func(q.Func).Op
	q.Func = m.AddFunc(ir.FuncSpec{Name: m.Func(q.Func).Name})
	q.Params, q.Results, q.Variance, q.Names = nil, nil, nil, map[ir.ValueID]string{}
	return &Builder{p: q, m: m, at: m.BuilderAtEnd(q.Body()), old: old}
}

// Program returns the program that is being built, without the results so far.
func (b *Builder) Program() *Program { return b.p }

// Copy copies an op with its regions. values maps its operands, and what its regions use of the program around, to
// their copies, and receives the results.
func (b *Builder) Copy(op ir.OpID, values map[ir.ValueID]ir.ValueID) {
	if b.err == nil {
		b.m.CloneOp(b.at, op, values)
	}
}

// Folded adds an op with one result whose region combines two elements with an elementwise op: reduce_window, scatter.
// A kind of 0 makes the region return its second argument.
func (b *Builder) Folded(kind ir.Kind, result ir.TypeID, attrs ir.Attrs, with ir.Kind, operands ...ir.ValueID) ir.ValueID {
	if b.err != nil || slices.Contains(operands, 0) {
		return 0
	}
	op := b.at.OpRegions(kind, []ir.TypeID{result}, attrs, 1, operands...)
	b.m.AddReducer(op, with, b.m.TypeOf(result).DType)
	return b.m.Result(op, 0)
}

// Captures returns the operands of an op and the values of the program around it that its regions use.
func (p *Program) Captures(op ir.OpID) []ir.ValueID { return operandsOf(p.Module, op) }

// Describe returns an op with its results, as messages show it.
func (p *Program) Describe(op ir.OpID) string { return p.equation(op) }

package lint

import (
	"errors"
	"fmt"
	"slices"

	"autoshard/backend/interp"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// unsupportedOps compiles every function of a copy for the interpreter. Bodies of manual computations, which run on each
// device after lowering, count as functions.
func (l *linter) unsupportedOps() {
	c := l.m.Clone()
	c.SetSource(l.m.OpPos(0).File, "") // finding the source line of every operation takes long
	outline(c)
	in, err := interp.New(c, interp.Options{})
	if err != nil {
		return
	}
	seen := map[diag.Position]bool{}
	for f := range c.Definitions() {
		if _, err := in.NumArgs(f); errors.Is(err, diag.ErrUnsupported) {
			l.unsupported(err, c.OpPos(c.Func(f).Op), seen)
		}
	}
}

// unsupported reports what compiling a function at a place found, unless it is in a function that this one calls.
func (l *linter) unsupported(err error, function diag.Position, seen map[diag.Position]bool) {
	for _, d := range diag.Diagnostics(err) {
		if !d.Pos.IsKnown() {
			d.Pos = function
		}
		if seen[d.Pos] {
			continue
		}
		seen[d.Pos] = true
		l.found = append(l.found, diag.Diagnostic{Severity: diag.SeverityWarning, Code: diag.Code(l.rule.Name), Pos: d.Pos,
			Message: "the backend cannot run this: " + d.Message, Source: l.m.SourceLine(d.Pos.Line)})
	}
}

// outline makes a function of the body of each manual computation, and constants of its results.
func outline(m *ir.Module) {
	manual := m.OpsOf(m.Body(), ir.OpSdyManualComputation)
	for i := len(manual) - 1; i >= 0; i-- { // inner ones first
		op := manual[i]
		if !captures(m, op) {
			makeFunction(m, fmt.Sprintf("manual computation %d", i), m.RegionBlock(op, 0))
		}
		b := m.BuilderBefore(op)
		for _, v := range m.ResultValues(op) {
			t := m.ValueType(v)
			if t.Kind == ir.TensorKind && t.IsStatic() && t.Quant == 0 {
				m.ReplaceUses(v, b.Constant(m.Zeros(m.Type(v))))
			}
		}
	}
	for i := len(manual) - 1; i >= 0; i-- {
		if slices.ContainsFunc(m.ResultValues(manual[i]), m.HasUses) {
			return
		}
		m.Erase(manual[i])
	}
}

// captures says whether the body of an operation uses values from outside.
func captures(m *ir.Module, op ir.OpID) bool {
	inside := map[ir.BlockID]bool{}
	body := m.RegionBlock(op, 0)
	inside[body] = true
	m.Walk(body, func(inner ir.OpID) {
		for b := range m.InnerBlocks(inner) {
			inside[b] = true
		}
	})
	outside := func(v ir.ValueID) bool { return !inside[m.BlockOf(v)] }
	for inner := range m.Within(body) {
		if slices.ContainsFunc(m.Operands(inner), outside) {
			return true
		}
	}
	return false
}

// makeFunction moves the operations of a block into a new function.
func makeFunction(m *ir.Module, name string, body ir.BlockID) {
	last := m.LastOp(body)
	spec := ir.FuncSpec{Name: name, Visibility: "private", Args: m.TypesOf(m.BlockArgs(body)), Results: m.TypesOf(m.Operands(last))}
	f := m.AddFunc(spec)
	to := m.Func(f).Body
	for i, v := range m.BlockArgs(body) {
		m.ReplaceUses(v, m.BlockArgs(to)[i])
	}
	for op := range m.Ops(body) {
		if op != last {
			m.MoveToEnd(op, to)
		}
	}
	m.BuilderAtEnd(to).Op(ir.OpReturn, nil, nil, m.Operands(last)...)
}

package lint

import (
	"errors"
	"fmt"

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
	for op := range c.Ops(c.Body()) {
		f := c.FuncOf(op)
		if f == 0 || c.IsDeclaration(f) {
			continue
		}
		if _, err := in.NumArgs(f); errors.Is(err, diag.ErrUnsupported) {
			l.unsupported(err, c.OpPos(op), seen)
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
	var manual []ir.OpID
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) == ir.OpSdyManualComputation {
			manual = append(manual, op)
		}
	})
	for i := len(manual) - 1; i >= 0; i-- { // inner ones first
		op := manual[i]
		if !captures(m, op) {
			makeFunction(m, fmt.Sprintf("manual computation %d", i), m.RegionBlock(op, 0))
		}
		b := m.BuilderBefore(op)
		for _, v := range m.ResultValues(op) {
			t := m.ValueType(v)
			if t.Kind == ir.TensorKind && t.IsStatic() && t.Quant == 0 {
				value := &ir.Dense{Type: m.Type(v), Data: make([]byte, t.DType.Bytes()), Splat: true}
				m.ReplaceUses(v, b.Op1(ir.OpConstant, m.Type(v), ir.MakeAttrs(ir.NamedAttr{Name: "value", Value: value})))
			}
		}
	}
	for i := len(manual) - 1; i >= 0; i-- {
		for _, v := range m.ResultValues(manual[i]) {
			if m.HasUses(v) {
				return
			}
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
		for _, r := range m.Regions(inner) {
			for _, b := range m.Blocks(r) {
				inside[b] = true
			}
		}
	})
	found := false
	m.Walk(body, func(inner ir.OpID) {
		for _, v := range m.Operands(inner) {
			b := m.ArgBlock(v)
			if b == 0 {
				b = m.OpBlock(m.DefiningOp(v))
			}
			found = found || !inside[b]
		}
	})
	return found
}

// makeFunction moves the operations of a block into a new function.
func makeFunction(m *ir.Module, name string, body ir.BlockID) {
	spec := ir.FuncSpec{Name: name, Visibility: "private"}
	for _, v := range m.BlockArgs(body) {
		spec.Args = append(spec.Args, m.Type(v))
	}
	last := m.LastOp(body)
	for _, v := range m.Operands(last) {
		spec.Results = append(spec.Results, m.Type(v))
	}
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

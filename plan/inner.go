package plan

import (
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/specfmt"
)

// isInner says whether a name is that of values inside the program: @12 are those that the operations of line 12 of the model's text make,
// @12#1 their second results.
func isInner(called string) bool { return strings.HasPrefix(called, "@") }

// innerCalled returns the values inside a program that a name stands for: of a function that is called several times, one for each call.
func innerCalled(m *ir.Module, called string) (values []ir.ValueID, err error) {
	text, number, numbered := strings.Cut(called[1:], "#")
	line, err := strconv.Atoi(text)
	result := 0
	if err == nil && numbered {
		result, err = strconv.Atoi(number)
	}
	if err != nil {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "`%s` is no value of a line, such as @12, or @12#1 for its second result",
			called)
	}
	for op := range m.Within(m.MainFunc().Body) {
		if m.OpPos(op).Line != line || m.NumResults(op) <= result || (m.NumResults(op) > 1 && !numbered) || inRegion(m, op) {
			continue
		}
		if v := m.Result(op, result); m.ValueType(v).Kind == ir.TensorKind {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "line %d of the model makes no tensor `%s`", line, called).
			WithNote(diag.Position{}, "of operations with several results, @%d#0 is the first", line)
	}
	return values, nil
}

// inRegion says whether an op is part of what another one computes by element, or of a manual computation, and not of loops and branches
// alone.
func inRegion(m *ir.Module, op ir.OpID) bool {
	for around := m.ParentOp(op); around != 0 && around != m.MainFunc().Op; around = m.ParentOp(around) {
		if k := m.Kind(around); k != ir.OpWhile && k != ir.OpCase && k != ir.OpIf {
			return true
		}
	}
	return false
}

// eachInner replaces the shardings of the values inside the program that a name stands for.
func (p *planner) eachInner(called string, change func(name string, t *ir.Type, now ir.ShardingID) (ir.ShardingID, error)) error {
	values, err := innerCalled(p.module, called)
	if err != nil {
		return err
	}
	for _, v := range values {
		id, err := change(called, p.module.ValueType(v), p.module.Sharding(v))
		if err != nil {
			return err
		}
		p.module.SetSharding(v, id)
	}
	return nil
}

// inner describes values inside the program as the session's latest plan has them: the first, where there are several.
func (s *Session) inner(called string) (*answer.Tensor, error) {
	m, planned := s.planner.module, s.prior.best.annotated
	values, err := innerCalled(m, called)
	if err != nil {
		return nil, err
	}
	v := values[0]
	if slices.ContainsFunc(values, func(w ir.ValueID) bool { return m.Type(w) != m.Type(v) }) {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "`%s` names values of several types", called)
	}
	typ := m.ValueType(v)
	t := &answer.Tensor{Name: called, Type: answer.FormatType(typ, typ.Dims), Spec: specfmt.Notation(planned, planned.Sharding(v))}
	t.Bytes = s.planner.bytesAs(t, t.Spec)
	return t, nil
}

// bytesAs returns the bytes of a device's block of a value in a sharding; 0 where that is none of it.
func (p *planner) bytesAs(t *answer.Tensor, spec string) int64 {
	dt, shape, ok := t.Shape()
	if !ok {
		return 0
	}
	typ := ir.Type{Kind: ir.TensorKind, DType: dt, Dims: shape}
	id, err := p.parse(t.Name, spec, &typ)
	if err != nil {
		return 0
	}
	if id != 0 {
		typ.Dims = p.module.ShardingOf(id).LocalDims(shape)
	}
	return typ.Bytes()
}

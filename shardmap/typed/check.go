package typed

import (
	"fmt"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// checkLocal brings the operands of a local op to one type. Outer values that its regions use count for the type of
// the results and stay as they are.
func (e *elaborator) checkLocal(op ir.OpID) error {
	if e.m.Kind(op) == ir.OpOptimizationBarrier {
		return nil
	}
	operands := operandsOf(e.m, op)
	types := e.operands(op)
	joined := joinLocal(types)
	if joined.U != 0 {
		return e.checkTerms(op, joined)
	}
	for i, v := range operands[:e.m.NumOperands(op)] {
		switch {
		case e.vars[v] == joined || isInit(e.m, op, i) && e.vars[v].V.In(joined.V) && e.vars[v].R == 0:
		case !e.may(CastOperands):
			return e.p.badAt(op, diag.BadVariance, "E_CAST", "requires varying manual axes to match: %s; insert pvary over %s on %s",
				lists.Joined(operands, e.describe), e.p.tuple((joined.V &^ types[i].V).Axes()), e.p.NameOf(v))
		case !e.bring(op, i, joined, CastOperands):
			return e.p.badAt(op, diag.BadVariance,
				"E_UNREDUCED",
				"operands are reduced along different axes: %s; only a value whose reduced axes are just those that the others vary over is cast",
				lists.Joined(operands, e.describe))
		}
	}
	return nil
}

// isInit says whether operand i of an op is the value that a reduction begins with. It need not vary as what is
// reduced does (specification: shardmap.md section 3.3).
func isInit(m *ir.Module, op ir.OpID, i int) bool {
	inputs := m.NumResults(op)
	return m.Kind(op).Reduces() && m.NumOperands(op) == 2*inputs && i >= inputs
}

// linear are the local ops that map terms of a sum to terms of the result's sum (specification: shardmap.md section
// 3.8). Ops over several terms are those of checkTerms.
var linear = map[ir.Kind]bool{
	ir.OpNegate: true, ir.OpReal: true, ir.OpImag: true, ir.OpConvert: true, ir.OpReshape: true, ir.OpTranspose: true,
	ir.OpBroadcastInDim: true,
	ir.OpSlice:          true, ir.OpReverse: true,
}

// checkTerms checks an op over values that are terms along some axes.
func (e *elaborator) checkTerms(op ir.OpID, joined Variance) error {
	m, kind := e.m, e.m.Kind(op)
	with, _ := ir.ReducerOf(m, op, 0, ir.Computed)
	refuse := func(format string, args ...any) error {
		return e.p.badAt(op, diag.BadVariance, "E_UNREDUCED", "%s: %s", lists.Joined(m.Operands(op), e.describe), fmt.Sprintf(format, args...))
	}
	same := func(i int) bool { v := e.vars[m.Operand(op, i)]; return v.U == joined.U && v.Kind == joined.Kind }
	switch {
	case linear[kind] && (kind != ir.OpNegate && kind != ir.OpConvert || joined.Kind == ir.ReduceSum):
	case kind == ir.OpConcatenate, kind == ir.OpAdd && joined.Kind == ir.ReduceSum, kind == ir.OpSubtract && joined.Kind == ir.ReduceSum,
		kind == ir.OpMaximum && joined.Kind == ir.ReduceMax, kind == ir.OpMinimum && joined.Kind == ir.ReduceMin:
		for i := range m.NumOperands(op) {
			if !same(i) {
				return refuse("all operands must be terms over the same axes, some are not, which are unreduced in others; reduce with psum first")
			}
		}
	case kind == ir.OpReduce && with == ir.OpAdd && joined.Kind == ir.ReduceSum && m.NumOperands(op) == 2 && same(0) && !same(1):
	case kind == ir.OpMultiply || kind == ir.OpDivide:
		return e.checkProductOfTerms(op, joined, refuse)
	case kind.IsElementwise():
		return refuse("is non-linear or has no unreduced rule; reduce with psum first")
	default:
		return refuse("operands cannot be unreduced, the unreduced rule for %s is not implemented; reduce with psum first", localName(kind))
	}
	return e.castTerms(op, joined)
}

// checkProductOfTerms checks that one factor is a term and the other one reduced over the same axes.
func (e *elaborator) checkProductOfTerms(op ir.OpID, joined Variance, refuse func(string, ...any) error) error {
	x, y := e.vars[e.m.Operand(op, 0)], e.vars[e.m.Operand(op, 1)]
	if e.m.Kind(op) == ir.OpMultiply && x.U == 0 {
		x, y = y, x
	}
	if x.U == 0 || y.U != 0 || y.R != x.U || x.Kind != ir.ReduceSum {
		return refuse(
			"a product of terms needs one factor, not the divisor, that is unreduced and another that is reduced along the same axes; insert "+
				"preduced over %s",
			e.p.tuple(joined.U.Axes()))
	}
	return e.castTerms(op, joined)
}

// castTerms makes the operands of an op over terms vary over the same axes besides.
func (e *elaborator) castTerms(op ir.OpID, joined Variance) error {
	for i, v := range e.m.Operands(op) {
		to := e.vars[v]
		to.V = joined.V
		if !e.bring(op, i, to, CastOperands) {
			return e.p.badAt(op, diag.BadVariance, "E_CAST", "requires varying manual axes to match: %s", lists.Joined(e.m.Operands(op), e.describe))
		}
	}
	return nil
}

// checkCollective checks an op of this package by its row of the table in shardmap.md section 3.4.
func (e *elaborator) checkCollective(op ir.OpID) error {
	c, err := e.p.Collective(op)
	if err != nil || !e.p.Check {
		return err
	}
	info, axes := opInfos[c.Kind], c.Set()
	switch {
	case c.Groups != nil && info.to != varying && (c.Kind == ir.OpShardMapPsum || !e.opts.Unsound):
		return e.p.badAt(op, diag.BadVariance,
			"E_GROUPS", "groups do not make a value equal along whole axes; refine the mesh and reduce over the new axis, or switch the check off")
	case c.Kind.Communicates() && axes&e.divergent != 0 && !e.opts.Unsound:
		return e.p.badAt(op, diag.BadVariance, "E_DIVERGENT_COLLECTIVE",
			"stands in a branch or loop whose predicate varies over %s, so that not all of its members come to it; make the predicate equal "+
				"along %s",
			e.p.FormatAxes(e.divergent), e.p.tuple((axes & e.divergent).Axes()))
	case c.Kind == ir.OpShardMapAxisIndex:
		return nil
	}
	switch x := e.vars[e.m.Operand(op, 0)]; info.from {
	case varying:
		return e.fromVarying(op, &c, x)
	case invariant:
		return e.fromInvariant(op, &c, x)
	case reduced:
		if !axes.In(x.R) {
			return e.badCast(op, &c, x)
		}
	case unreduced:
		if !axes.In(x.U) || x.Kind != info.reduction {
			return e.p.badAt(op, diag.BadVariance,
				"E_UNREDUCED", "needs terms of a %s along %s, got %s", info.reduction, e.p.tuple(c.Axes), e.describe(e.m.Operand(op, 0)))
		}
	}
	return nil
}

// fromVarying checks a collective over axes along which its operand varies.
func (e *elaborator) fromVarying(op ir.OpID, c *Collective, x Variance) error {
	info, axes := opInfos[c.Kind], c.Set()
	operand := e.m.Operand(op, 0)
	for i := 1; i < e.m.NumOperands(op); i++ {
		x.V |= e.vars[e.m.Operand(op, i)].V
	}
	switch {
	case axes.In(x.U) && info.fromTerms != ir.OpUnregistered && !e.frozen:
		if x.Kind != info.reduction {
			return e.p.badAt(op, diag.BadVariance,
				"E_UNREDUCED", "%s has unreduced_kind %s, which this op does not reduce", e.describe(operand), x.Kind)
		}
		e.rename(op, c, info.fromTerms)
		return nil
	case axes&x.U != 0 || axes&x.R != 0:
		if c.Kind == ir.OpShardMapVaryUnreducedCast {
			return e.badCast(op, c, x)
		}
		return e.p.badAt(op, diag.BadVariance, "E_UNREDUCED", "is not defined over unreduced or reduced axes of %s", e.describe(operand))
	}
	missing := axes &^ x.V
	if missing != 0 && c.Kind == ir.OpShardMapVaryUnreducedCast {
		return e.badCast(op, c, x)
	}
	if missing != 0 && (info.insert == castNone || info.insert == castAll && missing != axes && !e.opts.Mixed) {
		if missing == axes {
			return e.p.badAt(op, diag.BadVariance, "E_MIXED", "can only accept axis names which correspond to varying axes of its operand %s: it "+
				"is equal along %s; leave the op out, or insert pvary over %s", e.describe(operand), e.p.axisNames(missing.Axes(), ","),
				e.p.tuple(c.Axes))
		}
		return e.p.badAt(op, diag.BadVariance, "E_MIXED",
			"can only accept axis names which correspond to varying axes of its operand %s: it varies over some of %s, not over %s; name the "+
				"others only, or insert pvary over %s",
			e.describe(operand), e.p.tuple(c.Axes), e.p.axisNames(missing.Axes(), ","), e.p.tuple(missing.Axes()))
	}
	if missing == axes && info.insert == castAll && c.Kind == ir.OpShardMapPsum {
		e.warn(op, "psum-of-invariant", "%s does not vary over %s, so its sum is %d times the value",
			e.describe(operand), e.p.tuple(c.Axes), e.p.GroupSize(c.Axes))
	}
	return e.castOperands(op, x.V|axes)
}

// castOperands makes the operands of a collective vary over axes.
func (e *elaborator) castOperands(op ir.OpID, axes AxisSet) error {
	for i, v := range e.m.Operands(op) {
		to := e.vars[v]
		to.V = axes
		if !e.bring(op, i, to, CastOperands) {
			return e.p.badAt(op, diag.BadVariance, "E_CAST", "requires an operand that varies over %s, got %s; insert pvary over %s",
				e.p.FormatAxes(axes), e.describe(v), e.p.tuple((axes &^ e.vars[v].V).Axes()))
		}
	}
	return nil
}

// fromInvariant checks a cast or cut over axes along which its operand is equal.
func (e *elaborator) fromInvariant(op ir.OpID, c *Collective, x Variance) error {
	axes, operand := c.Set(), e.m.Operand(op, 0)
	switch {
	case axes&(x.V|x.U|x.R) == 0:
		return nil
	case c.Kind == ir.OpShardMapPvary && axes.In(x.R) && !e.frozen:
		e.rename(op, c, ir.OpShardMapReducedVaryCast)
		return nil
	case c.Kind == ir.OpShardMapPvary && axes&(x.U|x.R) == 0 && axes&x.V&e.first[operand].V == 0 && e.may(CastEverywhere):
		e.narrow(op, c, axes&^x.V) // the operand was raised by a loop around
		return nil
	}
	return e.badCast(op, c, x)
}

// narrow takes from a cast the axes that its operand varies over already.
func (e *elaborator) narrow(op ir.OpID, c *Collective, axes AxisSet) {
	if axes == 0 {
		delete(e.taken, e.p.Names[e.m.Result(op, 0)])
		e.p.Bypass(op)
		return
	}
	c.Axes = axes.Axes()
	e.m.SetAttrs(op, e.p.attrs(c))
}

// rename puts an op of another kind in the place of an op.
func (e *elaborator) rename(op ir.OpID, c *Collective, kind ir.Kind) {
	c.Kind = kind
	old := e.m.Result(op, 0)
	v := Edit(e.p, op).Emit(*c, e.m.Operand(op, 0))
	e.grow()
	e.set(v, e.vars[old])
	e.p.Replace(old, v)
	e.m.Erase(op)
}

// badCast refuses a step between states that is none.
func (e *elaborator) badCast(op ir.OpID, c *Collective, x Variance) error {
	to := [...]string{"invarying", "varying", "unreduced", "reduced"}[opInfos[c.Kind].to]
	var from []string
	for _, s := range []struct {
		name string
		axes AxisSet
	}{{"varying", x.V}, {"unreduced", x.U}, {"reduced", x.R}, {"invarying", ^(x.V | x.U | x.R)}} {
		if s.axes&c.Set() != 0 {
			from = append(from, s.name)
		}
	}
	hint := ""
	if have := c.Set() & x.V; c.Kind == ir.OpShardMapPvary && have != 0 {
		hint = "; it varies over " + e.p.tuple(have.Axes()) + " already: take those axes out of the cast"
	}
	return e.p.badAt(op, diag.BadVariance, "E_CAST", "unsupported cast of %s along %s from=%s, to='%s'%s",
		e.describe(e.m.Operand(op, 0)), e.p.tuple(c.Axes), strings.Join(from, "|"), to, hint)
}

func (e *elaborator) warn(op ir.OpID, rule, format string, args ...any) {
	e.report.Warnings = append(e.report.Warnings, diag.Diagnostic{Severity: diag.SeverityWarning, Code: diag.Code(rule), Pos: e.p.where(op),
		Message: e.p.equation(op) + ": " + fmt.Sprintf(format, args...)})
}

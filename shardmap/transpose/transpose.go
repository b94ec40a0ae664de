package transpose

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// Linear returns the transpose of a program in the inputs of those numbers. It takes the cotangent of each output that
// depends on them, in order, with the cotangent of the output's spec, and then all other inputs; it returns the
// cotangent of each of the inputs, in the given order, that an output depends on. The program is elaborated, and p is
// left as it is (specification: shardmap.md sections 4.1 to 4.4).
//
// The error is of class diag.ErrInvalid for a program that is not linear in the inputs, and diag.ErrUnsupported for a
// linear op that has no transpose here.
func Linear(p *typed.Program, linear []int) (*typed.Program, error) {
	return run(p, linear, request{})
}

// request says what a transposition returns besides.
type request struct {
	zeros bool // also the cotangents that are zero
	seed  bool // the cotangent of the only output is 1, not an input
}

// transposer writes the transpose of a program.
type transposer struct {
	*rewrite
	linear map[ir.ValueID]bool
	ct     map[ir.ValueID]ir.ValueID // cotangents so far; zero without an entry
	zero   map[ir.ValueID]bool       // what isZero has found
}

func run(p *typed.Program, linear []int, r request) (*typed.Program, error) {
	p, err := prepared(p)
	if err != nil {
		return nil, err
	}
	w, err := newRewrite(p, linear, false)
	if err != nil {
		return nil, err
	}
	t := &transposer{rewrite: w, linear: w.on, ct: map[ir.ValueID]ir.ValueID{}, zero: map[ir.ValueID]bool{}}
	b, args := t.b, t.m.BlockArgs(p.Body())
	t.cotangents(r)
	for k, param := range p.Params {
		if !slices.Contains(linear, k) {
			typ := t.m.TypeOf(param.Type)
			t.env[args[k]] = b.Param(param.Name, typ.DType, typ.Dims, param.Spec)
		}
	}
	t.outputs(r)
	t.residuals(p.Body())
	t.sweep(p.Body())
	t.results(linear, r)
	return t.finish(swapped)
}

// cotangents adds the inputs for the cotangents of the outputs.
func (t *transposer) cotangents(r request) {
	if r.seed {
		return
	}
	ret := t.p.Return()
	var outs []int
	for j, v := range t.m.Operands(ret) {
		if t.linear[v] {
			outs = append(outs, j)
		}
	}
	for _, j := range outs {
		name := "ct"
		if len(outs) > 1 {
			name += itoa(j)
		}
		t.b.Param(t.fresh(name), t.m.ValueType(t.m.Operand(ret, j)).DType, t.p.GlobalDims(j), t.p.Results[j].Spec.Cotangent())
	}
}

// outputs hands the cotangents of the outputs to their values. Without the check each copy of an output gets its share
// (specification: shardmap.md section 4.4).
func (t *transposer) outputs(r request) {
	given := slices.Clone(t.m.BlockArgs(t.b.Program().Body()))
	for j, v := range t.m.Operands(t.p.Return()) {
		if !t.linear[v] {
			continue
		}
		var g ir.ValueID
		if r.seed {
			g = t.b.Constant(t.m.ValueType(v).DType, nil, 1)
		} else {
			g, given = given[0], given[1:]
		}
		if n := t.p.GroupSize(t.omitted(t.p.Results[j].Spec).Axes()); !t.p.Check && n > 1 && isFloat(t.m, v) {
			g = t.b.Binary(ir.OpDivide, g, t.b.Constant(t.m.ValueType(v).DType, nil, float64(n)))
		}
		t.add(v, g)
	}
}

// omitted returns the manual axes that a spec does not mention.
func (t *transposer) omitted(s typed.Spec) typed.AxisSet {
	out := t.p.Manual
	for a, axis := range t.p.Mesh.Axes {
		for _, names := range append(slices.Clone(s.Dims), s.Unreduced, s.Reduced) {
			if slices.Contains(names, axis.Name) {
				out &^= 1 << a
			}
		}
	}
	return out
}

// results returns the cotangents of the inputs.
func (t *transposer) results(linear []int, r request) {
	for _, k := range linear {
		v := t.m.BlockArgs(t.p.Body())[k]
		g, ok := t.ct[v]
		if !ok && !r.zeros {
			continue
		}
		if !ok {
			g = t.zeros(v)
		}
		if over := t.omitted(t.p.Params[k].Spec); ok && !t.p.Check && over != 0 {
			g = t.b.Emit(typed.Collective{Kind: ir.OpShardMapPsum, Axes: over.Axes()}, g)
		}
		t.b.Result(g, t.p.Params[k].Spec.Cotangent())
	}
}

// swapped returns the variance of cotangents (specification: shardmap.md section 4.1).
func swapped(v typed.Variance) typed.Variance { return typed.Variance{V: v.V, U: v.R, R: v.U} }

// add adds a term to the cotangent of a value; values that are not linear have none.
func (t *transposer) add(v, term ir.ValueID) {
	if term == 0 || !t.linear[v] {
		return
	}
	t.pairs = append(t.pairs, pair{v, term})
	if g, ok := t.ct[v]; ok {
		term = t.b.Binary(ir.OpAdd, g, term)
		t.pairs = append(t.pairs, pair{v, term})
	}
	t.ct[v] = term
}

// zeros returns zeros of the type that the cotangent of a value has.
func (t *transposer) zeros(v ir.ValueID) ir.ValueID {
	return zeros(t.b, t.m.Type(v), swapped(t.p.VarianceOf(v)))
}

// sweep transposes the linear ops of a block, last one first.
func (t *transposer) sweep(b ir.BlockID) {
	for op := t.m.LastOp(b); op != 0; op = t.m.PrevOp(op) {
		if t.err != nil || t.m.Kind(op).IsTerminator() || !t.active(op) {
			continue
		}
		if slices.ContainsFunc(t.m.ResultValues(op), func(v ir.ValueID) bool { return t.ct[v] != 0 }) {
			t.transpose(op)
		}
	}
}

// transpose adds the cotangents of the operands of an op.
func (t *transposer) transpose(op ir.OpID) {
	switch kind := t.m.Kind(op); {
	case kind == ir.OpShardMapScan:
		t.scan(op)
	case kind == ir.OpIf || kind == ir.OpCase:
		t.branches(op)
	case kind.IsShardMap():
		t.collective(op, t.ct[t.m.Result(op, 0)])
	case kind == ir.OpOptimizationBarrier:
		for i, v := range t.m.Operands(op) {
			t.add(v, t.ct[t.m.Result(op, i)])
		}
	default:
		rule, ok := rules[kind]
		if !ok || t.m.NumResults(op) != 1 {
			t.nonlinear(op)
			return
		}
		rule(t, op, t.ct[t.m.Result(op, 0)])
	}
}

// nonlinear refuses an op of linear operands.
func (t *transposer) nonlinear(op ir.OpID) {
	t.fail(diag.Invalid(diag.BadOp, t.m.OpPos(op),
		"%s is not linear in %s, or has no transpose; take its gradient in place of its transpose, or transpose in fewer inputs",
		t.p.Describe(op), t.linearOperand(op)))
}

// affine refuses an op that adds something that is not linear and not plainly zero.
func (t *transposer) affine(op ir.OpID, v ir.ValueID) {
	t.fail(diag.Invalid(diag.BadOp, t.m.OpPos(op),
		"%s adds %s to a linear value, which makes it affine; leave it out or make it a constant zero",
		t.p.Describe(op), t.p.FormatValue(v)))
}

func (t *transposer) linearOperand(op ir.OpID) string {
	for _, v := range t.p.Captures(op) {
		if t.linear[v] {
			return t.p.FormatValue(v)
		}
	}
	return "its operands"
}

// isZero says whether a value is plainly zero: a constant zero behind casts and changes of shape.
func (t *transposer) isZero(v ir.ValueID) bool {
	known, ok := t.zero[v]
	if !ok {
		if op := t.m.DefiningOp(v); op != 0 {
			known = t.makesZero(op)
		}
		t.zero[v] = known
	}
	return known
}

func (t *transposer) makesZero(op ir.OpID) bool {
	operands := t.m.Operands(op)
	switch kind := t.m.Kind(op); {
	case kind == ir.OpConstant:
		d, ok := t.m.Attr(op, "value").(*ir.Dense)
		return ok && d.Data != nil && !slices.ContainsFunc(d.Data, func(b byte) bool { return b != 0 })
	case kind == ir.OpBroadcastInDim, kind == ir.OpReshape, kind == ir.OpTranspose, kind == ir.OpConvert, kind == ir.OpNegate,
		kind == ir.OpSlice,
		kind == ir.OpDynamicSlice:
		return t.isZero(operands[0])
	case kind == ir.OpConcatenate || kind == ir.OpPad || kind == ir.OpAdd || kind == ir.OpSubtract:
		return !slices.ContainsFunc(operands, func(v ir.ValueID) bool { return !t.isZero(v) })
	case t.m.Kind(op).IsShardMap() && t.m.Kind(op) != ir.OpShardMapScan:
		c, err := t.p.Collective(op)
		return err == nil && c.IsCast() && t.isZero(operands[0])
	}
	return false
}

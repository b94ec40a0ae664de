package modeljson

import (
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

var (
	regionFields   = []string{"args", "ops", "outputs", "blocks"}
	blockFields    = []string{"name", "args", "ops"}
	argumentFields = []string{"name", "type", "sharding", "location"}
)

// regions reads the regions of an operation, or makes the one that "apply" stands for.
func (o *opReader) regions(op ir.OpID) {
	apply, list := o.n.get("apply"), o.array(o.n, "regions")
	if apply != nil {
		if len(list) > 0 {
			o.fail(apply.at, diag.BadModel, "operation has both \"apply\" and \"regions\"")
			return
		}
		o.apply(op, apply)
		return
	}
	for i := range list {
		if o.object(&list[i], "a region", regionFields...) {
			o.region(op, i, &list[i])
		}
	}
}

// terminator returns the operation that ends the regions of an operation, false where it must be written: those of
// composites may end by any return, or be empty.
func terminator(k ir.Kind) (ir.Kind, bool) {
	if k == ir.OpComposite {
		return 0, false
	}
	switch dialect, _, _ := strings.Cut(k.String(), "."); dialect {
	case "sdy":
		return ir.OpSdyReturn, true
	case "stablehlo", "chlo":
		return ir.OpStablehloReturn, true
	}
	return 0, false
}

func (o *opReader) region(op ir.OpID, i int, n *node) {
	end, implied := terminator(o.kind)
	inner := &scope{outer: o.names, values: map[string]ir.ValueID{}}
	outer := o.labels
	o.labels = nil
	defer func() { o.labels = outer }()
	switch {
	case !implied && len(n.elems) == 0:
		return
	case n.get("blocks") != nil:
		o.blocks(n, inner, o.m.Regions(op)[i], 0)
		return
	}
	b := o.m.AddBlock(o.m.Regions(op)[i])
	o.args(n, inner, b)
	ended := o.ops(n, inner, b)
	outputs := n.get("outputs")
	switch {
	case outputs != nil && (ended || !implied):
		o.fail(outputs.at, diag.BadModel, "region ends with an operation of its own, it can have no \"outputs\"")
	case implied && !ended:
		names := o.array(n, "outputs")
		values := make([]ir.ValueID, len(names))
		for j := range names {
			if values[j] = o.lookup(inner, &names[j]); values[j] == 0 {
				return
			}
		}
		o.setPos(o.m.BuilderAtEnd(b).Op(end, nil, nil, values...), n)
	}
}

// args reads the arguments of a block.
func (r *reader) args(n *node, names *scope, b ir.BlockID) {
	args := r.array(n, "args")
	for j := range args {
		if !r.object(&args[j], "an argument of a region", argumentFields...) {
			return
		}
		t := r.typeField(&args[j], "type")
		v := r.m.AddBlockArg(b, t)
		r.m.SetSharding(v, r.sharding(args[j].get("sharding"), t))
		r.m.SetArgLoc(v, r.location(&args[j]))
		r.define(names, args[j].get("name"), &args[j], v)
	}
}

// applyOperands tells how many operands an operation has whose region "apply" can make: those of one input.
func applyOperands(k ir.Kind) (n int, ok bool) {
	return k.MinOperands(), k.Reduces() && k.MinRegions() == 1
}

// apply makes the region (a, b) -> f(a, b) on scalars of the first operand's element type.
func (o *opReader) apply(op ir.OpID, n *node) {
	if !o.is(n, stringKind, "apply") {
		return
	}
	operands, ok := applyOperands(o.kind)
	f, known := ir.ParseKind(fullName(n.text))
	switch {
	case !ok:
		o.fail(n.at, diag.UnknownField, "field \"apply\" does not belong to %q", shortName(o.name))
	case len(o.operands) != operands:
		o.fail(n.at, diag.BadOp, "\"apply\" is for one input: write the region of %q with %d operands in full", shortName(o.name),
			len(o.operands))
	case !known || !f.IsCombiner():
		o.fail(n.at, diag.UnknownOp, "operation %q cannot be applied: use one of two operands and one type, such as \"add\"", n.text)
	default:
		t := o.m.TensorType(o.m.ValueType(o.operands[0]).DType)
		b := o.m.AddBlock(o.m.Regions(op)[0])
		x, y := o.m.AddBlockArg(b, t), o.m.AddBlockArg(b, t)
		body := o.m.BuilderAtEnd(b)
		sum := body.Op1(f, t, nil, x, y)
		o.setPos(o.m.DefiningOp(sum), n)
		o.setPos(body.Op(ir.OpStablehloReturn, nil, nil, sum), n)
	}
}

// applied returns the operation that the only region of op applies to its two arguments in order, as apply makes it.
func (w *writer) applied(op ir.OpID) (ir.Kind, bool) {
	m := w.m
	operands, ok := applyOperands(m.Kind(op))
	if !ok || m.NumOperands(op) != operands || m.NumRegions(op) != 1 || len(m.Blocks(m.Regions(op)[0])) != 1 {
		return 0, false
	}
	kind, ok := ir.ReducerOf(m, op, 0, ir.Written)
	if !ok || kind == ir.OpUnregistered {
		return 0, false
	}
	b := m.RegionBlock(op, 0)
	args, f, end := m.BlockArgs(b), m.FirstOp(b), m.LastOp(b)
	t := m.TensorType(m.ValueType(m.Operand(op, 0)).DType)
	typed := m.Type(args[0]) == t && m.Type(args[1]) == t && m.Type(m.Result(f, 0)) == t
	plain := !w.known(m.ArgLoc(args[0])) && !w.known(m.ArgLoc(args[1])) && len(m.OpAttrs(f)) == 0 && !w.known(m.OpLoc(f)) &&
		m.Sharding(m.Result(f, 0)) == 0
	returned := m.Kind(end) == ir.OpStablehloReturn && len(m.OpAttrs(end)) == 0 && !w.known(m.OpLoc(end))
	return kind, typed && plain && returned
}

package emit

import (
	"strconv"

	"autoshard/ir"
)

func uintText(v uint64) string { return strconv.FormatUint(v, 10) }
func intText(v int64) string   { return strconv.FormatInt(v, 10) }

func chloOps() map[ir.Kind]handler {
	return map[ir.Kind]handler{
		ir.OpChloTopK:              func(e *emitter, op ir.OpID) error { return e.topK(op, e.m.OpAttrs(op).Int("k", -1)) },
		ir.OpChloRaggedDot:         single((*emitter).raggedDot),
		ir.OpChloConstant:          single((*emitter).constantOp),
		ir.OpChloConstantLike:      single((*emitter).constantLike),
		ir.OpChloConstantWithShape: single((*emitter).constantLike),
		ir.OpChloBroadcastCompare:  ofUnequal(single((*emitter).compare)),
		ir.OpChloBroadcastSelect:   single(func(e *emitter, op ir.OpID) (*expr, error) { return call("jnp.where", e.refs(op)...), nil }),
		ir.OpCustomCall:            (*emitter).customCall,
	}
}

func (e *emitter) topK(op ir.OpID, k int64) error {
	if k < 0 {
		return e.invalid(op, "k")
	}
	e.assign(op, call("lax.top_k", e.ref(e.m.Operand(op, 0)), number(k)), e.m.ResultValues(op)...)
	return nil
}

func (e *emitter) raggedDot(op ir.OpID) (*expr, error) {
	m := e.m
	if len(m.Shape(m.Operand(op, 0))) != 2 || len(m.Shape(m.Operand(op, 1))) != 3 || len(m.Shape(m.Operand(op, 2))) != 1 {
		return nil, e.unsupported(op, "JAX takes lhs[m, k], rhs[g, k, n] and group_sizes[g]")
	}
	x, y, preferred := e.factors(op)
	args := []*expr{x, y, e.ref(m.Operand(op, 2))}
	return call("lax.ragged_dot", append(args, e.accuracy(op, nil, preferred)...)...), nil
}

// constantLike spreads a number over the shape of an operand.
func (e *emitter) constantLike(op ir.OpID) (*expr, error) {
	t := e.m.ValueType(e.m.Result(op, 0))
	switch a := e.m.Attr(op, "value").(type) {
	case ir.FloatAttr:
		text, _ := floatLiteral(e.m.TypeOf(a.Type).DType, a.Bits)
		return e.full(t, text), nil
	case ir.IntAttr:
		return e.full(t, intText(a.Value)), nil
	case *ir.Dense:
		if text, ok := literal(e.m.TypeOf(a.Type).DType, a.Data, 0); ok {
			return e.full(t, text), nil
		}
	}
	return nil, e.invalid(op, "value")
}

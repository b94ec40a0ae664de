package specialize

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

const i64 = dtype.I64

// customCall makes the custom calls static by which JAX writes dynamic ops that StableHLO does not have, and those with
// operands that only say the sizes of their results.
func (r *refiner) customCall(op ir.OpID) (ir.OpID, error) {
	switch r.m.OpAttrs(op).Str("call_target_name") {
	case "stablehlo.dynamic_reduce_window":
		return r.reduceWindow(op)
	case "stablehlo.dynamic_top_k":
		return r.topK(op)
	case "stablehlo.dynamic_rng_bit_generator":
		return r.rngBitGenerator(op)
	}
	if indices, ok := r.m.Attr(op, shapeOperands).(*ir.Dense); ok {
		return r.shapeOperands(op, r.m.Int64s(indices))
	}
	return op, nil
}

// shapeOperands is the attribute with the operands of a custom call that say the sizes of its results.
const shapeOperands = "indices_of_shape_operands"

// shapeOperands drops the operands that say sizes: the last ones, one for each result.
func (r *refiner) shapeOperands(op ir.OpID, indices []int64) (ir.OpID, error) {
	m := r.m
	n := m.NumOperands(op) - len(indices)
	if len(indices) != m.NumResults(op) || n < 0 || !slices.IsSorted(indices) || len(indices) > 0 && indices[0] != int64(n) {
		return 0, diag.Invalid(diag.BadAttribute, m.OpPos(op), "%s of `%s` must be its last operands, one for each result",
			shapeOperands, m.OpName(op))
	}
	for i := range indices {
		shape, err := r.shape(op, n+i)
		if err != nil {
			return 0, err
		}
		v := m.Result(op, i)
		m.SetType(v, m.WithDims(m.Type(v), shape))
	}
	attrs := m.OpAttrs(op).Without(shapeOperands)
	if layouts, ok := attrs.Get("operand_layouts").(ir.ArrayAttr); ok && len(layouts) > n {
		attrs = attrs.With("operand_layouts", layouts[:n:n])
	}
	if rule, ok := attrs.Get("sdy.sharding_rule").(*ir.RuleAttr); ok && len(rule.Rule.Operands) > n {
		short := *rule.Rule
		short.Operands = short.Operands[:n:n]
		attrs = attrs.With("sdy.sharding_rule", &ir.RuleAttr{Rule: &short})
	}
	return r.replace(op, ir.OpCustomCall, attrs, m.Operands(op)[:n]...), nil
}

// reduceWindow takes arrays, their initial values, and window, strides, dilations and padding as operands.
func (r *refiner) reduceWindow(op ir.OpID) (ir.OpID, error) {
	m := r.m
	const sizes = 5
	n := m.NumOperands(op) - sizes
	called, _ := m.Attr(op, "called_computations").(ir.ArrayAttr)
	if n != 2*m.NumResults(op) || len(called) != 1 {
		return 0, diag.Invalid(diag.BadOp, m.OpPos(op), "a dynamic reduce_window takes arrays, initial values, 5 shapes and one function")
	}
	var attrs ir.Attrs
	for i, name := range []string{"window_dimensions", "window_strides", "base_dilations", "window_dilations"} {
		list, err := r.shape(op, n+i)
		if err != nil {
			return 0, err
		}
		attrs = attrs.With(name, ir.Ints(list))
	}
	padding, err := r.pairs(op, n+sizes-1)
	if err != nil {
		return 0, err
	}
	name, _ := called[0].(ir.SymbolAttr)
	f, ok := ir.FuncID(0), false
	if len(name) == 1 {
		f, ok = m.LookupFunc(name[0])
	}
	if !ok || m.IsDeclaration(f) {
		return 0, diag.Invalid(diag.Undefined, m.OpPos(op), "%v, by which a window is reduced, is not defined", []string(name))
	}
	attrs = attrs.With("padding", padding)
	to := m.BuilderBefore(op).OpRegions(ir.OpReduceWindow, m.TypesOf(m.ResultValues(op)), attrs, 1, m.Operands(op)[:n]...)
	r.copyBody(f, m.AddBlock(m.Regions(to)[0]))
	return r.instead(op, to), nil
}

// copyBody fills a block with the body of a function.
func (r *refiner) copyBody(f ir.FuncID, to ir.BlockID) {
	m := r.m
	body := m.Func(f).Body
	values := map[ir.ValueID]ir.ValueID{}
	for _, arg := range m.BlockArgs(body) {
		values[arg] = m.AddBlockArg(to, m.Type(arg))
	}
	b := m.BuilderAtEnd(to)
	m.CloneInto(b, body, values)
	var returned []ir.ValueID
	for _, v := range m.Operands(m.LastOp(body)) {
		if copied, ok := values[v]; ok {
			v = copied
		}
		returned = append(returned, v)
	}
	b.Op(ir.OpStablehloReturn, nil, nil, returned...)
}

func (r *refiner) topK(op ir.OpID) (ir.OpID, error) {
	m := r.m
	k, err := r.shape(op, m.NumOperands(op)-1)
	if err != nil {
		return 0, err
	}
	if len(k) != 1 || m.NumOperands(op) != 2 || m.NumResults(op) != 2 || len(m.Shape(m.Operand(op, 0))) == 0 {
		return 0, diag.Invalid(diag.BadOp, m.OpPos(op), "a dynamic top_k takes an array and k")
	}
	dims := slices.Clone(m.Shape(m.Operand(op, 0)))
	dims[len(dims)-1] = k[0]
	for _, v := range m.Results(op) {
		m.SetType(v, m.WithDims(m.Type(v), dims))
	}
	number := m.ScalarType(i64)
	attrs := ir.MakeAttrs(ir.NamedAttr{Name: "k", Value: ir.IntAttr{Value: k[0], Type: number}})
	return r.replace(op, ir.OpChloTopK, attrs, m.Operand(op, 0)), nil
}

func (r *refiner) rngBitGenerator(op ir.OpID) (ir.OpID, error) {
	m := r.m
	shape, err := r.shape(op, m.NumOperands(op)-1)
	if err != nil {
		return 0, err
	}
	if m.NumOperands(op) != 2 || m.NumResults(op) != 2 {
		return 0, diag.Invalid(diag.BadOp, m.OpPos(op), "a dynamic rng_bit_generator takes a state and a shape")
	}
	v := m.Result(op, 1)
	m.SetType(m.Result(op, 0), m.Type(m.Operand(op, 0)))
	m.SetType(v, m.WithDims(m.Type(v), shape))
	attrs := ir.MakeAttrs(ir.NamedAttr{Name: "rng_algorithm", Value: m.Attr(op, "rng_algorithm")})
	return r.replace(op, ir.OpRngBitGenerator, attrs, m.Operand(op, 0)), nil
}

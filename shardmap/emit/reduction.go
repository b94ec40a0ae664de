package emit

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

func reductions() map[ir.Kind]handler {
	return map[ir.Kind]handler{
		ir.OpReduce:           (*emitter).reduce,
		ir.OpReduceWindow:     (*emitter).reduceWindow,
		ir.OpSelectAndScatter: single((*emitter).selectAndScatter),
		ir.OpMap:              single((*emitter).mapOp),
	}
}

// monoidNames are the functions of two arrays for regions of one op.
var monoidNames = map[ir.Kind]string{ir.OpAdd: "lax.add", ir.OpMultiply: "lax.mul", ir.OpMaximum: "lax.max", ir.OpMinimum: "lax.min",
	ir.OpAnd: "lax.bitwise_and", ir.OpOr: "lax.bitwise_or", ir.OpXor: "lax.bitwise_xor"}

// boolMonoids are what the arithmetic ones mean for truth values.
var boolMonoids = map[ir.Kind]ir.Kind{ir.OpAdd: ir.OpOr, ir.OpMaximum: ir.OpOr, ir.OpMultiply: ir.OpAnd, ir.OpMinimum: ir.OpAnd}

// monoidOf returns the op of a region with one pair, that of truth values for those; OpUnregistered for other regions.
func (e *emitter) monoidOf(op ir.OpID, region int) ir.Kind {
	types := e.regionTypes(op, region)
	kind, ok := ir.ReducerOf(e.m, op, region, ir.Computed)
	switch {
	case !ok || len(types) != 1:
		return ir.OpUnregistered
	case types[0] == dtype.I1 && boolMonoids[kind] != 0:
		return boolMonoids[kind]
	}
	return kind
}

// combiner returns a function of two arrays, or of two tuples of arrays, for a region.
func (e *emitter) combiner(op ir.OpID, region int) (*expr, error) {
	if name := monoidNames[e.monoidOf(op, region)]; name != "" {
		return atom(name), nil
	}
	b := e.m.RegionBlock(op, region)
	args := e.m.BlockArgs(b)
	n := len(args) / 2
	name, err := e.def("combine", b, nil, param{"total", args[:n]}, param{"x", args[n:]})
	return atom(name), err
}

// reduced are the functions of jax.numpy for reductions from the neutral element.
var reduced = map[ir.Kind]struct{ fn, neutral string }{
	ir.OpAdd: {"jnp.sum", "0"}, ir.OpMultiply: {"jnp.prod", "1"}, ir.OpMaximum: {"jnp.max", "-"}, ir.OpMinimum: {"jnp.min", "+"},
	ir.OpAnd: {"jnp.all", "True"}, ir.OpOr: {"jnp.any", "False"},
}

// named returns a reduction by its name, where the initial value is neutral and the name computes in the element type.
func (e *emitter) named(op ir.OpID, dims []int64) (*expr, bool) {
	v := e.m.Operand(op, 0)
	t := e.m.ValueType(v)
	r, ok := reduced[e.monoidOf(op, 0)]
	start, known := e.number(e.m.Operand(op, 1))
	if !ok || !known || e.m.NumOperands(op) != 2 || e.regionTypes(op, 0)[0] != t.DType || len(dims) == 0 {
		return nil, false
	}
	plain := t.DType == dtype.F32 || t.DType == dtype.F64 || t.DType.Kind() == dtype.Complex
	integer := (t.DType.Kind() == dtype.Signed || t.DType.Kind() == dtype.Unsigned) && t.DType.Bits() >= 8
	switch r.fn {
	case "jnp.all", "jnp.any":
		ok = t.DType == dtype.I1 && start == r.neutral
	case "jnp.sum", "jnp.prod":
		ok = (plain || integer) && slices.Contains([]string{r.neutral, r.neutral + ".0", "complex(" + r.neutral + ".0, 0.0)"}, start)
	default:
		ok = e.isExtreme(t.DType, start, r.neutral == "+") && t.Elements() > 0
	}
	args := []*expr{e.ref(v)}
	if len(dims) < len(t.Dims) {
		axis := ints(dims)
		if len(dims) == 1 {
			axis = number(dims[0])
		}
		args = append(args, keyword("axis", axis))
	}
	if integer && (r.fn == "jnp.sum" || r.fn == "jnp.prod") {
		args = append(args, keyword("dtype", e.dtypeOf(t.DType)))
	}
	return call(r.fn, args...), ok
}

// isExtreme says whether a number is the largest of its type, or the smallest.
func (e *emitter) isExtreme(t dtype.Type, text string, largest bool) bool {
	switch t.Kind() {
	case dtype.Float:
		return text == "jnp.inf" && largest || text == "-jnp.inf" && !largest
	case dtype.Signed, dtype.Unsigned:
		lo, hi := dtype.IntRange(t)
		return largest && text == uintText(hi) || !largest && text == intText(lo)
	}
	return false
}

func (e *emitter) reduce(op ir.OpID) error {
	m := e.m
	dims := m.OpAttrs(op).Ints("dimensions")
	if x, ok := e.named(op, dims); ok {
		e.define(op, x)
		return nil
	}
	combine, err := e.combiner(op, 0)
	if err != nil {
		return err
	}
	n := m.NumOperands(op) / 2
	values, starts := e.promoted(op, n)
	e.assign(op, call("lax.reduce", values, starts, combine, ints(dims)), m.ResultValues(op)...)
	return nil
}

// promoted returns the operands and initial values of a reduction in the types of its region.
func (e *emitter) promoted(op ir.OpID, n int) (values, starts *expr) {
	types := e.regionTypes(op, 0)
	var a, b []*expr
	for k := range n {
		a = append(a, e.cast(e.m.Operand(op, k), types[k]))
		b = append(b, e.cast(e.m.Operand(op, n+k), types[k]))
	}
	if n == 1 {
		return a[0], b[0]
	}
	return tuple(a...), tuple(b...)
}

func (e *emitter) reduceWindow(op ir.OpID) error {
	m := e.m
	combine, err := e.combiner(op, 0)
	if err != nil {
		return err
	}
	values, starts := e.promoted(op, m.NumOperands(op)/2)
	w, err := e.windows(op, "base_dilation", "window_dilation")
	if err != nil {
		return err
	}
	args := append([]*expr{values, starts, combine, w.sizes, w.strides, w.padding}, w.dilations...)
	e.assign(op, call("lax.reduce_window", args...), m.ResultValues(op)...)
	return nil
}

// selectAndScatter uses helpers of the file: JAX has no public function for it.
func (e *emitter) selectAndScatter(op ir.OpID) (*expr, error) {
	m := e.m
	better, err := e.function("better", op, 0)
	if err != nil {
		return nil, err
	}
	combine := atom("lax.add")
	t := e.regionTypes(op, 1)[0]
	if e.monoidOf(op, 1) != ir.OpAdd || t == dtype.I1 {
		if combine, err = e.function("combine", op, 1); err != nil {
			return nil, err
		}
	}
	w, err := e.windows(op, "", "")
	if err != nil {
		return nil, err
	}
	return e.helper("select_and_scatter", e.ref(m.Operand(op, 0)), e.cast(m.Operand(op, 1), t), e.cast(m.Operand(op, 2), t), better, combine,
		w.sizes, w.strides, w.padding), nil
}

func (e *emitter) mapOp(op ir.OpID) (*expr, error) {
	fn, err := e.function("of_each", op, 0)
	if err != nil {
		return nil, err
	}
	return call(call("jnp.vectorize", fn).String(), e.refs(op)...), nil
}

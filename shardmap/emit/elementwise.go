package emit

import (
	"maps"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// handlers are the ops that have a form in JAX. The tables of the op families are joined here.
var handlers map[ir.Kind]handler

// broadcasts are the ops whose operands NumPy's rules may repeat: those that loose writes.
var broadcasts = map[ir.Kind]bool{ir.OpSelect: true, ir.OpCompare: true}

func init() {
	handlers = map[ir.Kind]handler{}
	for _, family := range []map[ir.Kind]handler{controlOps(), elementwise(), shapeOps(), contractions(), indexOps(), reductions(),
		communication(), chloOps()} {
		maps.Copy(handlers, family)
	}
	for kind := range ir.NumKinds {
		if fn, ok := unaryName(kind); ok && handlers[kind] == nil {
			handlers[kind] = single(func(e *emitter, op ir.OpID) (*expr, error) { return e.helper(fn, e.ref(e.m.Operand(op, 0))), nil })
		}
	}
	for kind, write := range binaryOps {
		handlers[kind] = write.handler()
		broadcasts[kind] = !exactShapes[kind]
	}
	for kind := range ir.NumKinds {
		if write, ok := binaryOps[kind.Plain()]; ok {
			handlers[kind] = ofUnequal(write.handler())
		}
	}
}

// ofUnequal makes a handler of one for an op whose operands may have unequal shapes.
func ofUnequal(h handler) handler {
	return func(e *emitter, op ir.OpID) error {
		e.unequal = true
		defer func() { e.unequal = false }()
		return h(e, op)
	}
}

// unaryName returns the function of JAX that an op of one array is: the one of lax with the op's name, unless unaryNames has
// another. JAX has no quantized types.
func unaryName(k ir.Kind) (string, bool) {
	if fn, ok := unaryNames[k]; ok {
		return fn, true
	}
	_, name, _ := strings.Cut(k.String(), ".")
	return "lax." + name, k.IsUnary() && k != ir.OpUniformQuantize && k != ir.OpUniformDequantize
}

// unaryNames are the functions of JAX whose name differs from the op's.
var unaryNames = map[ir.Kind]string{
	ir.OpAbs: "jnp.abs", ir.OpCeil: "jnp.ceil", ir.OpCosine: "jnp.cos", ir.OpCountLeadingZeros: "lax.clz",
	ir.OpExponential: "jnp.exp", ir.OpExponentialMinusOne: "jnp.expm1", ir.OpFloor: "jnp.floor", ir.OpIsFinite: "jnp.isfinite",
	ir.OpLog: "jnp.log", ir.OpLogPlusOne: "jnp.log1p", ir.OpLogistic: "jax.nn.sigmoid", ir.OpPopcnt: "lax.population_count",
	ir.OpSine: "jnp.sin", ir.OpSqrt: "jnp.sqrt", ir.OpTanh: "jnp.tanh", ir.OpChloConj: "jnp.conj", ir.OpChloIsInf: "jnp.isinf",
	ir.OpChloIsNegInf: "jnp.isneginf", ir.OpChloIsPosInf: "jnp.isposinf",
}

func elementwise() map[ir.Kind]handler {
	return map[ir.Kind]handler{
		ir.OpNegate: single(func(e *emitter, op ir.OpID) (*expr, error) { return e.prefix("-", op), nil }),
		ir.OpNot:    single(func(e *emitter, op ir.OpID) (*expr, error) { return e.prefix("~", op), nil }),
		ir.OpReal:   single(func(e *emitter, op ir.OpID) (*expr, error) { return e.part(op, "lax.real"), nil }),
		ir.OpImag:   single(func(e *emitter, op ir.OpID) (*expr, error) { return e.part(op, "lax.imag"), nil }),
		ir.OpRoundNearestAfz: single(func(e *emitter, op ir.OpID) (*expr, error) {
			return call("lax.round", e.ref(e.m.Operand(op, 0)), atom("lax.RoundingMethod.AWAY_FROM_ZERO")), nil
		}),
		ir.OpRoundNearestEven: single(func(e *emitter, op ir.OpID) (*expr, error) {
			return call("lax.round", e.ref(e.m.Operand(op, 0)), atom("lax.RoundingMethod.TO_NEAREST_EVEN")), nil
		}),
		ir.OpConvert:         single((*emitter).convert),
		ir.OpCompare:         single((*emitter).compare),
		ir.OpSelect:          single((*emitter).choose),
		ir.OpClamp:           single((*emitter).clamp),
		ir.OpReducePrecision: single((*emitter).reducePrecision),
		ir.OpBitcastConvert:  single((*emitter).bitcast),
	}
}

func (e *emitter) prefix(sign string, op ir.OpID) *expr {
	x := e.ref(e.m.Operand(op, 0))
	if e.m.ValueType(e.m.Operand(op, 0)).DType == dtype.I1 && sign == "-" {
		return x
	}
	return atom(sign + x.String())
}

// part returns the real or imaginary part; real numbers are their own real part.
func (e *emitter) part(op ir.OpID, fn string) *expr {
	x := e.ref(e.m.Operand(op, 0))
	switch {
	case e.m.ValueType(e.m.Operand(op, 0)).DType.Kind() == dtype.Complex:
		return call(fn, x)
	case fn == "lax.real":
		return x
	}
	return call("jnp.zeros_like", x)
}

func (e *emitter) convert(op ir.OpID) (*expr, error) {
	return e.cast(e.m.Operand(op, 0), e.m.ValueType(e.m.Result(op, 0)).DType), nil
}

// cast returns an array in another element type.
func (e *emitter) cast(v ir.ValueID, to dtype.Type) *expr {
	from := e.m.ValueType(v).DType
	x := e.ref(v)
	switch {
	case from == to:
		return x
	case to == dtype.I1:
		return atom(x.String() + " != 0")
	case from.Kind() == dtype.Complex && to.Kind() != dtype.Complex:
		return method(call("lax.real", x), "astype", e.dtypeOf(to))
	}
	return method(x, "astype", e.dtypeOf(to))
}

var comparisons = map[string]string{"EQ": "==", "NE": "!=", "GE": ">=", "GT": ">", "LE": "<=", "LT": "<"}

func (e *emitter) compare(op ir.OpID) (*expr, error) {
	attrs := e.m.OpAttrs(op)
	sign, ok := comparisons[attrs.Str("comparison_direction")]
	if !ok {
		return nil, e.invalid(op, "comparison_direction")
	}
	v, w := e.m.Operand(op, 0), e.m.Operand(op, 1)
	if attrs.Str("compare_type") == "TOTALORDER" && e.m.ValueType(v).DType.Kind() == dtype.Float {
		return infix(e.helper("total_order", e.ref(v)), sign, e.helper("total_order", e.ref(w))), nil
	}
	x := e.loose(v, w)
	return infix(x[0], sign, x[1]), nil
}

func (e *emitter) choose(op ir.OpID) (*expr, error) {
	x := e.loose(e.m.Operand(op, 1), e.m.Operand(op, 2))
	p, ok := e.spread(e.m.Operand(op, 0))
	if !ok {
		p = e.ref(e.m.Operand(op, 0))
	}
	return call("jnp.where", p, x[0], x[1]), nil
}

// clamp keeps the order of StableHLO: the upper bound wins.
func (e *emitter) clamp(op ir.OpID) (*expr, error) {
	bounds := [2]*expr{}
	x := e.m.Operand(op, 1)
	for i, v := range []ir.ValueID{e.m.Operand(op, 0), e.m.Operand(op, 2)} {
		bounds[i] = e.ref(v)
		if text, ok := e.splat(v); ok && isWeak(e.m.ValueType(v).DType, text) {
			bounds[i] = atom(text)
		}
	}
	if e.m.ValueType(x).DType.Kind() == dtype.Complex {
		return nil, e.unsupported(op, "JAX does not clamp complex numbers")
	}
	return call("jnp.minimum", call("jnp.maximum", e.ref(x), bounds[0]), bounds[1]), nil
}

func (e *emitter) reducePrecision(op ir.OpID) (*expr, error) {
	attrs := e.m.OpAttrs(op)
	return call("lax.reduce_precision", e.ref(e.m.Operand(op, 0)),
		number(attrs.Int("exponent_bits", 0)), number(attrs.Int("mantissa_bits", 0))), nil
}

func (e *emitter) bitcast(op ir.OpID) (*expr, error) {
	from, to := e.m.ValueType(e.m.Operand(op, 0)).DType, e.m.ValueType(e.m.Result(op, 0)).DType
	x := e.ref(e.m.Operand(op, 0))
	switch {
	case from == to:
		return x, nil
	case from == dtype.I1 || to == dtype.I1 || from.Kind() == dtype.Complex || to.Kind() == dtype.Complex:
		if from.Bits() > 1 && from.Bits() < 8 || to.Bits() > 1 && to.Bits() < 8 {
			return nil, e.unsupported(op, "JAX does not read the bits of %s as %s", from, to)
		}
		return e.helper("bitcast", x, e.dtypeOf(to), ints(e.resultDims(op))), nil
	}
	return call("lax.bitcast_convert_type", x, e.dtypeOf(to)), nil
}

// binaryOp writes an op of two operands of an element type.
type binaryOp func(e *emitter, t dtype.Type, v, w ir.ValueID) (*expr, error)

func (write binaryOp) handler() handler {
	return single(func(e *emitter, op ir.OpID) (*expr, error) {
		v := e.m.Operand(op, 0)
		return write(e, e.m.ValueType(v).DType, v, e.m.Operand(op, 1))
	})
}

// exactShapes are the binary ops that take no numbers and no smaller arrays: functions of lax and helpers.
var exactShapes = map[ir.Kind]bool{
	ir.OpRemainder: true, ir.OpShiftRightLogical: true, ir.OpPower: true, ir.OpAtan2: true, ir.OpChloMulhi: true, ir.OpChloNextAfter: true,
	ir.OpChloPolygamma: true, ir.OpChloZeta: true,
}

var binaryOps = map[ir.Kind]binaryOp{
	ir.OpAdd:                  operator("+", "|"),
	ir.OpSubtract:             operator("-", "^"),
	ir.OpMultiply:             operator("*", "&"),
	ir.OpAnd:                  operator("&", "&"),
	ir.OpOr:                   operator("|", "|"),
	ir.OpXor:                  operator("^", "^"),
	ir.OpMaximum:              function("jnp.maximum"),
	ir.OpMinimum:              function("jnp.minimum"),
	ir.OpDivide:               divide,
	ir.OpRemainder:            remainder,
	ir.OpPower:                power,
	ir.OpAtan2:                exact("lax.atan2"),
	ir.OpShiftLeft:            operator("<<", "<<"),
	ir.OpShiftRightArithmetic: shiftRight(dtype.Signed, "lax.shift_right_arithmetic"),
	ir.OpShiftRightLogical:    exact("lax.shift_right_logical"),
	ir.OpComplex:              exact("lax.complex"),
	ir.OpChloMulhi:            exact("mulhi"),
	ir.OpChloNextAfter:        exact("lax.nextafter"),
	ir.OpChloPolygamma:        exact("lax.polygamma"),
	ir.OpChloZeta:             exact("lax.zeta"),
}

// operator writes v sign w; truth values have a sign of their own.
func operator(sign, ofBools string) binaryOp {
	return func(e *emitter, t dtype.Type, v, w ir.ValueID) (*expr, error) {
		x := e.loose(v, w)
		if t == dtype.I1 {
			return infix(x[0], ofBools, x[1]), nil
		}
		return infix(x[0], sign, x[1]), nil
	}
}

func function(fn string) binaryOp {
	return func(e *emitter, _ dtype.Type, v, w ir.ValueID) (*expr, error) { return call(fn, e.loose(v, w)...), nil }
}

// exact writes a function of two arrays of one shape.
func exact(fn string) binaryOp {
	return func(e *emitter, _ dtype.Type, v, w ir.ValueID) (*expr, error) {
		return e.helper(fn, e.strict(v, w)...), nil
	}
}

// divide rounds integers towards zero, which Python's operators do not where one is negative.
func divide(e *emitter, t dtype.Type, v, w ir.ValueID) (*expr, error) {
	switch {
	case t.Kind() == dtype.Float || t.Kind() == dtype.Complex:
		return operator("/", "/")(e, t, v, w)
	case e.divides(v, w):
		return operator("//", "//")(e, t, v, w)
	}
	return call("lax.div", e.strict(v, w)...), nil
}

// remainder has the sign of the dividend, in Python that of the divisor.
func remainder(e *emitter, t dtype.Type, v, w ir.ValueID) (*expr, error) {
	if e.divides(v, w) {
		return operator("%", "%")(e, t, v, w)
	}
	return exact("lax.rem")(e, t, v, w)
}

// divides says whether a scalar is known not to be negative, and another one to be positive.
func (e *emitter) divides(v, w ir.ValueID) bool {
	low, _, known := e.bounds(v)
	divisor, _, found := e.bounds(w)
	return known && found && low >= 0 && divisor > 0
}

func power(e *emitter, t dtype.Type, v, w ir.ValueID) (*expr, error) {
	if t.Kind() == dtype.Float || t.Kind() == dtype.Complex {
		return call("lax.pow", e.strict(v, w)...), nil
	}
	return e.helper("int_power", e.strict(v, w)...), nil
}

// shiftRight uses the operator where JAX gives it this meaning.
func shiftRight(kind dtype.Kind, fn string) binaryOp {
	return func(e *emitter, t dtype.Type, v, w ir.ValueID) (*expr, error) {
		if t.Kind() == kind {
			return operator(">>", ">>")(e, t, v, w)
		}
		return call(fn, e.strict(v, w)...), nil
	}
}

// strict returns operands as arrays of one shape.
func (e *emitter) strict(operands ...ir.ValueID) []*expr {
	out := lists.Map(operands, e.ref)
	if e.unequal {
		return []*expr{atom("*" + e.helper("alike", out...).String())}
	}
	return out
}

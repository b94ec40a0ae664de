package transpose

import (
	"math"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// derivatives hold the rules of local ops: each returns the tangent of the result, given those of the operands.
var derivatives map[ir.Kind]func(j *tangents, op ir.OpID) ir.ValueID

func init() {
	derivatives = map[ir.Kind]func(j *tangents, op ir.OpID) ir.ValueID{
		ir.OpAdd: (*tangents).sum, ir.OpSubtract: (*tangents).sum, ir.OpMultiply: (*tangents).product, ir.OpDotGeneral: (*tangents).product,
		ir.OpConvolution: (*tangents).product,
		ir.OpDivide:      (*tangents).quotient, ir.OpPower: (*tangents).power, ir.OpMaximum: (*tangents).extremum,
		ir.OpMinimum: (*tangents).extremum,
		ir.OpClamp:   (*tangents).clamp, ir.OpAtan2: (*tangents).atan2, ir.OpSelect: (*tangents).each, ir.OpConcatenate: (*tangents).each,
		ir.OpPad: (*tangents).each, ir.OpDynamicUpdateSlice: (*tangents).each, ir.OpScatter: (*tangents).scatter, ir.OpReduce: (*tangents).reduce,
		ir.OpReduceWindow: (*tangents).reduceWindow, ir.OpRemainder: (*tangents).remainder,
	}
	for _, kind := range []ir.Kind{ir.OpNegate, ir.OpConvert, ir.OpReducePrecision, ir.OpReshape, ir.OpTranspose, ir.OpBroadcastInDim,
		ir.OpReverse,
		ir.OpSlice, ir.OpDynamicSlice, ir.OpGather} {
		derivatives[kind] = (*tangents).first
	}
	for kind, factor := range factors {
		derivatives[kind] = func(j *tangents, op ir.OpID) ir.ValueID {
			x := j.m.Operand(op, 0)
			return j.times(j.of[x], factor(j, j.value(x), j.value(j.m.Result(op, 0))))
		}
	}
}

// factors hold the derivatives of elementwise functions of one operand: the factor of the tangent, from operand and
// result.
var factors = map[ir.Kind]func(j *tangents, x, y ir.ValueID) ir.ValueID{
	ir.OpExponential:         func(_ *tangents, _, y ir.ValueID) ir.ValueID { return y },
	ir.OpExponentialMinusOne: func(j *tangents, _, y ir.ValueID) ir.ValueID { return j.plus(y, 1) },
	ir.OpLog:                 func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.over(1, x) },
	ir.OpLogPlusOne:          func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.over(1, j.plus(x, 1)) },
	ir.OpTanh:                func(j *tangents, _, y ir.ValueID) ir.ValueID { return j.minus(1, j.times(y, y)) },
	ir.OpLogistic:            func(j *tangents, _, y ir.ValueID) ir.ValueID { return j.times(y, j.minus(1, y)) },
	ir.OpSqrt:                func(j *tangents, _, y ir.ValueID) ir.ValueID { return j.over(0.5, y) },
	ir.OpRsqrt:               func(j *tangents, x, y ir.ValueID) ir.ValueID { return j.scaled(-0.5, j.b.Binary(ir.OpDivide, y, x)) },
	ir.OpCbrt:                func(j *tangents, _, y ir.ValueID) ir.ValueID { return j.over(1.0/3, j.times(y, y)) },
	ir.OpSine:                func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.b.Unary(ir.OpCosine, x) },
	ir.OpCosine:              func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.b.Unary(ir.OpNegate, j.b.Unary(ir.OpSine, x)) },
	ir.OpTan:                 func(j *tangents, _, y ir.ValueID) ir.ValueID { return j.plus(j.times(y, y), 1) },
	ir.OpAbs:                 (*tangents).slope,
	ir.OpChloErf:             (*tangents).bell,
	ir.OpChloErfc:            func(j *tangents, x, y ir.ValueID) ir.ValueID { return j.negative(j.bell(x, y)) },
	ir.OpChloSquare:          func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.scaled(2, x) },
	ir.OpChloTan:             func(j *tangents, _, y ir.ValueID) ir.ValueID { return j.plus(j.times(y, y), 1) },
	ir.OpChloSinh:            func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.b.Unary(ir.OpChloCosh, x) },
	ir.OpChloCosh:            func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.b.Unary(ir.OpChloSinh, x) },
	ir.OpChloAsin:            (*tangents).arc,
	ir.OpChloAcos:            func(j *tangents, x, y ir.ValueID) ir.ValueID { return j.negative(j.arc(x, y)) },
	ir.OpChloAtan:            func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.over(1, j.plus(j.times(x, x), 1)) },
	ir.OpChloAsinh:           func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.b.Unary(ir.OpRsqrt, j.plus(j.times(x, x), 1)) },
	ir.OpChloAcosh: func(j *tangents, x, _ ir.ValueID) ir.ValueID {
		return j.b.Unary(ir.OpRsqrt, j.times(j.plus(x, -1), j.plus(x, 1)))
	},
	ir.OpChloAtanh: func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.over(1, j.times(j.minus(1, x), j.plus(x, 1))) },
	ir.OpChloErfInv: func(j *tangents, _, y ir.ValueID) ir.ValueID {
		return j.scaled(math.Sqrt(math.Pi)/2, j.b.Unary(ir.OpExponential, j.times(y, y)))
	},
	ir.OpChloLgamma:  func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.b.Unary(ir.OpChloDigamma, x) },
	ir.OpChloDigamma: func(j *tangents, x, _ ir.ValueID) ir.ValueID { return j.b.Binary(ir.OpChloPolygamma, j.like(x, 1), x) },
}

// like returns a constant of the type of a value.
func (j *tangents) like(x ir.ValueID, c float64) ir.ValueID {
	if x == 0 {
		return 0
	}
	return j.b.Constant(j.m.ValueType(x).DType, j.m.Shape(x), c)
}

func (j *tangents) times(x, y ir.ValueID) ir.ValueID          { return j.b.Binary(ir.OpMultiply, x, y) }
func (j *tangents) scaled(c float64, x ir.ValueID) ir.ValueID { return j.times(x, j.like(x, c)) }
func (j *tangents) plus(x ir.ValueID, c float64) ir.ValueID {
	return j.b.Binary(ir.OpAdd, x, j.like(x, c))
}
func (j *tangents) minus(c float64, x ir.ValueID) ir.ValueID {
	return j.b.Binary(ir.OpSubtract, j.like(x, c), x)
}
func (j *tangents) over(c float64, x ir.ValueID) ir.ValueID {
	return j.b.Binary(ir.OpDivide, j.like(x, c), x)
}
func (j *tangents) negative(x ir.ValueID) ir.ValueID { return j.b.Unary(ir.OpNegate, x) }

// total adds two tangents, either of which may be zero.
func (j *tangents) total(x, y ir.ValueID) ir.ValueID {
	if x == 0 || y == 0 {
		return x + y
	}
	return j.b.Binary(ir.OpAdd, x, y)
}

// redo writes an op over other operands.
func (j *tangents) redo(op ir.OpID, operands ...ir.ValueID) ir.ValueID {
	return j.b.Op(j.m.Kind(op), j.m.Type(j.m.Result(op, 0)), j.m.OpAttrs(op), operands...)
}

// first is the rule of ops that are linear in their first operand and have a derivative in no other.
func (j *tangents) first(op ir.OpID) ir.ValueID {
	x, ok := j.of[j.m.Operand(op, 0)]
	if !ok {
		return 0
	}
	return j.redo(op, append([]ir.ValueID{x}, lists.Map(j.m.Operands(op)[1:], j.value)...)...)
}

// each is the rule of ops that are linear in all operands of floats together.
func (j *tangents) each(op ir.OpID) ir.ValueID {
	var operands []ir.ValueID
	for i, v := range j.m.Operands(op) {
		if isFloat(j.m, v) && (i > 0 || j.m.Kind(op) != ir.OpSelect) {
			operands = append(operands, j.tangent(v))
		} else {
			operands = append(operands, j.value(v))
		}
	}
	return j.redo(op, operands...)
}

func (j *tangents) sum(op ir.OpID) ir.ValueID {
	x, y := j.of[j.m.Operand(op, 0)], j.of[j.m.Operand(op, 1)]
	if y != 0 && j.m.Kind(op) == ir.OpSubtract {
		if x != 0 {
			return j.redo(op, x, y)
		}
		y = j.negative(y)
	}
	return j.total(x, y)
}

// term returns what a function makes of the tangent of an operand, 0 where that has none.
func (j *tangents) term(op ir.OpID, operand int, of func(d ir.ValueID) ir.ValueID) ir.ValueID {
	if d, ok := j.of[j.m.Operand(op, operand)]; ok {
		return of(d)
	}
	return 0
}

// inFirst writes the op with a tangent for its first operand, in which it is linear.
func (j *tangents) inFirst(op ir.OpID) ir.ValueID {
	return j.term(op, 0, func(d ir.ValueID) ir.ValueID { return j.redo(op, d, j.value(j.m.Operand(op, 1))) })
}

// product is the rule of ops that are linear in each of two operands.
func (j *tangents) product(op ir.OpID) ir.ValueID {
	left := j.inFirst(op)
	right := j.term(op, 1, func(d ir.ValueID) ir.ValueID { return j.redo(op, j.value(j.m.Operand(op, 0)), d) })
	return j.total(left, right)
}

func (j *tangents) quotient(op ir.OpID) ir.ValueID {
	left := j.inFirst(op)
	right := j.term(op, 1, func(d ir.ValueID) ir.ValueID {
		y := j.value(j.m.Operand(op, 1))
		return j.times(d, j.negative(j.b.Binary(ir.OpDivide, j.value(j.m.Result(op, 0)), y)))
	})
	return j.total(left, right)
}

// power is the rule y·x^(y-1) for the base, zero where y is, and x^y·log x for the exponent.
func (j *tangents) power(op ir.OpID) ir.ValueID {
	x, y := j.m.Operand(op, 0), j.m.Operand(op, 1)
	left := j.term(op, 0, func(d ir.ValueID) ir.ValueID {
		e := j.value(y)
		isZero := j.b.Compare("EQ", e, j.like(e, 0))
		lower := j.b.Select(isZero, j.like(e, 1), j.plus(e, -1))
		return j.times(d, j.times(e, j.b.Binary(ir.OpPower, j.value(x), lower)))
	})
	right := j.term(op, 1, func(d ir.ValueID) ir.ValueID {
		base := j.value(x)
		isZero := j.b.Compare("EQ", base, j.like(base, 0))
		log := j.b.Unary(ir.OpLog, j.b.Select(isZero, j.like(base, 1), base))
		return j.times(d, j.times(log, j.value(j.m.Result(op, 0))))
	})
	return j.total(left, right)
}

// extremum passes on the tangent of the operand that is the result, half of each where they are equal.
func (j *tangents) extremum(op ir.OpID) ir.ValueID {
	var parts [2]ir.ValueID
	for i := range parts {
		x := j.m.Operand(op, i)
		d, ok := j.of[x]
		if !ok {
			continue
		}
		a, b := j.value(x), j.value(j.m.Operand(op, 1-i))
		wins := map[ir.Kind]string{ir.OpMaximum: "GT", ir.OpMinimum: "LT"}[j.m.Kind(op)]
		share := j.b.Select(j.b.Compare("EQ", a, b), j.like(a, 0.5), j.like(a, 0))
		parts[i] = j.times(d, j.b.Select(j.b.Compare(wins, a, b), j.like(a, 1), share))
	}
	return j.total(parts[0], parts[1])
}

// clamp passes on the tangent of the operand between the limits, and outside those of the limits. Where the lower limit
// is not below the upper one it has none, as in JAX.
func (j *tangents) clamp(op ir.OpID) ir.ValueID {
	low, x, high := j.m.Operand(op, 0), j.m.Operand(op, 1), j.m.Operand(op, 2)
	dims := j.m.Shape(x)
	spread := func(v ir.ValueID) ir.ValueID {
		if v != 0 && len(j.m.Shape(v)) < len(dims) {
			return j.b.Broadcast(v, dims)
		}
		return v
	}
	a, v, b := spread(j.value(low)), j.value(x), spread(j.value(high))
	pick := func(operand, where ir.ValueID) ir.ValueID {
		d, ok := j.of[operand]
		if !ok {
			return 0
		}
		return j.b.Select(where, spread(d), j.like(v, 0))
	}
	between := j.b.Binary(ir.OpAnd, j.b.Compare("GT", v, a), j.b.Compare("LT", v, b))
	below := j.b.Binary(ir.OpAnd, j.b.Compare("GT", a, v), j.b.Compare("LT", a, b))
	return j.total(j.total(pick(low, below), pick(x, between)), pick(high, j.b.Compare("LT", b, v)))
}

// atan2 is the rule (dy·x - dx·y)/(x²+y²).
func (j *tangents) atan2(op ir.OpID) ir.ValueID {
	y, x := j.value(j.m.Operand(op, 0)), j.value(j.m.Operand(op, 1))
	square := j.b.Binary(ir.OpAdd, j.times(x, x), j.times(y, y))
	left := j.term(op, 0, func(d ir.ValueID) ir.ValueID { return j.times(d, j.b.Binary(ir.OpDivide, x, square)) })
	right := j.term(op, 1, func(d ir.ValueID) ir.ValueID { return j.times(d, j.negative(j.b.Binary(ir.OpDivide, y, square))) })
	return j.total(left, right)
}

// scatter is the rule of sums, and of replacements of elements none of which is replaced twice.
func (j *tangents) scatter(op ir.OpID) ir.ValueID {
	m := j.m
	with := ir.OpAdd
	if !adds(m, op) {
		with = 0
	}
	if m.NumOperands(op) != 3 || with == 0 && !(replaces(m, op) && m.OpAttrs(op).Bool("unique_indices")) {
		j.unknown(op)
		return 0
	}
	return j.b.Folded(ir.OpScatter, m.Type(m.Result(op, 0)), m.OpAttrs(op), with, j.tangent(m.Operand(op, 0)), j.value(m.Operand(op, 1)),
		j.tangent(m.Operand(op, 2)))
}

// slope is the derivative of the absolute value, 1 at zero as in JAX.
func (j *tangents) slope(x, _ ir.ValueID) ir.ValueID {
	return j.b.Select(j.b.Compare("GE", x, j.like(x, 0)), j.like(x, 1), j.like(x, -1))
}

// arc is the derivative of the arcsine, 1/√(1-x²).
func (j *tangents) arc(x, _ ir.ValueID) ir.ValueID {
	return j.b.Unary(ir.OpRsqrt, j.times(j.minus(1, x), j.plus(x, 1)))
}

// remainder is the rule dx - trunc(x/y)·dy.
func (j *tangents) remainder(op ir.OpID) ir.ValueID {
	x, y := j.m.Operand(op, 0), j.m.Operand(op, 1)
	right := j.term(op, 1, func(d ir.ValueID) ir.ValueID {
		q := j.b.Binary(ir.OpDivide, j.value(x), j.value(y))
		whole := j.times(j.b.Unary(ir.OpSign, q), j.b.Unary(ir.OpFloor, j.b.Unary(ir.OpAbs, q)))
		return j.times(d, j.negative(whole))
	})
	return j.total(j.of[x], right)
}

// bell is the derivative of the error function, 2/√π·exp(-x²).
func (j *tangents) bell(x, _ ir.ValueID) ir.ValueID {
	return j.scaled(2/math.Sqrt(math.Pi), j.b.Unary(ir.OpExponential, j.negative(j.times(x, x))))
}

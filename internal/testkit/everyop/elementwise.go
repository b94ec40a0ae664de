package everyop

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var elementwiseOps = family{
	ir.OpClamp: (*drawing).clamp, ir.OpSelect: (*drawing).choose, ir.OpConvert: (*drawing).convert, ir.OpBitcastConvert: (*drawing).bitcast,
	ir.OpChloBroadcastSelect: (*drawing).broadcastSelect,
}

// exact are the elementwise ops whose floating-point results are exact.
var exact = []ir.Kind{ir.OpAbs, ir.OpCeil, ir.OpFloor, ir.OpImag, ir.OpNegate, ir.OpReal, ir.OpRoundNearestAfz, ir.OpRoundNearestEven,
	ir.OpSign, ir.OpMaximum, ir.OpMinimum, ir.OpComplex, ir.OpCompare, ir.OpIsFinite, ir.OpChloConj, ir.OpChloNextAfter, ir.OpChloIsInf,
	ir.OpChloIsPosInf, ir.OpChloIsNegInf}

// rounding are the ops that round to whole numbers.
var rounding = []ir.Kind{ir.OpCeil, ir.OpFloor, ir.OpRoundNearestAfz, ir.OpRoundNearestEven}

// alike says whether all systems compute the same bits where an elementwise op has operands of a type.
func alike(k ir.Kind, e dtype.Type) bool {
	if k.IsBroadcasting() {
		k = k.Plain()
	}
	switch {
	case Lacking(e):
		return k == ir.OpCompare
	case e == dtype.F8E3M4 && slices.Contains(rounding, k): // what they add to round is more than the type has
		return false
	case isComplex(e):
		return slices.Contains(exact, k) && !slices.Contains([]ir.Kind{ir.OpAbs, ir.OpSign, ir.OpMaximum, ir.OpMinimum}, k)
	case !isFloat(e):
		return k != ir.OpPower && !(e.Bits() < 8 && (k == ir.OpPopcnt || k == ir.OpChloMulhi))
	}
	return slices.Contains(exact, k)
}

// Lacking says whether a type of floats has neither infinities nor NaN, or neither zero nor signs: what stands for these is up to systems.
func Lacking(e dtype.Type) bool {
	return slices.Contains([]dtype.Type{dtype.F4E2M1FN, dtype.F6E2M3FN, dtype.F6E3M2FN, dtype.F8E8M0FNU}, e)
}

// takes says whether the tables of ops let an elementwise op have operands of a type.
func (d *drawing) takes(k ir.Kind, a ir.Attrs) func(dtype.Type) bool {
	block := d.m.DetachedBlock()
	return func(e dtype.Type) bool {
		x := d.m.AddBlockArg(block, d.m.TensorType(e))
		_, err := ir.Infer(d.m, k, slices.Repeat([]ir.ValueID{x}, k.MinOperands()), a)
		return err == nil
	}
}

func (d *drawing) elementwise(k ir.Kind) {
	a := d.elementAttrs(k)
	x := d.any(d.takes(k, a), 0, 4)
	of := classFor(k, d.typeOf(x), d.odds("a few units", 2))
	a = d.comparison(k, a, d.typeOf(x))
	given := of != anything || seesBits(a)
	if given {
		x = d.input(d.typeOf(x), d.m.Shape(x), of)
	}
	operands := []ir.ValueID{x}
	for len(operands) < k.MinOperands() {
		if given {
			operands = append(operands, d.input(d.typeOf(x), d.m.Shape(x), of))
		} else {
			operands = append(operands, d.like(d.m.Type(x)))
		}
	}
	op := d.emitOp(k, 0, a, operands...)
	d.differs(op)
}

// classFor says what the operands of an op are: any numbers, or where it is told so those of a few units, where functions differ most.
// Those of complex numbers have only these, as nobody agrees on the sides of branch cuts that zeros and subnormal numbers lie on.
func classFor(k ir.Kind, e dtype.Type, few bool) class {
	if k.IsBroadcasting() {
		k = k.Plain()
	}
	switch {
	case alike(k, e) || !isInexact(e):
		return anything
	case k == ir.OpChloZeta || k == ir.OpChloPolygamma:
		return above // peers add no more terms of zeta than lead from there to zero, so that the largest are missing
	case isComplex(e) || few:
		return plain
	case k == ir.OpAtan2 || k == ir.OpPower:
		return normal // XLA takes some subnormal operands of these for zeros of the other sign, or for other numbers
	case k == ir.OpChloLgamma || k == ir.OpChloDigamma:
		return normal // the evaluator's logarithm of subnormal numbers has up to five wrong digits
	}
	return anything
}

// differs notes the result of an elementwise op that not all systems compute alike.
func (d *drawing) differs(op ir.OpID) {
	if k := d.m.Kind(op); !alike(k, d.typeOf(d.m.Operand(op, 0))) {
		d.rounded[d.m.Result(op, 0)] = Rounding{k, d.typeOf(d.m.Operand(op, 0)), 1}
	}
}

// elementAttrs draws the attributes of an elementwise op that do not depend on types.
func (d *drawing) elementAttrs(k ir.Kind) (a ir.Attrs) {
	if k.Declares("exponent_bits") {
		a = attrs("exponent_bits", d.i32(d.between(1, 12, "exponent bits")), "mantissa_bits", d.i32(d.between(0, 60, "mantissa bits")))
	}
	if k.Declares("comparison_direction") {
		direction := d.enum("comparison_direction")
		if k.Dialect() == "chlo" {
			direction.Dialect = "chlo"
		}
		a = attrs("comparison_direction", direction)
	}
	if k.Declares("result_accuracy") && d.odds("accuracy", 3) {
		mode := pick(d, []string{"DEFAULT", "HIGHEST", "TOLERANCE"}, "accuracy")
		accuracy := &ir.ResultAccuracy{Mode: mode}
		if mode == "TOLERANCE" {
			accuracy.Ulps = d.between(1, 9, "ulps")
		}
		a = a.With("result_accuracy", accuracy)
	}
	return a
}

func (d *drawing) i32(v int64) ir.IntAttr {
	return ir.IntAttr{Value: v, Type: d.m.ScalarType(dtype.I32)}
}

// comparison adds a type of comparison that fits an element type.
func (d *drawing) comparison(k ir.Kind, a ir.Attrs, e dtype.Type) ir.Attrs {
	if !k.Declares("compare_type") || d.odds("no type of comparison", 3) {
		return a
	}
	kinds := map[dtype.Kind][]string{dtype.Bool: {"UNSIGNED"}, dtype.Signed: {"SIGNED"}, dtype.Unsigned: {"UNSIGNED"},
		dtype.Float: {"FLOAT", "TOTALORDER"}, dtype.Complex: {"FLOAT"}}[e.Kind()]
	return a.With("compare_type", ir.EnumAttr{Dialect: k.Dialect(), Enum: "comparison_type", Value: pick(d, kinds, "type of comparison")})
}

// seesBits says whether an op compares bits of floats, of which NaN may have any: those that ops made are up to who computes.
func seesBits(a ir.Attrs) bool { return a.Str("compare_type") == "TOTALORDER" }

// broadcasting draws an op of CHLO on operands of which one has fewer dimensions, or some of size one.
func (d *drawing) broadcasting(k ir.Kind) {
	a := d.elementAttrs(k)
	x := d.any(d.takes(k.Plain(), a), 0, 4) // the tables say nothing of others that have no types for it
	of := classFor(k, d.typeOf(x), d.odds("a few units", 2))
	a = d.comparison(k, a, d.typeOf(x))
	if of != anything || seesBits(a) {
		x = d.input(d.typeOf(x), d.m.Shape(x), of)
	}
	dims := d.m.Shape(x)
	kept := dims[d.between(0, int64(len(dims)), "dimensions that are missing"):]
	if d.odds("named", 2) {
		at := d.subset(len(dims), "named")
		a, kept = a.With("broadcast_dimensions", ir.Ints(at)), lists.Pick(dims, at)
	}
	y := d.input(d.typeOf(x), lists.Map(kept, d.orOne), of)
	operands := []ir.ValueID{x, y}
	if d.odds("swapped", 2) {
		operands = []ir.ValueID{y, x}
	}
	op := d.emitOp(k, 0, a, operands...)
	d.differs(op)
}

// orOne draws a size that can be broadcast to n.
func (d *drawing) orOne(n int64) int64 {
	if d.odds("repeated", 3) {
		return 1
	}
	return n
}

func (d *drawing) broadcastSelect(k ir.Kind) {
	x := d.any(isAny, 0, 3)
	smaller := func(e dtype.Type) ir.ValueID {
		dims := d.m.Shape(x)
		return d.input(e, lists.Map(dims[d.between(0, int64(len(dims)), "dimensions that are missing"):], d.orOne), anything)
	}
	operands := []ir.ValueID{x, smaller(d.typeOf(x))}
	if d.odds("swapped", 2) {
		slices.Reverse(operands)
	}
	d.emit(k, nil, append([]ir.ValueID{smaller(dtype.I1)}, operands...)...)
}

func (d *drawing) clamp(k ir.Kind) {
	x := d.any(isAny, 0, 4)
	bound := func() ir.ValueID {
		if d.odds("bound of all", 2) {
			return d.scalar(x, anything)
		}
		return d.like(d.m.Type(x))
	}
	v := d.emit(k, nil, bound(), x, bound())
	if e := d.typeOf(x); isComplex(e) || Lacking(e) { // which have no order that NaN has a place in, or no NaN
		d.rounded[v] = Rounding{k, e, 1}
	}
}

func (d *drawing) choose(k ir.Kind) {
	x := d.any(isAny, 0, 4)
	dims := d.m.Shape(x)
	if d.odds("one choice", 3) {
		dims = nil
	}
	d.emit(k, nil, d.like(d.m.TensorType(dtype.I1, dims...)), x, d.like(d.m.Type(x)))
}

// convert draws a conversion between any two types. XLA leaves out some to narrower floats, so that they count as roundings.
func (d *drawing) convert(k ir.Kind) {
	x := d.any(isAny, 0, 4)
	to := d.drawType(isAny)
	v := d.typed(k, d.m.TensorType(to, d.m.Shape(x)...), nil, x)
	if isInexact(to) || Lacking(d.typeOf(x)) {
		d.rounded[v] = Rounding{k, d.typeOf(x), 1}
	}
}

// bitcast draws a bitcast between types of one width, or of widths of which one divides the other.
func (d *drawing) bitcast(k ir.Kind) {
	from := d.drawType(isAny)
	to := d.drawType(func(e dtype.Type) bool {
		wide, narrow := max(e.Bits(), from.Bits()), min(e.Bits(), from.Bits())
		return isComplex(e) == isComplex(from) && wide%narrow == 0
	})
	dims := d.shape(0, 3)
	out := dims
	switch a, b := int64(from.Bits()), int64(to.Bits()); {
	case a < b:
		dims = append(slices.Clone(out), b/a)
	case a > b:
		out = append(slices.Clone(dims), a/b)
	}
	d.typed(k, d.m.TensorType(to, out...), nil, d.input(from, dims, anything))
}

package ir

import (
	"cmp"
	"slices"

	"autoshard/ir/dtype"
)

// classes of element types, as bits.
type elemClass uint8

const (
	boolElem elemClass = 1 << iota
	signedElem
	unsignedElem
	floatElem
	complexElem
	intElem = signedElem | unsignedElem
)

func classOf(t *Type) elemClass {
	if t.DType == dtype.Invalid {
		return 0
	}
	return [...]elemClass{dtype.Bool: boolElem, dtype.Signed: signedElem, dtype.Unsigned: unsignedElem, dtype.Float: floatElem,
		dtype.Complex: complexElem}[t.DType.Kind()]
}

// Takes says whether the row of an elementwise op lets its operands have elements of a type; of an op of CHLO that broadcasts its
// operands, the row of what it is then.
func (k Kind) Takes(e dtype.Type) bool {
	if k.IsBroadcasting() {
		k = k.Plain()
	}
	allowed := opTable[k].elems
	return allowed == 0 || classOf(elemOf(e))&allowed != 0
}

// checkClasses checks the element types of all operands.
func (f *inference) checkClasses() error {
	allowed := opTable[f.kind].elems
	for i := range f.operands {
		t := f.operand(i)
		if allowed == 0 || classOf(t)&allowed != 0 {
			continue
		}
		if t.Quant == 0 || f.kind.Dialect() != "stablehlo" { // CHLO takes no quantized elements
			return badType("operand #%d must be a tensor of %s values, but got '%s'", i, allowed, f.text(i))
		}
	}
	return nil
}

// String names the classes for a message.
func (c elemClass) String() string {
	text := ""
	for _, part := range []struct {
		bits elemClass
		name string
	}{{boolElem, "i1"}, {intElem, "integer"}, {floatElem, "float"}, {complexElem, "complex"}} {
		if c&part.bits != 0 {
			if text != "" {
				text += " or "
			}
			text += part.name
		}
	}
	return text
}

// agree says whether two sizes may be equal: a dynamic one fits any.
func agree(a, b int64) bool { return a == b || a == Dynamic || b == Dynamic }

// sameShape says whether two shapes may be equal.
func sameShape(a, b []int64) bool { return slices.EqualFunc(a, b, agree) }

// sameElem says whether two tensors have one element type; quantized ones are compared by their storage.
func sameElem(a, b *Type) bool {
	if a.Quant != 0 || b.Quant != 0 {
		return a.Quant == b.Quant || a.DType == b.DType || a.DType == dtype.Invalid || b.DType == dtype.Invalid
	}
	return a.DType == b.DType
}

// quantized says whether the element type is a quantized one.
func (t *Type) quantized() bool { return t.Quant != 0 }

// elemOf returns a scalar of an element type.
func elemOf(e dtype.Type) *Type { return &Type{Kind: TensorKind, DType: e} }

// sameShapes checks that all operands have one shape.
func (f *inference) sameShapes() error {
	for i := range f.operands {
		if !sameShape(f.operand(0).Dims, f.operand(i).Dims) {
			return f.differ(i)
		}
	}
	return nil
}

// differ is the error of two operands that should have one type.
func (f *inference) differ(i int) error {
	return badType("requires compatible types for all operands and results: operand #0 is '%s', operand #%d is '%s'", f.text(0), i, f.text(i))
}

// inferElementwise is the rule of ops whose operands and result have one type; quantized ones may differ in their elements.
func inferElementwise(f *inference) error {
	if err := f.checkClasses(); err != nil {
		return err
	}
	if err := f.sameShapes(); err != nil {
		return err
	}
	first := f.operand(0)
	for i := range f.operands {
		if t := f.operand(i); !t.quantized() && !first.quantized() && !sameElem(first, t) {
			return f.differ(i)
		}
	}
	return f.alike()
}

// realPart returns the element type of the parts of complex numbers, any other type itself.
func realPart(t *Type) *Type {
	if classOf(t) == complexElem {
		return elemOf(t.DType.Part())
	}
	return t
}

// complexOf returns the element type of complex numbers with parts of a type, Invalid where there are none.
func complexOf(part dtype.Type) *Type { return elemOf(dtype.ComplexOf(part)) }

// inferPart is the rule of ops that make real numbers of complex ones.
func inferPart(f *inference) error {
	return cmp.Or(f.checkClasses(), f.shaped(realPart(f.operand(0)), 0))
}

// inferPredicate is the rule of ops that say something of each element.
func inferPredicate(f *inference) error {
	return cmp.Or(f.checkClasses(), f.shaped(elemOf(dtype.I1), 0))
}

func inferReducePrecision(f *inference) error {
	a := f.attrs
	if a.Int("exponent_bits", 1) < 1 {
		return badAttr("exponent_bits must be at least 1")
	}
	if a.Int("mantissa_bits", 0) < 0 {
		return badAttr("mantissa_bits must be at least 0")
	}
	return inferElementwise(f)
}

func inferComplex(f *inference) error {
	for i := range 2 {
		if complexOf(f.operand(i).DType).DType == dtype.Invalid {
			return badType("operand #%d must be a tensor of f32 or f64 values, but got '%s'", i, f.text(i))
		}
	}
	a, b := f.operand(0), f.operand(1)
	if a.DType != b.DType || !sameShape(a.Dims, b.Dims) {
		return badType("requires the same type for both operands: '%s' vs '%s'", f.text(0), f.text(1))
	}
	return f.shaped(complexOf(a.DType), 0)
}

func inferCompare(f *inference) error {
	a, b := f.operand(0), f.operand(1)
	if !sameElem(a, b) || !sameShape(a.Dims, b.Dims) {
		return badType("requires compatible types for both operands: '%s' vs '%s'", f.text(0), f.text(1))
	}
	if !slices.Contains([]string{"EQ", "NE", "GE", "GT", "LE", "LT"}, f.attrs.Str("comparison_direction")) {
		return badAttr("requires attribute 'comparison_direction'")
	}
	return f.shaped(elemOf(dtype.I1), 0)
}

func inferClamp(f *inference) error {
	x := f.operand(1)
	for _, i := range []int{0, 2} {
		b := f.operand(i)
		if !sameElem(b, x) {
			return badType("requires the same element type for all operands: '%s' vs '%s'", f.text(i), f.text(1))
		}
		if len(b.Dims) != 0 && !sameShape(b.Dims, x.Dims) {
			return badType("bound #%d shape %s is not scalar and is not compatible to operand shape %s", i, f.text(i), f.text(1))
		}
	}
	return f.same(f.operands[1])
}

func inferSelect(f *inference) error {
	pred, a, b := f.operand(0), f.operand(1), f.operand(2)
	if pred.DType != dtype.I1 || pred.quantized() {
		return badType("operand #0 must be a tensor of i1 values, but got '%s'", f.text(0))
	}
	if !sameElem(a, b) || !sameShape(a.Dims, b.Dims) {
		return badType("requires compatible types for non-predicate operands: '%s' vs '%s'", f.text(1), f.text(2))
	}
	if len(pred.Dims) != 0 && !sameShape(pred.Dims, a.Dims) {
		return badType("requires the same shape for all operands: predicate '%s' vs '%s'", f.text(0), f.text(1))
	}
	return f.same(f.operands[1])
}

package modeljson

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// constant reads the value of a constant of a type: a number or boolean for all elements, nested lists, {"hex": BYTES}
// with the elements row-major and little-endian, or {"resource": NAME}.
func (r *reader) constant(v *node, id ir.TypeID) *ir.Dense {
	if text, ok := mlirText(v); ok {
		a := r.mlirAttr(text)
		d, ok := a.(*ir.Dense)
		if a != nil && !ok {
			r.fail(v.at, diag.BadConstant, "value of a constant must be a dense<...> attribute")
		}
		return d
	}
	t := r.m.TypeOf(id)
	if !t.IsStatic() || t.Quant != 0 {
		r.fail(v.at, diag.BadConstant, "constant has type %s, it must be a tensor of known shape", r.typeText(id))
		return nil
	}
	switch v.kind {
	case objectKind:
		return r.objectConstant(v, id)
	case arrayKind:
		if t.DType.Kind() == dtype.Complex && len(v.elems) == 2 && v.elems[0].kind != arrayKind {
			break // one element, not a list of them
		}
		data, ok := r.elements(nil, v, t.Dims, t.DType)
		if !ok {
			return nil
		}
		return r.m.Dense(id, data)
	}
	data, ok := r.element(nil, v, t.DType)
	if !ok {
		return nil
	}
	return &ir.Dense{Type: id, Data: data, Splat: true}
}

// objectConstant reads {"hex": BYTES} or {"resource": NAME}.
func (r *reader) objectConstant(v *node, id ir.TypeID) *ir.Dense {
	if !r.object(v, "a constant's value", "hex", "resource") {
		return nil
	}
	if len(v.keys) != 1 || v.elems[0].kind != stringKind {
		r.fail(v.at, diag.BadConstant, "value must be a number, a boolean, nested lists, {\"hex\": BYTES} or {\"resource\": NAME}")
		return nil
	}
	text := &v.elems[0]
	if v.keys[0].name == "resource" {
		d := &ir.Dense{Type: id, Resource: text.text}
		r.fill(text, d)
		return d
	}
	return r.hexConstant(text, id)
}

func (r *reader) hexConstant(h *node, id ir.TypeID) *ir.Dense {
	data, err := hex.DecodeString(strings.TrimPrefix(h.text, "0x"))
	if err != nil {
		r.fail(h.at, diag.BadConstant, "value is not hexadecimal: it needs two digits for each byte")
		return nil
	}
	t := r.m.TypeOf(id)
	size := t.DType.Bytes()
	if want := t.Bytes(); int64(len(data)) != want && (len(data) != size || want == 0) {
		r.fail(h.at, diag.BadConstant, "value has %d bytes, a constant of type %s needs %d, or %d for all elements alike",
			len(data), r.typeText(id), want, size)
		return nil
	}
	if t.DType == dtype.I1 {
		for _, b := range data {
			if b > 1 {
				r.fail(h.at, diag.BadConstant, "value has a byte %d, elements of i1 are bytes 0 or 1", b)
				return nil
			}
		}
	}
	return r.m.Dense(id, data)
}

// elements appends the elements of nested lists of a shape.
func (r *reader) elements(data []byte, v *node, dims []int64, e dtype.Type) ([]byte, bool) {
	if len(dims) == 0 {
		return r.element(data, v, e)
	}
	if v.kind != arrayKind || int64(len(v.elems)) != dims[0] {
		found := v.kind.String()
		if v.kind == arrayKind {
			found = "one of " + strconv.Itoa(len(v.elems))
		}
		r.fail(v.at, diag.BadConstant, "expected a list of %d elements, found %s", dims[0], found)
		return nil, false
	}
	ok := true
	for i := range v.elems {
		if i%listenEvery == 0 && r.ctx.Err() != nil {
			return nil, false
		}
		if data, ok = r.elements(data, &v.elems[i], dims[1:], e); !ok {
			return nil, false
		}
	}
	return data, true
}

// element appends one element.
func (r *reader) element(data []byte, v *node, e dtype.Type) ([]byte, bool) {
	switch e.Kind() {
	case dtype.Complex:
		if v.kind != arrayKind || len(v.elems) != 2 {
			r.fail(v.at, diag.BadConstant, "complex element must be a list [re, im]")
			return nil, false
		}
		for i := range v.elems {
			bits, ok := r.float(&v.elems[i], e.Part())
			if !ok {
				return nil, false
			}
			data = dtype.AppendBits(data, e.Part(), bits)
		}
		return data, true
	case dtype.Float:
		bits, ok := r.float(v, e)
		return dtype.AppendBits(data, e, bits), ok
	}
	bits, ok := r.integerElement(v, e)
	return dtype.AppendBits(data, e, bits), ok
}

// float reads a number, "Infinity", "-Infinity", "NaN", or the bits in hexadecimal.
func (r *reader) float(v *node, e dtype.Type) (uint64, bool) {
	text := v.text
	switch {
	case v.kind == numberKind:
		text = floatLiteral(text)
	case v.kind == stringKind && text == "Infinity":
		return r.special(v, e, math.Inf(1))
	case v.kind == stringKind && text == "-Infinity":
		return r.special(v, e, math.Inf(-1))
	case v.kind == stringKind && text == "NaN":
		return r.special(v, e, math.NaN())
	case v.kind != stringKind || !strings.HasPrefix(text, "0x"):
		r.fail(v.at, diag.BadConstant, "element of type %s must be a number, \"Infinity\", \"-Infinity\", \"NaN\", or its bits as \"0x...\"", e)
		return 0, false
	}
	bits, err := dtype.ParseFloat(e, text)
	if err != nil {
		r.failWith(v.at, err)
		return 0, false
	}
	if d := dtype.Decode(e, bits); v.kind == numberKind && (math.IsInf(d, 0) || math.IsNaN(d)) {
		r.fail(v.at, diag.BadConstant, "%s is out of the range of %s", v.text, e)
		return 0, false
	}
	return bits, true
}

func (r *reader) special(v *node, e dtype.Type, want float64) (uint64, bool) {
	bits := dtype.Encode(e, want)
	if got := dtype.Decode(e, bits); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		r.fail(v.at, diag.BadConstant, "type %s has no %s", e, v.text)
		return 0, false
	}
	return bits, true
}

// floatLiteral turns a JSON number into MLIR's form, which has a decimal point.
func floatLiteral(text string) string {
	if strings.Contains(text, ".") {
		return text
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		return text[:e] + ".0" + text[e:]
	}
	return text + ".0"
}

// integerElement reads a boolean, a whole number, or either a decimal or hexadecimal in quotes.
func (r *reader) integerElement(v *node, e dtype.Type) (uint64, bool) {
	if e == dtype.I1 && v.kind == boolKind {
		if v.text == "true" {
			return 1, true
		}
		return 0, true
	}
	if v.kind != numberKind && v.kind != stringKind {
		r.fail(v.at, diag.BadConstant, "element of type %s must be a whole number", e)
		return 0, false
	}
	low, high := dtype.IntRange(e)
	text := v.text
	if digits, ok := strings.CutPrefix(text, "0x"); ok && v.kind == stringKind {
		bits, err := strconv.ParseUint(digits, 16, 64)
		if err == nil && (e.Bits() == 64 || bits>>e.Bits() == 0) {
			return bits, true
		}
	} else if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		if u <= high {
			return u, true
		}
	} else if i, ok := wholeNumber(text); ok && i >= low && (i < 0 || uint64(i) <= high) {
		return uint64(i) & (math.MaxUint64 >> (64 - e.Bits())), true
	}
	r.fail(v.at, diag.BadConstant, "%s is not a whole number between %d and %d of type %s", v.text, low, high, e)
	return 0, false
}

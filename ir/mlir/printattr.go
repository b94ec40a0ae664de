package mlir

import (
	"math"
	"slices"
	"strconv"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// typing says whether numbers and constants print their type.
type typing uint8

const (
	typed   typing = iota // always
	inArray               // except i64 and f64
	untyped               // never
)

// attrDict prints the attributes of an op that are not hidden, with its shardings among them.
func (pr *printer) attrDict(op ir.OpID, hidden ...string) {
	attrs := pr.m.OpAttrs(op)
	sharded := pr.opSharding(op)
	if len(attrs) == 0 && !sharded {
		return
	}
	first := true
	begin := func() {
		if first {
			pr.str(" {")
			first = false
		} else {
			pr.str(", ")
		}
	}
	sharding := func() {
		begin()
		pr.str("sdy.sharding = #sdy.sharding_per_value<[")
		pr.resultShardings(op)
		pr.str("]>")
		sharded = false
	}
	for i := range attrs {
		if slices.Contains(hidden, attrs[i].Name) || isDefaultAccuracy(attrs[i].Value) {
			continue
		}
		if sharded && attrs[i].Name > shardingAttr {
			sharding()
		}
		begin()
		pr.entry(&attrs[i])
	}
	if sharded {
		sharding()
	}
	if !first {
		pr.byte('}')
	}
}

// isDefaultAccuracy says whether the attribute is the accuracy that every op has.
func isDefaultAccuracy(a ir.Attr) bool {
	r, ok := a.(*ir.ResultAccuracy)
	return ok && *r == ir.ResultAccuracy{Mode: "DEFAULT"}
}

// dict prints a space and { … }.
func (pr *printer) dict(a ir.Attrs) {
	pr.byte(' ')
	pr.dictBody(a)
}

func (pr *printer) dictBody(a ir.Attrs) {
	pr.byte('{')
	for i := range a {
		if i > 0 {
			pr.str(", ")
		}
		pr.entry(&a[i])
	}
	pr.byte('}')
}

func (pr *printer) entry(e *ir.NamedAttr) {
	if isBareName(e.Name) {
		pr.str(e.Name)
	} else {
		pr.quoted(e.Name)
	}
	if _, unit := e.Value.(ir.UnitAttr); unit {
		return
	}
	pr.str(" = ")
	pr.attr(e.Value, typed)
}

func isBareName(s string) bool {
	if s == "" || classes[s[0]]&classLetter == 0 && s[0] != '_' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if classes[s[i]]&classIdent == 0 {
			return false
		}
	}
	return true
}

// quoted prints a string literal.
func (pr *printer) quoted(s string) { pr.out = subaxis.AppendQuoted(pr.out, s) }

// attr prints an attribute.
func (pr *printer) attr(a ir.Attr, t typing) {
	switch v := a.(type) {
	case nil:
		pr.str("<<null>>")
	case ir.UnitAttr:
		pr.str("unit")
	case ir.BoolAttr:
		pr.str(strconv.FormatBool(bool(v)))
	case ir.IntAttr:
		pr.intAttr(v, t)
	case ir.FloatAttr:
		pr.floatAttr(v, t)
	case ir.StringAttr:
		pr.quoted(string(v))
	case ir.ArrayAttr:
		pr.array(v)
	case ir.DictAttr:
		pr.dictBody(ir.Attrs(v))
	case ir.TypeAttr:
		pr.typ(ir.TypeID(v))
	case ir.SymbolAttr:
		for i, name := range v {
			if i > 0 {
				pr.str("::")
			}
			pr.byte('@')
			pr.str(ir.FormatSymbol(name))
		}
	case ir.LocAttr:
		pr.locAttr(ir.LocID(v))
	case ir.EnumAttr:
		pr.enumAttr(v)
	case ir.OpaqueAttr:
		pr.opaqueAttr(string(v))
	default:
		pr.constantAttr(a, t)
	}
}

func (pr *printer) array(v ir.ArrayAttr) {
	pr.byte('[')
	each(pr, v, func(e ir.Attr) { pr.attr(e, inArray) })
	pr.byte(']')
}

// opaqueAttr prints the text of an attribute; affine maps print their alias.
func (pr *printer) opaqueAttr(text string) {
	if alias, ok := pr.maps[text]; ok {
		pr.str(alias)
		return
	}
	pr.str(text)
}

func (pr *printer) intAttr(v ir.IntAttr, t typing) {
	row := pr.m.TypeOf(v.Type)
	if row.Kind == ir.ScalarKind && row.DType.Kind() == dtype.Unsigned {
		pr.out = strconv.AppendUint(pr.out, uint64(v.Value), 10)
	} else {
		pr.int(v.Value)
	}
	if t == untyped || t == inArray && row.Kind == ir.ScalarKind && row.DType == dtype.I64 {
		return
	}
	pr.str(" : ")
	pr.typ(v.Type)
}

func (pr *printer) floatAttr(v ir.FloatAttr, t typing) {
	e := pr.m.TypeOf(v.Type).DType
	pr.out = dtype.AppendFloat(pr.out, e, v.Bits)
	if t == untyped || t == inArray && e == dtype.F64 {
		return
	}
	pr.str(" : ")
	pr.typ(v.Type)
}

// enumAttr prints #stablehlo<precision HIGH>; result_accuracy_mode has a name of its own, Shardy's are integers.
func (pr *printer) enumAttr(v ir.EnumAttr) {
	switch {
	case v.Enum == "result_accuracy_mode":
		pr.str("#stablehlo.result_accuracy_mode<" + v.Value + ">")
	case v.Dialect == "sdy":
		pr.int(enumIndex(v))
		pr.str(" : i32")
	default:
		pr.str("#" + v.Dialect + "<" + v.Enum + " " + v.Value + ">")
	}
}

func enumIndex(v ir.EnumAttr) int64 {
	return int64(max(0, slices.Index(ir.Enums[v.Enum].Cases, v.Value)))
}

// enumValue returns the case of an enum.
func enumValue(a ir.Attr) string {
	e, _ := a.(ir.EnumAttr)
	return e.Value
}

func (pr *printer) intList(a ir.Attr) {
	v, _ := a.(ir.Ints)
	pr.ints(v)
}

func (pr *printer) precisions(a ir.Attr) {
	list, _ := a.(ir.ArrayAttr)
	pr.byte('[')
	each(pr, list, func(e ir.Attr) { pr.str(enumValue(e)) })
	pr.byte(']')
}

// constantAttr prints arrays of numbers, constants, and the attributes of the dialects.
func (pr *printer) constantAttr(a ir.Attr, t typing) {
	switch v := a.(type) {
	case ir.Ints:
		pr.str("array<i64")
		for i, x := range v {
			pr.str(map[bool]string{true: ": ", false: ", "}[i == 0])
			pr.int(x)
		}
		pr.byte('>')
	case ir.Bools:
		pr.str("array<i1")
		for i, x := range v {
			pr.str(map[bool]string{true: ": ", false: ", "}[i == 0])
			pr.str(strconv.FormatBool(x))
		}
		pr.byte('>')
	case *ir.DenseArray:
		pr.denseArray(v)
	case *ir.Dense:
		pr.dense(v, t)
	default:
		pr.dialectAttr(a)
	}
}

func (pr *printer) denseArray(v *ir.DenseArray) {
	pr.str("array<")
	pr.typ(v.Elem)
	e := pr.m.TypeOf(v.Elem).DType
	n := max(1, e.Bytes())
	for i := 0; i+n <= len(v.Data); i += n {
		pr.str(map[bool]string{true: ": ", false: ", "}[i == 0])
		pr.element(e, v.Data[i:i+n])
	}
	pr.byte('>')
}

// dense prints dense<…> with its type.
func (pr *printer) dense(v *ir.Dense, t typing) {
	if v.Resource != "" {
		pr.str("dense_resource<")
		if isBareName(v.Resource) {
			pr.str(v.Resource)
		} else {
			pr.quoted(v.Resource)
		}
		pr.byte('>')
	} else {
		pr.str("dense<")
		pr.elements(v)
		pr.byte('>')
	}
	if t != untyped {
		pr.str(" : ")
		pr.typ(v.Type)
	}
}

// hexElements is the number of elements above which constants are written as bytes.
const hexElements = 100

// elements prints what stands inside dense<…> (specification: stablehlo.md section 1.6).
func (pr *printer) elements(v *ir.Dense) {
	row := pr.m.TypeOf(v.Type)
	size := row.DType.Bytes()
	switch {
	case v.Splat:
		pr.element(row.DType, v.Data)
	case len(v.Data) == 0 || size == 0:
	case allSame(v.Data, size):
		pr.element(row.DType, v.Data[:size])
	case len(v.Data)/size > hexElements:
		pr.hexElements(v.Data)
	default:
		pr.nestedElements(row.DType, row.Dims, v.Data)
	}
}

func (pr *printer) hexElements(data []byte) {
	const digits = "0123456789ABCDEF"
	const piece = 1 << 20 // bytes between looks at the context
	pr.str(`"0x`)
	pr.out = slices.Grow(pr.out, 2*len(data))
	for part := range slices.Chunk(data, piece) {
		if !pr.look() {
			return
		}
		for _, b := range part {
			pr.out = append(pr.out, digits[b>>4], digits[b&15])
		}
	}
	pr.byte('"')
}

func (pr *printer) nestedElements(e dtype.Type, dims []int64, data []byte) {
	if len(dims) == 0 {
		pr.element(e, data)
		return
	}
	n := int(dims[0])
	step := len(data) / n
	pr.byte('[')
	for i := range n {
		if i > 0 {
			pr.str(", ")
		}
		pr.nestedElements(e, dims[1:], data[i*step:(i+1)*step])
	}
	pr.byte(']')
}

// element prints one element of a constant.
func (pr *printer) element(e dtype.Type, data []byte) {
	bits := dtype.LoadBits(data)
	switch e.Kind() {
	case dtype.Complex:
		part := e.Part()
		pr.byte('(')
		pr.element(part, data[:part.Bytes()])
		pr.byte(',')
		pr.element(part, data[part.Bytes():])
		pr.byte(')')
	case dtype.Bool:
		pr.str(strconv.FormatBool(bits&1 != 0))
	case dtype.Float:
		pr.out = dtype.AppendFloat(pr.out, e, bits)
	case dtype.Unsigned:
		pr.out = strconv.AppendUint(pr.out, bits&(math.MaxUint64>>(64-e.Bits())), 10)
	default:
		shift := 64 - e.Bits()
		pr.int(int64(bits) << shift >> shift)
	}
}

// isInteger says whether the elements of a tensor are integers or booleans.
func isInteger(t *ir.Type) bool {
	k := t.DType.Kind()
	return t.DType != dtype.Invalid && (k == dtype.Bool || k == dtype.Signed || k == dtype.Unsigned)
}

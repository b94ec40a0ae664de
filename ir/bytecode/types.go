package bytecode

import (
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// builtinTypes are the types of the builtin dialect (specification: bytecode.md section A.6.2).
var builtinTypes = append([]form{
	newForm(0, "integer", codec.varint, (*decoder).integerType),
	newForm(2, "function", moveFunction, (*decoder).functionType),
	newForm(9, "complex", typeOnly, (*decoder).complexType),
	newForm(10, "memref", moveMemref, (*decoder).memrefType),
	newForm(11, "memref with memory space", moveMemrefIn, (*decoder).memrefType),
	newForm(13, "ranked tensor", moveTensor, (*decoder).tensorType),
	newForm(14, "ranked tensor with encoding", moveEncodedTensor, (*decoder).tensorType),
	newForm(15, "tuple", typeList, (*decoder).tupleType),
	newForm(16, "unranked memref", typeOnly, func(d *decoder, v ir.TypeID) any { return d.unrankedMemref(spaceType{elem: v}) }),
	newForm(17, "unranked memref with memory space", moveSpace, (*decoder).unrankedMemref),
	newForm(18, "unranked tensor", typeOnly, (*decoder).unrankedTensor),
	newForm(19, "vector", moveVector, (*decoder).vectorType),
	newForm(20, "scalable vector", moveScalableVector, (*decoder).vectorType),
}, namedTypes(map[uint64]string{1: "index", 3: "bf16", 4: "f16", 5: "f32", 6: "f64", 7: "f80", 8: "f128", 12: "none", 21: "tf32",
	22: "f8E5M2", 23: "f8E4M3", 24: "f8E4M3FN", 25: "f8E5M2FNUZ", 26: "f8E4M3FNUZ", 27: "f8E4M3B11FNUZ", 28: "f8E3M4",
	29: "f4E2M1FN", 30: "f6E2M3FN", 31: "f6E3M2FN", 32: "f8E8M0FNU"})...)

// stablehloTypes are the types of StableHLO.
var stablehloTypes = append([]form{
	newForm(1, "future", typeList, (*decoder).futureType),
}, namedTypes(map[uint64]string{0: "!stablehlo.token"})...)

// namedTypes are the forms of types without fields. Their name is their text.
func namedTypes(names map[uint64]string) []form {
	var out []form
	for code, name := range names {
		out = append(out, newForm(code, name, none[struct{}], func(d *decoder, _ struct{}) any { return d.parseType(name) }))
	}
	return out
}

const (
	signless = iota
	signed
	unsigned
)

// integerType is of a width and a signedness.
func (d *decoder) integerType(v uint64) any {
	width, prefix := v>>2, ""
	switch v & 3 {
	case signed:
		prefix = "s"
	case unsigned:
		prefix = "u"
	case signless:
	default:
		d.invalid("integer type has an unknown signedness")
	}
	const maxWidth = 1<<24 - 1
	if width == 0 || width > maxWidth {
		d.invalid("integer type has a width of " + strconv.FormatUint(width, 10) + " bits")
		return ir.TypeID(0)
	}
	return d.parseType(prefix + "i" + strconv.FormatUint(width, 10))
}

type functionType struct{ inputs, results []ir.TypeID }

func moveFunction(c codec, v *functionType) { move(c, &v.inputs, &v.results) }

func (d *decoder) functionType(v functionType) any {
	return d.m.InternType(ir.Type{Kind: ir.FunctionKind, Elems: append(v.inputs, v.results...), Inputs: len(v.inputs)})
}

func (d *decoder) tupleType(v []ir.TypeID) any {
	return d.m.InternType(ir.Type{Kind: ir.TupleKind, Elems: v})
}

func (d *decoder) complexType(v ir.TypeID) any {
	return d.parseType("complex<" + d.m.FormatType(v) + ">")
}

func (d *decoder) futureType(v []ir.TypeID) any {
	return d.parseType("!stablehlo.future<" + lists.Joined(v, d.m.FormatType) + ">")
}

// tensorType is a tensor with its element type and, in encoded ones, an attribute.
type tensorType struct {
	encoding ir.Attr
	dims     []int64
	elem     ir.TypeID
	unranked bool
}

func moveTensor(c codec, v *tensorType) { move(c, &v.dims, &v.elem) }

func moveEncodedTensor(c codec, v *tensorType) { move(c, &v.encoding, &v.dims, &v.elem) }

func (d *decoder) tensorType(v tensorType) any {
	t := ir.Type{Kind: ir.TensorKind, Dims: v.dims, Unranked: v.unranked}
	if len(v.dims) == 0 {
		t.Dims = nil
	}
	if v.encoding != nil {
		t.Encoding = mlir.FormatAttr(d.m, v.encoding)
	}
	for _, n := range v.dims {
		if n < 0 && n != ir.Dynamic {
			d.invalid("tensor has a dimension of size " + strconv.FormatInt(n, 10))
		}
	}
	if !d.m.SetElement(&t, v.elem) {
		d.invalid("invalid tensor element type: '" + d.m.FormatType(v.elem) + "'")
	}
	if !t.IsAddressable() {
		d.invalid("tensor type has more than 2^56 elements")
	}
	return d.m.InternType(t)
}

func (d *decoder) unrankedTensor(elem ir.TypeID) any {
	return d.tensorType(tensorType{elem: elem, unranked: true})
}

// memrefType is kept as text.
type memrefType struct {
	space  ir.Attr
	dims   []int64
	elem   ir.TypeID
	layout ir.Attr
}

func moveMemref(c codec, v *memrefType) { move(c, &v.dims, &v.elem, &v.layout) }

func moveMemrefIn(c codec, v *memrefType) { move(c, &v.space, &v.dims, &v.elem, &v.layout) }

func (d *decoder) memrefType(v memrefType) any {
	text := "memref<" + dimsText(v.dims, nil) + d.m.FormatType(v.elem)
	if v.layout != nil && v.layout != ir.Attr(identityMap(len(v.dims))) {
		text += ", " + mlir.FormatAttr(d.m, v.layout)
	}
	return d.parseType(text + d.spaceText(v.space) + ">")
}

// spaceText returns a memory space behind a comma, as MLIR writes it: without the type of an i64.
func (d *decoder) spaceText(space ir.Attr) string {
	if space == nil {
		return ""
	}
	return ", " + strings.TrimSuffix(mlir.FormatAttr(d.m, space), " : i64")
}

type spaceType struct {
	space ir.Attr
	elem  ir.TypeID
}

func moveSpace(c codec, v *spaceType) { move(c, &v.space, &v.elem) }

func (d *decoder) unrankedMemref(v spaceType) any {
	return d.parseType("memref<*x" + d.m.FormatType(v.elem) + d.spaceText(v.space) + ">")
}

type vectorType struct {
	scalable []bool
	dims     []int64
	elem     ir.TypeID
}

func moveVector(c codec, v *vectorType) { move(c, &v.dims, &v.elem) }

func moveScalableVector(c codec, v *vectorType) {
	list(c, &v.scalable, codec.flag)
	moveVector(c, v)
}

func (d *decoder) vectorType(v vectorType) any {
	return d.parseType("vector<" + dimsText(v.dims, v.scalable) + d.m.FormatType(v.elem) + ">")
}

// dimsText returns 2x?x, with brackets around scalable dimensions.
func dimsText(dims []int64, scalable []bool) string {
	var b strings.Builder
	for i, n := range dims {
		text := strconv.FormatInt(n, 10)
		if n == ir.Dynamic {
			text = "?"
		}
		if i < len(scalable) && scalable[i] {
			text = "[" + text + "]"
		}
		b.WriteString(text + "x")
	}
	return b.String()
}

// storage returns how many bytes one element of a type takes in constants, and how wide it is in bits.
func storage(m *ir.Module, id ir.TypeID) (size int64, width int) {
	switch t := m.TypeOf(id); {
	case t.Kind == ir.IndexKind:
		return 8, 64
	case t.Kind == ir.ScalarKind:
		return int64(t.DType.Bytes()), t.DType.Bits()
	case t.Kind == ir.OpaqueKind:
		return opaqueStorage(t.Text)
	}
	return 0, 0
}

// opaqueStorage is storage for numbers of other widths than those of StableHLO.
func opaqueStorage(text string) (size int64, width int) {
	if part, ok := strings.CutPrefix(text, "complex<"); ok {
		part = strings.TrimSuffix(part, ">")
		if e, ok := dtype.Parse(part); ok {
			return 2 * int64(e.Bytes()), 2 * e.Bits()
		}
		size, width = opaqueStorage(part)
		return 2 * size, 2 * width
	}
	width, err := strconv.Atoi(strings.TrimLeft(text, "sufi"))
	if err != nil {
		return 0, 0
	}
	return int64(width+7) / 8, width
}

package bytecode

import (
	"strconv"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// builtinAttrs are the attributes of the builtin dialect (specification: bytecode.md section A.6.1).
var builtinAttrs = []form{
	newForm(0, "array", array, (*decoder).array),
	newForm(1, "dictionary", dictionary, (*decoder).dictionary),
	newForm(2, "string", stringOnly, func(_ *decoder, v ir.StringAttr) any { return v }),
	newForm(3, "string with type", typedString, (*decoder).typedString),
	newForm(4, "flat symbol", refOf[ir.StringAttr], func(_ *decoder, v ir.StringAttr) any { return ir.SymbolAttr{string(v)} }),
	newForm(5, "nested symbol", nestedSymbol, (*decoder).nestedSymbol),
	newForm(6, "type", typeOnly, func(_ *decoder, v ir.TypeID) any { return ir.TypeAttr(v) }),
	newForm(7, "unit", none[struct{}], func(*decoder, struct{}) any { return ir.UnitAttr{} }),
	newForm(8, "integer", typedNumber, (*decoder).integer),
	newForm(9, "float", typedNumber, (*decoder).float),
	newForm(10, "call-site location", callSite, (*decoder).callSite),
	newForm(11, "file location", fileLine, (*decoder).fileLine),
	newForm(12, "fused location", refList[ir.LocAttr], func(d *decoder, v []ir.LocAttr) any { return d.fused(v, nil) }),
	newForm(13, "fused location with metadata", fusedWith, func(d *decoder, v fusedLoc) any { return d.fused(v.parts, v.metadata) }),
	newForm(14, "name location", nameLoc, (*decoder).nameLoc),
	newForm(15, "unknown location", none[struct{}], func(*decoder, struct{}) any { return ir.LocAttr(0) }),
	newForm(16, "dense resource", denseResource, (*decoder).denseResource),
	newForm(17, "dense array", denseArray, (*decoder).denseArray),
	newForm(18, "dense elements", denseElements, (*decoder).dense),
	newForm(19, "dense strings", denseStrings, (*decoder).denseStrings),
	newForm(20, "sparse elements", sparseElements, (*decoder).sparse),
	newForm(21, "distinct", refOf[ir.Attr], (*decoder).distinct),
	newForm(22, "file range", fileRange, (*decoder).fileRange),
	newForm(23, "affine map", moveMap, (*decoder).affineMap),
	newForm(24, "integer set", moveSet, (*decoder).integerSet),
	newForm(25, "strided layout", moveStrided, (*decoder).strided),
}

// parts are the elements of an array, of which some are no attributes of their own.
type parts []any

func array(c codec, v *parts) { list(c, (*[]any)(v), codec.ref) }

func (d *decoder) array(v parts) any {
	out := make(ir.ArrayAttr, len(v))
	for i := range v {
		a, ok := v[i].(ir.Attr)
		if !ok {
			return v
		}
		out[i] = a
	}
	return out
}

// refParts moves a reference to an array of parts.
func refParts[T any](c codec, v *[]T) {
	elements := parts(lists.Of(len(*v), func(i int) any { return (*v)[i] }))
	ref := any(elements)
	c.ref(&ref)
	if empty, ok := ref.(ir.ArrayAttr); ok && len(empty) == 0 {
		ref = parts{}
	}
	elements, ok := ref.(parts)
	*v = make([]T, len(elements))
	for i, e := range elements {
		(*v)[i], ok = e.(T)
	}
	if !ok {
		c.invalid("reference to an attribute of another kind")
	}
}

func dictionary(c codec, v *[]ir.NamedAttr) {
	list(c, v, func(c codec, e *ir.NamedAttr) {
		name := ir.StringAttr(e.Name)
		refOf(c, &name)
		e.Name = string(name)
		refOf(c, &e.Value)
	})
}

func (d *decoder) dictionary(v []ir.NamedAttr) any {
	attrs := ir.MakeAttrs(v...)
	for i := range attrs {
		if i > 0 && attrs[i].Name == attrs[i-1].Name {
			d.invalid("dictionary has the key " + strconv.Quote(attrs[i].Name) + " twice")
		}
	}
	return ir.DictAttr(attrs)
}

type typedText struct {
	text string
	typ  ir.TypeID
}

func typedString(c codec, v *typedText) { move(c, &v.text, &v.typ) }

func (d *decoder) typedString(v typedText) any {
	return ir.OpaqueAttr(mlir.FormatAttr(d.m, ir.StringAttr(v.text)) + " : " + d.m.FormatType(v.typ))
}

// symbolPath is the root and the nested names of a symbol.
type symbolPath struct {
	root   ir.StringAttr
	nested []ir.SymbolAttr
}

func nestedSymbol(c codec, v *symbolPath) {
	refOf(c, &v.root)
	refList(c, &v.nested)
}

func (d *decoder) nestedSymbol(v symbolPath) any {
	out := ir.SymbolAttr{string(v.root)}
	for _, s := range v.nested {
		out = append(out, s...)
	}
	return out
}

// callSiteLoc is the place of a callee and of its caller.
type callSiteLoc struct{ callee, caller ir.LocAttr }

func callSite(c codec, v *callSiteLoc) {
	refOf(c, &v.callee)
	refOf(c, &v.caller)
}

func (d *decoder) callSite(v callSiteLoc) any {
	return d.loc(ir.Location{Kind: ir.LocCallSite, Children: []ir.LocID{ir.LocID(v.callee), ir.LocID(v.caller)}})
}

func (d *decoder) loc(l ir.Location) any { return ir.LocAttr(d.m.AddLoc(l)) }

// filePlace is a place in a file: up to four numbers say line, column, and where a range ends.
type filePlace struct {
	file    ir.StringAttr
	numbers []uint64
}

func fileLine(c codec, v *filePlace) {
	refOf(c, &v.file)
	if v.numbers == nil {
		v.numbers = make([]uint64, 2)
	}
	c.varint(&v.numbers[0])
	c.varint(&v.numbers[1])
}

func (d *decoder) fileLine(v filePlace) any { return d.fileRange(v) }

func fileRange(c codec, v *filePlace) {
	refOf(c, &v.file)
	list(c, &v.numbers, codec.varint)
}

func (d *decoder) fileRange(v filePlace) any {
	l := ir.Location{Kind: ir.LocFile, File: string(v.file)}
	var n [4]int
	for i, number := range v.numbers {
		if i == len(n) || number > 1<<31 {
			d.invalid("file range has more than four numbers, or too large ones")
			return nil
		}
		n[i] = int(number)
	}
	l.Line, l.Col = n[0], n[1]
	switch len(v.numbers) {
	case 3:
		l.EndLine, l.EndCol = n[0], n[2]
	case 4:
		l.EndLine, l.EndCol = n[2], n[3]
	}
	if l.EndLine == 0 || l.EndLine == l.Line && l.EndCol == l.Col { // a place, which text cannot tell from such a range
		l.EndLine, l.EndCol = 0, 0
	}
	return d.loc(l)
}

// fusedLoc is several places with what the fusion says of them.
type fusedLoc struct {
	parts    []ir.LocAttr
	metadata ir.Attr
}

func fusedWith(c codec, v *fusedLoc) {
	refList(c, &v.parts)
	refOf(c, &v.metadata)
}

func (d *decoder) fused(parts []ir.LocAttr, metadata ir.Attr) any {
	children := lists.Map(parts, func(p ir.LocAttr) ir.LocID { return ir.LocID(p) })
	return d.loc(ir.Location{Kind: ir.LocFused, Metadata: metadata, Children: children})
}

// namedLoc is a name with the place that it stands for.
type namedLoc struct {
	name  ir.StringAttr
	child ir.LocAttr
}

func nameLoc(c codec, v *namedLoc) {
	refOf(c, &v.name)
	refOf(c, &v.child)
}

func (d *decoder) nameLoc(v namedLoc) any {
	l := ir.Location{Kind: ir.LocName, Name: string(v.name)}
	if v.child != 0 {
		l.Children = []ir.LocID{ir.LocID(v.child)}
	}
	return d.loc(l)
}

func (d *decoder) distinct(v ir.Attr) any {
	d.distincts++
	return ir.OpaqueAttr("distinct[" + strconv.Itoa(d.distincts-1) + "]<" + mlir.FormatAttr(d.m, v) + ">")
}

// sparse tensors are kept as text: their indices and values.
type sparseTensor struct {
	typ             ir.TypeID
	indices, values *ir.Dense
}

func sparseElements(c codec, v *sparseTensor) {
	c.typ(&v.typ)
	refOf(c, &v.indices)
	refOf(c, &v.values)
}

func (d *decoder) sparse(v sparseTensor) any {
	indices, values := mlir.ElementText(d.m, v.indices), mlir.ElementText(d.m, v.values)
	return ir.OpaqueAttr("sparse<" + indices + ", " + values + "> : " + d.m.FormatType(v.typ))
}

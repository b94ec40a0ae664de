package modeljson

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// attributes reads an optional object of attributes of an operation, or of a function or module (kind OpFunc and
// OpUnregistered). mesh is the one that lists of axes speak of.
func (r *reader) attributes(n *node, k ir.Kind, mesh ir.MeshID) ir.Attrs {
	if n == nil || !r.is(n, objectKind, "attributes") {
		return nil
	}
	known, closed := knownAttrs(k)
	var entries []ir.NamedAttr
	for i := range n.keys {
		name, v := n.keys[i].name, &n.elems[i]
		if _, isText := mlirText(v); closed && !isText && !strings.Contains(name, ".") && !slices.Contains(known, name) {
			r.fail(n.keys[i].at, diag.UnknownField, "unknown attribute %q of operation %q%s", name, shortName(k.String()), hint(name, known))
			continue
		}
		if name == "" {
			r.fail(n.keys[i].at, diag.BadAttribute, "attribute has an empty name")
			continue
		}
		if a := r.attribute(v, name, formOf(k, name), mesh); a != nil {
			entries = append(entries, ir.NamedAttr{Name: name, Value: a})
		}
	}
	return ir.MakeAttrs(entries...)
}

// mlirText returns the text of an object {"mlir": TEXT}.
func mlirText(v *node) (*node, bool) {
	if v.kind == objectKind && len(v.keys) == 1 && v.keys[0].name == "mlir" && v.elems[0].kind == stringKind {
		return &v.elems[0], true
	}
	return nil, false
}

// attribute reads one attribute, nil after a problem.
func (r *reader) attribute(v *node, name string, f attrForm, mesh ir.MeshID) ir.Attr {
	if text, ok := mlirText(v); ok {
		return r.mlirAttr(text)
	}
	switch f.form {
	case ir.Int64Form, ir.Int32Form, ir.BoolForm, ir.UnitForm, ir.StringForm, ir.SymbolForm, ir.EnumForm, ir.FloatForm:
		return r.scalarAttr(v, name, f)
	case ir.IntsForm:
		if list, ok := r.ints(v, name); ok {
			return ir.Ints(list)
		}
	case ir.BoolsForm:
		return r.bools(v, name)
	case ir.PrecisionsForm:
		return r.enums(v, name, f.enum)
	case ir.MatrixForm:
		return r.matrix(v, name)
	case ir.DotForm, ir.GatherForm, ir.ScatterForm:
		return r.dimensionNumbers(v, name, f.form)
	case ir.ChannelForm:
		return r.channel(v, name)
	case ir.ConvForm:
		return r.convDims(v, name)
	case ir.AxesForm, ir.DimAxesForm, ir.MovesForm:
		return r.axesAttr(v, name, f.form, mesh)
	default:
		return r.anyAttr(v, name)
	}
	return nil
}

// mlirAttr reads an attribute in MLIR's form, nil after a problem.
func (r *reader) mlirAttr(text *node) ir.Attr {
	a, err := mlir.ParseAttrIn(r.m, r.moduleBody(), text.text, r.pos(text.at))
	if err != nil {
		r.failWith(text.at, err)
		return nil
	}
	r.fill(text, a)
	return a
}

func (r *reader) badAttr(v *node, name, want string) ir.Attr {
	r.fail(v.at, diag.BadAttribute, "attribute %q must be %s, or {\"mlir\": TEXT}; found %s", name, want, v.kind)
	return nil
}

func (r *reader) scalarAttr(v *node, name string, f attrForm) ir.Attr {
	switch f.form {
	case ir.Int64Form, ir.Int32Form:
		low, high, t := int64(math.MinInt64), int64(math.MaxInt64), dtype.I64
		if f.form == ir.Int32Form {
			low, high, t = math.MinInt32, math.MaxInt32, dtype.I32
		}
		if i, ok := r.integer(v, "attribute "+strconv.Quote(name), low, high); ok {
			return ir.IntAttr{Value: i, Type: r.m.ScalarType(t)}
		}
		return nil
	case ir.BoolForm:
		if v.kind == boolKind {
			return ir.BoolAttr(v.text == "true")
		}
		return r.badAttr(v, name, "true or false")
	case ir.UnitForm:
		if v.kind == boolKind && v.text == "true" {
			return ir.UnitAttr{}
		}
		return r.badAttr(v, name, "true, or absent")
	case ir.FloatForm:
		if v.kind == numberKind {
			if bits, ok := r.float(v, dtype.F32); ok {
				return ir.FloatAttr{Bits: bits, Type: r.m.ScalarType(dtype.F32)}
			}
			return nil
		}
		return r.badAttr(v, name, "a number")
	}
	if v.kind != stringKind {
		return r.badAttr(v, name, "a string")
	}
	switch f.form {
	case ir.SymbolForm:
		return ir.SymbolAttr{strings.TrimPrefix(v.text, "@")}
	case ir.EnumForm:
		return r.enum(v, name, f.enum)
	}
	return ir.StringAttr(v.text)
}

func (r *reader) enum(v *node, name, enum string) ir.Attr {
	e := ir.Enums[enum]
	if v.kind != stringKind || !slices.Contains(e.Cases, v.text) {
		r.fail(v.at, diag.BadAttribute, "attribute %q must be one of %q", name, e.Cases)
		return nil
	}
	return ir.EnumAttr{Dialect: e.Dialect, Enum: enum, Value: v.text}
}

func (r *reader) enums(v *node, name, enum string) ir.Attr {
	if v.kind != arrayKind {
		return r.badAttr(v, name, "a list of strings")
	}
	return arrayAttr(v, func(e *node) ir.Attr { return r.enum(e, name, enum) })
}

// elements reads the elements of a list, up to the first problem.
func elements[T any](v *node, read func(*node) (T, bool)) ([]T, bool) {
	out := make([]T, len(v.elems))
	for i := range v.elems {
		var ok bool
		if out[i], ok = read(&v.elems[i]); !ok {
			return nil, false
		}
	}
	return out, true
}

// arrayAttr reads a list of attributes, nil after a problem.
func arrayAttr(v *node, read func(*node) ir.Attr) ir.Attr {
	out, ok := elements(v, func(e *node) (ir.Attr, bool) {
		a := read(e)
		return a, a != nil
	})
	if !ok {
		return nil
	}
	return ir.ArrayAttr(out)
}

func (r *reader) ints(v *node, name string) ([]int64, bool) {
	if v.kind != arrayKind {
		r.badAttr(v, name, "a list of whole numbers")
		return nil, false
	}
	return elements(v, func(e *node) (int64, bool) {
		return r.integer(e, "element of "+strconv.Quote(name), math.MinInt64, math.MaxInt64)
	})
}

func (r *reader) bools(v *node, name string) ir.Attr {
	if v.kind != arrayKind {
		return r.badAttr(v, name, "a list of booleans")
	}
	out := ir.Bools{}
	for _, e := range v.elems {
		if e.kind != boolKind {
			return r.badAttr(&e, name, "a list of booleans")
		}
		out = append(out, e.text == "true")
	}
	return out
}

// matrix reads rows of integers as a constant of tensor<RxCxi64>.
func (r *reader) matrix(v *node, name string) ir.Attr {
	if v.kind != arrayKind {
		return r.badAttr(v, name, "a list of lists of whole numbers")
	}
	var all []int64
	columns := 0
	for i := range v.elems {
		row, ok := r.ints(&v.elems[i], name)
		if !ok {
			return nil
		}
		if i > 0 && len(row) != columns {
			r.fail(v.elems[i].at, diag.BadAttribute, "row %d of %q has %d elements, the first has %d", i, name, len(row), columns)
			return nil
		}
		columns = len(row)
		all = append(all, row...)
	}
	return r.m.DenseInts(all, int64(len(v.elems)), int64(columns))
}

// dimensionNumbers reads the objects of dot_general, gather and scatter.
func (r *reader) dimensionNumbers(v *node, name string, f ir.AttrForm) ir.Attr {
	a := f.NewDims()
	if !r.fields(v, name, ir.Fields(a), 0, math.MaxInt32) {
		return nil
	}
	return a
}

// fields reads an object whose members are the parts of an attribute: lists, and numbers within bounds.
func (r *reader) fields(v *node, name string, parts []ir.Field, low, high int64) (ok bool) {
	names := lists.Map(parts, func(f ir.Field) string { return f.Name })
	if !r.object(v, "attribute "+strconv.Quote(name), names...) {
		return false
	}
	for _, f := range parts {
		e := v.get(f.Name)
		if e == nil {
			continue
		}
		switch at := f.At.(type) {
		case *[]int64:
			*at, ok = r.ints(e, f.Name)
		case *int64:
			*at, ok = r.integer(e, f.Name, low, high)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (r *reader) channel(v *node, name string) ir.Attr {
	var c ir.ChannelHandle
	if !r.fields(v, name, ir.Fields(&c), math.MinInt64, math.MaxInt64) {
		return nil
	}
	return c
}

func (r *reader) convDims(v *node, name string) ir.Attr {
	if v.kind != stringKind {
		return r.badAttr(v, name, "text such as \"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]\"")
	}
	a, err := mlir.ParseAttrIn(r.m, r.moduleBody(), "#stablehlo.conv<"+v.text+">", r.pos(v.at))
	if err != nil {
		r.failWith(v.at, err)
		return nil
	}
	return a
}

// anyAttr reads an attribute without a known form.
func (r *reader) anyAttr(v *node, name string) ir.Attr {
	switch v.kind {
	case boolKind:
		return ir.BoolAttr(v.text == "true")
	case stringKind:
		return ir.StringAttr(v.text)
	case numberKind:
		if i, ok := wholeNumber(v.text); ok {
			return ir.IntAttr{Value: i, Type: r.m.ScalarType(dtype.I64)}
		}
		return r.badAttr(v, name, "whole where it is a number (write fractions with their type, such as {\"mlir\": \"0.5 : f32\"})")
	case arrayKind:
		return arrayAttr(v, func(e *node) ir.Attr { return r.attribute(e, name, attrForm{}, 0) })
	case objectKind:
		var entries []ir.NamedAttr
		for i := range v.keys {
			a := r.attribute(&v.elems[i], v.keys[i].name, attrForm{}, 0)
			if a == nil {
				return nil
			}
			entries = append(entries, ir.NamedAttr{Name: v.keys[i].name, Value: a})
		}
		return ir.DictAttr(ir.MakeAttrs(entries...))
	}
	return r.badAttr(v, name, "a value")
}

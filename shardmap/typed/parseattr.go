package typed

import (
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// attributes reads name=value, ...
func (r *reader) attributes(op, text string, results []ir.TypeID) ir.Attrs {
	var out ir.Attrs
	for _, item := range r.items(text) {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			name, value = item, "unit"
		}
		if unquoted, err := strconv.Unquote(name); err == nil {
			name = unquoted
		}
		if out.Get(name) != nil {
			r.fail(diag.Redefined, "attribute `%s` is given twice", name)
		}
		if a := r.attribute(op, name, strings.TrimSpace(value), results); r.err == nil {
			out = out.With(name, a)
		}
	}
	return out
}

func (r *reader) attribute(op, name, text string, results []ir.TypeID) ir.Attr {
	if _, ok := ir.ParseShardMap(op); ok {
		switch name {
		case "axes", "perm", "groups":
			return r.listAttr(name, text)
		case "axis_index_groups":
			r.fail(diag.BadAttribute, "no attribute is named `axis_index_groups`: what JAX calls so is `groups`, as in groups=((0, 1), (2, 3))")
			return nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return r.m.I64(n)
	}
	if name == "dot_dimension_numbers" && strings.HasPrefix(text, "((") {
		return r.dotDims(text)
	}
	if list, ok := ints(text); ok {
		return list
	}
	if enum, ok := enums[name]; ok && isIdentifier(text) {
		return ir.EnumAttr{Dialect: "stablehlo", Enum: enum, Value: text}
	}
	if parts, err := splitTop(text, ':'); err == nil && len(parts) == 1 && strings.HasPrefix(text, "dense<") && len(results) == 1 {
		text += " : " + r.m.FormatType(results[0])
	}
	a, err := mlir.ParseAttr(r.m, text, diag.Position{File: r.file, Line: r.next, Col: 1})
	if err != nil {
		r.locate(err)
	}
	return a
}

// listAttr reads a tuple of axes or of tuples of integers.
func (r *reader) listAttr(name, text string) ir.Attr {
	if name == "axes" {
		return r.axesAttr(r.tuple(text))
	}
	if list, ok := ints(text); ok && name == "perm" && len(list) > 0 {
		return list // of pshuffle
	}
	out := ir.ArrayAttr{}
	for _, item := range r.tuple(text) {
		list, ok := ints(item)
		if !ok {
			r.fail(diag.Syntax, "expected numbers in parentheses, found %q", item)
		}
		out = append(out, list)
	}
	return out
}

// axesAttr returns axes by their names, and the names themselves if the mesh does not have one, which Collective then says.
func (r *reader) axesAttr(names []string) ir.Attr {
	var axes []int
	var list ir.ArrayAttr
	for _, name := range names {
		list = append(list, ir.StringAttr(name))
		if a := axisNumber(&r.p.Mesh, name); a >= 0 {
			axes = append(axes, a)
		}
	}
	if len(axes) < len(names) {
		return list
	}
	return r.p.axesAttr(axes)
}

// ints reads (1, 2).
func ints(text string) (ir.Ints, bool) {
	if len(text) < 2 || text[0] != '(' || text[len(text)-1] != ')' {
		return nil, false
	}
	out := ir.Ints{}
	items := strings.Split(text[1:len(text)-1], ",")
	for i, item := range items {
		item = strings.TrimSpace(item)
		if item == "" && i == len(items)-1 {
			break
		}
		n, err := strconv.ParseInt(item, 10, 64)
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// dotDims reads ((lhs contracting, rhs contracting), (lhs batch, rhs batch)).
func (r *reader) dotDims(text string) ir.Attr {
	var lists []ir.Ints
	for _, pair := range r.tuple(text) {
		for _, item := range r.tuple(pair) {
			list, ok := ints(item)
			if !ok {
				break
			}
			lists = append(lists, list)
		}
	}
	if len(lists) != 4 {
		r.fail(diag.Syntax, "expected dimension numbers ((contract, contract), (batch, batch)), found %q", text)
		return nil
	}
	return &ir.DotDims{LhsContract: lists[0], RhsContract: lists[1], LhsBatch: lists[2], RhsBatch: lists[3]}
}

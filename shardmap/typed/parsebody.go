package typed

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// lambda reads a block whose first line is the current one, up to its return, into an empty block.
func (r *reader) lambda(b ir.BlockID, end ir.Kind) (args, results []ir.ValueID) {
	if r.depth++; r.depth > maxNesting {
		r.fail(diag.NestingTooDeep, "bodies are nested more than %d deep", maxNesting)
		return nil, nil
	}
	outer := maps.Clone(r.values)
	defer func() { r.depth, r.values = r.depth-1, outer }()
	params, _ := r.word("lambda")
	for _, text := range r.blanks(params) {
		name, t, v := r.declaration(text)
		if r.err != nil {
			return nil, nil
		}
		r.define(name, r.m.AddBlockArg(b, t), v)
	}
	args = r.m.BlockArgs(b)
	for r.advance() {
		if names, ok := r.word("return"); ok {
			results = r.uses(r.blanks(names))
			op := r.m.BuilderAtEnd(b).Op(end, nil, nil, results...)
			r.m.SetPos(op, diag.Position{Line: r.next, Col: 1})
			return args, results
		}
		if r.equation(b); r.err != nil {
			return nil, nil
		}
	}
	r.fail(diag.Syntax, "the text ends inside a body; expected `return ...`")
	return nil, nil
}

// blanks splits a text at blanks outside brackets.
func (r *reader) blanks(text string) []string {
	parts, err := splitTop(text, ' ')
	if err != nil {
		r.fail(diag.Syntax, "%v in %q", err, text)
	}
	return parts
}

// splitTop splits a text at a separator that stands outside brackets and strings. Blanks count as one.
func splitTop(text string, separator byte) ([]string, error) {
	var open []byte
	var out []string
	start, quoted := 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted != 0:
			if c == '\\' && quoted == '"' {
				i++
			} else if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case c == '(' || c == '[' || c == '{' || c == '<':
			open = append(open, c)
		case c == '>' && i > 0 && text[i-1] == '-': // ->
		case c == ')' || c == ']' || c == '}' || c == '>':
			if len(open) == 0 || open[len(open)-1] != map[byte]byte{')': '(', ']': '[', '}': '{', '>': '<'}[c] {
				return nil, errors.New("brackets do not match")
			}
			open = open[:len(open)-1]
		case c == separator && len(open) == 0:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	if len(open) > 0 || quoted != 0 {
		return nil, errors.New("a bracket or quote is not closed")
	}
	out = append(out, text[start:])
	if separator == ' ' {
		out = slices.DeleteFunc(out, func(s string) bool { return strings.TrimSpace(s) == "" })
	}
	return out, nil
}

// declaration reads name:type.
func (r *reader) declaration(text string) (string, ir.TypeID, Variance) {
	name, typ, ok := strings.Cut(text, ":")
	if !ok || !isIdentifier(name) || keywords[name] {
		r.fail(diag.Syntax, "expected name:type such as x:f32[2,3]{i}, found %q", text)
		return "", 0, Variance{}
	}
	t, v := r.typeText(typ)
	return name, t, v
}

// typeText reads f32[2,3]{i, U:j}.
func (r *reader) typeText(text string) (ir.TypeID, Variance) {
	element, after, ok := strings.Cut(text, "[")
	dims, braces, closed := strings.Cut(after, "]")
	e, known := dtype.Parse(element)
	if !ok || !closed || !known {
		r.fail(diag.Syntax, "expected a type such as f32[2,3]{i}, found %q", text)
		return 0, Variance{}
	}
	shape := []int64{}
	for _, d := range r.items(dims) {
		shape = append(shape, r.integer(d))
	}
	if r.err != nil {
		return 0, Variance{}
	}
	if _, _, err := tensor.Size(e, shape); err != nil {
		r.locate(err)
		return 0, Variance{}
	}
	return r.m.TensorType(e, shape...), r.variance(braces)
}

// variance reads the braces of a type.
func (r *reader) variance(text string) (v Variance) {
	if text == "" {
		r.typed = false
		return v
	}
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		r.fail(diag.Syntax, "expected axes in braces, found %q", text)
		return v
	}
	set := &v.V
	for _, item := range r.items(text[1 : len(text)-1]) {
		mark, name, marked := strings.Cut(item, ":")
		if !marked {
			name = mark
		} else {
			kinds := map[string]ir.Reduction{"U": ir.ReduceSum, "Umax": ir.ReduceMax, "Umin": ir.ReduceMin}
			if kind, ok := kinds[mark]; ok {
				set, v.Kind = &v.U, kind
			} else if mark == "R" {
				set = &v.R
			} else {
				r.fail(diag.Syntax, "expected U: or R: before axes, found %q", item)
			}
		}
		a, err := r.p.boundAxis(name, (v.V | v.U | v.R).Axes())
		if err != nil {
			r.locate(err)
			return v
		}
		*set |= 1 << a
	}
	return v
}

func (r *reader) integer(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		r.fail(diag.Syntax, "expected a number, found %q", text)
	}
	return n
}

func (r *reader) define(name string, v ir.ValueID, t Variance) {
	if r.taken[name] {
		r.fail(diag.Redefined, "value `%s` is defined twice", name)
		return
	}
	r.taken[name] = true
	r.values[name] = v
	r.p.Names[v] = name
	r.p.SetVariance(v, t)
}

func (r *reader) uses(names []string) []ir.ValueID {
	out := make([]ir.ValueID, len(names))
	for i, name := range names {
		v, ok := r.values[name]
		if !ok {
			r.fail(diag.Undefined, "value `%s` is not defined here", name)
		}
		out[i] = v
	}
	return out
}

// equation reads the current line, and the bodies behind it, and adds the op to a block.
func (r *reader) equation(b ir.BlockID) {
	at := r.next
	parts := r.blanks(strings.TrimSuffix(r.line, "{"))
	bodies := strings.HasSuffix(r.line, "{")
	split := slices.Index(parts, "=")
	if r.err != nil || split+1 >= len(parts) {
		r.fail(diag.Syntax, "expected an equation `x:f32[2]{i} = op[...] y z`")
		return
	}
	var names []string
	var types []ir.TypeID
	var variances []Variance
	for _, text := range parts[:max(split, 0)] {
		name, t, v := r.declaration(text)
		if r.err != nil {
			return
		}
		names, types, variances = append(names, name), append(types, t), append(variances, v)
	}
	name, list, _ := strings.Cut(parts[split+1], "[")
	kind := r.kind(name)
	if r.err != nil {
		return
	}
	operands := r.uses(parts[split+2:])
	attrs := r.attributes(name, strings.TrimSuffix(list, "]"), types)
	var regions []ir.RegionID
	if bodies {
		regions = r.bodies()
	}
	if r.err != nil {
		return
	}
	op := ir.OpID(0)
	if at := r.m.BuilderAtEnd(b); kind == ir.OpUnregistered {
		op = at.Unregistered(dialect+name, types, attrs, 0, operands...)
	} else {
		op = at.Op(kind, types, attrs, operands...)
	}
	r.m.AdoptRegions(op, regions)
	r.m.SetPos(op, diag.Position{Line: at, Col: 1})
	for i, name := range names {
		r.define(name, r.m.Result(op, i), variances[i])
	}
}

// bodies reads lambdas up to a line with a closing brace.
func (r *reader) bodies() (out []ir.RegionID) {
	for r.advance() {
		if r.line == "}" {
			return out
		}
		if _, ok := r.word("lambda"); !ok {
			r.fail(diag.Syntax, "expected `lambda ...` or `}`, found %q", r.line)
			return nil
		}
		region := r.m.DetachedRegion()
		out = append(out, region)
		r.lambda(r.m.AddBlock(region), ir.OpStablehloReturn)
	}
	r.fail(diag.Syntax, "the text ends inside an equation; expected `}`")
	return nil
}

// kind returns the kind of an op by its name, that of unregistered ops for one of this package.
func (r *reader) kind(name string) ir.Kind {
	if isOp(name) {
		return ir.OpUnregistered
	}
	full := name
	if !strings.Contains(name, ".") {
		full = "stablehlo." + name
	}
	kind, ok := ir.ParseKind(full)
	if !ok || kind.IsTerminator() {
		hint := ""
		if near := diag.Nearest(name, slices.Sorted(maps.Keys(opInfos))); near != "" {
			hint = ", did you mean `" + near + "`?"
		}
		r.fail(diag.UnknownOp, "no op is named `%s`%s", name, hint)
	}
	return kind
}

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
	if info, ok := opInfos[op]; ok && (name == "axes" || slices.Contains(info.attrs, name) && (name == "perm" || name == "groups")) {
		return r.listAttr(name, text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i64(r.m, n)
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
	out := ir.ArrayAttr{}
	for _, item := range r.tuple(text) {
		if name == "axes" {
			out = append(out, ir.StringAttr(item))
			continue
		}
		list, ok := ints(item)
		if !ok {
			r.fail(diag.Syntax, "expected numbers in parentheses, found %q", item)
		}
		out = append(out, list)
	}
	return out
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

// times multiplies two sizes, up to the largest number.
func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

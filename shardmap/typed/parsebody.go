package typed

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
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
			r.m.SetPos(op, r.place())
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
	shape := lists.Map(r.items(dims), r.integer)
	if r.err != nil {
		return 0, Variance{}
	}
	if _, _, err := dtype.Size(e, shape); err != nil {
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
	set := &v.V
	for _, item := range r.inBraces(text) {
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
	r.braces[v] = t
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
	at := r.place()
	parts := r.blanks(strings.TrimSuffix(r.line, "{"))
	bodies := strings.HasSuffix(r.line, "{")
	split := slices.Index(parts, "=")
	if r.err != nil || split+1 >= len(parts) {
		r.fail(diag.Syntax, "expected an equation `x:f32[2]{i} = op[...] y z`")
		return
	}
	left := r.declarations(parts[:max(split, 0)])
	name, list, _ := strings.Cut(parts[split+1], "[")
	base := name
	if short, ok := shorthands[name]; ok {
		base = short
	}
	kind := r.kind(base)
	if r.err != nil {
		return
	}
	operands := r.uses(parts[split+2:])
	attrs := r.attributes(base, strings.TrimSuffix(list, "]"), left.types)
	if r.err == nil && (base != name || kind.IsShardMap() && attrs.Get("tiled") != nil) {
		r.shorthand(b, name, left, attrs, operands)
		return
	}
	var regions []ir.RegionID
	if bodies {
		regions = r.bodies()
	}
	if r.err != nil {
		return
	}
	op := r.m.BuilderAtEnd(b).Op(kind, left.types, attrs, operands...)
	r.m.AdoptRegions(op, regions)
	r.m.SetPos(op, at)
	for i, name := range left.names {
		r.define(name, r.m.Result(op, i), left.variances[i])
	}
}

// declared is the left side of an equation.
type declared struct {
	names     []string
	types     []ir.TypeID
	variances []Variance
}

func (r *reader) declarations(texts []string) (out declared) {
	for _, text := range texts {
		name, t, v := r.declaration(text)
		if r.err != nil {
			return out
		}
		out.names, out.types, out.variances = append(out.names, name), append(out.types, t), append(out.variances, v)
	}
	return out
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

// kind returns the kind of an op by its name, that of shard_map programs where StableHLO has an op of that name too.
func (r *reader) kind(name string) ir.Kind {
	if kind, ok := ir.ParseShardMap(name); ok {
		return kind
	}
	full := name
	if !strings.Contains(name, ".") {
		full = "stablehlo." + name
	}
	kind, ok := ir.ParseKind(full)
	if !ok || kind.IsTerminator() {
		var known []string
		for kind := range opInfos {
			known = append(known, kind.ShardMapName())
		}
		slices.Sort(known)
		if name == "psum2" {
			r.fail(diag.UnknownOp, "no op is named `psum2`: what JEP 17111 calls so is `psum`")
			return kind
		}
		r.fail(diag.UnknownOp, "no op is named `%s`%s", name, diag.DidYouMean(name, known))
	}
	return kind
}

// times multiplies two sizes, up to the largest number.
func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

package typed

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// maxNesting bounds how deep bodies of loops may stand in each other, maxMessage what an error quotes of a text.
const (
	maxNesting = 64
	maxMessage = 400
)

// Parse reads the text form of a program. It checks what Validate checks; where all values have braces, their types
// are recorded as written and Typecheck compares them with the rules, else the program is one for Elaborate.
//
// Errors are of class diag.ErrInvalid, with a position in the text; a tensor beyond the limits of package tensor is a
// diag.ErrTooLarge.
func Parse(text, file string) (*Program, error) {
	r := &reader{file: file, lines: strings.Split(text, "\n"), taken: map[string]bool{}, values: map[string]ir.ValueID{}, braces: map[ir.ValueID]Variance{}, typed: true}
	r.p = &Program{Module: ir.NewModule(), Names: map[ir.ValueID]string{}}
	r.m = r.p.Module
	r.m.SetSource(file, text)
	r.program()
	if r.err != nil {
		return nil, r.err
	}
	if r.typed || !r.p.Check {
		r.p.Variance = make([]Variance, r.m.NumValues())
	}
	if r.typed && r.p.Check {
		for v, t := range r.braces {
			r.p.Variance[v] = t
		}
	}
	if err := r.p.Validate(); err != nil {
		return nil, err
	}
	return r.p, nil
}

// reader reads a program line by line. The first error stops it.
type reader struct {
	p      *Program
	m      *ir.Module
	file   string
	lines  []string
	next   int    // number of the line after the current one, from 0
	line   string // current one, trimmed
	err    error
	key    string                   // of the header whose value is being read, "" outside of the header
	header map[string]diag.Position // where the values of the header begin, by key
	taken  map[string]bool          // names of all values so far
	values map[string]ir.ValueID    // names that can be used here
	typed  bool                     // all values so far have braces
	braces map[ir.ValueID]Variance
	depth  int
}

func (r *reader) fail(code diag.Code, format string, args ...any) {
	if r.err != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "..."
	}
	r.locate(diag.Invalid(code, diag.Position{}, "%s", text))
}

// locate gives an error of the program the place of what is being read.
func (r *reader) locate(err error) {
	if r.err != nil {
		return
	}
	if e, ok := err.(*diag.Error); ok {
		e.Diagnostics[0].Pos = r.place()
		e.Diagnostics[0].Source = r.m.SourceLine(e.Diagnostics[0].Pos.Line)
	}
	r.err = err
}

// place returns where the current line begins, or the value of the header that is being read.
func (r *reader) place() diag.Position {
	if at, ok := r.header[r.key]; ok {
		return at
	}
	pos := diag.Position{File: r.file, Line: max(r.next, 1), Col: 1}
	if r.next > 0 {
		pos.Col += strings.Index(r.lines[r.next-1], r.line)
	}
	return pos
}

// advance goes to the next line that is neither empty nor a comment.
func (r *reader) advance() bool {
	for r.next < len(r.lines) && r.err == nil {
		r.line = strings.TrimSpace(withoutComment(r.lines[r.next]))
		r.next++
		if r.line != "" {
			return true
		}
	}
	return false
}

// withoutComment cuts off what stands behind a # that is the first character of a line, or that stands between blanks
// outside strings and brackets, of which a brace that opens bodies is none.
func withoutComment(line string) string {
	if !strings.Contains(line, "#") {
		return line
	}
	depth, quoted, before := 0, byte(0), byte(0) // before: the last character that is no blank
	for i := 0; i < len(line); i++ {
		c := line[i]
		apart := (i == 0 || isBlank(line[i-1])) && (i+1 == len(line) || isBlank(line[i+1]))
		switch {
		case quoted != 0:
			if c == '\\' && quoted == '"' {
				i++
			} else if c == quoted {
				quoted = 0
			}
		case c == '#' && (before == 0 || apart && (depth == 0 || depth == 1 && before == '{')):
			return line[:i]
		case c == '"' || c == '\'':
			quoted = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		if !isBlank(c) {
			before = c
		}
	}
	return line
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// word returns whether the line begins with a word, and what follows.
func (r *reader) word(w string) (string, bool) {
	after, ok := strings.CutPrefix(r.line, w)
	if !ok || after != "" && after[0] != ' ' && after[0] != '\t' {
		return "", false
	}
	return strings.TrimSpace(after), true
}

func (r *reader) program() {
	var header []string
	for r.advance() {
		if _, ok := r.word("lambda"); ok {
			break
		}
		header = append(header, r.line)
		r.markKeys()
	}
	if r.err != nil {
		return
	}
	if _, ok := r.word("lambda"); !ok {
		r.fail(diag.Syntax, "expected a line `lambda ...` after the header `shard_map @name mesh=(...) ...`")
		return
	}
	specs := r.readHeader(strings.Join(header, " "))
	if r.err != nil {
		return
	}
	f := r.m.AddFunc(ir.FuncSpec{Name: "main"})
	r.p.Func = f
	r.m.SetPos(r.m.Func(f).Op, r.place())
	args, results := r.lambda(r.p.Body(), ir.OpReturn)
	if r.err != nil {
		return
	}
	if r.advance() {
		r.fail(diag.Syntax, "expected the end of the text after the program")
	}
	r.ends(specs, args, results)
}

// ends gives parameters and results their specs and global types.
func (r *reader) ends(specs headerSpecs, args, results []ir.ValueID) {
	p, f := r.p, r.m.Func(r.p.Func)
	r.key = "in_specs"
	if len(specs.in) != len(args) {
		r.fail(diag.BadOp, "in_specs has %d specs for the %d parameters of `lambda` (E_TREE)", len(specs.in), len(args))
		return
	}
	r.key = "donated"
	r.checkDonated(specs.donated, args)
	r.key = "in_specs"
	for i, v := range args {
		s := specs.in[i]
		if err := p.checkSpec("input `"+p.NameOf(v)+"`", s, r.m.Shape(v), false); err != nil {
			r.locate(err)
			return
		}
		p.Params = append(p.Params, Param{Name: p.NameOf(v), Type: r.m.WithDims(r.m.Type(v), p.globalDims(s, r.m.Shape(v))), Spec: s,
			Donated: slices.Contains(specs.donated, p.NameOf(v))})
		f.ArgAttrs = append(f.ArgAttrs, nil)
	}
	r.key = "out_specs"
	if len(specs.out) != len(results) {
		r.fail(diag.BadOp, "out_specs has %d specs for the %d results of `return` (E_TREE)", len(specs.out), len(results))
		return
	}
	for i, v := range results {
		if err := p.checkOutSpec(i, v, specs.out[i]); err != nil {
			r.locate(err)
			return
		}
		p.Results = append(p.Results, Result{Spec: specs.out[i]})
		f.ResultTypes = append(f.ResultTypes, r.m.Type(v))
		f.ResultAttrs = append(f.ResultAttrs, nil)
		f.ResultShardings = append(f.ResultShardings, 0)
	}
}

// headerSpecs are what the header says about parameters and results.
type headerSpecs struct {
	in, out []Spec
	donated []string // names of parameters
}

// checkDonated refuses donations of what is no parameter.
func (r *reader) checkDonated(donated []string, args []ir.ValueID) {
	var known []string
	for _, v := range args {
		known = append(known, r.p.NameOf(v))
	}
	for i, name := range donated {
		switch {
		case !slices.Contains(known, name):
			hint := ""
			if near := diag.Nearest(name, known); near != "" {
				hint = fmt.Sprintf(", did you mean `%s`?", near)
			}
			r.fail(diag.Undefined, "donated input `%s` is no parameter of `lambda`%s", name, hint)
		case slices.Contains(donated[:i], name):
			r.fail(diag.Redefined, "input `%s` is donated twice", name)
		}
	}
}

// headerKeys are what the header has besides the name.
var headerKeys = []string{"mesh", "manual", "check", "in_specs", "out_specs", "donated"}

// markKeys notes which values of the header begin in the current line.
func (r *reader) markKeys() {
	if r.header == nil {
		r.header = map[string]diag.Position{"shard_map": r.place()}
	}
	for _, key := range headerKeys {
		at := strings.Index(r.line, key+"=")
		if _, seen := r.header[key]; seen || at < 0 {
			continue
		}
		pos := r.place()
		pos.Col += at
		r.header[key] = pos
	}
}

// readHeader reads shard_map @name key=value ...
func (r *reader) readHeader(text string) (specs headerSpecs) {
	r.key = "shard_map"
	defer func() { r.key = "" }()
	parts, err := splitTop(text, ' ')
	if err != nil || len(parts) < 2 || parts[0] != "shard_map" || !strings.HasPrefix(parts[1], "@") {
		r.fail(diag.Syntax, "expected `shard_map @name mesh=(...) ...`")
		return specs
	}
	r.p.Name = strings.Trim(parts[1][1:], `"`)
	given := map[string]string{"manual": "", "check": "true"}
	for _, part := range parts[2:] {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			r.fail(diag.Syntax, "expected key=value, found %q", part)
			return specs
		}
		if !slices.Contains(headerKeys, key) {
			r.fail(diag.Syntax, "unknown key %q; the header has mesh, manual, check, in_specs, out_specs and donated", key)
			return specs
		}
		given[key] = value
	}
	r.key = "check"
	r.p.Check = given["check"] == "true"
	if r.p.Check != (given["check"] != "false") {
		r.fail(diag.Syntax, "check is true or false, not %q", given["check"])
	}
	r.mesh(given["mesh"], given["manual"])
	r.key = "in_specs"
	specs.in = r.specs(given["in_specs"])
	r.key = "out_specs"
	specs.out = r.specs(given["out_specs"])
	if donated := given["donated"]; donated != "" {
		r.key = "donated"
		specs.donated = r.tuple(donated)
	}
	return specs
}

func (r *reader) mesh(mesh, manual string) {
	if mesh == "" {
		r.fail(diag.BadMesh, "the header needs a mesh=(...), which cannot be empty (E_MESH_EMPTY)")
		return
	}
	r.key = "mesh"
	for _, item := range r.tuple(mesh) {
		name, size, _ := strings.Cut(item, "=")
		r.p.Mesh.Axes = append(r.p.Mesh.Axes, subaxis.Axis{Name: name, Size: r.integer(size)})
	}
	if err := r.p.checkMesh(); err != nil {
		r.locate(err)
		return
	}
	r.p.Manual = r.p.allAxes()
	if manual == "" {
		return
	}
	r.key, r.p.Manual = "manual", 0
	for _, name := range r.tuple(manual) {
		a := axisNumber(&r.p.Mesh, name)
		if a < 0 {
			r.fail(diag.UnknownAxis, "manual axis `%s` is not in the mesh (E_AXIS_UNKNOWN)", name)
			return
		}
		r.p.Manual |= 1 << a
	}
	if err := r.p.checkManual(); err != nil {
		r.locate(err)
	}
}

// tuple returns the items of (a, b) or (a,).
func (r *reader) tuple(text string) []string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "(")
	if ok {
		inner, ok = strings.CutSuffix(inner, ")")
	}
	if !ok {
		r.fail(diag.Syntax, "expected a list in parentheses, found %q", text)
		return nil
	}
	return r.items(inner)
}

// items splits a list at its commas; one may follow the last item.
func (r *reader) items(text string) []string {
	parts, err := splitTop(text, ',')
	if err != nil {
		r.fail(diag.Syntax, "%v in %q", err, text)
		return nil
	}
	var out []string
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" && i == len(parts)-1 {
			break
		}
		out = append(out, part)
	}
	return out
}

func (r *reader) specs(text string) []Spec {
	var out []Spec
	if text == "" {
		r.fail(diag.Syntax, "the header needs in_specs=(...) and out_specs=(...)")
		return nil
	}
	for _, item := range r.tuple(text) {
		inner, ok := strings.CutPrefix(item, "P")
		if !ok {
			r.fail(diag.Syntax, "expected a spec P(...), found %q (E_SPEC_TYPE)", item)
			return nil
		}
		var s Spec
		for _, entry := range r.tuple(inner) {
			switch {
			case entry == "None":
				s.Dims = append(s.Dims, nil)
			case strings.HasPrefix(entry, "unreduced="):
				s.Unreduced = r.axisSet(entry[len("unreduced="):])
			case strings.HasPrefix(entry, "reduced="):
				s.Reduced = r.axisSet(entry[len("reduced="):])
			case strings.HasPrefix(entry, "("):
				s.Dims = append(s.Dims, r.unquote(r.tuple(entry)))
			default:
				s.Dims = append(s.Dims, r.unquote([]string{entry}))
			}
		}
		out = append(out, s)
	}
	return out
}

func (r *reader) axisSet(text string) []string {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		r.fail(diag.Syntax, "expected axes in braces, found %q", text)
		return nil
	}
	return r.unquote(r.items(text[1 : len(text)-1]))
}

func (r *reader) unquote(items []string) []string {
	for i, s := range items {
		if len(s) < 3 || s[0] != '\'' || s[len(s)-1] != '\'' {
			r.fail(diag.Syntax, "expected the name of an axis in quotes, found %q", s)
			return nil
		}
		items[i] = s[1 : len(s)-1]
	}
	return items
}

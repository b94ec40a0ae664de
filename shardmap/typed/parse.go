package typed

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
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
	r := &reader{file: file, lines: strings.Split(text, "\n"), taken: map[string]bool{}, values: map[string]ir.ValueID{},
		braces: map[ir.ValueID]Variance{}, typed: true}
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
	}
	p.returns(results)
}

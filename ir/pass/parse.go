package pass

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// maxPipeline bounds the bytes of a pipeline's text.
const maxPipeline = 1 << 16

// The names of what passes run on, as anchors in a pipeline's text.
const (
	topAnchor    = "" // around the whole text: a module that is not written
	moduleAnchor = "builtin.module"
	funcAnchor   = "func.func"
	anyAnchor    = "any"
)

// Parse reads a pipeline as MLIR writes it:
//
//	p1,p2{option=value other=value}
//	builtin.module(p1,func.func(p2,p3))
//
// Passes on functions need no anchor, names of pipelines stand for their passes, and an empty text is the pipeline of
// no pass. source is the name of the text in errors, which are of class diag.ErrInvalid, located, and name the
// nearest pass, option or value.
func (t *Table) Parse(text, source string) (*Pipeline, error) {
	if len(text) > maxPipeline {
		return nil, diag.TooLarge(diag.InputTooLarge, diag.Position{File: source}, "pipeline has more than %d bytes", maxPipeline)
	}
	p := &parser{table: t, text: text, source: source}
	p.skipSpace()
	if p.pos < len(p.text) {
		p.list(topAnchor)
		if p.err == nil && p.pos < len(p.text) {
			p.fail(p.pos, "expected `,` or the end of the pipeline, found `%c`", p.text[p.pos])
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Pipeline{Steps: p.steps}, nil
}

// parser reads one text. The first error stays.
type parser struct {
	table  *Table
	text   string
	source string
	pos    int
	steps  []Step
	err    error
}

func (p *parser) fail(at int, format string, args ...any) {
	if p.err != nil {
		return
	}
	before := p.text[:at]
	line := strings.Count(before, "\n") + 1
	start := strings.LastIndexByte(before, '\n') + 1
	rest, _, _ := strings.Cut(p.text[start:], "\n")
	err := diag.Invalid(diag.BadOption, diag.Position{File: p.source, Line: line, Col: at - start + 1}, format, args...)
	err.Diagnostics[0].Source = rest
	p.err = err
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) accept(c byte) bool {
	p.skipSpace()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		p.skipSpace()
		return true
	}
	return false
}

// name reads up to the next character that means something.
func (p *parser) name() (text string, at int) {
	p.skipSpace()
	at = p.pos
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n,(){}=", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[at:p.pos], at
}

// list reads passes, separated by commas, that run on what the anchor names.
func (p *parser) list(anchor string) {
	for p.err == nil {
		p.element(anchor)
		if p.err != nil || !p.accept(',') {
			return
		}
	}
}

func (p *parser) element(anchor string) {
	name, at := p.name()
	p.skipSpace()
	switch {
	case name == "" && p.pos < len(p.text):
		p.fail(p.pos, "expected the name of a pass, found `%c`", p.text[p.pos])
	case name == "":
		p.fail(at, "expected the name of a pass at the end of the pipeline")
	case p.pos < len(p.text) && p.text[p.pos] == '(':
		p.nested(anchor, name, at)
	default:
		p.pass(anchor, name, at)
	}
}

// nested reads NAME(PASSES).
func (p *parser) nested(around, name string, at int) {
	open := p.pos
	p.pos++
	p.skipSpace()
	switch {
	case name == anyAnchor:
		name = around
	case name != moduleAnchor && name != funcAnchor:
		p.fail(at, "passes run on `%s` or `%s`, not on `%s`%s", moduleAnchor, funcAnchor, name,
			didYouMean(name, []string{moduleAnchor, funcAnchor}))
		return
	case around == funcAnchor || around == name:
		p.fail(at, "`%s` cannot stand inside `%s`", name, around)
		return
	}
	if p.accept(')') {
		return
	}
	p.list(name)
	if p.err == nil && !p.accept(')') {
		p.fail(open, "`(` is not closed")
	}
}

// pass reads the options of a pass and adds its steps.
func (p *parser) pass(anchor, name string, at int) {
	row := p.table.Lookup(name)
	if row == nil {
		p.fail(at, "unknown pass `%s`%s", name, didYouMean(name, p.table.names))
		return
	}
	if anchor == funcAnchor && !row.Func {
		p.fail(at, "pass `%s` runs on modules, it cannot stand inside `%s`", name, funcAnchor)
		return
	}
	settings := row.DefaultSettings()
	if p.pos < len(p.text) && p.text[p.pos] == '{' {
		p.options(row, &settings)
	}
	if p.err != nil {
		return
	}
	if row.Expand == nil {
		p.steps = append(p.steps, Step{row, settings})
		return
	}
	expanded, err := p.table.Parse(row.Expand(settings), name)
	if err == nil {
		err = p.table.checkOrder(expanded)
	}
	if err != nil {
		p.err = diag.Internal(diag.Bug, diag.Position{}, "pipeline `%s` is wrong: %v", name, err)
		return
	}
	p.steps = append(p.steps, expanded.Steps...)
}

// options reads {NAME=VALUE NAME=VALUE}; a name alone means true.
func (p *parser) options(row *Pass, s *Settings) {
	open := p.pos
	p.pos++
	for !p.accept('}') {
		if p.pos == len(p.text) {
			p.fail(open, "`{` is not closed")
		}
		if p.err != nil {
			return
		}
		p.option(row, s)
	}
}

func (p *parser) option(row *Pass, s *Settings) {
	name, at := p.name()
	if name == "" {
		p.fail(p.pos, "expected the name of an option, found `%c`", p.text[p.pos])
		return
	}
	i := slices.IndexFunc(row.Options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		p.fail(at, "unknown option `%s` of pass `%s`%s", name, row.Name, row.suggest(name))
		return
	}
	if s.values[i] != nil {
		p.fail(at, "option `%s` of pass `%s` is given twice", name, row.Name)
		return
	}
	text := "true"
	if p.pos < len(p.text) && p.text[p.pos] == '=' {
		p.pos++
		at = p.pos
		text = p.value()
	} else if row.Options[i].Kind != BoolOption {
		p.fail(at, "option `%s` of pass `%s` needs a value", name, row.Name)
		return
	}
	value, err := row.Options[i].read(text)
	if err != nil {
		p.fail(at, "option `%s` of pass `%s` has the value %q, %v", name, row.Name, text, err)
		return
	}
	s.values[i] = value
}

// value reads up to white space or a closing brace outside of inner braces.
func (p *parser) value() string {
	at, depth := p.pos, 0
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == '{':
			depth++
		case depth == 0 && strings.IndexByte(" \t\r\n}", c) >= 0:
			return p.text[at:p.pos]
		case c == '}':
			depth--
		}
	}
	return p.text[at:p.pos]
}

// suggest returns the nearest option, or what options there are.
func (p *Pass) suggest(name string) string {
	if len(p.Options) == 0 {
		return ", which has none"
	}
	names := lists.Map(p.Options, func(o Option) string { return o.Name })
	if hint := didYouMean(name, names); hint != "" {
		return hint
	}
	return ", its options are " + strings.Join(quoted(names), ", ")
}

func didYouMean(name string, known []string) string {
	if near := diag.Nearest(name, known); near != "" {
		return fmt.Sprintf(", did you mean `%s`?", near)
	}
	return ""
}

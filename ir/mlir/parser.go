package mlir

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"unicode/utf8"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// Options say what to read and how much of it. A zero limit means the default.
type Options struct {
	File        string // name of the source in positions
	MaxBytes    int    // of the text; default 1 GiB, at most 2 GiB - 1
	MaxDepth    int    // of nested regions, types, attributes and locations; default 1,000
	MaxElements int64  // of one constant that is written out; default 2^28
}

const (
	defaultMaxBytes    = 1 << 30
	defaultMaxDepth    = 1000
	defaultMaxElements = 1 << 28
)

func (o Options) withDefaults() Options {
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultMaxBytes)
	o.MaxBytes = min(o.MaxBytes, math.MaxInt32)
	o.MaxDepth = cmp.Or(o.MaxDepth, defaultMaxDepth)
	o.MaxElements = cmp.Or(o.MaxElements, defaultMaxElements)
	return o
}

// parser reads one text into a module. After the first problem the current token is the end of the text, so that
// everything unwinds without further checks; err holds the problem.
type parser struct {
	lexer
	ctx      context.Context
	cut      error // the context's, once it has ended
	listened int   // offset of the last look at the context
	m        *ir.Module
	opts     Options
	base     diag.Position // place of the text inside a larger one
	err      *diag.Error
	depth    int

	symbolTable
	types     map[string]ir.TypeID // by text
	inModule  bool                 // directly in the body of a module
	several   bool                 // a module is one of several ops of the text
	blocks    *blockNames          // of the region at hand
	names     scopes
	freeNames scopes // for the next function
	aliases   aliases
	dialect   string // prefix of op names without one
	states    []*opState
	nested    int // index of the state in use
	pending   []pendingResource
	problems  []diag.Diagnostic                // that do not keep the parser from going on
	blamed    int                              // how many of them have been traced to their op
	axes      map[ir.OpaqueAttr]unresolvedAxes // by their text
	forward   []forwardUse                     // of values that are not defined yet
	graph     int                              // how many regions of graphs are around the op at hand
}

// Parse reads a module. A text without a surrounding module is the content of one. Errors are of class
// diag.ErrInvalid, diag.ErrTooLarge or diag.ErrUnsupported and carry the place and its source line, or they are the
// context's.
func Parse(ctx context.Context, src []byte, opts Options) (*ir.Module, error) {
	opts = opts.withDefaults()
	if len(src) > opts.MaxBytes {
		return nil, diag.TooLarge(diag.InputTooLarge, diag.Position{File: opts.File, Line: 1, Col: 1}, "input has %s, the limit is %s",
			diag.Bytes(int64(len(src))), diag.Bytes(int64(opts.MaxBytes)))
	}
	text := string(src)
	if at := notText(text); at >= 0 {
		return nil, notTextError(text, at, opts.File)
	}
	p := newParser(ctx, ir.NewModule(), text, opts)
	if p.readFile(); p.several {
		p = newParser(ctx, ir.NewModule(), text, opts)
		p.several = true
		p.readFile()
	}
	if p.cut != nil {
		return nil, p.cut
	}
	if p.err != nil {
		return nil, p.err
	}
	if len(p.problems) > 0 {
		return nil, p.allProblems()
	}
	return p.m, nil
}

func (p *parser) readFile() {
	p.m.SetSource(p.opts.File, p.src)
	if !p.look() {
		return
	}
	p.reserve()
	p.next()
	p.m.SetPos(0, p.position(p.tok))
	if p.tok.kind == tokEOF {
		p.fail(p.tok, diag.EmptyInput, "input is empty: it holds no operation")
	}
	p.file()
}

// bytesPerOp and bytesPerName are about how much text an op and a value's name have at least.
const (
	bytesPerOp   = 40
	bytesPerName = 8
)

// reserve makes room for the ops that the text seems to have: one a line, and two more in the body of each reduction in
// its short form. Tables that grow later cost more memory than tables with some room to spare.
func (p *parser) reserve() {
	lines := min(strings.Count(p.src, "\n"), len(p.src)/bytesPerOp)
	names := min(strings.Count(p.src, "%"), len(p.src)/bytesPerName)
	reduces := strings.Count(p.src, " applies ")
	ops := lines + 2*reduces
	p.m.Reserve(ops, ops+ops/8, max(0, names-lines)+3*reduces)
	p.freeNames.byNumber = make([]definition, 0, lines)
	p.freeNames.order = make([]int32, 0, lines)
}

// maxProblems bounds how many problems are reported.
const maxProblems = 20

// problem notes something wrong that is no matter of syntax; reading goes on to find more.
func (p *parser) problem(at token, code diag.Code, format string, args ...any) {
	if p.err != nil || len(p.problems) >= maxProblems {
		return
	}
	err := diag.Invalid(code, p.position(at), format, args...)
	err.Diagnostics[0].Source = p.sourceLine(at)
	p.problems = append(p.problems, err.Diagnostics[0])
}

// blame adds the place of the op that has the latest problems, where it begins on another line than they are on.
func (p *parser) blame(o *opState) {
	if p.blamed == len(p.problems) {
		return
	}
	last := p.problems[len(p.problems)-1]
	if pos := p.position(o.at); pos.Line != last.Pos.Line {
		p.problems = append(p.problems, diag.Diagnostic{Code: last.Code, Pos: pos, Source: p.sourceLine(o.at),
			Message: "'" + o.name + "' op has an invalid sharding"})
	}
	p.blamed = len(p.problems)
}

// allProblems returns the problems, behind those that the verifier finds further up.
func (p *parser) allProblems() error {
	all := &diag.Error{Class: diag.ErrInvalid}
	var found *diag.Error
	err := ir.Verify(p.ctx, p.m)
	if err != nil && !errors.As(err, &found) {
		return err
	}
	if found != nil {
		for _, d := range found.Diagnostics {
			if d.Pos.Line > 0 && d.Pos.Line < p.problems[0].Pos.Line {
				all.Diagnostics = append(all.Diagnostics, d)
			}
		}
	}
	all.Diagnostics = append(all.Diagnostics, p.problems...)
	return all
}

func newParser(ctx context.Context, m *ir.Module, src string, opts Options) *parser {
	p := &parser{
		lexer:       lexer{src: src, line: 1},
		ctx:         ctx,
		m:           m,
		opts:        opts,
		symbolTable: newSymbolTable(m.Body()),
		types:       map[string]ir.TypeID{},
		dialect:     "builtin",
	}
	p.names.init()
	p.aliases.init()
	return p
}

// notText returns the offset of the first byte that cannot be part of a text, -1 if there is none.
func notText(src string) int {
	nul := strings.IndexByte(src, 0)
	if utf8.ValidString(src) {
		return nul
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == 0 || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return nul
}

func notTextError(src string, at int, file string) *diag.Error {
	start := strings.LastIndexByte(src[:at], '\n') + 1
	pos := diag.Position{File: file, Line: 1 + strings.Count(src[:at], "\n"), Col: at - start + 1}
	if src[at] == 0 {
		return diag.Invalid(diag.NotText, pos,
			"input is not text: it holds a NUL byte; it is neither MLIR bytecode nor a JAX export, which begin otherwise")
	}
	return diag.Invalid(diag.NotText, pos, "input is not text: byte 0x%02X is not UTF-8", src[at])
}

// position returns where a token begins.
func (p *parser) position(t token) diag.Position {
	if p.base.Binary {
		return p.base
	}
	pos := diag.Position{File: p.opts.File, Line: t.line, Col: t.start - t.lineStart + 1}
	if p.base.Line > 0 {
		pos.File = p.base.File
		if t.line == 1 {
			pos.Col += p.base.Col - 1
		}
		pos.Line += p.base.Line - 1
	}
	return pos
}

// fail records the first problem and makes the rest of the text disappear.
func (p *parser) fail(at token, code diag.Code, format string, args ...any) {
	p.failWith(at, diag.Invalid(code, p.position(at), format, args...))
}

func (p *parser) failWith(at token, err *diag.Error) {
	if p.err == nil {
		for i := range err.Diagnostics {
			err.Diagnostics[i].Source = p.sourceLine(at)
		}
		p.err = err
	}
	p.stop()
}

func (p *parser) unsupported(at token, format string, args ...any) {
	p.failWith(at, diag.Unsupported(diag.NotSupported, p.position(at), format, args...))
}

// listenEvery is the number of bytes that are read between looks at the context, in well under a millisecond.
const listenEvery = 1 << 15

// listen stops reading if the context has ended.
func (p *parser) listen() {
	if d := p.off - p.listened; d >= 0 && d < listenEvery {
		return // else it went on, or back to read something again
	}
	p.listened = p.off
	p.look()
}

// look stops reading if the context has ended, and says whether it goes on.
func (p *parser) look() bool {
	if err := p.ctx.Err(); err != nil && p.err == nil {
		p.cut, p.err = err, &diag.Error{}
		p.stop()
	}
	return p.err == nil
}

func (p *parser) stop() {
	p.off = len(p.src)
	p.tok = token{kind: tokEOF, start: len(p.src), end: len(p.src), line: p.line, lineStart: p.lineStart}
}

func (p *parser) sourceLine(at token) string {
	return ir.LineOf(p.src[min(at.lineStart, len(p.src)):], 1)
}

// note adds a second place to the problem that was recorded last.
func (p *parser) note(at token, format string, args ...any) {
	p.err.WithNote(p.position(at), format, args...)
}

// enter counts a level of nesting and reports whether the limit allows it; leave must follow in any case.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > p.opts.MaxDepth {
		p.failWith(p.tok, diag.TooLarge(diag.NestingTooDeep, p.position(p.tok), "nesting is deeper than %d levels", p.opts.MaxDepth))
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

// at says whether the current token is of a kind.
func (p *parser) at(k tokenKind) bool { return p.tok.kind == k }

// accept skips a token of that kind, if it is there.
func (p *parser) accept(k tokenKind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

// expect skips a token of that kind and complains if it is not there.
func (p *parser) expect(k tokenKind) bool {
	if p.accept(k) {
		return true
	}
	p.expected(k.String())
	return false
}

// expected complains about the current token.
func (p *parser) expected(what string) {
	switch p.tok.kind {
	case tokEOF:
		p.fail(p.tok, diag.Syntax, "expected %s, found the end of the text", what)
	case tokBad:
		p.fail(p.tok, diag.Syntax, "expected %s, found %s", what, p.describeBad())
	default:
		p.fail(p.tok, diag.Syntax, "expected %s, found `%s`", what, clip(p.text()))
	}
}

func (p *parser) describeBad() string {
	switch p.src[p.tok.start] {
	case '"', '@':
		return "a string that does not end on its line or has a bad escape"
	}
	return "`" + clip(p.text()) + "`, which begins no token"
}

// clip shortens a text for a message.
func clip(s string) string {
	const longest = 60
	if len(s) <= longest {
		return s
	}
	cut := longest
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

// atWord says whether the current token is that identifier.
func (p *parser) atWord(w string) bool { return p.tok.kind == tokIdent && p.text() == w }

func (p *parser) acceptWord(w string) bool {
	if !p.atWord(w) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectWord(w string) bool {
	if p.acceptWord(w) {
		return true
	}
	p.expected("'" + w + "'")
	return false
}

// ident reads an identifier.
func (p *parser) ident(what string) string {
	if !p.at(tokIdent) {
		p.expected(what)
		return ""
	}
	s := p.text()
	p.next()
	return s
}

// list reads items separated by commas up to a closing token, which it skips. The opening one has been read.
func (p *parser) list(end tokenKind, item func()) {
	if p.accept(end) {
		return
	}
	for {
		item()
		p.listen()
		if p.err != nil {
			return
		}
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(end)
}

// symbol reads @name.
func (p *parser) symbol(what string) string {
	if !p.at(tokSymbol) {
		p.expected(what)
		return ""
	}
	name := symbolName(p.text())
	p.next()
	return name
}

// symbolName returns the name in the text of a symbol token.
func symbolName(text string) string {
	if text[1] == '"' {
		return unescape(text[1:])
	}
	return text[1:]
}

// str reads a string and returns its content.
func (p *parser) str(what string) string {
	if !p.at(tokString) {
		p.expected(what)
		return ""
	}
	s := unescape(p.text())
	p.next()
	return s
}

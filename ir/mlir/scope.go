package mlir

import (
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// definition is what a name such as %0 or %x:2 stands for: n values with consecutive ids.
type definition struct {
	first ir.ValueID
	n     int32
	at    int32 // offset of the name in the text
}

// scopes holds the names of values. Regions see the names around them; functions do not. Names that are numbers, in
// about the order in which printers give them, lie in a slice; others in a map.
type scopes struct {
	byName   map[string]definition
	byNumber []definition // n is 0 for numbers without a definition
	order    []int32      // offsets of the names in order of definition
	starts   []int        // of the open scopes in order
}

func (s *scopes) init() { s.byName = map[string]definition{} }

func (s *scopes) open() { s.starts = append(s.starts, len(s.order)) }

// close forgets the names of the innermost scope; src is the text that their offsets refer to.
func (s *scopes) close(src string) {
	start := s.starts[len(s.starts)-1]
	for _, at := range s.order[start:] {
		name := valueNameAt(src, at)
		if n := number(name); n >= 0 && n < len(s.byNumber) && s.byNumber[n].n > 0 {
			s.byNumber[n].n = 0
		} else {
			delete(s.byName, name)
		}
	}
	s.order = s.order[:start]
	s.starts = s.starts[:len(s.starts)-1]
}

// valueNameAt returns the value's name that begins at an offset.
func valueNameAt(src string, at int32) string {
	l := lexer{src: src, off: int(at)}
	l.prefixed(tokValue)
	return src[at:l.off]
}

// number returns n for %n, -1 for other names and large numbers.
func number(name string) int {
	if len(name) > 8 || name[1] == '0' && len(name) > 2 {
		return -1
	}
	n := 0
	for _, c := range []byte(name[1:]) {
		if !isDigit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

func (s *scopes) lookup(name string) (definition, bool) {
	if n := number(name); n >= 0 && n < len(s.byNumber) && s.byNumber[n].n > 0 {
		return s.byNumber[n], true
	}
	d, ok := s.byName[name]
	return d, ok
}

// numberGap is how far a number may lie beyond those before it to get a place in the slice.
const numberGap = 1024

func (s *scopes) add(name string, d definition) {
	s.order = append(s.order, d.at)
	n := number(name)
	if n < 0 || n > len(s.byNumber)+numberGap {
		s.byName[name] = d
		return
	}
	for n >= len(s.byNumber) {
		s.byNumber = append(s.byNumber, definition{})
	}
	s.byNumber[n] = d
}

// isolate starts with no names at all and returns what undoes that. Functions come one behind the other, so that the
// memory of one serves the next.
func (p *parser) isolate() (restore func()) {
	outer, graph := p.names, p.graph
	p.names, p.graph = p.freeNames, 0
	if p.names.byName == nil {
		p.names.init()
	}
	return func() {
		p.graph = graph
		p.freeNames, p.names = p.names, outer
		clear(p.freeNames.byName)
		p.freeNames.byNumber, p.freeNames.order = p.freeNames.byNumber[:0], p.freeNames.order[:0]
	}
}

// define gives a name, whose token is at hand, to values.
func (p *parser) define(at token, first ir.ValueID, n int) {
	name := p.src[at.start:at.end]
	if old, ok := p.names.lookup(name); ok {
		p.fail(at, diag.Redefined, "redefinition of SSA value '%s'", name)
		p.note(p.tokenAt(old.at), "previously defined here")
		return
	}
	p.names.add(name, definition{first, int32(n), int32(at.start)})
	if len(p.forward) > 0 {
		p.fillForward(name)
	}
}

// forwardUse is a use of a value before its definition, with the value that stands for it until then.
type forwardUse struct {
	operand
	name  string
	value ir.ValueID
	graph int // how many regions of graphs are around it
}

// forwardUse returns a value that stands for one that is defined further down: in the regions of ops of unknown
// dialects the order of ops may mean nothing.
func (p *parser) forwardUse(o operand, want ir.TypeID) ir.ValueID {
	v := p.m.AddBlockArg(p.m.DetachedBlock(), want)
	p.forward = append(p.forward, forwardUse{o, p.src[o.at.start:o.at.end], v, p.graph})
	return v
}

// fillForward puts values where they were used before their definition.
func (p *parser) fillForward(name string) {
	kept := p.forward[:0]
	for _, f := range p.forward {
		if f.name != name {
			kept = append(kept, f)
			continue
		}
		v := p.resolve(f.operand, p.m.Type(f.value))
		for p.err == nil && p.m.HasUses(f.value) {
			for use := range p.m.Uses(f.value) {
				p.m.SetOperand(use.Op, use.Index, v)
				break
			}
		}
	}
	p.forward = kept
}

// inGraph reads a region in which values may be used before their definition.
func (p *parser) inGraph(read func()) {
	p.graph++
	read()
	p.graph--
	if n := len(p.forward); n > 0 && p.forward[n-1].graph > p.graph && p.err == nil {
		p.undeclared(p.forward[n-1].operand)
	}
}

// tokenAt returns a value's token from its offset.
func (p *parser) tokenAt(at int32) token {
	before := p.src[:at]
	return token{kind: tokValue, start: int(at), end: int(at) + len(valueNameAt(p.src, at)), line: 1 + strings.Count(before, "\n"),
		lineStart: strings.LastIndexByte(before, '\n') + 1}
}

// operand is a use of a value as it is written: %name or %name#2.
type operand struct {
	at     token
	number int32
}

// operand reads a use of a value.
func (p *parser) operand() operand {
	o := operand{at: p.tok}
	if !p.at(tokValue) {
		p.expected("SSA operand")
		return o
	}
	p.next()
	if p.at(tokHash) && isDigit(p.peek(p.tok.start+1)) {
		n, err := strconv.ParseInt(p.text()[1:], 10, 32)
		if err != nil {
			p.fail(p.tok, diag.Syntax, "invalid SSA value result number `%s`", p.text())
		}
		o.number = int32(n)
		p.next()
	}
	return o
}

// operands reads uses separated by commas; there may be none. A comma before something else stays.
func (p *parser) operands(out []operand) []operand {
	for p.at(tokValue) {
		out = append(out, p.operand())
		if !p.at(tokComma) || !p.valueFollows() {
			return out
		}
		p.next()
	}
	return out
}

// valueFollows says whether the token behind the current one is a value.
func (p *parser) valueFollows() bool {
	l := p.lexer
	l.skipSpace()
	return l.peek(l.off) == '%'
}

// resolve returns the value that a use names, and checks that it has the type that the use expects (0: any).
func (p *parser) resolve(o operand, want ir.TypeID) ir.ValueID {
	if p.err != nil {
		return 0
	}
	name := p.src[o.at.start:o.at.end]
	d, ok := p.names.lookup(name)
	if !ok && p.graph > 0 {
		return p.forwardUse(o, want)
	}
	if !ok {
		p.undeclared(o)
		return 0
	}
	if o.number >= d.n {
		p.fail(o.at, diag.Undefined, "reference to invalid result number: '%s' has %d values, #%d is not one of them", name, d.n, o.number)
		return 0
	}
	v := d.first + ir.ValueID(o.number)
	if have := p.m.Type(v); want != 0 && have != want {
		p.fail(o.at, diag.TypeMismatch, "use of value '%s' expects different type than prior uses: '%s' vs '%s'", name,
			FormatType(p.m, want), FormatType(p.m, have))
		p.note(p.tokenAt(d.at), "prior use here")
		return 0
	}
	return v
}

// undeclared complains about a use without a definition before it; a definition further down is pointed at.
func (p *parser) undeclared(o operand) {
	name := p.src[o.at.start:o.at.end]
	if later, ok := p.definitionAfter(o.at, name); ok {
		p.fail(o.at, diag.Undefined, "operand '%s' does not dominate this use: it is defined below", name)
		p.note(later, "defined here")
		return
	}
	p.fail(o.at, diag.Undefined, "use of undeclared SSA value name '%s'", name)
}

// definitionAfter looks for %name at the beginning of an op, followed by = or another result, up to the next function.
func (p *parser) definitionAfter(at token, name string) (token, bool) {
	l := lexer{src: p.src, off: at.end, line: at.line, lineStart: at.lineStart}
	for l.next(); l.tok.kind != tokEOF && l.tok.kind != tokBad; {
		t := l.tok
		if t.kind == tokIdent && l.text() == "func.func" {
			return token{}, false
		}
		found := t.kind == tokValue && l.text() == name
		l.next()
		if found && (l.tok.kind == tokEqual || l.tok.kind == tokColon) && t.line == l.tok.line && firstOnLine(p.src, t) {
			return t, true
		}
	}
	return token{}, false
}

func firstOnLine(src string, t token) bool {
	return !slices.ContainsFunc([]byte(src[t.lineStart:t.start]), func(c byte) bool { return c != ' ' && c != '\t' })
}

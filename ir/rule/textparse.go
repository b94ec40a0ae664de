package rule

import (
	"cmp"
	"slices"
	"strconv"

	"autoshard/internal/diag"
)

// textParser reads the text of a rule.
type textParser struct {
	text   string
	at     int
	pos    diag.Position
	source string
	err    *diag.Error
}

func (p *textParser) fail(at int, format string, args ...any) {
	p.err = cmp.Or(p.err, failAt(p.pos, p.source, at, format, args...))
}

func (p *textParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
}

// accept consumes a word if it comes next.
func (p *textParser) accept(word string) bool {
	p.space()
	if p.err != nil || p.at+len(word) > len(p.text) || p.text[p.at:p.at+len(word)] != word {
		return false
	}
	p.at += len(word)
	return true
}

func (p *textParser) expect(word string) {
	if !p.accept(word) {
		p.fail(p.at, "expected `%s`, found %s", word, p.here())
	}
}

// here describes the character at hand.
func (p *textParser) here() string {
	if p.at >= len(p.text) {
		return "the end of the rule"
	}
	return strconv.QuoteRune([]rune(p.text[p.at:min(len(p.text), p.at+4)])[0])
}

func (p *textParser) rule() *Text {
	t := &Text{pos: p.pos, source: p.source}
	t.operands = p.tensors()
	p.expect("->")
	t.results = p.tensors()
	p.accept(",")
	for p.space(); p.err == nil && p.at < len(p.text); p.space() {
		at := p.at
		f := p.factor()
		switch {
		case p.err != nil:
		case f.size > 0:
			t.pins = append(t.pins, f)
		case !slices.Contains(groupNames, f.name):
			p.fail(at, "unknown list of factors `%s`%s", f.name, diag.DidYouMean(f.name, groupNames))
		default:
			t.groups = append(t.groups, p.group(t, f))
		}
		p.accept(",")
	}
	return t
}

// group reads ={a b} behind the name of a list of special factors.
func (p *textParser) group(t *Text, name factorText) groupText {
	g := groupText{name: name.name}
	if g.name == "blocked_propagation" {
		g.name = "blocked"
	}
	if slices.ContainsFunc(t.groups, func(other groupText) bool { return other.name == g.name }) {
		p.fail(name.at, "`%s` is given twice", g.name)
	}
	p.expect("=")
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		g.factors = append(g.factors, p.name())
		p.accept(",")
	}
	return g
}

// tensors reads (a b, c).
func (p *textParser) tensors() [][]dimText {
	var out [][]dimText
	p.expect("(")
	for p.err == nil {
		out = append(out, p.dims())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}

// dims reads the dimensions of a tensor.
func (p *textParser) dims() []dimText {
	var out []dimText
	for p.space(); p.err == nil && p.at < len(p.text) && p.text[p.at] != ',' && p.text[p.at] != ')'; p.space() {
		d := dimText{at: p.at}
		if p.accept("(") {
			for p.err == nil && !p.accept(")") {
				d.factors = append(d.factors, p.factor())
			}
			if len(d.factors) == 0 {
				p.fail(d.at, "a dimension has at least one factor")
			}
		} else {
			d.factors = []factorText{p.factor()}
		}
		out = append(out, d)
	}
	return out
}

// factor reads a name, with =SIZE if a digit follows.
func (p *textParser) factor() factorText {
	f := p.name()
	before := p.at
	if p.err != nil || !p.accept("=") {
		return f
	}
	p.space()
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	if start == p.at {
		p.at = before
		return f
	}
	size, err := strconv.ParseInt(p.text[start:p.at], 10, 64)
	if err != nil || size < 1 {
		p.fail(start, "size of factor `%s` must be between 1 and 2^63-1", f.name)
	}
	f.size = size
	return f
}

func (p *textParser) name() factorText {
	p.space()
	f := factorText{at: p.at}
	for p.at < len(p.text) && isNameByte(p.text[p.at], p.at > f.at) {
		p.at++
	}
	if f.name = p.text[f.at:p.at]; f.name == "" {
		p.fail(f.at, "expected the name of a factor, found %s", p.here())
	}
	return f
}

func isNameByte(c byte, digits bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || digits && c >= '0' && c <= '9'
}

package mlir

import (
	"math"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// aliases holds what #name and !name stand for. Locations may be used before they are defined.
type aliases struct {
	attrs map[string]ir.Attr
	types map[string]ir.TypeID
	locs  map[string]*locAlias
	order []*locAlias
}

type locAlias struct {
	name    string
	id      ir.LocID
	used    token
	defined bool
}

func (a *aliases) init() {
	a.attrs = map[string]ir.Attr{}
	a.types = map[string]ir.TypeID{}
	a.locs = map[string]*locAlias{}
}

// aliasDefinition reads #name = attribute or !name = type.
func (p *parser) aliasDefinition() {
	at, name := p.tok, p.text()[1:]
	isType := p.at(tokBang)
	p.next()
	p.expect(tokEqual)
	if strings.Contains(name, ".") {
		p.fail(at, diag.Syntax, "attribute and type names with a '.' are reserved for dialect-defined names")
		return
	}
	if isType {
		if _, twice := p.aliases.types[name]; twice {
			p.fail(at, diag.Redefined, "redefinition of type alias id '%s'", name)
			return
		}
		p.aliases.types[name] = p.typ()
		return
	}
	if p.atWord("loc") {
		p.defineLoc(at, name)
		return
	}
	if _, twice := p.aliases.attrs[name]; twice {
		p.fail(at, diag.Redefined, "redefinition of attribute alias id '%s'", name)
		return
	}
	if a := p.attr(0); a != nil {
		p.aliases.attrs[name] = a
	}
}

func (p *parser) defineLoc(at token, name string) {
	a := p.locAlias(at, name)
	if a.defined {
		p.fail(at, diag.Redefined, "redefinition of attribute alias id '%s'", name)
		return
	}
	id := p.wholeLoc()
	if p.err != nil {
		return
	}
	*p.m.LocOf(a.id) = *p.m.LocOf(id)
	a.defined = true
}

// locAlias returns the record of a location's alias, made at its first mention.
func (p *parser) locAlias(at token, name string) *locAlias {
	a, ok := p.aliases.locs[name]
	if !ok {
		a = &locAlias{name: name, id: p.m.AddLoc(ir.Location{}), used: at}
		p.aliases.locs[name] = a
		p.aliases.order = append(p.aliases.order, a)
	}
	return a
}

// aliasAttr reads a use of an attribute's alias.
func (p *parser) aliasAttr(name string) ir.Attr {
	at := p.tok
	p.next()
	if a, ok := p.aliases.attrs[name]; ok {
		return a
	}
	if strings.HasPrefix(name, "loc") {
		return ir.LocAttr(p.locAlias(at, name).id)
	}
	p.fail(at, diag.Undefined, "undefined symbol alias id '%s'", name)
	return nil
}

// finishAliases refuses locations that are never defined or contain themselves.
func (p *parser) finishAliases() {
	for _, a := range p.aliases.order {
		if p.err == nil && !a.defined {
			p.fail(a.used, diag.Undefined, "operation location alias was never defined: '#%s'", a.name)
			return
		}
	}
	depth := make([]int32, p.m.NumLocs())
	for _, a := range p.aliases.order {
		if p.err == nil && p.locDepth(a.id, depth) < 0 {
			p.failWith(a.used, diag.TooLarge(diag.NestingTooDeep, p.position(a.used),
				"location '#%s' contains itself or is nested deeper than %d levels", a.name, p.opts.MaxDepth))
			return
		}
	}
}

const visiting = -1

// locDepth returns how deep a location nests, negative if it contains itself or goes beyond the limit.
func (p *parser) locDepth(id ir.LocID, depth []int32) int32 {
	if depth[id] != 0 {
		return depth[id]
	}
	depth[id] = visiting
	deepest := int32(0)
	defer p.leave()
	if p.depth++; p.depth > p.opts.MaxDepth {
		return visiting
	}
	for _, c := range p.m.LocOf(id).Children {
		d := p.locDepth(c, depth)
		if d < 0 {
			return visiting
		}
		deepest = max(deepest, d)
	}
	if int(deepest) >= p.opts.MaxDepth {
		return visiting
	}
	depth[id] = deepest + 1
	return depth[id]
}

// trailingLoc reads loc(…) behind an op or argument, if it is there; 0 is the unknown location. An alias in it may be
// defined later.
func (p *parser) trailingLoc() ir.LocID {
	if !p.atWord("loc") {
		return 0
	}
	here := p.lexer
	p.next()
	p.expect(tokLParen)
	if !p.at(tokHash) {
		p.lexer = here
		return p.wholeLoc()
	}
	a := p.locAlias(p.tok, p.text()[1:])
	p.next()
	p.expect(tokRParen)
	return a.id
}

// wholeLoc reads loc(…), in which all aliases are defined.
func (p *parser) wholeLoc() ir.LocID {
	p.expectWord("loc")
	p.expect(tokLParen)
	id := p.location()
	p.expect(tokRParen)
	return id
}

// location reads what stands between the parentheses (specification: stablehlo.md section 1.10).
func (p *parser) location() ir.LocID {
	defer p.leave()
	if !p.enter() {
		return 0
	}
	switch {
	case p.at(tokHash):
		a := p.aliases.locs[p.text()[1:]]
		if a == nil || !a.defined {
			p.fail(p.tok, diag.Undefined, "undefined symbol alias id '%s'", p.text()[1:])
			return 0
		}
		p.next()
		return a.id
	case p.at(tokString):
		return p.namedLoc()
	case p.acceptWord("unknown"):
		return 0
	case p.acceptWord("callsite"):
		l := ir.Location{Kind: ir.LocCallSite}
		p.expect(tokLParen)
		callee := p.innerLoc()
		p.expectWord("at")
		l.Children = []ir.LocID{callee, p.innerLoc()}
		p.expect(tokRParen)
		return p.m.AddLoc(l)
	case p.acceptWord("fused"):
		l := ir.Location{Kind: ir.LocFused}
		if p.accept(tokLess) {
			l.Metadata = p.attr(0)
			p.expect(tokGreater)
		}
		p.expect(tokLSquare)
		p.list(tokRSquare, func() { l.Children = append(l.Children, p.innerLoc()) })
		return p.m.AddLoc(l)
	}
	p.expected("location")
	return 0
}

// innerLoc reads a location inside another one, with or without loc( ) around it.
func (p *parser) innerLoc() ir.LocID {
	if p.atWord("loc") {
		return p.wholeLoc()
	}
	return p.location()
}

// namedLoc reads "file":line:col, perhaps with an end, or "name" with an optional child.
func (p *parser) namedLoc() ir.LocID {
	name := p.str("name")
	if !p.accept(tokColon) {
		l := ir.Location{Kind: ir.LocName, Name: strings.Clone(name)}
		if p.accept(tokLParen) {
			l.Children = []ir.LocID{p.innerLoc()}
			p.expect(tokRParen)
		}
		return p.m.AddLoc(l)
	}
	l := ir.Location{Kind: ir.LocFile, File: strings.Clone(name), Line: p.lineNumber()}
	p.expect(tokColon)
	l.Col = p.lineNumber()
	if p.acceptWord("to") {
		l.EndLine = l.Line
		if p.at(tokInt) {
			l.EndLine = p.lineNumber()
		}
		p.expect(tokColon)
		l.EndCol = p.lineNumber()
	}
	return p.m.AddLoc(l)
}

func (p *parser) lineNumber() int {
	if !p.at(tokInt) {
		p.expected("integer in location")
		return 0
	}
	n, err := strconv.ParseInt(p.text(), 10, 64)
	if err != nil || n > math.MaxInt32 {
		p.fail(p.tok, diag.Syntax, "line or column `%s` is too large", clip(p.text()))
	}
	p.next()
	return int(n)
}

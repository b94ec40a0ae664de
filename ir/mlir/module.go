package mlir

import (
	"strings"

	"autoshard/ir"
)

// symbolTable is what the names in the body of one module stand for.
type symbolTable struct {
	body    ir.BlockID
	start   lexer // at the opening brace of the body; at no token for a text without a module around it
	meshes  map[string]ir.MeshID
	scanned bool // all meshes of the body are in meshes
	symbols map[string]token
}

func newSymbolTable(body ir.BlockID) symbolTable {
	return symbolTable{body: body, meshes: map[string]ir.MeshID{}, symbols: map[string]token{}}
}

// module reads module @name attributes {…} { … }, the module around everything.
func (p *parser) module() {
	p.m.SetPos(0, p.position(p.tok))
	p.next()
	if p.at(tokSymbol) {
		p.m.Name = strings.Clone(p.symbol("module name"))
	}
	if p.acceptWord("attributes") {
		p.m.Attrs = ir.MakeAttrs(p.attrDict(nil)...)
	}
	p.moduleBody()
	p.m.Loc = p.trailingLoc()
}

// moduleBody reads { … }.
func (p *parser) moduleBody() {
	p.start = p.lexer
	p.expect(tokLBrace)
	if p.accept(tokBlock) { // in generic form, of an empty body
		p.expect(tokColon)
	}
	for !p.at(tokRBrace) && !p.at(tokEOF) && p.err == nil {
		p.topLevelOp()
	}
	p.expect(tokRBrace)
}

// topLevelOp reads an op of a module's body.
func (p *parser) topLevelOp() {
	p.inModule = true
	p.op(p.m.BuilderAtEnd(p.body))
}

// genericModule reads "builtin.module"() <{sym_name = "m"}> ({ … }) {…} : () -> (), the module around everything.
func (p *parser) genericModule() {
	p.m.SetPos(0, p.position(p.tok))
	p.next()
	properties := p.modulePrefix()
	if name, ok := ir.MakeAttrs(properties...).Get(symbolNameAttr).(ir.StringAttr); ok {
		p.m.Name = string(name)
	}
	p.moduleBody()
	p.m.Attrs = ir.MakeAttrs(p.moduleSuffix(properties)...).Without(symbolNameAttr)
	p.m.Loc = p.trailingLoc()
}

// symbolNameAttr is the attribute that names a module, function or mesh in generic form.
const symbolNameAttr = "sym_name"

// modulePrefix reads () <{…}> ( of a module in generic form.
func (p *parser) modulePrefix() (properties []ir.NamedAttr) {
	p.expect(tokLParen)
	p.expect(tokRParen)
	if p.accept(tokLess) {
		properties = p.attrDict(nil)
		p.expect(tokGreater)
	}
	p.expect(tokLParen)
	return properties
}

// moduleSuffix reads ) {…} : () -> () and adds the attributes to the properties.
func (p *parser) moduleSuffix(properties []ir.NamedAttr) []ir.NamedAttr {
	p.expect(tokRParen)
	if p.at(tokLBrace) {
		properties = p.attrDict(properties)
	}
	p.emptyFunctionType()
	return properties
}

// nestedModule reads a module inside another one, in either form; its name has been read.
func (p *parser) nestedModule(b *ir.Builder, o *opState, generic bool) {
	if !p.inModule {
		p.unsupported(o.at, "a module inside another op is not supported: it must stand directly in another module")
		return
	}
	defer p.leave()
	if !p.enter() {
		return
	}
	if generic {
		o.attrs = append(o.attrs, p.modulePrefix()...)
	} else {
		at := p.tok
		if p.at(tokSymbol) {
			o.attr(symbolNameAttr, ir.StringAttr(strings.Clone(p.symbol("module name"))))
		}
		if p.acceptWord("attributes") {
			o.attrs = p.attrDict(o.attrs)
		}
		if name, ok := ir.MakeAttrs(o.attrs...).Get(symbolNameAttr).(ir.StringAttr); ok && !p.defineSymbol(at, string(name)) {
			return
		}
	}
	op := b.OpRegions(ir.OpModule, nil, nil, 1)
	p.m.SetPos(op, p.position(o.at))
	outer := p.symbolTable
	p.symbolTable = newSymbolTable(p.m.AddBlock(p.m.Regions(op)[0]))
	p.moduleBody()
	p.symbolTable = outer
	if generic {
		o.attrs = p.moduleSuffix(o.attrs)
	}
	p.m.SetAttrs(op, ir.MakeAttrs(o.attrs...))
	p.m.SetLoc(op, p.trailingLoc())
}

package mlir

import (
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// file reads a whole text: alias definitions, ops, and the resources at the end. A module that is the only op is the
// module of the text; otherwise the ops are the body of a module that is not written.
func (p *parser) file() {
	module := false
	for p.err == nil && !p.at(tokEOF) {
		p.listen()
		switch {
		case p.at(tokHash) || p.at(tokBang):
			p.aliasDefinition()
		case p.at(tokMetaBegin):
			p.metadata()
		case module:
			p.several = true
			p.stop()
			return
		case p.several || p.m.FirstOp(p.m.Body()) != 0:
			p.topLevelOp()
		case p.atWord("module") || p.atWord("builtin.module"):
			module = true
			p.module()
		case p.at(tokString) && p.text() == `"builtin.module"`:
			module = true
			p.genericModule()
		default:
			p.topLevelOp()
		}
	}
	p.finishAliases()
	if p.err == nil {
		p.fillResources()
	}
}

// function reads func.func public @f(%arg0: T {…}) -> (T {…}) attributes {…} { … }.
func (p *parser) function(o *opState) {
	spec := ir.FuncSpec{}
	if p.atWord("public") || p.atWord("private") || p.atWord("nested") {
		spec.Visibility = strings.Clone(p.text())
		p.next()
	}
	nameAt := p.tok
	spec.Name = strings.Clone(p.symbol("function name"))
	if p.err != nil || !p.defineSymbol(nameAt, spec.Name) {
		return
	}
	args, named, argAttrs := p.signatureArgs()
	if p.accept(tokArrow) {
		p.signatureResults(&spec)
	}
	if p.acceptWord("attributes") {
		p.optionalAttrDict(o)
	}
	spec.Declaration = !p.at(tokLBrace)
	if p.err == nil && !spec.Declaration && !named && len(args) > 0 {
		p.fail(nameAt, diag.Syntax, "function @%s has a body, so its arguments need names", spec.Name)
	}
	spec.Args = lists.Map(args, func(a blockArg) ir.TypeID { return a.typ })
	spec.Attrs = ir.MakeAttrs(o.attrs...)
	id := p.addFunction(o, spec, argAttrs)
	if p.err != nil || spec.Declaration {
		p.endFunction(id)
		return
	}
	p.functionBody(id, args)
	p.endFunction(id)
}

// signatureArgs reads (%a: T {…} loc(…), …), or the types alone for a declaration.
func (p *parser) signatureArgs() (args []blockArg, named bool, attrs [][]ir.NamedAttr) {
	p.expect(tokLParen)
	p.list(tokRParen, func() {
		a := blockArg{at: p.tok}
		isNamed := p.at(tokValue)
		if len(args) > 0 && isNamed != named {
			p.expected(map[bool]string{true: "SSA value", false: "type instead of SSA identifier"}[named])
			return
		}
		named = isNamed
		if isNamed {
			p.next()
			p.expect(tokColon)
		}
		a.typ = p.typ()
		var dict []ir.NamedAttr
		if p.at(tokLBrace) {
			dict = p.attrDict(nil)
		}
		a.loc = p.trailingLoc()
		args, attrs = append(args, a), append(attrs, dict)
	})
	return args, named, attrs
}

func (p *parser) signatureResults(spec *ir.FuncSpec) {
	one := func() {
		spec.Results = append(spec.Results, p.typ())
		var dict ir.Attrs
		if p.at(tokLBrace) {
			dict = ir.MakeAttrs(p.attrDict(nil)...)
		}
		spec.ResultAttrs = append(spec.ResultAttrs, dict)
	}
	if p.accept(tokLParen) {
		p.list(tokRParen, one)
		return
	}
	spec.Results = append(spec.Results, p.typ())
	spec.ResultAttrs = append(spec.ResultAttrs, nil)
}

// addFunction makes the function and moves the shardings of its arguments and results to their places.
func (p *parser) addFunction(o *opState, spec ir.FuncSpec, argAttrs [][]ir.NamedAttr) ir.FuncID {
	if p.err != nil {
		return 0
	}
	args := make([]ir.ShardingID, len(spec.Args))
	spec.ArgAttrs = make([]ir.Attrs, len(spec.Args))
	for i := range argAttrs {
		spec.ArgAttrs[i], args[i] = takeSharding(ir.MakeAttrs(argAttrs[i]...))
	}
	results := make([]ir.ShardingID, len(spec.Results))
	for i, a := range spec.ResultAttrs {
		spec.ResultAttrs[i], results[i] = takeSharding(a)
	}
	spec.In = p.body
	id := p.m.AddFunc(spec)
	f := p.m.Func(id)
	f.ResultShardings = results
	for i, v := range p.m.BlockArgs(f.Body) {
		p.m.SetSharding(v, args[i])
	}
	p.m.SetPos(f.Op, p.position(o.at))
	return id
}

// takeSharding takes the sharding out of the attributes of an argument or result.
func takeSharding(a ir.Attrs) (ir.Attrs, ir.ShardingID) {
	s, ok := a.Get(shardingAttr).(ir.ShardingAttr)
	if ok {
		a = a.Without(shardingAttr)
	}
	if len(a) == 0 {
		a = nil
	}
	return a, ir.ShardingID(s)
}

func (p *parser) functionBody(id ir.FuncID, args []blockArg) {
	p.next()
	p.functionOps(id, args)
}

// functionOps reads the body of a function behind its opening brace.
func (p *parser) functionOps(id ir.FuncID, args []blockArg) {
	body := p.m.Func(id).Body
	restore := p.isolate()
	p.inRegion("func", func() {
		for i, a := range args {
			v := p.m.BlockArgs(body)[i]
			p.m.SetArgLoc(v, a.loc)
			p.define(a.at, v, 1)
		}
		p.ops(body)
		p.labelledBlocks(p.m.Regions(p.m.Func(id).Op)[0])
	})
	p.expect(tokRBrace)
	restore()
}

// endFunction reads the location behind a function.
func (p *parser) endFunction(id ir.FuncID) {
	loc := p.trailingLoc()
	if p.err == nil {
		p.m.SetLoc(p.m.Func(id).Op, loc)
	}
}

package mlir

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// blockArg is an argument of a block with its name.
type blockArg struct {
	at  token
	typ ir.TypeID
	loc ir.LocID
}

// region reads { … } into a new detached region. The entry block has the arguments given, which the op's own syntax
// names, or those of its header. defined receives the arguments' values.
func (p *parser) region(entry []blockArg, shardings []ir.ShardingID) ir.RegionID {
	r := p.m.DetachedRegion()
	defer p.leave()
	if !p.enter() || !p.expect(tokLBrace) {
		return r
	}
	outer := p.dialect
	p.dialect = ""
	p.names.open()
	if entry != nil || !p.at(tokRBrace) && !p.at(tokBlock) {
		b := p.m.AddBlock(r)
		p.addArgs(b, entry)
		for i, s := range shardings {
			p.m.SetSharding(p.m.BlockArgs(b)[i], s)
		}
		p.ops(b)
	}
	p.blocks(r)
	p.names.close()
	p.dialect = outer
	p.expect(tokRBrace)
	return r
}

func (p *parser) addArgs(b ir.BlockID, args []blockArg) {
	for _, a := range args {
		v := p.m.AddBlockArg(b, a.typ)
		p.m.SetArgLoc(v, a.loc)
		p.define(a.at, v, 1)
	}
}

// ops reads operations up to the end of the block.
func (p *parser) ops(b ir.BlockID) {
	builder := p.m.BuilderAtEnd(b)
	for !p.at(tokRBrace) && !p.at(tokBlock) && p.err == nil {
		p.op(builder)
	}
}

// blocks reads the blocks of a region that begin with a label.
func (p *parser) blocks(r ir.RegionID) {
	var labels map[string]token
	for p.at(tokBlock) && p.err == nil {
		label := p.text()
		if at, ok := labels[label]; ok {
			p.fail(p.tok, diag.Redefined, "redefinition of block '%s'", label)
			p.note(at, "previously defined here")
			return
		}
		if labels == nil {
			labels = map[string]token{}
		}
		labels[label] = p.tok
		p.next()
		var args []blockArg
		if p.accept(tokLParen) {
			p.list(tokRParen, func() { args = append(args, p.blockArg()) })
		}
		p.expect(tokColon)
		if p.err != nil {
			return
		}
		b := p.m.AddBlock(r)
		p.addArgs(b, args)
		p.ops(b)
	}
}

// blockArg reads %name: type, with an optional location.
func (p *parser) blockArg() blockArg {
	a := blockArg{at: p.tok}
	if !p.at(tokValue) {
		p.expected("SSA value")
		return a
	}
	p.next()
	p.expect(tokColon)
	a.typ = p.typ()
	a.loc = p.trailingLoc()
	return a
}

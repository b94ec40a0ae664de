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

// blockNames are the labels of the blocks of one region.
type blockNames struct {
	byName map[string]*blockName
	order  []*blockName // by first mention
}

type blockName struct {
	id      ir.BlockID
	at      token // of the first mention, or of the block itself
	defined bool
}

// block returns the record of a label, made at its first mention.
func (p *parser) block(at token) *blockName {
	name := p.src[at.start:at.end]
	b, ok := p.blocks.byName[name]
	if !ok {
		b = &blockName{id: p.m.DetachedBlock(), at: at}
		if p.blocks.byName == nil {
			p.blocks.byName = map[string]*blockName{}
		}
		p.blocks.byName[name] = b
		p.blocks.order = append(p.blocks.order, b)
	}
	return b
}

// successor reads ^bb1, a block of the region at hand that a terminator may go to.
func (p *parser) successor() ir.BlockID {
	at := p.tok
	if !p.expect(tokBlock) || p.blocks == nil {
		return 0
	}
	return p.block(at).id
}

// inRegion reads the content of a region with labels of its own, in which functions and modules cannot stand.
func (p *parser) inRegion(dialect string, read func()) {
	blocks, outer, inModule := p.blocks, p.dialect, p.inModule
	p.blocks, p.dialect, p.inModule = &blockNames{}, dialect, false
	read()
	for _, b := range p.blocks.order {
		if !b.defined {
			p.fail(b.at, diag.Undefined, "reference to an undefined block")
			break
		}
	}
	p.blocks, p.dialect, p.inModule = blocks, outer, inModule
}

// region reads { … } into a new detached region. The entry block has the arguments given, which the op's own syntax
// names, or those of its header. defined receives the arguments' values.
func (p *parser) region(entry []blockArg, shardings []ir.ShardingID) ir.RegionID {
	r := p.m.DetachedRegion()
	defer p.leave()
	if !p.enter() || !p.expect(tokLBrace) {
		return r
	}
	p.inRegion("", func() {
		p.names.open()
		if entry != nil || !p.at(tokRBrace) && !p.at(tokBlock) {
			b := p.m.AddBlock(r)
			p.addArgs(b, entry)
			for i, s := range shardings {
				p.m.SetSharding(p.m.BlockArgs(b)[i], s)
			}
			p.ops(b)
		}
		p.labelledBlocks(r)
		p.names.close(p.src)
	})
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
		p.listen()
	}
}

// labelledBlocks reads the blocks of a region that begin with a label.
func (p *parser) labelledBlocks(r ir.RegionID) {
	for p.at(tokBlock) && p.err == nil {
		b := p.block(p.tok)
		if b.defined {
			p.fail(p.tok, diag.Redefined, "redefinition of block '%s'", p.text())
			p.note(b.at, "previously defined here")
			return
		}
		b.at, b.defined = p.tok, true
		p.next()
		var args []blockArg
		if p.accept(tokLParen) {
			p.list(tokRParen, func() { args = append(args, p.blockArg()) })
		}
		p.expect(tokColon)
		if p.err != nil {
			return
		}
		p.m.AttachBlock(r, b.id)
		p.addArgs(b.id, args)
		p.ops(b.id)
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

package mlir

import (
	"context"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// fragment reads one thing from a text inside a larger source; pos is where the text stands there. It may name the
// meshes that body declares. Nothing but white space may follow.
func fragment(m *ir.Module, body ir.BlockID, text string, pos diag.Position, read func(p *parser)) error {
	return bareFragment(m, text, pos, func(p *parser) {
		p.nameMeshes(body)
		read(p)
	})
}

// nameMeshes makes the meshes that the body of a module declares known by their names.
func (p *parser) nameMeshes(body ir.BlockID) {
	for id := ir.MeshID(1); int(id) < p.m.NumMeshes(); id++ {
		if mesh := p.m.Mesh(id); mesh.Name != "" && p.m.OpBlock(mesh.Op) == body {
			p.meshes[mesh.Name] = id
		}
	}
}

// bareFragment is fragment for things that name no mesh.
func bareFragment(m *ir.Module, text string, pos diag.Position, read func(p *parser)) error {
	p := newParser(context.Background(), m, text, Options{File: pos.File}.withDefaults())
	p.base = pos
	p.scanned = true
	if at := notText(text); at >= 0 {
		err := notTextError(text, at, pos.File)
		if pos.Binary {
			err.Diagnostics[0].Pos = pos
		}
		return err
	}
	p.next()
	read(p)
	if p.err == nil && !p.at(tokEOF) {
		p.expected("the end of the text")
	}
	p.finishAliases()
	if p.err != nil {
		return p.err
	}
	if len(p.problems) > 0 {
		return &diag.Error{Class: diag.ErrInvalid, Diagnostics: p.problems}
	}
	return nil
}

// ParseType reads a type such as tensor<4x8xf32>. pos is the place of the text, for errors, which are of class
// diag.ErrInvalid.
func ParseType(m *ir.Module, text string, pos diag.Position) (t ir.TypeID, err error) {
	err = fragment(m, m.Body(), text, pos, func(p *parser) { t = p.typ() })
	return t, err
}

// ParseAttr reads an attribute such as [1, 2] or #stablehlo<precision HIGH>.
func ParseAttr(m *ir.Module, text string, pos diag.Position) (a ir.Attr, err error) {
	return ParseAttrIn(m, m.Body(), text, pos)
}

// ParseAttrIn is ParseAttr for an attribute inside a nested module with that body, whose meshes it may name.
func ParseAttrIn(m *ir.Module, body ir.BlockID, text string, pos diag.Position) (a ir.Attr, err error) {
	err = fragment(m, body, text, pos, func(p *parser) { a = p.attr(0) })
	return a, err
}

// ParseShardingIn reads a sharding such as <@mesh, [{"x", ?}p1, {}], replicated={"y"}>, with or without #sdy.sharding
// before it. The mesh is one of those of the module with that body, nested or not, or written in place.
func ParseShardingIn(m *ir.Module, body ir.BlockID, text string, pos diag.Position) (s ir.ShardingID, err error) {
	err = fragment(m, body, text, pos, func(p *parser) {
		if p.at(tokHash) && p.text() == "#sdy.sharding" {
			p.next()
		}
		s = p.sharding()
	})
	return s, err
}

// FormatType returns the text of a type.
func FormatType(m *ir.Module, t ir.TypeID) string { return m.FormatType(t) }

// FormatAttr returns the text of an attribute.
func FormatAttr(m *ir.Module, a ir.Attr) string {
	pr := printer{ctx: context.Background(), m: m}
	pr.attr(a, typed)
	return string(pr.out)
}

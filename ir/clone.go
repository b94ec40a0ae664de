package ir

import (
	"maps"
	"slices"
)

// Clone returns an independent copy of the module with the same ids. Attributes, which are immutable, are shared.
func (m *Module) Clone() *Module {
	c := *m
	c.ops = slices.Clone(m.ops)
	c.values = slices.Clone(m.values)
	c.operands = slices.Clone(m.operands)
	c.blocks = slices.Clone(m.blocks)
	for i := range c.blocks {
		c.blocks[i].args = slices.Clone(c.blocks[i].args)
	}
	c.regions = slices.Clone(m.regions)
	for i := range c.regions {
		c.regions[i].blocks = slices.Clone(c.regions[i].blocks)
	}
	c.funcs = slices.Clone(m.funcs)
	for i := range c.funcs {
		c.funcs[i].ResultTypes = slices.Clone(c.funcs[i].ResultTypes)
		c.funcs[i].ArgAttrs = slices.Clone(c.funcs[i].ArgAttrs)
		c.funcs[i].ResultAttrs = slices.Clone(c.funcs[i].ResultAttrs)
		c.funcs[i].ResultShardings = slices.Clone(c.funcs[i].ResultShardings)
	}
	c.funcOf = maps.Clone(m.funcOf)
	c.meshes = slices.Clone(m.meshes)
	c.meshOf = maps.Clone(m.meshOf)
	c.meshByText = map[string][]MeshID{}
	for text, ids := range m.meshByText {
		c.meshByText[text] = slices.Clone(ids)
	}
	c.opNames = maps.Clone(m.opNames)
	c.branches = maps.Clone(m.branches)
	c.types.rows = slices.Clip(m.types.rows)
	c.types.index = maps.Clone(m.types.index)
	c.shardings.rows = slices.Clip(m.shardings.rows)
	c.shardings.index = maps.Clone(m.shardings.index)
	c.shardings.key = nil
	c.locs = slices.Clip(m.locs)
	c.argLocs = maps.Clone(m.argLocs)
	c.resources = slices.Clip(m.resources)
	c.sources.ops = slices.Clone(m.sources.ops)
	return &c
}

// Package merge sends collectives of one kind over the same axes as one, where none of them needs another: a collective takes a
// while before it sends anything, and one with many operands takes that once.
//
//	%2 = shard_map.psum %1 {axes = {"x"}}       the gradient of one layer
//	%3 = stablehlo.multiply %2, %rate
//	%5 = shard_map.psum %4 {axes = {"x"}}       that of another
//
// becomes
//
//	%2, %5 = shard_map.psum %1, %4 {axes = {"x"}}
//	%3     = stablehlo.multiply %2, %rate
//
// A collective can wait for a later one if all that stands between and needs its result can be put off, too ([Waits]). Each element is
// computed as before, bit for bit. The attribute [Attr] of the partitioned module asks for it.
//
// Reduce-scatters stay alone: that of StableHLO has one operand.
package merge

import (
	"context"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Attr is the attribute of a partitioned module that asks for merged collectives. Its value is the most bytes that one may read
// and make on a device.
const Attr = "autoshard.merged_bytes"

// Ask sets the attribute of a module.
func Ask(m *ir.Module, bytes int64) { m.Attrs = m.Attrs.With(Attr, m.I64(bytes)) }

// Forget removes the attribute from a module.
func Forget(m *ir.Module) { m.Attrs = m.Attrs.Without(Attr) }

// Rewrite merges the collectives of a program whose module asks for that by the attribute [Attr], in place. The only error is the
// context's.
func Rewrite(ctx context.Context, p *shardmap.Program) error {
	most := p.Module.Attrs.Int(Attr, 0)
	Forget(p.Module)
	if most <= 0 {
		return nil
	}
	for _, g := range find(p, most) {
		if err := ctx.Err(); err != nil {
			return err
		}
		merge(p, &g)
	}
	p.Collectives = slices.DeleteFunc(p.Collectives, func(c shardmap.Collective) bool { return p.Module.OpBlock(c.Op) == 0 })
	return nil
}

// merge puts one collective in the place of the last of a group, for all of them.
func merge(p *shardmap.Program, g *group) {
	m := p.Module
	last := &p.Collectives[g.members[len(g.members)-1]]
	ops := lists.Map(g.members, func(i int) ir.OpID { return p.Collectives[i].Op })
	merged := m.BuilderBefore(last.Op).Op(m.Kind(last.Op), lists.Map(ops, func(op ir.OpID) ir.TypeID { return m.Type(m.Result(op, 0)) }),
		m.OpAttrs(last.Op), lists.Map(ops, func(op ir.OpID) ir.ValueID { return m.Operand(op, 0) })...)
	bytes := int64(0)
	for i, op := range ops {
		bytes += m.ValueType(m.Operand(op, 0)).Bytes()
		old, v := m.Result(op, 0), m.Result(merged, i)
		m.ReplaceUses(old, v)
		p.Move(old, v)
		m.Erase(op)
	}
	last.Op, last.Bytes = merged, bytes
	for next := m.NextOp(merged); len(g.off) > 0; g.off = g.off[1:] {
		m.MoveBefore(g.off[0], next)
	}
}

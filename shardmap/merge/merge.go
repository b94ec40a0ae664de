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
// The reduce-scatter of StableHLO has one operand. What several of them reduce is put side by side, with the block of one device in each
// row, and what comes out is taken apart again. These copies may take longer than is saved: only reduce-scatters that have the mark of
// [Join] are merged. The all-gather has one dimension. Those along another one that have the mark gather their blocks one behind the other,
// and turn what comes out.
package merge

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Attr is the attribute of a partitioned module that asks for merged collectives. Its value is the most bytes that one may read
// and make on a device.
const Attr = "autoshard.merged_bytes"

// Ask sets the attribute of a module.
func Ask(m *ir.Module, bytes int64) { m.Attrs = m.Attrs.With(Attr, m.I64(bytes)) }

// Join marks a reduce-scatter of a module, partitioned or over axes, as one that may be merged with others, or an op that gathers as one
// whose all-gathers may be merged with those along other dimensions.
func Join(m *ir.Module, op ir.OpID) {
	m.SetAttrs(op, m.OpAttrs(op).With(shardmap.JoinedAttr, ir.UnitAttr{}))
}

// Forget removes the attribute from a module, and marks from its ops.
func Forget(m *ir.Module) {
	m.Attrs = m.Attrs.Without(Attr)
	m.Walk(m.Body(), func(op ir.OpID) { m.SetAttrs(op, m.OpAttrs(op).Without(shardmap.JoinedAttr)) })
}

// Rewrite merges the collectives of a program whose module asks for that by the attribute [Attr], in place. The only error is the
// context's.
func Rewrite(ctx context.Context, p *shardmap.Program) error {
	most := p.Module.Attrs.Int(Attr, 0)
	if most <= 0 {
		return nil
	}
	groups := find(p, most)
	Forget(p.Module)
	for _, g := range groups {
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
	ops, next := lists.Map(g.members, func(i int) ir.OpID { return p.Collectives[i].Op }), m.NextOp(last.Op)
	send := together
	switch last.Kind {
	case collectives.ReduceScatter:
		send = sideBySide
	case collectives.AllGather:
		send = alongOne
	}
	merged, results := send(m, ops)
	bytes := int64(0)
	for i, op := range ops {
		bytes += m.ValueType(m.Operand(op, 0)).Bytes()
		old := m.Result(op, 0)
		m.ReplaceUses(old, results[i])
		p.Move(old, results[i])
		m.Erase(op)
	}
	last.Op, last.Bytes = merged, bytes
	for _, op := range g.off {
		m.MoveBefore(op, next)
	}
}

// together emits one collective with the operands of several before the last of them, and returns what it makes for each.
func together(m *ir.Module, ops []ir.OpID) (merged ir.OpID, results []ir.ValueID) {
	last := ops[len(ops)-1]
	merged = m.BuilderBefore(last).Op(m.Kind(last), lists.Map(ops, func(op ir.OpID) ir.TypeID { return m.Type(m.Result(op, 0)) }),
		m.OpAttrs(last), lists.Map(ops, func(op ir.OpID) ir.ValueID { return m.Operand(op, 0) })...)
	return merged, m.ResultValues(merged)
}

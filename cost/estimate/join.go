package estimate

import (
	"cmp"
	"maps"
	"slices"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"
)

// Joins returns the reduce-scatters of a program that are faster as one with others that are worth it (package shardmap/merge), by their
// places in its list: two like it save more than their copies take. So do any of them, since n save as much as they take before they
// send, but for one, and n-1 is at least half of n. Of those that stand for one op all are worth it.
func (md *Model) Joins(p *shardmap.Program) []int {
	joins := map[int]bool{}
	for i := range p.Collectives {
		if c := &p.Collectives[i]; c.Kind == collectives.ReduceScatter {
			joins[i] = md.joins(p.Module, c)
		}
	}
	return whollyOf(p, collectives.ReduceScatter, joins)
}

// JoinedGathers returns the all-gathers of a program that are worth being sent as one with those along other dimensions of the same block,
// likewise: all along one dimension, turned, save more than that takes, once what a gather takes before it sends anything.
func (md *Model) JoinedGathers(p *shardmap.Program) []int {
	joins, groups := map[int]bool{}, map[gatherGroup]map[int64]*gathers{}
	for i := range p.Collectives {
		c := &p.Collectives[i]
		if c.Kind != collectives.AllGather || c.From == 0 {
			continue
		}
		m := p.Module
		key := gatherGroup{m.OpBlock(c.Op), p.Mesh.FormatList(c.Axes), m.ValueType(m.Operand(c.Op, 0)).DType}
		if groups[key] == nil {
			groups[key] = map[int64]*gathers{}
		}
		d := m.OpAttrs(c.Op).Int("dim", 0)
		if groups[key][d] == nil {
			groups[key][d] = &gathers{start: md.Start(c.Kind, c.Axes)}
		}
		g := groups[key][d]
		if g.members = append(g.members, i); merge.Turns(m, c.Op) {
			g.turning += md.moving(2 * c.Size * c.Bytes)
		}
	}
	for _, along := range groups {
		for _, i := range joined(along) {
			joins[i] = true
		}
	}
	return whollyOf(p, collectives.AllGather, joins)
}

// gatherGroup is what all-gathers have in common that can be sent as one, turned where they are along several dimensions.
type gatherGroup struct {
	block   ir.BlockID
	axes    string
	element dtype.Type
}

// gathers are those along one dimension, with the picoseconds that turning all of them takes, and that each takes before it sends.
type gathers struct {
	members        []int
	turning, start int64
}

// joined returns the gathers along several dimensions that are to be sent as one: those that take longest to turn, which need not be, and
// others that are turned in less than is saved.
func joined(along map[int64]*gathers) (out []int) {
	dims := slices.SortedFunc(maps.Keys(along), func(a, b int64) int {
		return cmp.Or(cmp.Compare(along[b].turning, along[a].turning), cmp.Compare(a, b))
	})
	for _, d := range dims[1:] {
		if g := along[d]; g.turning < g.start {
			out = append(out, g.members...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, along[dims[0]].members...)
}

// whollyOf returns the places of collectives of a kind that have something, in order, if all of theirs have it that stand for the same op.
func whollyOf(p *shardmap.Program, kind collectives.Kind, has map[int]bool) (out []int) {
	apart := map[ir.OpID]bool{0: true}
	for i := range p.Collectives {
		if c := &p.Collectives[i]; c.Kind == kind && !has[i] {
			apart[c.From] = true
		}
	}
	for i := range p.Collectives {
		if has[i] && !apart[p.Collectives[i].From] {
			out = append(out, i)
		}
	}
	return out
}

// joins says whether two reduce-scatters are faster as one: their operands are copied beside each other, turned where they have to be, and
// their blocks are copied out of the result.
func (md *Model) joins(m *ir.Module, c *shardmap.Collective) bool {
	copies := md.moving(4*c.Bytes) + 2*md.moving(2*c.Bytes/c.Size)
	if merge.Turns(m, c.Op) {
		copies += 2 * md.moving(2*c.Bytes)
	}
	return copies < md.Start(c.Kind, c.Axes)
}

// Copying returns the picoseconds that a reduce-scatter at least takes for its copies where it is sent as one with others. It copies so
// many bytes before, once more if they have to be turned, and after. Its operand would be written in any case, or may be made on the fly
// for the first copy; what reads its result on the fly does not read it again.
func (md *Model) Copying(before, after int64, turns, written bool) int64 {
	beside := md.hardware.Op(cost.Work{Bytes: 2 * float64(before)}, md.topology.Options())
	copies := cost.Picoseconds(beside.HBM) + md.moving(2*after) - md.moving(after) // the launch of the first copy is that of others, too
	if turns {
		copies += md.moving(2 * before)
	}
	if !written {
		copies -= md.moving(before)
	}
	return copies
}

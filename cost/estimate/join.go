package estimate

import (
	"slices"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"
)

// Joins returns the reduce-scatters of a program that are faster as one with others that are worth it (package shardmap/merge), by their
// places in its list: two like it save more than their copies take. So do any of them, since n save as much as they take before they
// send, but for one, and n-1 is at least half of n. Of those that stand for one op all are worth it.
func (md *Model) Joins(p *shardmap.Program) []int {
	var out []int
	apart := map[ir.OpID]bool{}
	for i := range p.Collectives {
		switch c := &p.Collectives[i]; {
		case c.Kind != collectives.ReduceScatter || c.From == 0:
		case md.joins(p.Module, c):
			out = append(out, i)
		default:
			apart[c.From] = true
		}
	}
	return slices.DeleteFunc(out, func(i int) bool { return apart[p.Collectives[i].From] })
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

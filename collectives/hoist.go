package collectives

import "autoshard/ir"

// hoistKey is a value that is resharded before a loop of a block.
type hoistKey struct {
	value    ir.ValueID
	sharding ir.ShardingID
	block    ir.BlockID
}

// hoist moves a reshard of what a loop does not change to before the loop, and before the loops around that.
func (r *rewriter) hoist(reshard ir.OpID) bool {
	m := r.m
	v, loop := r.outside(m.Operand(reshard, 0), m.OpBlock(reshard))
	if loop == 0 {
		return false
	}
	inside := m.Result(reshard, 0)
	key := hoistKey{v, m.Sharding(inside), m.OpBlock(loop)}
	copied := r.hoisted[key]
	if copied == 0 {
		copied = r.copyBefore(loop, &key)
	}
	if copied == 0 || r.how.Reach < Anywhere {
		b := m.BuilderBefore(loop)
		b.Loc = m.OpLoc(reshard)
		copied = b.Reshard(v, key.sharding)
	}
	r.hoisted[key] = copied
	m.ReplaceUses(inside, copied)
	m.Erase(reshard)
	return true
}

// outside returns the value that a value of a block is before the outermost loop around it that does not change it, and that loop; 0 if
// there is none.
func (r *rewriter) outside(v ir.ValueID, block ir.BlockID) (ir.ValueID, ir.OpID) {
	m, outermost := r.m, ir.OpID(0)
	for {
		loop := m.BlockOp(block)
		if loop == 0 || m.Kind(loop) != ir.OpWhile || block != m.RegionBlock(loop, 1) {
			return v, outermost
		}
		if _, carried := carriedAround(m, v); m.BlockOf(v) != block {
			r.done.FromOutside = true
		} else if carried {
			v = m.Operand(loop, m.Index(v))
		} else {
			return v, outermost
		}
		outermost, block = loop, m.OpBlock(loop)
	}
}

// copyBefore returns the copy of a value that is made before a loop in the loop's block, 0 if there is none.
func (r *rewriter) copyBefore(loop ir.OpID, key *hoistKey) ir.ValueID {
	m := r.m
	if r.at == nil {
		r.at = map[ir.OpID]int{}
		m.Walk(m.MainFunc().Body, func(op ir.OpID) { r.at[op] = len(r.at) })
	}
	for use := range m.Uses(key.value) {
		place, known := r.at[use.Op]
		if known && place < r.at[loop] && m.Kind(use.Op) == ir.OpSdyReshard && m.OpBlock(use.Op) == key.block &&
			m.Sharding(m.Result(use.Op, 0)) == key.sharding {
			return m.Result(use.Op, 0)
		}
	}
	return 0
}

package collectives

import "autoshard/ir"

// skip brings a value on the way to where reshards bring it, each by itself or all from the layout of one, if nothing else reads it where
// this one does and that is cheaper.
func (r *rewriter) skip(reshard ir.OpID) bool {
	m := r.m
	v, between := m.Operand(reshard, 0), m.Result(reshard, 0)
	from, ok := r.layout(v)
	readers := r.reshardsOf(between, m.OpBlock(reshard))
	if !ok || len(readers) == 0 {
		return false
	}
	via, _ := r.layout(between)
	least := r.price(v, &from, &via) + r.onward(v, &via, readers)
	best, id := via, ir.ShardingID(0)
	if direct := r.onward(v, &from, readers); direct < least {
		least, best, id = direct, from, m.Sharding(v)
	}
	for _, reader := range readers {
		to, _ := r.layout(m.Result(reader, 0))
		if sum := r.price(v, &from, &to) + r.onward(v, &to, readers); sum < least {
			least, best, id = sum, to, m.Sharding(m.Result(reader, 0))
		}
	}
	if best.Equal(&via) {
		return false
	}
	next := v
	if !best.Equal(&from) {
		next = m.BuilderBefore(reshard).Reshard(v, id)
	}
	for _, reader := range readers {
		m.SetOperand(reader, 0, next)
		if to, _ := r.layout(m.Result(reader, 0)); to.Equal(&best) {
			m.ReplaceUses(m.Result(reader, 0), next)
			m.Erase(reader)
		}
	}
	m.Erase(reshard)
	return true
}

// onward sums what reshards of a value from a layout take.
func (r *rewriter) onward(v ir.ValueID, from *Layout, readers []ir.OpID) (sum int64) {
	for _, reader := range readers {
		to, _ := r.layout(r.m.Result(reader, 0))
		sum += r.price(v, from, &to)
	}
	return sum
}

// reshardsOf returns the readers of a value if all of them are reshards in a block.
func (r *rewriter) reshardsOf(v ir.ValueID, b ir.BlockID) (readers []ir.OpID) {
	for use := range r.m.Uses(v) {
		if r.m.Kind(use.Op) != ir.OpSdyReshard || r.m.OpBlock(use.Op) != b {
			return nil
		}
		readers = append(readers, use.Op)
	}
	return readers
}

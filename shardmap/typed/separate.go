package typed

import "autoshard/ir"

// separate gives each operand of a merged collective a collective of its own: those of shard_map programs with types have one.
func separate(m *ir.Module, body ir.BlockID) {
	merged := func(k ir.Kind) bool { return k.IsShardMap() && k.Communicates() }
	for _, op := range m.OpsWhere(body, merged) {
		if m.NumResults(op) < 2 {
			continue
		}
		b := m.BuilderBefore(op)
		for i, v := range m.Results(op) {
			m.ReplaceUses(v, b.Op1(m.Kind(op), m.Type(v), m.OpAttrs(op), m.Operand(op, i)))
		}
		m.Erase(op)
	}
}

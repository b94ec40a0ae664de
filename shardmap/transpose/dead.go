package transpose

import (
	"slices"
	"strconv"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// sweepDead erases ops whose results nothing uses, and carries, rows and results of scans that nothing needs. All ops
// of a body are without side effects, apart from custom calls.
func sweepDead(p *typed.Program, b ir.BlockID) {
	m := p.Module
	for op := m.LastOp(b); op != 0; {
		prev := m.PrevOp(op)
		switch {
		case m.Kind(op).IsTerminator():
		case !slices.ContainsFunc(m.ResultValues(op), m.HasUses) && m.Kind(op) != ir.OpCustomCall:
			m.Erase(op)
		case p.Module.Kind(op) == ir.OpShardMapScan:
			pruneScan(p, op)
		case m.Kind(op).HasBodies():
			for r := range m.NumRegions(op) {
				sweepDead(p, m.RegionBlock(op, r))
			}
		}
		op = prev
	}
}

// isFloat says whether the elements of a value are numbers with derivatives.
func isFloat(m *ir.Module, v ir.ValueID) bool {
	k := m.ValueType(v).DType.Kind()
	return k == dtype.Float || k == dtype.Complex
}

func itoa(n int) string { return strconv.Itoa(n) }

package propagate

import "autoshard/ir"

// replaceUses makes the uses of one value that pass the test uses of another. The order of the moved uses is turned
// around, as it is in MLIR: the order in which propagation meets the users of a value depends on it.
func replaceUses(m *ir.Module, from, to ir.ValueID, test func(ir.Use) bool) {
	var uses []ir.Use
	for use := range m.Uses(from) {
		if test(use) {
			uses = append(uses, use)
		}
	}
	for _, use := range uses {
		m.SetOperand(use.Op, use.Index, to)
	}
}

package emit

import "autoshard/ir"

// markNeeded finds the ops that the results of a block depend on, and those with effects.
func (e *emitter) markNeeded(b ir.BlockID) {
	for op := range e.m.Ops(b) {
		if e.m.Kind(op).IsTerminator() || e.hasEffects(op) {
			e.need(op)
		}
	}
}

func (e *emitter) hasEffects(op ir.OpID) bool {
	k := e.m.Kind(op)
	return k.Transfers() || k == ir.OpInterpreterRunParallel || k == ir.OpCustomCall && e.m.NumResults(op) == 0
}

func (e *emitter) need(op ir.OpID) {
	pending := []ir.OpID{op}
	for len(pending) > 0 {
		op := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if op == 0 || e.needed[op] {
			continue
		}
		e.needed[op] = true
		for i := range e.m.NumOperands(op) {
			pending = append(pending, e.m.DefiningOp(e.m.Operand(op, i)))
		}
		for i := range e.m.NumRegions(op) {
			if b := e.m.RegionBlock(op, i); b != 0 {
				e.markNeeded(b)
			}
		}
	}
}

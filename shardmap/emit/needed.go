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
	switch e.m.Kind(op) {
	case ir.OpInfeed, ir.OpOutfeed, ir.OpSend, ir.OpRecv, ir.OpInterpreterRunParallel:
		return true
	case ir.OpCustomCall:
		return e.m.NumResults(op) == 0
	}
	return false
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
		if _, ok := e.indices[e.firstResult(op)]; ok {
			continue
		}
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

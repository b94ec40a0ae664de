package ir

// IsDead says whether rewriting may remove an op because nobody uses its results and it has no effects, as MLIR's drivers
// see it: communication among devices counts as an effect, and what marks a value, such as a constraint or an edge, stands
// for somebody's wish. EraseDead is for programs where neither counts any more.
func IsDead(m *Module, op OpID) bool {
	return !m.isUsed(op) && !m.Kind(op).IsTerminator() && isFree(m, op)
}

// isUsed says whether somebody uses a result of an op.
func (m *Module) isUsed(op OpID) bool {
	results := m.ops[op].results
	for v := results.first; v < results.first+results.n; v++ {
		if m.values[v].uses != 0 {
			return true
		}
	}
	return false
}

// isFree says whether an op and everything inside it has no effects.
func isFree(m *Module, op OpID) bool {
	if !HasNoEffects(m, op) {
		return false
	}
	for b := range m.InnerBlocks(op) {
		if !m.isPureBody(b) {
			return false
		}
	}
	return true
}

// HasNoEffects says whether an op by itself, without its regions, has no effects.
func HasNoEffects(m *Module, op OpID) bool {
	switch kind := m.Kind(op); kind {
	case OpComposite, OpSdyShardingConstraint, OpSdyDataFlowEdge, OpSdyFuncDataFlowEdge, OpSdyShardedToUnreduced,
		OpSdyReplicatedToUnreduced:
		return false
	case OpSdyManualComputation, OpSdyNamedComputation:
		return true
	case OpCustomCall:
		return !m.OpAttrs(op).Bool("has_side_effect")
	default:
		return kind.IsPure() && !kind.Communicates() || kind.IsTerminator()
	}
}

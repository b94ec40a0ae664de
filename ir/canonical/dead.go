package canonical

import "autoshard/ir"

// IsDead says whether an op can be removed because nobody uses its results and it has no effects. Communication among
// devices counts as an effect, and what marks a value, such as a constraint or an edge, stands for somebody's wish.
func IsDead(m *ir.Module, op ir.OpID) bool {
	for _, v := range m.Results(op) {
		if m.HasUses(v) {
			return false
		}
	}
	return !m.Kind(op).IsTerminator() && isPure(m, op)
}

// isPure says whether an op and everything inside it has no effects.
func isPure(m *ir.Module, op ir.OpID) bool {
	pure := hasNoEffects(m, op)
	for _, r := range m.Regions(op) {
		if !pure {
			break
		}
		for _, b := range m.Blocks(r) {
			for inner := range m.Ops(b) {
				pure = pure && isPure(m, inner)
			}
		}
	}
	return pure
}

// hasNoEffects says whether an op by itself, without its regions, has no effects.
func hasNoEffects(m *ir.Module, op ir.OpID) bool {
	switch kind := m.Kind(op); kind {
	case ir.OpAllGather, ir.OpAllReduce, ir.OpAllToAll, ir.OpCollectiveBroadcast, ir.OpCollectivePermute,
		ir.OpCollectiveReduce, ir.OpReduceScatter, ir.OpCrossReplicaSum, ir.OpComposite,
		ir.OpSdyShardingConstraint, ir.OpSdyDataFlowEdge, ir.OpSdyFuncDataFlowEdge,
		ir.OpSdyAllGather, ir.OpSdyAllReduce, ir.OpSdyAllSlice, ir.OpSdyAllToAll, ir.OpSdyCollectivePermute,
		ir.OpSdyReduceScatter, ir.OpSdyShardedToUnreduced, ir.OpSdyReplicatedToUnreduced:
		return false
	case ir.OpSdyManualComputation, ir.OpSdyNamedComputation:
		return true
	case ir.OpCustomCall:
		return !m.OpAttrs(op).Bool("has_side_effect")
	default:
		return kind.IsPure() || kind.IsTerminator()
	}
}

package autoshard

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// checkPlannable fails at the first thing that a plan cannot hold: a value on one device alone, a communication that
// the model makes itself outside of a manual computation, or a named computation.
func checkPlannable(m *ir.Module) error {
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if id := m.Sharding(v); id != 0 && m.Mesh(m.ShardingOf(id).Mesh).IsMaximal() {
			return diag.Unsupported(diag.NotSupported, m.OpPos(m.DefiningOp(v)),
				"a value is kept on one device alone, %s; plans are for all devices of a mesh", m.FormatSharding(id))
		}
	}
	main, ok := m.Main()
	if !ok {
		return diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	return checkBlock(m, m.Func(main).Body)
}

func checkBlock(m *ir.Module, b ir.BlockID) error {
	for op := range m.Ops(b) {
		k := m.Kind(op)
		switch {
		case k == ir.OpSdyManualComputation:
		case k == ir.OpSdyNamedComputation:
			return diag.Unsupported(diag.NotSupported, m.OpPos(op), "`%s` is not planned yet; inline it", m.OpName(op))
		case isCommunication(k) || ownCommunication(k):
			return diag.Unsupported(diag.NotSupported, m.OpPos(op),
				"`%s` outside of a manual computation: plans are made before communications are explicit", m.OpName(op))
		case k.HasBodies():
			for i := range m.NumRegions(op) {
				if err := checkBlock(m, m.RegionBlock(op, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ownCommunication says whether an op names devices, or talks to others, by itself.
func ownCommunication(k ir.Kind) bool {
	switch k {
	case ir.OpAllGather, ir.OpAllReduce, ir.OpAllToAll, ir.OpReduceScatter, ir.OpCollectiveBroadcast, ir.OpCollectivePermute,
		ir.OpCollectiveReduce, ir.OpCrossReplicaSum, ir.OpPartitionId, ir.OpReplicaId,
		ir.OpSdyReplicatedToUnreduced, ir.OpSdyShardedToUnreduced:
		return true
	}
	return false
}

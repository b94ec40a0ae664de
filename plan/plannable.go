package plan

import (
	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// checkPlannable fails at the first thing that a plan cannot hold: a value in blocks that no collective makes, a communication that the
// model makes itself outside of a manual computation, or a region of several blocks.
func checkPlannable(m *ir.Module) error {
	main, ok := m.Main()
	if !ok {
		return diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	found := findings{Findings: answer.Findings{Module: m}}
	if err := found.independent(); err != nil {
		return err
	}
	return checkRegion(m, m.BlockRegion(m.Func(main).Body), m.Func(main).Op)
}

// independent fails at the first value that is cut along parts of an axis that are not independent.
func (f *findings) independent() error {
	m := f.Module
	return f.shardings(func(id ir.ShardingID, _ int, at func() answer.Place) (ir.ShardingID, error) {
		if id == 0 {
			return 0, nil
		}
		if l := collectives.LayoutOf(m.ShardingOf(id)); !l.Independent() {
			p := at()
			return 0, diag.Unsupported(diag.NotSupported, m.OpPos(p.Op), "%s is cut along parts of one axis that depend on each other: "+
				"cut it by whole axes, or by parts that nest", p.What)
		}
		return id, nil
	})
}

// checkRegion checks the ops of an op's region, if there are any.
func checkRegion(m *ir.Module, r ir.RegionID, owner ir.OpID) error {
	blocks := m.Blocks(r)
	if len(blocks) > 1 {
		return diag.Unsupported(diag.NotSupported, m.OpPos(m.LastOp(blocks[0])),
			"`%s` has a region of %d blocks; plans are for programs without branches between blocks", m.OpName(owner), len(blocks))
	}
	for _, b := range blocks {
		if err := checkBlock(m, b); err != nil {
			return err
		}
	}
	return nil
}

func checkBlock(m *ir.Module, b ir.BlockID) error {
	for op := range m.Ops(b) {
		k := m.Kind(op)
		switch {
		case k == ir.OpSdyManualComputation:
		case ownCommunication(k):
			return diag.Unsupported(diag.NotSupported, m.OpPos(op),
				"`%s` outside of a manual computation: plans are made before communications are explicit", m.OpName(op))
		case k.HasBodies():
			for _, r := range m.Regions(op) {
				if err := checkRegion(m, r, op); err != nil {
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
	case ir.OpPartitionId, ir.OpReplicaId, ir.OpSdyReplicatedToUnreduced, ir.OpSdyShardedToUnreduced:
		return true
	}
	return k.Communicates()
}

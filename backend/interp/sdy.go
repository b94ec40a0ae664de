package interp

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// sdyOps are Shardy's ops on global tensors, which say where elements lie and not what they are.
var sdyOps = map[ir.Kind]builder{
	ir.OpSdyShardingConstraint:    identity,
	ir.OpSdyReshard:               identity,
	ir.OpSdyPropagationBarrier:    identity,
	ir.OpSdyDataFlowEdge:          identity,
	ir.OpSdyFuncDataFlowEdge:      identity,
	ir.OpSdyShardingGroup:         buildNothing,
	ir.OpSdyAllGather:             identity,
	ir.OpSdyAllReduce:             identity,
	ir.OpSdyAllSlice:              identity,
	ir.OpSdyAllToAll:              identity,
	ir.OpSdyCollectivePermute:     identity,
	ir.OpSdyReduceScatter:         identity,
	ir.OpSdyReplicatedToUnreduced: identity,
	ir.OpSdyShardedToUnreduced:    identity,
	ir.OpSdyConstant:              buildConstant,
	ir.OpSdyNamedComputation:      buildInline,
	ir.OpSdyManualComputation:     buildManual,
}

// buildNothing reads its operands and makes nothing.
func buildNothing(_ *compiler, _ ir.OpID, i *instr) error {
	i.control = func(*frame, *instr) error { return nil }
	return nil
}

func buildManual(*compiler, ir.OpID, *instr) error {
	return diag.Unsupported(diag.NotSupported, diag.Position{},
		"a manual computation runs once per device: lower the program to one device first")
}

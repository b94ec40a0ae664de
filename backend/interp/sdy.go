package interp

import (
	"autoshard/backend/tensor"
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

var sdyManners = map[ir.Kind]manner{
	ir.OpOptimizationBarrier:   passing,
	ir.OpSdyShardingConstraint: passing,
	ir.OpSdyReshard:            passing,
	ir.OpSdyPropagationBarrier: passing,
}

// buildNothing reads its operands and makes nothing.
func buildNothing(_ *compiler, _ ir.OpID, i *instr) error {
	i.control = func(*frame, *instr) error { return nil }
	return nil
}

// buildManual has somebody else run a manual computation.
func buildManual(c *compiler, op ir.OpID, i *instr) error {
	run := c.in.opts.Manual
	if run == nil {
		return diag.Unsupported(diag.NotSupported, diag.Position{},
			"a manual computation runs once per device: lower the program to one device first")
	}
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) { return run(f.p.ctx, op, in) }
	return nil
}

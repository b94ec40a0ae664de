package canonical

import "autoshard/ir"

// DropMatmulCollectives leaves to the partitioner of matrix products what it does itself, in steps that overlap with the
// product: gathering an operand, or scattering the result. An all-gather that only a product uses goes; where there is
// none, so does a reduce-scatter that alone uses the product, which then has the scattered sharding.
// Shardy: -sdy-remove-all-gather-reduce-scatter-for-cmv1.
func DropMatmulCollectives(m *ir.Module) {
	r := &rewriter{m: m}
	for _, dot := range m.OpsWhere(m.Body(), func(k ir.Kind) bool { return k == ir.OpDot || k == ir.OpDotGeneral }) {
		if !r.dropGathers(dot) {
			r.dropScatter(dot)
		}
	}
}

func (r *rewriter) dropGathers(dot ir.OpID) bool {
	dropped := false
	for i := range r.m.NumOperands(dot) {
		v := r.m.Operand(dot, i)
		if gather := r.definedBy(v, ir.OpSdyAllGather); gather != 0 && r.m.HasOneUse(v) {
			r.replace(gather, r.m.Operand(gather, 0))
			dropped = true
		}
	}
	return dropped
}

func (r *rewriter) dropScatter(dot ir.OpID) {
	v := r.m.Result(dot, 0)
	s := r.m.Sharding(v)
	if !r.m.HasOneUse(v) || s != 0 && len(r.m.ShardingOf(s).Unreduced) > 0 {
		return
	}
	for use := range r.m.Uses(v) {
		if r.m.Kind(use.Op) == ir.OpSdyReduceScatter {
			r.m.SetSharding(v, r.m.Sharding(r.m.Result(use.Op, 0)))
			r.replace(use.Op, v)
			return
		}
	}
}

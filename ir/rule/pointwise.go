package rule

import "autoshard/ir"

func init() {
	register(&Family{
		Name:  "pointwise",
		Why:   "every result element depends only on the operand elements at its place",
		build: buildPointwise,
		local: true,
		pads:  passing,
	}, append(pointwiseOps("stablehlo"), ir.OpSdyShardingConstraint, ir.OpAllReduce, ir.OpCollectiveBroadcast, ir.OpCollectivePermute,
		ir.OpCrossReplicaSum)...)
	register(&Family{
		Name:  "clamp",
		Why:   "the bounds are scalars or have the operand's shape; elements meet at their places",
		build: func(b *builder) bool { b.pointwise(b.in[1]); return true },
		local: true,
		pads:  passing,
	}, ir.OpClamp)
	register(&Family{
		Name:  "select",
		Why:   "the predicate is a scalar or has the result's shape; elements meet at their places",
		build: func(b *builder) bool { b.pointwise(b.out[0]); return true },
		local: true,
		pads:  passing,
	}, ir.OpSelect)
	register(&Family{
		Name:  "bitcast_convert",
		Why:   "elements keep their places, except the last dimension that holds the parts of one element",
		build: buildBitcastConvert,
		local: true,
		pads:  passing,
	}, ir.OpBitcastConvert)
	register(&Family{
		Name:  "batch_norm_inference",
		Why:   "statistics belong to the feature dimension; everything else is pointwise",
		build: buildBatchNorm,
		pads:  passing,
	}, ir.OpBatchNormInference)
}

// pointwiseOps are the elementwise ops of a dialect of one or two operands that Shardy knows: quantized types it does not.
func pointwiseOps(dialect string) (kinds []ir.Kind) {
	for k := range ir.NumKinds {
		if (k.IsUnary() || k.IsBinary()) && k.Dialect() == dialect && k != ir.OpUniformQuantize && k != ir.OpUniformDequantize {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func buildPointwise(b *builder) bool {
	if b.m.ValueType(b.m.Result(b.op, 0)).Kind != ir.TensorKind {
		return false
	}
	b.pointwise(b.out[0])
	return true
}

func buildBitcastConvert(b *builder) bool {
	in, out := b.in[0], b.out[0]
	if len(in) < len(out) {
		b.pointwise(in)
		b.factor([]int{none}, []int{len(out) - 1}, out[len(out)-1], needReplication, false)
		return true
	}
	b.pointwise(out)
	if len(in) > len(out) {
		b.factor([]int{len(in) - 1}, []int{none}, in[len(in)-1], needReplication, false)
	}
	return true
}

func buildBatchNorm(b *builder) bool {
	feature := b.int("feature_index", 0)
	for d, size := range b.in[0] {
		ins := dims(len(b.in), 0, d)
		if int64(d) == feature {
			for i := range ins[1:] {
				ins[i+1] = 0
			}
		}
		b.factor(ins, []int{d}, size, passThrough, false)
	}
	return true
}

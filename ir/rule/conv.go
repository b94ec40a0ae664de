package rule

import "autoshard/ir"

func init() {
	register(&Family{
		Name:  "convolution",
		Why:   "batch and output features are free, input features are summed, windows reach over to neighbours",
		build: buildConvolution,

		combine: sums,
		judge:   (*verdict).fetch,
		pads:    masked,
	}, ir.OpConvolution)
}

// buildConvolution follows shardy.md section 2.4.
func buildConvolution(b *builder) bool {
	c, ok := b.attr("dimension_numbers").(*ir.ConvDims)
	if !ok {
		return false
	}
	kernel, out := b.in[1], b.out[0]
	batches, groups := b.int("batch_group_count", 1), b.int("feature_group_count", 1)
	kernelOut, outFeature := int(c.KernelOut), int(c.OutFeature)
	if batches > 1 {
		b.factor([]int{int(c.InBatch), kernelOut}, []int{outFeature}, batches, passThrough, false)
	}
	b.factor([]int{int(c.InBatch), none}, []int{int(c.OutBatch)}, out[c.OutBatch], passThrough, false)
	if !b.conservative {
		for i := range c.InSpatial {
			b.spatial(int(c.InSpatial[i]), int(c.KernelSpatial[i]), int(c.OutSpatial[i]))
		}
	}
	if groups > 1 {
		b.factor([]int{int(c.InFeature), kernelOut}, []int{outFeature}, groups, passThrough, false)
	}
	b.factor([]int{int(c.InFeature), int(c.KernelIn)}, []int{none}, kernel[c.KernelIn], reduction, false)
	if rest := out[c.OutFeature] / (batches * groups); rest > 1 {
		b.factor([]int{none, kernelOut}, []int{outFeature}, rest, passThrough, false)
	}
	return true
}

// spatial adds up to two factors for one spatial dimension: the number of windows, kept in the result, and the
// window size, which is summed. The larger comes first and takes what it can of the input dimension; one that gets
// nothing of it still stands on its own side.
func (b *builder) spatial(lhs, rhs, out int) {
	windows, size, rest := b.out[0][out], b.in[1][rhs], b.in[0][lhs]
	addWindows := func() {
		if n := min(rest, windows); n > 1 {
			b.factor([]int{lhs, none}, []int{out}, n, permutation, false)
			rest /= n
		} else if windows > 1 {
			b.factor([]int{none, none}, []int{out}, windows, permutation, false)
		}
	}
	addKernel := func() {
		if n := min(rest, size); n > 1 {
			b.factor([]int{lhs, rhs}, []int{none}, n, reduction, false)
			rest /= n
		} else if size > 1 {
			b.factor([]int{none, rhs}, []int{none}, size, permutation, false)
		}
	}
	if windows >= size {
		addWindows()
		addKernel()
		return
	}
	addKernel()
	addWindows()
}

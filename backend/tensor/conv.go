package tensor

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// ConvDims gives the positions of batch, feature and spatial dimensions of the operands and the result; the
// spatial lists of the three belong together entry by entry.
type ConvDims struct {
	InputBatch, InputFeature   int64
	InputSpatial               []int64
	KernelInput, KernelOutput  int64 // feature dimensions of rhs
	KernelSpatial              []int64
	OutputBatch, OutputFeature int64
	OutputSpatial              []int64
}

// ConvParams is what convolution has beside its operands, one entry per spatial dimension. Absent lists mean
// stride and dilation 1, no padding and no reversal; group counts of 0 mean 1.
type ConvParams struct {
	Dims              ConvDims
	Stride            []int64
	Padding           [][2]int64 // low and high, after dilation; negative cuts off
	LHSDilation       []int64
	RHSDilation       []int64
	Reverse           []bool
	FeatureGroupCount int64
	BatchGroupCount   int64
}

// Convolution correlates lhs with the kernels of rhs (stablehlo.md section 2.10); the result has element type out.
// Sums are made as in DotGeneral.
func Convolution(lhs, rhs Tensor, p ConvParams, out dtype.Type) Tensor {
	d := p.Dims
	compute := computeType(out)
	x := Convert(Transpose(lhs, slices.Concat([]int64{d.InputBatch, d.InputFeature}, d.InputSpatial)), compute)
	w := Convert(Transpose(rhs, slices.Concat([]int64{d.KernelOutput, d.KernelInput}, d.KernelSpatial)), compute)
	var flipped []int64
	for s, reverse := range p.Reverse {
		if reverse {
			flipped = append(flipped, int64(s)+2)
		}
	}
	if flipped != nil {
		w = Reverse(w, flipped)
	}
	c := newConvolver(x, w, p)
	y := New(compute, slices.Concat([]int64{c.images, c.outputs}, c.space))
	for i := range c.images {
		for g := range c.groups {
			c.run(y, i, g)
		}
	}
	perm := make([]int64, y.Rank())
	perm[d.OutputBatch], perm[d.OutputFeature] = 0, 1
	for s, at := range d.OutputSpatial {
		perm[at] = int64(s) + 2
	}
	return Convert(Transpose(y, perm), out)
}

// convolver computes one image and group at a time as the product of the kernels with a matrix whose columns are
// the patches of the image.
type convolver struct {
	x, w                    Tensor // [image, feature, space…], [output, input, space…]
	window                  Window
	images, outputs, groups int64
	inputs                  int64 // input features per group
	batchGroups             bool
	space                   []int64 // sizes of the result
}

func newConvolver(x, w Tensor, p ConvParams) convolver {
	rank := len(x.Shape) - 2
	c := convolver{x: x, w: w, images: x.Shape[0], outputs: w.Shape[0], inputs: w.Shape[1]}
	c.groups = max(1, p.FeatureGroupCount)
	if p.BatchGroupCount > 1 {
		c.groups, c.batchGroups = p.BatchGroupCount, true
		c.images /= c.groups
	}
	c.window = Window{
		Size: w.Shape[2:], Stride: p.Stride, BaseDilation: p.LHSDilation, WindowDilation: p.RHSDilation, Padding: p.Padding,
	}.withDefaults(rank)
	c.space = c.window.resultShape(x.Shape[2:])
	return c
}

// run computes the outputs of group g of image i.
func (c convolver) run(y Tensor, i, g int64) {
	image, feature := i, g*c.inputs
	if c.batchGroups {
		image, feature = g*c.images+i, 0
	}
	channels := c.x.rows(image, image+1)
	channels.Shape = channels.Shape[1:]
	channels = channels.rows(feature, feature+c.inputs)
	perGroup := c.outputs / c.groups
	kernels := c.w.rows(g*perGroup, (g+1)*perGroup)
	patches := c.patches(channels)
	inner := lists.Product(c.w.Shape[1:])
	part := DotGeneral(Reshape(kernels, []int64{perGroup, inner}), Reshape(patches, []int64{inner, lists.Product(c.space)}),
		DotDims{LHSContract: []int64{1}, RHSContract: []int64{0}}, y.DType)
	result := y.rows(i, i+1)
	result.Shape = result.Shape[1:]
	copy(result.rows(g*perGroup, (g+1)*perGroup).Data, part.Data)
}

// patches returns [input, kernel space…, result space…]: for each kernel position what it meets.
func (c convolver) patches(channels Tensor) Tensor {
	rank := len(c.space)
	low, high, interior := make([]int64, rank+1), make([]int64, rank+1), make([]int64, rank+1)
	for d := range rank {
		low[d+1], high[d+1], interior[d+1] = c.window.Padding[d][0], c.window.Padding[d][1], c.window.BaseDilation[d]-1
	}
	base := Pad(channels, New(channels.DType, nil), low, high, interior)
	shape := slices.Concat([]int64{c.inputs}, c.window.Size, c.space)
	out := New(base.DType, shape)
	from := strides(base.Shape)
	src := []int64{from[0]}
	for d := range rank {
		src = append(src, from[d+1]*c.window.WindowDilation[d])
	}
	for d := range rank {
		src = append(src, from[d+1]*c.window.Stride[d])
	}
	move(out, base, walk{shape: shape, dst: strides(shape), src: src})
	return out
}

package tensor

import (
	"slices"

	"autoshard/backend/tensor/memory"
	"autoshard/backend/tensor/vector"
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
	compute := computeType(out)
	c := newConvolver(Convert(lhs, compute), Convert(rhs, compute), p)
	defer finish(c.x, lhs)
	defer finish(c.kernels, rhs)
	result := newUnset(compute, slices.Concat(c.rowSizes, []int64{c.outputs}))
	switch compute {
	case dtype.F32:
		convolve(&c, result, vector.Matmul[float32])
	case dtype.F64:
		convolve(&c, result, vector.Matmul[float64])
	case dtype.C64:
		convolve(&c, result, plainMatmul[complex64])
	case dtype.C128:
		convolve(&c, result, plainMatmul[complex128])
	case dtype.I32:
		convolve(&c, result, vector.Matmul[int32])
	default:
		convolve(&c, result, plainMatmul[int64])
	}
	moved := Transpose(result, c.order)
	defer finish(result, moved)
	rounded := Convert(moved, out)
	finish(moved, rounded)
	return rounded
}

// convolver computes each group as the product of a matrix whose rows are the patches of the images, one for each element of an output
// feature, with the matrix of the kernels. The patches are copied out of the images a block of rows at a time.
type convolver struct {
	x, w            Tensor // x padded
	groups, outputs int64  // outputs are of all groups
	rowSizes        []int64
	rowSteps        []int64 // elements of x from one patch to the next, along each dimension of the rows
	innerSizes      []int64
	innerSteps      []int64 // elements of x from one element of a patch to the next
	kernels         Tensor  // [inner, outputs]
	groupStep       int64   // elements of x from one group to the next
	order           []int64 // the permutation from rows and features to the result
}

func newConvolver(x, w Tensor, p ConvParams) convolver {
	d := p.Dims
	window := Window{
		Size: lists.Pick(w.Shape, d.KernelSpatial), Stride: p.Stride, BaseDilation: p.LHSDilation, WindowDilation: p.RHSDilation,
		Padding: p.Padding,
	}.withDefaults(len(d.InputSpatial))
	space := window.resultShape(lists.Pick(x.Shape, d.InputSpatial))
	var flipped []int64
	for s, reverse := range p.Reverse {
		if reverse {
			flipped = append(flipped, d.KernelSpatial[s])
		}
	}
	if flipped != nil {
		w = Reverse(w, flipped)
	}
	c := convolver{x: window.padSpace(x, d.InputSpatial), w: w, groups: max(1, p.FeatureGroupCount), outputs: w.Shape[d.KernelOutput]}
	st := strides(c.x.Shape)
	images := x.Shape[d.InputBatch]
	c.groupStep = w.Shape[d.KernelInput] * st[d.InputFeature]
	if p.BatchGroupCount > 1 {
		c.groups = p.BatchGroupCount
		images /= c.groups
		c.groupStep = images * st[d.InputBatch]
	}
	c.layRows(d, images, space, window, st)
	c.layPatches(d, window, st)
	return c
}

// padSpace applies base dilation and padding with zeros to some dimensions.
func (w Window) padSpace(x Tensor, spatial []int64) Tensor {
	low, high, interior := make([]int64, x.Rank()), make([]int64, x.Rank()), make([]int64, x.Rank())
	none := true
	for k, d := range spatial {
		low[d], high[d], interior[d] = w.Padding[k][0], w.Padding[k][1], w.BaseDilation[k]-1
		none = none && low[d] == 0 && high[d] == 0 && interior[d] == 0
	}
	if none {
		return x
	}
	return Pad(x, New(x.DType, nil), low, high, interior)
}

// layRows orders the rows as the result has the dimensions, so that only the features may have to be moved.
func (c *convolver) layRows(d ConvDims, images int64, space []int64, w Window, st []int64) {
	rank := len(c.x.Shape)
	c.order = make([]int64, rank)
	for at := range int64(rank) {
		s := slices.Index(d.OutputSpatial, at)
		switch {
		case at == d.OutputFeature:
			c.order[at] = int64(rank - 1)
			continue
		case at == d.OutputBatch:
			c.rowSizes, c.rowSteps = append(c.rowSizes, images), append(c.rowSteps, st[d.InputBatch])
		default:
			c.rowSizes, c.rowSteps = append(c.rowSizes, space[s]), append(c.rowSteps, st[d.InputSpatial[s]]*w.Stride[s])
		}
		c.order[at] = int64(len(c.rowSizes) - 1)
	}
}

// layPatches orders the elements of a patch as the kernels have them, so that the kernels are not moved where the features they make come
// first or last.
func (c *convolver) layPatches(d ConvDims, w Window, st []int64) {
	var perm []int64
	for at := range int64(len(c.w.Shape)) {
		s := slices.Index(d.KernelSpatial, at)
		switch {
		case at == d.KernelOutput:
			continue
		case at == d.KernelInput:
			c.innerSteps = append(c.innerSteps, st[d.InputFeature])
		default:
			c.innerSteps = append(c.innerSteps, st[d.InputSpatial[s]]*w.WindowDilation[s])
		}
		c.innerSizes = append(c.innerSizes, c.w.Shape[at])
		perm = append(perm, at)
	}
	inner := lists.Product(c.innerSizes)
	if d.KernelOutput == 0 {
		c.kernels = Transpose(Reshape(c.w, []int64{c.outputs, inner}), []int64{1, 0})
		return
	}
	c.kernels = Reshape(Transpose(c.w, append(perm, d.KernelOutput)), []int64{inner, c.outputs})
}

// patchBytes is about how many bytes of patches are copied at a time.
const patchBytes = 1 << 20

// convolve computes all groups into the result, [rows, outputs], in parallel where that is worth it.
func convolve[T Elem](c *convolver, result Tensor, matmul func(c []T, a, b vector.Matrix[T], m, k, n int)) {
	rows, inner, perGroup := lists.Product(c.rowSizes), int(lists.Product(c.innerSizes)), c.outputs/c.groups
	if rows == 0 || perGroup == 0 {
		return
	}
	first := c.rowSizes[0]
	behind := rows / first // rows for each index of the first dimension
	step := min(first, max(1, patchBytes/int64(result.DType.Bytes())/max(1, behind*int64(inner))))
	blocks := (first + step - 1) / step
	kernels, out := Elems[T](c.kernels), Elems[T](result)
	parallel(int(blocks*c.groups), int(rows)*inner*int(perGroup), func(i int) {
		group, from := int64(i)/blocks, int64(i)%blocks*step
		count := min(step, first-from)
		patches := c.patches(group, from, count)
		b := vector.Matrix[T]{Data: kernels[min(group*perGroup, int64(len(kernels))):], Row: int(c.outputs), Column: 1}
		m := count * behind
		a := vector.Matrix[T]{Data: Elems[T](patches), Row: inner, Column: 1}
		if c.rowsLast() {
			a.Row, a.Column = 1, int(m)
		}
		if c.groups == 1 {
			matmul(out[from*behind*perGroup:][:m*perGroup], a, b, int(m), inner, int(perGroup))
		} else {
			part := newUnset(result.DType, []int64{m, perGroup})
			matmul(Elems[T](part), a, b, int(m), inner, int(perGroup))
			move(result, part, walk{shape: part.Shape, dst: []int64{c.outputs, 1}, src: strides(part.Shape),
				dstOff: from*behind*c.outputs + group*perGroup})
			memory.Give(part.Data)
		}
		memory.Give(patches.Data)
	})
}

// rowsLast says whether the elements of x that lie together belong to different patches.
func (c *convolver) rowsLast() bool {
	return slices.Contains(c.rowSteps, 1) && !slices.Contains(c.innerSteps, 1)
}

// patches returns the patches of some rows of a group as a matrix, of rows by elements, or the other way round where rowsLast.
func (c *convolver) patches(group, from, count int64) Tensor {
	rows := slices.Concat([]int64{count}, c.rowSizes[1:])
	shape, steps := slices.Concat(rows, c.innerSizes), slices.Concat(c.rowSteps, c.innerSteps)
	if c.rowsLast() {
		shape, steps = slices.Concat(c.innerSizes, rows), slices.Concat(c.innerSteps, c.rowSteps)
	}
	out := newUnset(c.x.DType, shape)
	move(out, c.x, walk{shape: shape, dst: strides(shape), src: steps, srcOff: group*c.groupStep + from*c.rowSteps[0]})
	return out
}

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
	return NewConv(lhs.Shape, rhs.Shape, p, out).Of(lhs, rhs)
}

// Conv is Convolution of operands of known shapes. Each group is the product of a matrix whose rows are the patches of the images, one for
// each element of an output feature, with the matrix of the kernels. The patches are copied out of the images a block of rows at a time.
type Conv struct {
	lhs, rhs []int64
	out      dtype.Type
	padding  *Rearrangement // of the images, nil for none
	kernels  *Rearrangement // to [inner, outputs]
	features *Rearrangement // of the result, from rows and features

	shape           []int64 // of rows and features
	groups, outputs int64   // outputs are of all groups
	groupStep       int64   // elements of an image from one group to the next
	rows, inner     int64   // of the matrix of patches
	rowsLast        bool    // the elements of an image that lie together belong to different patches
	first, rowStep  int64   // of the first dimension of the rows: its size, and elements of an image from one patch to the next
	step            int64   // how many of the first dimension are copied at a time
	patches, last   *Rearrangement
}

// Fits says whether operands of these shapes can be convolved.
func (c *Conv) Fits(lhs, rhs []int64) bool {
	return slices.Equal(lhs, c.lhs) && slices.Equal(rhs, c.rhs)
}

// NewConv finds out how patches and kernels lie.
func NewConv(lhs, rhs []int64, p ConvParams, out dtype.Type) *Conv {
	d := p.Dims
	c := &Conv{lhs: slices.Clone(lhs), rhs: slices.Clone(rhs), out: out, groups: max(1, p.FeatureGroupCount), outputs: rhs[d.KernelOutput]}
	window := Window{
		Size: lists.Pick(rhs, d.KernelSpatial), Stride: p.Stride, BaseDilation: p.LHSDilation, WindowDilation: p.RHSDilation,
		Padding: p.Padding,
	}.withDefaults(len(d.InputSpatial))
	space := window.resultShape(lists.Pick(lhs, d.InputSpatial))
	padded := c.pad(window, d.InputSpatial)
	st := strides(padded)
	images := lhs[d.InputBatch]
	c.groupStep = rhs[d.KernelInput] * st[d.InputFeature]
	if p.BatchGroupCount > 1 {
		c.groups = p.BatchGroupCount
		images /= c.groups
		c.groupStep = images * st[d.InputBatch]
	}
	rows := c.layRows(d, images, space, window, st)
	inner := c.layPatches(d, window, st)
	c.layKernels(d, p.Reverse)
	c.prepare(padded, rows, inner)
	return c
}

// pad prepares base dilation and padding of the images with zeros, and returns their shape then.
func (c *Conv) pad(w Window, spatial []int64) []int64 {
	rank := len(c.lhs)
	low, high, interior := make([]int64, rank), make([]int64, rank), make([]int64, rank)
	none := true
	for k, d := range spatial {
		low[d], high[d], interior[d] = w.Padding[k][0], w.Padding[k][1], w.BaseDilation[k]-1
		none = none && low[d] == 0 && high[d] == 0 && interior[d] == 0
	}
	if none {
		return c.lhs
	}
	shape, move := padWalk(c.lhs, low, high, interior)
	c.padding = newRearrangement(c.lhs, move)
	c.padding.shape = shape
	return shape
}

// steps are dimensions of a matrix of patches: their sizes, and elements of an image from one index to the next.
type steps struct{ sizes, steps []int64 }

func (s *steps) add(size, step int64) {
	s.sizes, s.steps = append(s.sizes, size), append(s.steps, step)
}

// layRows orders the rows as the result has the dimensions, so that only the features may have to be moved.
func (c *Conv) layRows(d ConvDims, images int64, space []int64, w Window, st []int64) (rows steps) {
	rank := len(c.lhs)
	order := make([]int64, rank)
	for at := range int64(rank) {
		s := slices.Index(d.OutputSpatial, at)
		switch {
		case at == d.OutputFeature:
			order[at] = int64(rank - 1)
			continue
		case at == d.OutputBatch:
			rows.add(images, st[d.InputBatch])
		default:
			rows.add(space[s], st[d.InputSpatial[s]]*w.Stride[s])
		}
		order[at] = int64(len(rows.sizes) - 1)
	}
	c.shape = slices.Concat(rows.sizes, []int64{c.outputs})
	c.features = NewTranspose(c.shape, order)
	return rows
}

// layPatches orders the elements of a patch as the kernels have them.
func (c *Conv) layPatches(d ConvDims, w Window, st []int64) (inner steps) {
	for at, size := range c.rhs {
		switch s := slices.Index(d.KernelSpatial, int64(at)); {
		case int64(at) == d.KernelOutput:
		case int64(at) == d.KernelInput:
			inner.add(size, st[d.InputFeature])
		default:
			inner.add(size, st[d.InputSpatial[s]]*w.WindowDilation[s])
		}
	}
	return inner
}

// layKernels prepares the matrix of the kernels, which lie so already where the features they make come last and none is reversed.
func (c *Conv) layKernels(d ConvDims, reverse []bool) {
	w := walk{src: strides(c.rhs)}
	for s, reversed := range reverse {
		if reversed {
			w.reverse(c.rhs, d.KernelSpatial[s])
		}
	}
	features := []int64{d.KernelOutput}
	move := transposeWalk(walk{srcOff: w.srcOff}, w.src, c.rhs, append(lists.Others(len(c.rhs), features), d.KernelOutput))
	c.kernels = newRearrangement(c.rhs, move)
	c.kernels.same = slices.Equal(move.src, move.dst)
}

// patchBytes is about how many bytes of patches are copied at a time.
const patchBytes = 1 << 20

// prepare finds out how many patches are copied at a time, and how.
func (c *Conv) prepare(padded []int64, rows, inner steps) {
	c.rows, c.inner = lists.Product(rows.sizes), lists.Product(inner.sizes)
	c.first, c.rowStep = rows.sizes[0], rows.steps[0]
	if c.rows == 0 || c.outputs < c.groups {
		return
	}
	behind := c.rows / c.first // rows for each index of the first dimension
	c.step = min(c.first, max(1, patchBytes/int64(computeType(c.out).Bytes())/max(1, behind*c.inner)))
	c.rowsLast = slices.Contains(rows.steps, 1) && !slices.Contains(inner.steps, 1)
	of := func(count int64) *Rearrangement {
		sizes := slices.Concat([]int64{count}, rows.sizes[1:])
		shape, src := slices.Concat(sizes, inner.sizes), slices.Concat(rows.steps, inner.steps)
		if c.rowsLast {
			shape, src = slices.Concat(inner.sizes, sizes), slices.Concat(inner.steps, rows.steps)
		}
		return newRearrangement(padded, walk{shape: shape, dst: strides(shape), src: src})
	}
	c.patches = of(c.step)
	c.last = of(c.first - (c.first-1)/c.step*c.step)
}

// Of returns the convolution. Results of one Conv share their shape.
func (c *Conv) Of(lhs, rhs Tensor) Tensor {
	compute := computeType(c.out)
	x, w := Convert(lhs, compute), Convert(rhs, compute)
	defer finish(x, lhs)
	defer finish(w, rhs)
	images, kernels := c.padded(x), c.kernels.Of(w)
	defer finish(images, x)
	defer finish(kernels, w)
	result := newUnset(compute, c.shape)
	productsIn(compute).convolve(c, images, kernels, result)
	moved := c.features.Of(result)
	defer finish(result, moved)
	rounded := Convert(moved, c.out)
	finish(moved, rounded)
	return rounded
}

// padded returns images with zeros around and between their elements, as far as the convolution has such.
func (c *Conv) padded(x Tensor) Tensor {
	if c.padding == nil {
		return x
	}
	out := New(x.DType, c.padding.shape)
	c.padding.into(out, x, 0)
	return out
}

// convolve computes all groups into the result, [rows, outputs], in parallel where that is worth it.
func (of productsOf[T]) convolve(c *Conv, x, w, result Tensor) {
	perGroup := c.outputs / c.groups
	if c.patches == nil {
		return
	}
	blocks, behind := (c.first+c.step-1)/c.step, c.rows/c.first
	kernels, out := Elems[T](w), Elems[T](result)
	parallel(int(blocks*c.groups), int(c.rows)*int(c.inner)*int(perGroup), func(i int) {
		group, from := int64(i)/blocks, int64(i)%blocks*c.step
		patches, m := c.patchesOf(x, group, from)
		b := vector.Matrix[T]{Data: kernels[min(group*perGroup, int64(len(kernels))):], Row: int(c.outputs), Column: 1}
		a := vector.Matrix[T]{Data: Elems[T](patches), Row: int(c.inner), Column: 1}
		if c.rowsLast {
			a.Row, a.Column = 1, int(m)
		}
		if c.groups == 1 {
			of.matmul(out[from*behind*perGroup:][:m*perGroup], a, b, int(m), int(c.inner), int(perGroup))
		} else {
			part := newUnset(result.DType, []int64{m, perGroup})
			of.matmul(Elems[T](part), a, b, int(m), int(c.inner), int(perGroup))
			move(result, part, walk{shape: part.Shape, dst: []int64{c.outputs, 1}, src: strides(part.Shape),
				dstOff: from*behind*c.outputs + group*perGroup})
			memory.Give(part.Data)
		}
		memory.Give(patches.Data)
	})
}

// patchesOf returns the patches of a block of rows of a group as a matrix, of rows by elements, or the other way round where the rows lie
// together in the images, and how many rows they are.
func (c *Conv) patchesOf(x Tensor, group, from int64) (patches Tensor, rows int64) {
	r, count := c.patches, c.step
	if from+count > c.first {
		r, count = c.last, c.first-from
	}
	patches = newUnset(x.DType, r.shape)
	r.into(patches, x, group*c.groupStep+from*c.rowStep)
	return patches, count * (c.rows / c.first)
}

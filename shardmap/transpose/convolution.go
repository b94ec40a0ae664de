package transpose

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// sliding describes windows along spatial dimensions: element k of a window at place p lies in the padded and dilated
// base at p·stride + k·dilation.
type sliding struct{ base, window, out, strides, low, baseDilation, dilation []int64 }

// readWindows reads the windows of an op; sizes are those of base and result.
func readWindows(m *ir.Module, op ir.OpID, base, out []int64) *sliding {
	s := &sliding{base: base, out: out}
	for _, w := range ir.Windows(m, op) {
		s.window, s.strides, s.low = append(s.window, w.Size), append(s.strides, w.Stride), append(s.low, w.Low)
		s.baseDilation, s.dilation = append(s.baseDilation, w.BaseDilation), append(s.dilation, w.Dilation)
	}
	return s
}

// empty says whether there is nothing to slide over.
func (s *sliding) empty() bool { return slices.Contains(s.base, 0) || slices.Contains(s.out, 0) }

// ofBase returns the padding with which windows over the cotangent, dilated by the strides, give that of the base.
func (s *sliding) ofBase() (padding []int64) {
	for d := range s.base {
		reach := (s.window[d] - 1) * s.dilation[d]
		low := reach - s.low[d]
		padding = append(padding, low, (s.base[d]-1)*s.baseDilation[d]+reach-(s.out[d]-1)*s.strides[d]-low)
	}
	return padding
}

// ofWindow returns the padding with which the cotangent, dilated by the strides and moved by the dilation of the
// window, gives that of the window.
func (s *sliding) ofWindow() (padding []int64) {
	for d := range s.base {
		padding = append(padding, s.low[d],
			(s.window[d]-1)*s.dilation[d]+(s.out[d]-1)*s.strides[d]-(s.base[d]-1)*s.baseDilation[d]-s.low[d])
	}
	return padding
}

// convolution transposes in the image, by a convolution of the cotangent with the mirrored kernel, or in the kernel,
// by one of the image with the cotangent, where batch and features swap roles, and so do groups of them.
func (t *transposer) convolution(op ir.OpID, g ir.ValueID) {
	x, k, attrs := t.m.Operand(op, 0), t.m.Operand(op, 1), t.m.OpAttrs(op)
	d, ok := attrs.Get("dimension_numbers").(*ir.ConvDims)
	if !ok || t.linear[x] && t.linear[k] {
		t.nonlinear(op)
		return
	}
	if attrs.Get("window_reversal") != nil {
		t.unsupported(op, "a convolution with reversed windows has none here")
		return
	}
	s := readWindows(t.m, op, lists.Pick(t.m.Shape(x), d.InSpatial), lists.Pick(t.m.Shape(g), d.OutSpatial))
	operand := x
	if t.linear[k] {
		operand = k
	}
	if s.empty() || slices.Contains(s.window, 0) || slices.Contains(t.m.Shape(k), 0) {
		t.add(operand, t.zeros(operand))
		return
	}
	if t.linear[x] {
		t.add(x, t.ofImage(op, d, s, g))
		return
	}
	to := ir.ConvDims{InBatch: d.InFeature, InFeature: d.InBatch, InSpatial: d.InSpatial, KernelIn: d.OutBatch, KernelOut: d.OutFeature,
		KernelSpatial: d.OutSpatial, OutBatch: d.KernelIn, OutFeature: d.KernelOut, OutSpatial: d.KernelSpatial}
	c := conv{op, &to, s.dilation, s.baseDilation, s.strides, s.ofWindow(), attrs.Int("batch_group_count", 1),
		attrs.Int("feature_group_count", 1)}
	t.add(k, t.convolve(c, t.value(x), g))
}

// ofImage returns the cotangent of the image. The kernel of a group has the group's result features for inputs, so that
// the number of the group moves from those to the image's features; of groups of the batch it moves on, to the batch.
func (t *transposer) ofImage(op ir.OpID, d *ir.ConvDims, s *sliding, g ir.ValueID) ir.ValueID {
	k, attrs := t.m.Operand(op, 1), t.m.OpAttrs(op)
	batches := attrs.Int("batch_group_count", 1)
	groups := max(attrs.Int("feature_group_count", 1), batches)
	mirrored := t.b.Local(ir.OpReverse, ir.MakeAttrs(ir.Named("dimensions", ir.Ints(d.KernelSpatial))), t.value(k))
	to := ir.ConvDims{InBatch: d.OutBatch, InFeature: d.OutFeature, InSpatial: d.OutSpatial, KernelIn: d.KernelOut, KernelOut: d.KernelIn,
		KernelSpatial: d.KernelSpatial, OutBatch: d.InBatch, OutFeature: d.InFeature, OutSpatial: d.InSpatial}
	c := conv{op, &to, s.baseDilation, s.strides, s.dilation, s.ofBase(), groups, 1}
	image := t.convolve(c, g, t.regroup(mirrored, d.KernelOut, d.KernelIn, groups))
	return t.regroup(image, d.InFeature, d.InBatch, batches)
}

// regroup takes the number of the group, one of n, out of one dimension, where it is major, and puts it into another.
func (t *transposer) regroup(v ir.ValueID, from, to, n int64) ir.ValueID {
	if n == 1 || v == 0 {
		return v
	}
	shape := slices.Clone(t.m.Shape(v))
	merged := slices.Clone(shape)
	merged[from] /= n
	merged[to] *= n
	v = t.b.Reshape(v, slices.Replace(shape, int(from), int(from)+1, n, shape[from]/n)...)
	order := slices.Insert(lists.Others(len(shape)+1, []int64{from}), int(to), from)
	return t.b.Reshape(t.b.Transpose(v, order...), merged...)
}

// conv is what a convolution has for attributes, besides the precision of another one.
type conv struct {
	like                             ir.OpID
	dims                             *ir.ConvDims
	strides, base, dilation, padding []int64
	groups, batches                  int64
}

// convolve writes a convolution.
func (t *transposer) convolve(c conv, x, k ir.ValueID) ir.ValueID {
	attrs := ir.MakeAttrs(ir.Named("dimension_numbers", c.dims), ir.Named("window_strides", ir.Ints(c.strides)),
		ir.Named("lhs_dilation", ir.Ints(c.base)), ir.Named("rhs_dilation", ir.Ints(c.dilation)), ir.Named("padding", t.pairs64(c.padding)),
		ir.Named("feature_group_count", t.m.I64(c.groups)), ir.Named("batch_group_count", t.m.I64(c.batches)))
	if a := t.m.Attr(c.like, "precision_config"); a != nil {
		attrs = attrs.With("precision_config", a)
	}
	return t.b.Local(ir.OpConvolution, attrs, x, k)
}

// reduceWindow transposes a sum over windows, such as a cumulative sum: another sum over windows, of the same size,
// where strides and dilation of the base swap roles.
func (t *transposer) reduceWindow(op ir.OpID, g ir.ValueID) {
	if t.m.NumOperands(op) != 2 || !adds(t.m, op) || !t.only(op, 0) {
		t.nonlinear(op)
		return
	}
	if !t.homogeneous(op, 1, 2) {
		return
	}
	x := t.m.Operand(op, 0)
	s := readWindows(t.m, op, t.m.Shape(x), t.m.Shape(g))
	if s.empty() {
		t.add(x, t.zeros(x))
		return
	}
	swapped := ir.MakeAttrs(ir.Named("window_dimensions", ir.Ints(s.window)), ir.Named("window_strides", ir.Ints(s.baseDilation)),
		ir.Named("base_dilations", ir.Ints(s.strides)), ir.Named("window_dilations", ir.Ints(s.dilation)),
		ir.Named("padding", t.pairs64(s.ofBase())))
	t.add(x, t.b.Folded(ir.OpReduceWindow, t.m.Type(x), swapped, ir.OpAdd, g, t.scalarZero(x)))
}

// pairs64 returns numbers as a constant of two columns.
func (t *transposer) pairs64(list []int64) *ir.Dense {
	return t.m.DenseInts(list, int64(len(list)/2), 2)
}

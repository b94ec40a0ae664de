package ir

import (
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// Window is how an op slides along one dimension: over Size elements that lie Dilation apart, Stride elements at a step, in
// a base whose elements lie BaseDilation apart and which has Low and High elements more at its ends.
type Window struct{ Size, Stride, Low, High, BaseDilation, Dilation int64 }

// Places returns the number of places of the window in n elements (specification: stablehlo.md section 2.10).
func (w Window) Places(n int64) int64 {
	if n == Dynamic || w.Size == Dynamic {
		return Dynamic
	}
	base := n
	if n > 0 {
		base = (n-1)*w.BaseDilation + 1
	}
	base += w.Low + w.High
	dilated := w.Size
	if w.Size > 0 {
		dilated = (w.Size-1)*w.Dilation + 1
	}
	if base <= 0 || dilated > base {
		return 0
	}
	return (base-dilated)/w.Stride + 1
}

// Windows returns the windows of a reduce_window or select_and_scatter in all dimensions, or of a convolution in the
// spatial ones; nil where the attributes are not those of windows.
func Windows(m *Module, op OpID) []Window {
	f := inference{m: m, kind: m.Kind(op), attrs: m.OpAttrs(op), operands: m.TypesOf(m.Operands(op))}
	sizes, _ := f.ints("window_dimensions")
	base, dilation := "base_dilations", "window_dilations"
	if d, ok := f.attrs.Get("dimension_numbers").(*ConvDims); ok {
		sizes, base, dilation = lists.Pick(f.operand(1).Dims, d.KernelSpatial), "lhs_dilation", "rhs_dilation"
	}
	windows, err := f.windows(sizes, "window_strides", base, dilation)
	if err != nil {
		return nil
	}
	return windows
}

// PadWindows gives an op over windows the padding of some.
func (m *Module) PadWindows(op OpID, windows []Window) {
	padding := make([]int64, 0, 2*len(windows))
	for _, w := range windows {
		padding = append(padding, w.Low, w.High)
	}
	m.SetAttrs(op, m.OpAttrs(op).With("padding", m.DenseInts(padding, int64(len(windows)), 2)))
}

// windows reads the window attributes of an op for a number of dimensions.
func (f *inference) windows(sizes []int64, strides, baseDilations, dilations string) ([]Window, error) {
	n := len(sizes)
	out := lists.Of(n, func(i int) Window { return Window{Size: sizes[i], Stride: 1, BaseDilation: 1, Dilation: 1} })
	for _, field := range []struct {
		name string
		set  func(w *Window, x int64)
	}{
		{strides, func(w *Window, x int64) { w.Stride = x }},
		{baseDilations, func(w *Window, x int64) { w.BaseDilation = x }},
		{dilations, func(w *Window, x int64) { w.Dilation = x }},
	} {
		list, ok := f.ints(field.name)
		if !ok {
			continue
		}
		if len(list) != n {
			return nil, badAttr("expects %s to have %d entries, the number of window dimensions, but got %d", field.name, n, len(list))
		}
		for i, x := range list {
			if x <= 0 {
				return nil, badAttr("expects window to have positive values of %s, but got %d in dimension %d", field.name, x, i)
			}
			field.set(&out[i], x)
		}
	}
	return out, f.windowPadding(out)
}

func (f *inference) windowPadding(out []Window) error {
	padding, ok := f.attrs.Get("padding").(*Dense)
	if !ok {
		return nil
	}
	t := f.m.TypeOf(padding.Type)
	if len(t.Dims) != 2 || t.Dims[1] != 2 || t.Dims[0] != int64(len(out)) || t.DType != dtype.I64 {
		return badAttr("expects padding of type tensor<%dx2xi64>, but got '%s'", len(out), f.m.FormatType(padding.Type))
	}
	values := f.m.Int64s(padding)
	for i := range out {
		out[i].Low, out[i].High = values[2*i], values[2*i+1]
	}
	return nil
}

func inferConvolution(f *inference) error {
	d := f.attrs.Get("dimension_numbers").(*ConvDims)
	lhs, rhs := f.operand(0), f.operand(1)
	n := len(d.InSpatial)
	if lhs.Rank() != rhs.Rank() {
		return badType("expects convolution arguments to have same number of dimensions. Got: '%s' and '%s'", f.text(0), f.text(1))
	}
	if lhs.Rank() < 2 {
		return badType("expects convolution arguments to have >= 2 dimensions. Got: '%s'", f.text(0))
	}
	if !sameElem(lhs, rhs) && !(isSmallFloat(lhs.DType.String()) && isSmallFloat(rhs.DType.String())) {
		return badType("expects lhs and rhs to have compatible element type. Got: '%s' and '%s'", f.text(0), f.text(1))
	}
	if len(d.KernelSpatial) != n || len(d.OutSpatial) != n {
		return badAttr("expects the same size for input, kernel and output spatial dimensions, but got %d, %d, and %d resp",
			n, len(d.KernelSpatial), len(d.OutSpatial))
	}
	for _, dims := range [][]int64{append([]int64{d.InBatch, d.InFeature}, d.InSpatial...),
		append([]int64{d.KernelIn, d.KernelOut}, d.KernelSpatial...),
		append([]int64{d.OutBatch, d.OutFeature}, d.OutSpatial...)} {
		if len(dims) != lhs.Rank() || !unique(dims) || !within(dims, lhs.Rank()) {
			return badAttr("expects dimension-numbers to be unique and in range [0, %d), got %v", lhs.Rank(), dims)
		}
	}
	if err := f.precision(); err != nil {
		return err
	}
	return f.convolutionShape(d)
}

func (f *inference) convolutionShape(d *ConvDims) error {
	lhs, rhs := f.operand(0), f.operand(1)
	a := f.attrs
	features, batches := a.Int("feature_group_count", 1), a.Int("batch_group_count", 1)
	if err := convolutionGroups(d, lhs, rhs, features, batches); err != nil {
		return err
	}
	windows, err := f.windows(lists.Pick(f.operand(1).Dims, d.KernelSpatial), "window_strides", "lhs_dilation", "rhs_dilation")
	if err != nil {
		return err
	}
	if reversal, ok := a.Get("window_reversal").(Bools); ok && len(reversal) != len(windows) {
		return badAttr("expects window_reversal to have %d entries, but got %d", len(windows), len(reversal))
	}
	dims := make([]int64, lhs.Rank())
	dims[d.OutBatch] = Dynamic
	if n := lhs.Dims[d.InBatch]; n != Dynamic {
		dims[d.OutBatch] = n / batches
	}
	dims[d.OutFeature] = rhs.Dims[d.KernelOut]
	for i, w := range windows {
		dims[d.OutSpatial[i]] = w.Places(lhs.Dims[d.InSpatial[i]])
	}
	return f.sized(f.operand(0), dims)
}

func convolutionGroups(d *ConvDims, lhs, rhs *Type, features, batches int64) error {
	switch {
	case features <= 0:
		return badAttr("expects feature_group_count to be a positive number, got %d", features)
	case batches <= 0:
		return badAttr("expects batch_group_count to be a positive number, got %d", batches)
	case features > 1 && batches > 1:
		return badAttr("expects batch_group_count and feature_group_count not to be both greater than 1. Got %d and %d resp", batches, features)
	}
	in, batch, kernelIn, kernelOut := lhs.Dims[d.InFeature], lhs.Dims[d.InBatch], rhs.Dims[d.KernelIn], rhs.Dims[d.KernelOut]
	switch {
	case batch != Dynamic && batch%batches != 0:
		return badType("expects input batch dimension (%d) to be divisible by batch_group_count. Got batch_group_count = %d", batch, batches)
	case in != Dynamic && in%features != 0:
		return badType("expects input feature dimension (%d) to be a multiple of feature_group_count. Got feature_group_count = %d", in, features)
	case in != Dynamic && kernelIn != Dynamic && in/features != kernelIn:
		return badType("expects input feature dimension (%d) / feature_group_count = kernel input feature dimension (%d). Got "+
			"feature_group_count = %d",
			in, kernelIn, features)
	case kernelOut != Dynamic && kernelOut%batches != 0:
		return badType("expects output feature dimension size (%d) to be a multiple of batch_group_count. Got batch_group_count = %d",
			kernelOut, batches)
	case kernelOut != Dynamic && kernelOut%features != 0:
		return badType("expects kernel output feature dimension (%d) to be divisible by feature_group_count. Got feature_group_count = %d",
			kernelOut, features)
	}
	return nil
}

package infer

import (
	"fmt"
	"slices"

	"autoshard/ir"
)

// window returns the number of positions of a dilated window along a dilated and padded dimension
// (specification: stablehlo.md section 2.10).
func window(size, window, stride, low, high, baseDilation, windowDilation int64) int64 {
	base := low + high
	if size > 0 {
		base += (size-1)*baseDilation + 1
	}
	extent := (window-1)*windowDilation + 1
	if base < extent || base <= 0 {
		return 0
	}
	return (base-extent)/stride + 1
}

// windowLists returns the lists of a window with their defaults; ok is false where one has another length.
func (in *inference) windowLists(n int, names ...string) (lists [][]int64, ok bool) {
	for _, name := range names {
		l := in.attrs.Ints(name)
		if l == nil {
			l = slices.Repeat([]int64{1}, n)
		}
		if len(l) != n || slices.ContainsFunc(l, func(v int64) bool { return v < 1 || v > 1<<40 }) {
			return nil, false
		}
		lists = append(lists, l)
	}
	pad := make([]int64, 2*n)
	if d, isDense := in.attrs.Get("padding").(*ir.Dense); isDense {
		stored := d.Int64s()
		if len(stored) == 0 && n > 0 || !d.Splat && len(stored) != 2*n {
			return nil, false
		}
		for i := range pad {
			if pad[i] = stored[0]; !d.Splat {
				pad[i] = stored[i]
			}
		}
	}
	return append(lists, pad), true
}

func (in *inference) reduceWindow() ([]ir.TypeID, string) {
	dims, n := in.dims(0), len(in.operands)/2
	l, ok := in.windowLists(len(dims), "window_dimensions", "window_strides", "base_dilations", "window_dilations")
	if !ok {
		return nil, fmt.Sprintf("lists of the window need %d positive elements", len(dims))
	}
	out := make([]int64, len(dims))
	for i, size := range dims {
		out[i] = window(size, l[0][i], l[1][i], l[4][2*i], l[4][2*i+1], l[2][i], l[3][i])
	}
	types := make([]ir.TypeID, n)
	for i := range types {
		types[i] = in.m.TensorType(in.m.ValueType(in.operands[n+i]).DType, out...)
	}
	return types, ""
}

func (in *inference) convolution() ([]ir.TypeID, string) {
	d, ok := in.attrs.Get("dimension_numbers").(*ir.ConvDims)
	x, k := in.dims(0), in.dims(1)
	n := len(x) - 2
	if !ok || n < 0 || len(k) != len(x) ||
		!inRange(append([]int64{d.InBatch, d.InFeature}, d.InSpatial...), len(x)) || len(d.InSpatial) != n ||
		!inRange(append([]int64{d.KernelIn, d.KernelOut}, d.KernelSpatial...), len(k)) || len(d.KernelSpatial) != n ||
		!inRange(append([]int64{d.OutBatch, d.OutFeature}, d.OutSpatial...), len(x)) || len(d.OutSpatial) != n {
		return nil, "attribute \"dimension_numbers\" does not fit the operands"
	}
	l, ok := in.windowLists(n, "window_strides", "lhs_dilation", "rhs_dilation")
	if !ok {
		return nil, fmt.Sprintf("lists of the window need %d positive elements", n)
	}
	out := make([]int64, len(x))
	out[d.OutBatch] = x[d.InBatch] / max(in.attrs.Int("batch_group_count", 1), 1)
	out[d.OutFeature] = k[d.KernelOut]
	for i := range n {
		out[d.OutSpatial[i]] = window(x[d.InSpatial[i]], k[d.KernelSpatial[i]], l[0][i], l[3][2*i], l[3][2*i+1], l[1][i], l[2][i])
	}
	return in.like(0, out)
}

package everyop

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var windowOps = family{
	ir.OpReduceWindow: (*drawing).reduceWindow, ir.OpSelectAndScatter: (*drawing).selectAndScatter, ir.OpConvolution: (*drawing).convolution,
	ir.OpDynamicConv: (*drawing).convolution,
}

// window draws how a window slides over n elements, and often leaves attributes to their defaults.
func (d *drawing) window(n int64) ir.Window {
	w := ir.Window{Size: d.between(1, 4, "window"), Stride: 1, BaseDilation: 1, Dilation: 1}
	if d.odds("plain window", 3) {
		w.Size = min(w.Size, max(1, n))
		return w
	}
	w.Stride, w.Low, w.High = d.between(1, 3, "stride"), d.between(-1, 3, "low"), d.between(-1, 3, "high")
	w.BaseDilation, w.Dilation = d.between(1, 2, "base dilation"), d.between(1, 2, "dilation")
	if base := max(0, (n-1)*w.BaseDilation+1); base+w.Low+w.High < 0 {
		w.Low, w.High = 0, 0
	}
	return w
}

// fields returns a field of windows.
func fields(all []ir.Window, of func(ir.Window) int64) ir.Ints { return lists.Map(all, of) }

// windowAttrs returns the attributes of windows, without some that only say what their absence does.
func (d *drawing) windowAttrs(all []ir.Window, strides, base, dilations string) (a ir.Attrs) {
	for name, of := range map[string]func(ir.Window) int64{
		strides:   func(w ir.Window) int64 { return w.Stride },
		base:      func(w ir.Window) int64 { return w.BaseDilation },
		dilations: func(w ir.Window) int64 { return w.Dilation },
	} {
		list := fields(all, of)
		if name != "" && (slices.ContainsFunc(list, func(n int64) bool { return n != 1 }) || len(all)%2 == 0) {
			a = a.With(name, list)
		}
	}
	return a
}

func (d *drawing) padding(all []ir.Window) *ir.Dense {
	var list []int64
	for _, w := range all {
		list = append(list, w.Low, w.High)
	}
	return d.m.DenseInts(list, int64(len(all)), 2)
}

func (d *drawing) reduceWindow(k ir.Kind) {
	dims := d.shape(0, 3)
	all := lists.Map(dims, d.window)
	a := d.windowAttrs(all, "window_strides", "base_dilations", "window_dilations").
		With("window_dimensions", fields(all, func(w ir.Window) int64 { return w.Size })).With("padding", d.padding(all))
	d.reducing(k, a, dims, lists.Product(fields(all, func(w ir.Window) int64 { return w.Size })))
}

// selectAndScatter draws windows that hold at least one element each: what is chosen among none nobody says.
func (d *drawing) selectAndScatter(k ir.Kind) {
	dims := d.shape(0, 3)
	all := lists.Map(dims, func(n int64) ir.Window {
		w := ir.Window{Size: d.between(1, 3, "window"), Stride: d.between(1, 3, "stride"), BaseDilation: 1, Dilation: 1}
		w.Low = d.between(0, w.Size-1, "low")
		w.High = d.between(0, w.Size-1, "high")
		if last := (w.Places(n)-1)*w.Stride - w.Low; last >= n {
			w.High = 0
		}
		return w
	})
	e := d.drawType(func(e dtype.Type) bool { return isNumber(e) && !isComplex(e) && !Lacking(e) })
	by, of := d.reducer(e, false)
	source := each(len(dims), func(i int) int64 { return all[i].Places(dims[i]) })
	a := d.windowAttrs(all, "window_strides", "", "").
		With("window_dimensions", fields(all, func(w ir.Window) int64 { return w.Size })).With("padding", d.padding(all))
	op := d.emitOp(k, 2, a, d.input(e, dims, plain), d.input(e, source, of), d.input(e, nil, of))
	b, args := d.region(op, 0, d.m.TensorType(e), d.m.TensorType(e))
	end(b, b.Op1(ir.OpCompare, d.m.TensorType(dtype.I1), ir.CompareAttrs(pick(d, []string{"GE", "GT", "LE", "LT"}, "selected"), e), args...))
	d.m.AddReducer(op, by, e)
}

func (d *drawing) convolution(k ir.Kind) {
	spatial := int(d.between(0, 2, "spatial dimensions"))
	in := each(spatial, func(int) int64 { return d.size() })
	all := lists.Map(in, d.window)
	features, batches := int64(1), int64(1)
	switch d.between(0, 3, "groups") {
	case 0:
		features = d.between(2, 3, "feature groups")
	case 1:
		batches = d.between(2, 3, "batch groups")
	}
	batch, from, to := d.between(1, 2, "batch")*batches, d.between(1, 3, "input features"), d.between(1, 2, "features")*features*batches
	lhs, rhs, out := d.permutation(spatial+2), d.permutation(spatial+2), d.permutation(spatial+2)
	numbers := &ir.ConvDims{InBatch: lhs[0], InFeature: lhs[1], InSpatial: lhs[2:], KernelIn: rhs[0], KernelOut: rhs[1],
		KernelSpatial: rhs[2:], OutBatch: out[0], OutFeature: out[1], OutSpatial: out[2:]}
	sizes := fields(all, func(w ir.Window) int64 { return w.Size })
	a := d.windowAttrs(all, "window_strides", "lhs_dilation", "rhs_dilation").With("dimension_numbers", numbers).
		With("feature_group_count", d.m.I64(features)).With("batch_group_count", d.m.I64(batches))
	if d.odds("precision", 2) {
		a = a.With("precision_config", ir.ArrayAttr{d.enum("precision"), d.enum("precision")})
	}
	if d.odds("reversal", 2) {
		a = a.With("window_reversal", ir.Bools(lists.Of(spatial, func(int) bool { return d.odds("reversed", 2) })))
	}
	terms := from * lists.Product(sizes)
	operands, result := d.factors(placed(append([]int64{batch, from * features}, in...), lhs),
		placed(append([]int64{from, to}, sizes...), rhs), wideResult)
	padding := d.padding(all)
	whole, err := ir.Infer(d.m, ir.OpConvolution, operands, a.With("padding", padding))
	if err != nil {
		d.t.Fatal(err)
	}
	if k == ir.OpConvolution {
		a = a.With("padding", padding)
	} else {
		operands = append(operands, d.b.Constant(padding))
	}
	v := d.typed(k, d.m.TensorType(result, d.m.TypeOf(whole[0]).Dims...), a, operands...)
	d.rounds(d.m.DefiningOp(v), terms)
}

// placed puts sizes at their places.
func placed(sizes, at []int64) []int64 {
	out := make([]int64, len(sizes))
	for i, to := range at {
		out[to] = sizes[i]
	}
	return out
}

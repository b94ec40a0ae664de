package tensor

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// drawOrder draws a permutation of the dimensions of a rank.
func drawOrder(t *rapid.T, name string, rank int) []int64 {
	return rapid.Permutation(lists.Of(rank, func(d int) int64 { return int64(d) })).Draw(t, name)
}

// placed returns sizes at their places.
func placed(places, sizes []int64) []int64 {
	shape := make([]int64, len(places))
	for i, d := range places {
		shape[d] = sizes[i]
	}
	return shape
}

// drawConvolution draws the operands of a convolution, whose dimensions lie in any order: batch, feature and spatial ones, or input, output
// and spatial ones of the kernel.
func drawConvolution(t *rapid.T, dt dtype.Type) (x, w Tensor, p ConvParams, out, kernel []int64) {
	space := rapid.IntRange(0, 2).Draw(t, "space")
	in, kernel, out := drawOrder(t, "in", space+2), drawOrder(t, "kernel", space+2), drawOrder(t, "out", space+2)
	p.Dims = ConvDims{InputBatch: in[0], InputFeature: in[1], InputSpatial: in[2:], KernelInput: kernel[0], KernelOutput: kernel[1],
		KernelSpatial: kernel[2:], OutputBatch: out[0], OutputFeature: out[1], OutputSpatial: out[2:]}
	groups := rapid.Int64Range(1, 3).Draw(t, "groups")
	images, inputs, outputs := rapid.Int64Range(0, 3).Draw(t, "images"), rapid.Int64Range(0, 3).Draw(t, "inputs"),
		rapid.Int64Range(0, 7).Draw(t, "outputs")*groups
	xs, ws := []int64{images, inputs}, []int64{inputs, outputs}
	if p.FeatureGroupCount, p.BatchGroupCount = groups, 1; rapid.Bool().Draw(t, "by batch") {
		p.FeatureGroupCount, p.BatchGroupCount = 1, groups
		xs[0] *= groups
	} else {
		xs[1] *= groups
	}
	small := rapid.Int64Range(1, 3)
	for range space {
		size, width := rapid.Int64Range(0, 6).Draw(t, "size"), small.Draw(t, "width")
		base, low := small.Draw(t, "base"), rapid.Int64Range(-1, 3).Draw(t, "low")
		high := max(rapid.Int64Range(-1, 3).Draw(t, "high"), -low-max(0, (size-1)*base+1))
		p.Stride, p.LHSDilation, p.RHSDilation = append(p.Stride, small.Draw(t, "stride")), append(p.LHSDilation, base),
			append(p.RHSDilation, small.Draw(t, "dilation"))
		p.Padding, p.Reverse = append(p.Padding, [2]int64{low, high}), append(p.Reverse, rapid.Bool().Draw(t, "reverse"))
		xs, ws = append(xs, size), append(ws, width)
	}
	return drawExact(t, dt, placed(in, xs)), drawExact(t, dt, placed(kernel, ws)), p, out, kernel
}

// A convolution is the sums of its definition, for all types, orders of dimensions, groups and windows.
func TestConvolutionsAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom([]dtype.Type{dtype.I8, dtype.I32, dtype.I64, dtype.BF16, dtype.F32, dtype.F64, dtype.C64}).Draw(t, "type")
		x, w, p, out, kernel := drawConvolution(t, dt)
		got := Convolution(x, w, p, dt)
		prepared := NewConv(x.Shape, w.Shape, p, dt)
		for range 2 {
			if again := prepared.Of(x, w); !prepared.Fits(x.Shape, w.Shape) || !again.Equal(got) {
				t.Fatalf("prepared it is %v, not %v", again, got)
			}
		}
		xs, ws := Elems[complex128](Convert(x, dtype.C128)), Elems[complex128](Convert(w, dtype.C128))
		for i := range got.Len() {
			at := lists.Pick(Unravel(int64(i), got.Shape), out)
			sum := complex128(0)
			for k := range ws {
				index := lists.Pick(Unravel(int64(k), w.Shape), kernel)
				if from, ok := convolved(p, x, w, at, index); ok {
					sum += xs[from] * ws[k]
				}
			}
			if want := Convert(Of(dtype.C128, nil, sum), dt); !sameNumber(got.at(i), Convert(want, dt)) && !wrapsTo(got.at(i), sum) {
				t.Fatalf("%s %v by %v with %+v: element %v is %v, want %v", dt, x, w, p, at, got.at(i), want)
			}
		}
	})
}

// convolved returns which element of x meets that of the kernel at an index (input, output, space…) for the result at (image, feature,
// space…), if any.
func convolved(p ConvParams, x, w Tensor, at, index []int64) (int64, bool) {
	d := p.Dims
	if at[1] != index[1] {
		return 0, false
	}
	group := at[1] / (w.Shape[d.KernelOutput] / max(p.FeatureGroupCount, p.BatchGroupCount))
	from := make([]int64, x.Rank())
	from[d.InputBatch], from[d.InputFeature] = at[0], index[0]
	if p.BatchGroupCount > 1 {
		from[d.InputBatch] += group * (x.Shape[d.InputBatch] / p.BatchGroupCount)
	} else {
		from[d.InputFeature] += group * w.Shape[d.KernelInput]
	}
	for s, dim := range d.InputSpatial {
		k := index[2+s]
		if p.Reverse[s] {
			k = w.Shape[d.KernelSpatial[s]] - 1 - k
		}
		pos := at[2+s]*p.Stride[s] + k*p.RHSDilation[s] - p.Padding[s][0]
		if pos < 0 || pos%p.LHSDilation[s] != 0 || pos/p.LHSDilation[s] >= x.Shape[dim] {
			return 0, false
		}
		from[dim] = pos / p.LHSDilation[s]
	}
	return offset(from, x.Shape), true
}

// wrapsTo says whether an integer is a sum modulo its width.
func wrapsTo(got Tensor, sum complex128) bool {
	k := got.DType.Kind()
	return (k == dtype.Signed || k == dtype.Unsigned) && got.Equal(FromInts(got.DType, got.Shape, int64(real(sum))))
}

// A reduction by a known body is the fold of the elements, for all types, and dimensions in any order. Elements are small where the order
// counts, of sums, and of complex extremes, which keep the first of zeros of either sign; any numbers where it does not.
func TestReductionsAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom(allTypes).Draw(t, "type")
		rank := rapid.IntRange(0, 4).Draw(t, "rank")
		shape := drawSizes(t, rank)
		dims := drawOrder(t, "dims", rank)[:rapid.IntRange(0, rank).Draw(t, "count")]
		monoids := []Monoid{MonoidAdd, MonoidMaximum, MonoidMinimum}
		if isInteger(dt) {
			monoids = append(monoids, MonoidMultiply, MonoidAnd, MonoidOr, MonoidXor)
		}
		m := rapid.SampledFrom(monoids).Draw(t, "monoid")
		draw := drawAny
		if m == MonoidAdd || dt.Kind() == dtype.Complex {
			draw = drawExact
		}
		x, start := draw(t, dt, shape), draw(t, dt, nil)
		got := must(Reduce([]Tensor{x}, []Tensor{start}, dims, Combiner{Monoid: m}))[0]
		kept := lists.Others(rank, dims)
		want := lists.Of(got.Len(), func(int) Tensor { return Convert(start, accumulateIn(dt, Combiner{Monoid: m})) })
		for i := range x.Len() {
			k := offset(lists.Pick(Unravel(int64(i), shape), kept), got.Shape)
			want[k] = m.kernel()(want[k], Convert(x.at(i), want[k].DType))
		}
		for i := range want {
			if w := Convert(want[i], dt); !sameNumber(got.at(i), w) {
				t.Fatalf("%v of %s%v over %v: element %d of %v is %v, want %v", m, dt, x, dims, i, got.Shape, got.at(i), w)
			}
		}
	})
}

// Sums of numbers of any magnitude are within what n roundings in f64, and one to the type, allow; the sums over devices, too.
func TestSumsAgainstBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom([]dtype.Type{dtype.BF16, dtype.F16, dtype.F32, dtype.F64}).Draw(t, "type")
		rows, width := drawSize(t), drawSize(t)
		draw := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-1e4, 1e4))
		x := FromFloats(dt, []int64{rows, width}, rapid.SliceOfN(draw, int(rows*width), int(rows*width)).Draw(t, "values")...)
		zero := FromFloats(dt, nil, 0)
		check := func(what string, got Tensor, dim int64) {
			for i, v := range got.Floats() {
				sum, size := 0.0, 0.0
				for k := range x.Shape[dim] {
					index := []int64{k, int64(i)}
					if dim == 1 {
						index = []int64{int64(i), k}
					}
					e := x.Floats()[offset(index, x.Shape)]
					sum, size = sum+e, size+math.Abs(e)
				}
				half := math.Exp2(-float64(dt.Mantissa() + 1))
				if off := math.Abs(v - sum); off > half*math.Abs(sum)*1.001+float64(x.Shape[dim]+1)*0x1p-53*size+1e-7 {
					t.Fatalf("%s of %s along %d: element %d is %g, want %g", what, x, dim, i, v, sum)
				}
			}
		}
		for dim := range int64(2) {
			check("sum", must(Reduce([]Tensor{x}, []Tensor{zero}, []int64{dim}, Combiner{Monoid: MonoidAdd}))[0], dim)
		}
		if rows > 0 {
			parts := lists.Of(int(rows), func(r int) Tensor { return Reshape(x.rows(int64(r), int64(r)+1), []int64{width}) })
			before := slices.Clone(x.Data)
			check("fold", must(Fold(parts, Combiner{Monoid: MonoidAdd})), 0)
			if !slices.Equal(before, x.Data) {
				t.Fatalf("the operands of a fold became %v", x)
			}
		}
	})
}

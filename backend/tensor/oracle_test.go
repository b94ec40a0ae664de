package tensor

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// drawTensor draws an i32 tensor of the given shape with small elements.
func drawTensor(t *rapid.T, shape []int64) Tensor {
	values := rapid.SliceOfN(rapid.Int64Range(-9, 9), int(lists.Product(shape)), int(lists.Product(shape))).Draw(t, "values")
	return FromInts(dtype.I32, shape, values...)
}

func drawShape(t *rapid.T, rank int) []int64 {
	return rapid.SliceOfN(rapid.Int64Range(1, 5), rank, rank).Draw(t, "shape")
}

// Every element of a transpose is where the permutation puts it.
func TestTransposeMovesEveryElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := drawShape(t, rapid.IntRange(0, 4).Draw(t, "rank"))
		perm := make([]int64, len(shape))
		for i := range perm {
			perm[i] = int64(i)
		}
		perm = rapid.Permutation(perm).Draw(t, "perm")
		x := drawTensor(t, shape)
		y := Transpose(x, perm)
		at := newCounter(y.Shape)
		for i := range y.Len() {
			from := int64(0)
			for k, p := range perm {
				from += at.index[k] * strides(shape)[p]
			}
			if !y.at(i).Equal(x.at(int(from))) {
				t.Fatalf("element %v of %v", at.index, y)
			}
			at.next()
		}
	})
}

// Slices of what was joined are the parts.
func TestSliceOfConcatenateIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := drawShape(t, 3)
		dim := rapid.Int64Range(0, 2).Draw(t, "dim")
		x, y := drawTensor(t, shape), drawTensor(t, shape)
		both := Concatenate([]Tensor{x, y}, dim)
		start, limit := make([]int64, 3), slices.Clone(both.Shape)
		start[dim] = shape[dim]
		if got := Slice(both, start, limit, []int64{1, 1, 1}); !got.Equal(y) {
			t.Fatalf("%v, want %v", got, y)
		}
	})
}

// A product is the sums of its definition.
func TestDotGeneralAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t, 4)
		b, m, k, n := s[0], s[1], s[2], s[3]
		x, y := drawTensor(t, []int64{m, b, k}), drawTensor(t, []int64{n, k, b})
		for _, dt := range []dtype.Type{dtype.I32, dtype.F32, dtype.F64, dtype.BF16} {
			got := DotGeneral(Convert(x, dt), Convert(y, dt), DotDims{[]int64{1}, []int64{2}, []int64{2}, []int64{1}}, dt).Ints()
			for i := range got {
				ib, im, in := int64(i)/(m*n), int64(i)/n%m, int64(i)%n
				sum := int64(0)
				for c := range k {
					sum += x.Ints()[(im*b+ib)*k+c] * y.Ints()[(in*k+c)*b+ib]
				}
				if dt == dtype.BF16 {
					sum = FromInts(dt, nil, sum).Ints()[0]
				}
				if got[i] != sum {
					t.Fatalf("%s element %d is %d, want %d", dt, i, got[i], sum)
				}
			}
		}
	})
}

// A convolution is the sums of its definition, for any stride, padding and dilations.
func TestConvolutionAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 7).Draw(t, "size")
		width := rapid.Int64Range(1, 3).Draw(t, "kernel")
		stride, base, dilation := rapid.Int64Range(1, 3).Draw(t, "stride"), rapid.Int64Range(1, 3).Draw(t, "base"),
			rapid.Int64Range(1, 2).Draw(t, "dilation")
		low, high := rapid.Int64Range(-1, 3).Draw(t, "low"), rapid.Int64Range(-1, 3).Draw(t, "high")
		if low+high+(size-1)*base+1 < 0 {
			t.Skip("nothing left to pad")
		}
		x, w := drawTensor(t, []int64{2, 2, size}), drawTensor(t, []int64{3, 2, width})
		got := Convolution(x, w, ConvParams{
			Dims: ConvDims{
				InputFeature: 1, InputSpatial: []int64{2}, KernelInput: 1, KernelSpatial: []int64{2}, OutputFeature: 1, OutputSpatial: []int64{2},
			},
			Stride: []int64{stride}, LHSDilation: []int64{base}, RHSDilation: []int64{dilation}, Padding: [][2]int64{{low, high}},
		}, dtype.I32)
		count := got.Shape[2]
		xs, ws := x.Ints(), w.Ints()
		for i, v := range got.Ints() {
			image, feature, p := int64(i)/(3*count), int64(i)/count%3, int64(i)%count
			sum := int64(0)
			for c := range int64(2) {
				for q := range width {
					pos := p*stride + q*dilation - low
					if pos >= 0 && pos%base == 0 && pos/base < size {
						sum += xs[(image*2+c)*size+pos/base] * ws[(feature*2+c)*width+q]
					}
				}
			}
			if v != sum {
				t.Fatalf("element %d is %d, want %d", i, v, sum)
			}
		}
	})
}

// It does not matter in which order dimensions to be reduced are named.
func TestReduceIgnoresOrderOfDimensions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTensor(t, drawShape(t, 4))
		init := FromInts(dtype.I32, nil, 0)
		c := Combiner{Monoid: rapid.SampledFrom([]Monoid{MonoidAdd, MonoidMultiply, MonoidXor}).Draw(t, "monoid")}
		both := must(Reduce([]Tensor{x}, []Tensor{init}, []int64{0, 2}, c))[0]
		first := must(Reduce([]Tensor{x}, []Tensor{init}, []int64{2}, c))
		one := must(Reduce(first, []Tensor{init}, []int64{0}, c))[0]
		body := must(Reduce([]Tensor{x}, []Tensor{init}, []int64{2, 0}, general(c.Monoid, false)))[0]
		if !both.Equal(one) || !both.Equal(body) {
			t.Fatalf("%v, %v, %v", both, one, body)
		}
	})
}

// A transform is the sums of its definition, and its inverse leads back.
func TestFftAgainstDefinition(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 5, 8, 15, 31, 64, 100} {
		x := Complex(Sine(Iota(dtype.F64, []int64{n}, 0)), Cosine(Square(Iota(dtype.F64, []int64{n}, 0))))
		got := Elems[complex128](Fft(x, FFT, []int64{n}))
		for k := range n {
			var want complex128
			for i, v := range Elems[complex128](x) {
				want += v * unitRoot(i*int(k)%int(n), int(n))
			}
			if diff := got[k] - want; math.Hypot(real(diff), imag(diff)) > 1e-11 {
				t.Errorf("n = %d: bin %d is %v, want %v", n, k, got[k], want)
			}
		}
		if back := Fft(Fft(x, FFT, []int64{n}), IFFT, []int64{n}); difference(back, x, 1e-12, 1) != "" {
			t.Errorf("n = %d: the inverse of the transform is %v", n, back)
		}
	}
}

// Bins of a real transform that are sums of real numbers have no imaginary part.
func TestRealTransformHasRealBins(t *testing.T) {
	for _, n := range []int64{1, 6, 9, 17} {
		x := Fft(Sine(Iota(dtype.F32, []int64{3, n}, 1)), RFFT, []int64{n})
		bins := x.Shape[1]
		for i, v := range Imag(x).Floats() {
			if k := int64(i) % bins; (k == 0 || 2*k == n) && v != 0 {
				t.Errorf("n = %d: the imaginary part of bin %d is %g", n, k, v)
			}
		}
	}
}

// Products and reductions give the same bits on any number of cores.
func TestSameBitsOnAnyNumberOfCores(t *testing.T) {
	x := Sine(Reshape(Iota(dtype.F32, []int64{4 * 96 * 130}, 0), []int64{4, 96, 130}))
	run := func() Tensor {
		y := DotGeneral(x, x, DotDims{[]int64{0}, []int64{0}, []int64{2}, []int64{2}}, dtype.F32)
		return must(Reduce([]Tensor{y}, []Tensor{FromFloats(dtype.F32, nil, 0)}, []int64{0}, Combiner{Monoid: MonoidAdd}))[0]
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := run()
	for _, cores := range []int{2, 7} {
		runtime.GOMAXPROCS(cores)
		if !run().Equal(want) {
			t.Errorf("%d cores give other bits than one", cores)
		}
	}
}

// Half-precision numbers are rounded from float64 once, not by way of float32.
func TestNarrowingFromFloat64RoundsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		if rapid.Bool().Draw(t, "near a tie") {
			tie := float64(math.Float32frombits(rapid.Uint32().Draw(t, "bits")&^0xFFF | 0x1000))
			v = tie * (1 + rapid.SampledFrom([]float64{0, 0x1p-50, -0x1p-50, 0x1p-30}).Draw(t, "off"))
		}
		for _, dt := range []dtype.Type{dtype.F16, dtype.BF16} {
			got, want := Elems[uint16](FromFloats(dt, []int64{1}, v))[0], uint16(dtype.Encode(dt, v))
			if got != want {
				t.Fatalf("%s of %v is %#x, want %#x", dt, v, got, want)
			}
		}
	})
}

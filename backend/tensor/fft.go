package tensor

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"autoshard/backend/tensor/memory"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// FFTKind is an fft_type.
type FFTKind uint8

// The kinds of transforms.
const (
	FFT FFTKind = iota
	IFFT
	RFFT
	IRFFT
)

var fftNames = [...]string{"FFT", "IFFT", "RFFT", "IRFFT"}

// String returns the kind's MLIR spelling.
func (k FFTKind) String() string { return fftNames[k] }

// Fft transforms the last len(length) dimensions (stablehlo.md section 2.11) in f64: the forward transform is not
// normalised, the inverse divides by the product of length. RFFT takes f32 or f64 and keeps the first half of the
// last dimension; IRFFT undoes it to a last dimension of its length.
func Fft(x Tensor, kind FFTKind, length []int64) Tensor {
	rank := x.Rank()
	first := rank - len(length)
	last := length[len(length)-1]
	if kind == IRFFT {
		z := complexOf(x)
		for d := first; d < rank-1; d++ {
			transformDim(z, d, true)
		}
		lines := inverseReal(z, last)
		memory.Give(z.Data)
		out := Convert(lines, x.DType.Part())
		finish(lines, out)
		return out
	}
	result := x.DType
	switch x.DType {
	case dtype.F32:
		result = dtype.C64
	case dtype.F64:
		result = dtype.C128
	}
	var z Tensor
	if kind == RFFT {
		z = forwardReal(x, last)
	} else {
		z = complexOf(x)
		transformDim(z, rank-1, kind == IFFT)
	}
	for d := first; d < rank-1; d++ {
		transformDim(z, d, kind == IFFT)
	}
	out := Convert(z, result)
	finish(z, out)
	return out
}

// complexOf returns a tensor of its own memory with the elements as complex128.
func complexOf(x Tensor) Tensor {
	if x.DType == dtype.C128 {
		return x.Clone()
	}
	return Convert(x, dtype.C128)
}

// forwardReal transforms lines of n real numbers, and returns the first half of each.
func forwardReal(x Tensor, n int64) Tensor {
	rank := x.Rank()
	if isPowerOfTwo(n) {
		lines := Convert(x, dtype.F64)
		defer finish(lines, x)
		return forwardLines(lines, n)
	}
	z := complexOf(x)
	defer memory.Give(z.Data)
	transformDim(z, rank-1, false)
	makeReal(z, n)
	limit := slices.Clone(z.Shape)
	limit[rank-1] = n/2 + 1
	return Slice(z, make([]int64, rank), limit, slices.Repeat([]int64{1}, rank))
}

// forwardLines is forwardReal where n is a power of two.
func forwardLines(x Tensor, n int64) Tensor {
	half := n/2 + 1
	out := linesLike(x, dtype.C128, half)
	src, dst := Elems[float64](x), Elems[complex128](out)
	plan := takeFFTPlan(int(n))
	defer plan.pool.Put(plan)
	for line := range int64(len(src)) / n {
		plan.reals.Coefficients(dst[line*half:][:half], src[line*n:][:n])
	}
	return out
}

// inverseLines is inverseReal where n is a power of two and each line has all that it needs.
func inverseLines(z Tensor, n int64) Tensor {
	have, half := z.Shape[z.Rank()-1], n/2+1
	out := linesLike(z, dtype.F64, n)
	src, dst := Elems[complex128](z), Elems[float64](out)
	plan := takeFFTPlan(int(n))
	defer plan.pool.Put(plan)
	for line := range int64(len(dst)) / n {
		plan.reals.Sequence(dst[line*n:][:n], src[line*have:][:half])
	}
	for i := range dst {
		dst[i] /= float64(n)
	}
	return out
}

// linesLike returns a tensor with as many lines along the last dimension as another one, of n elements each, which are not set.
func linesLike(x Tensor, e dtype.Type, n int64) Tensor {
	shape := slices.Clone(x.Shape)
	shape[len(shape)-1] = n
	return newUnset(e, shape)
}

func isPowerOfTwo(n int64) bool { return n > 0 && n&(n-1) == 0 }

// makeReal takes the imaginary parts, which rounding left, off the bins of a transform of n real numbers that are sums of real numbers:
// the first and, of an even n, that in the middle.
func makeReal(z Tensor, n int64) {
	data := Elems[complex128](z)
	for line := int64(0); line < int64(len(data)); line += max(n, 1) {
		data[line] = complex(real(data[line]), 0)
		if n%2 == 0 {
			data[line+n/2] = complex(real(data[line+n/2]), 0)
		}
	}
}

// inverseReal completes the last dimension to n by symmetry and transforms it back, to real numbers.
func inverseReal(z Tensor, n int64) Tensor {
	rank := z.Rank()
	half := z.Shape[rank-1]
	if isPowerOfTwo(n) && half > n/2 {
		return inverseLines(z, n)
	}
	out := linesLike(z, dtype.C128, n)
	src, dst := Elems[complex128](z), Elems[complex128](out)
	for line := range lists.Product(z.Shape[:rank-1]) {
		for k := range n {
			v := src[line*half+min(k, n-k)]
			switch {
			case k == 0 || 2*k == n:
				v = complex(real(v), 0)
			case 2*k > n:
				v = complex(real(v), -imag(v))
			}
			dst[line*n+k] = v
		}
	}
	transformDim(out, rank-1, true)
	defer memory.Give(out.Data)
	return Real(out)
}

// transformDim transforms complex128 data along one dimension in place.
func transformDim(z Tensor, dim int, inverse bool) {
	n := int(z.Shape[dim])
	if n == 0 || z.Len() == 0 {
		return
	}
	step := int(lists.Product(z.Shape[dim+1:]))
	data := Elems[complex128](z)
	plan := takeFFTPlan(n)
	defer plan.pool.Put(plan)
	line := plan.line
	for outer := 0; outer < len(data); outer += n * step {
		for inner := range step {
			for k := range line {
				line[k] = data[outer+inner+k*step]
				if inverse {
					line[k] = complex(imag(line[k]), real(line[k]))
				}
			}
			plan.forward(line)
			for k, v := range line {
				if inverse {
					v = complex(imag(v)/float64(n), real(v)/float64(n))
				}
				data[outer+inner+k*step] = v
			}
		}
	}
}

// fftPlan transforms lines of n: powers of two as they are, other sizes as a convolution (Bluestein).
type fftPlan struct {
	n       int
	size    int // the power of two that is transformed
	radix   *fourier.CmplxFFT
	reals   *fourier.FFT // of n real numbers, a power of two
	chirp   []complex128 // e^(-πik²/n)
	filter  []complex128 // transform of the conjugate chirp
	scratch []complex128
	line    []complex128 // one of n
	pool    *sync.Pool   // of plans for n
}

// fftPools hold plans for lines of so many elements that nobody uses.
var fftPools sync.Map

// takeFFTPlan returns a plan, which goes back to its pool.
func takeFFTPlan(n int) *fftPlan {
	pool, ok := fftPools.Load(n)
	if !ok {
		pool, _ = fftPools.LoadOrStore(n, new(sync.Pool))
	}
	plan, ok := pool.(*sync.Pool).Get().(*fftPlan)
	if !ok {
		plan = newFFTPlan(n)
		plan.line, plan.pool = make([]complex128, n), pool.(*sync.Pool)
	}
	return plan
}

func newFFTPlan(n int) *fftPlan {
	p := &fftPlan{n: n, size: n}
	if !isPowerOfTwo(int64(n)) {
		p.size = 1 << bits.Len(uint(2*n-1))
	}
	p.radix = fourier.NewCmplxFFT(p.size)
	if p.size == n {
		p.reals = fourier.NewFFT(n)
		return p
	}
	p.chirp, p.filter, p.scratch = make([]complex128, n), make([]complex128, p.size), make([]complex128, p.size)
	for k := range n {
		p.chirp[k] = unitRoot(int(uint64(k)*uint64(k)%uint64(2*n)), 2*n)
		conj := complex(real(p.chirp[k]), -imag(p.chirp[k]))
		p.filter[k] = conj
		p.filter[(p.size-k)%p.size] = conj
	}
	p.radix.Coefficients(p.filter, p.filter)
	return p
}

// unitRoot returns e^(-2πik/n).
func unitRoot(k, n int) complex128 {
	sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
	return complex(cos, -sin)
}

// forward replaces the n elements of x by their transform.
func (p *fftPlan) forward(x []complex128) {
	if p.size == p.n {
		p.radix.Coefficients(x, x)
		return
	}
	clear(p.scratch)
	for k, v := range x {
		p.scratch[k] = v * p.chirp[k]
	}
	p.radix.Coefficients(p.scratch, p.scratch)
	for k, v := range p.scratch {
		v *= p.filter[k]
		p.scratch[k] = complex(imag(v), real(v)) // swapped parts make the next transform the inverse one
	}
	p.radix.Coefficients(p.scratch, p.scratch)
	for k := range x {
		v := p.scratch[k]
		x[k] = complex(imag(v), real(v)) * p.chirp[k] / complex(float64(p.size), 0)
	}
}

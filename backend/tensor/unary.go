package tensor

import (
	"math"
	"math/bits"
	"math/cmplx"

	"autoshard/ir/dtype"
)

// floatUnary applies f to every element in float64 and rounds once. Its kernels take any float type.
func floatUnary(x Tensor, f func(float64) float64) Tensor {
	if x.DType == dtype.F64 {
		return eachOf(x, x.DType, f)
	}
	out := newUnset(x.DType, x.Shape)
	if x.DType == dtype.F32 {
		dst := Elems[float32](out)
		for i, v := range Elems[float32](x) {
			dst[i] = float32(f(float64(v)))
		}
		return out
	}
	n := out.Len()
	values, results := make([]float32, min(n, blockSize)), make([]float64, min(n, blockSize))
	for lo := 0; lo < n; lo += blockSize {
		part := values[:min(blockSize, n-lo)]
		widen(part, x, lo)
		for i, v := range part {
			results[i] = f(float64(v))
		}
		narrow(out, lo, results[:len(part)])
	}
	return out
}

// eachOf applies f to every element of a tensor of T; the results are of a type that is kept as U.
func eachOf[T, U Elem](x Tensor, of dtype.Type, f func(T) U) Tensor {
	out := newUnset(of, x.Shape)
	dst := Elems[U](out)
	for i, v := range Elems[T](x) {
		dst[i] = f(v)
	}
	return out
}

// unary applies f to floats and g to complex numbers.
func unary(x Tensor, f func(float64) float64, g func(complex128) complex128) Tensor {
	switch x.DType {
	case dtype.C64:
		return eachOf(x, x.DType, func(v complex64) complex64 { return complex64(g(complex128(v))) })
	case dtype.C128:
		return eachOf(x, x.DType, g)
	}
	return floatUnary(x, f)
}

// Exponential returns e^x.
func Exponential(x Tensor) Tensor {
	if small(x) {
		return ofExponentials(x, func(_, _ []float32) {}, func(_ []float64, _ []float32) {})
	}
	return unary(x, math.Exp, complexExp)
}

// ExponentialMinusOne returns e^x - 1, accurate near 0.
func ExponentialMinusOne(x Tensor) Tensor { return unary(x, math.Expm1, complexExpm1) }

// Log returns the natural logarithm.
func Log(x Tensor) Tensor { return unary(x, log, complexLog) }

// LogPlusOne returns log(1 + x), accurate near 0.
func LogPlusOne(x Tensor) Tensor { return unary(x, math.Log1p, complexLog1p) }

// Logistic returns 1 / (1 + e^-x).
func Logistic(x Tensor) Tensor {
	if small(x) {
		return ofExponentials(x, negated, logisticOf)
	}
	return unary(x, func(v float64) float64 { return 1 / (1 + math.Exp(-v)) },
		func(v complex128) complex128 { return 1 / (1 + complexExp(-v)) })
}

// Sine returns the sine.
func Sine(x Tensor) Tensor { return unary(x, math.Sin, cmplx.Sin) }

// Cosine returns the cosine.
func Cosine(x Tensor) Tensor { return unary(x, math.Cos, cmplx.Cos) }

// Tan returns the tangent.
func Tan(x Tensor) Tensor { return unary(x, math.Tan, complexTan) }

// Tanh returns the hyperbolic tangent.
func Tanh(x Tensor) Tensor {
	if small(x) {
		return ofExponentials(x, twiceNegated, tanhOf)
	}
	return unary(x, math.Tanh, complexTanh)
}

// Sinh returns the hyperbolic sine.
func Sinh(x Tensor) Tensor { return unary(x, math.Sinh, cmplx.Sinh) }

// Cosh returns the hyperbolic cosine.
func Cosh(x Tensor) Tensor { return unary(x, math.Cosh, cmplx.Cosh) }

// Asin returns the arc sine, NaN outside [-1, 1].
func Asin(x Tensor) Tensor { return unary(x, math.Asin, complexAsin) }

// Acos returns the arc cosine, NaN outside [-1, 1].
func Acos(x Tensor) Tensor { return unary(x, acos, complexAcos) }

// Atan returns the arc tangent.
func Atan(x Tensor) Tensor { return unary(x, math.Atan, complexAtan) }

// Asinh returns the inverse hyperbolic sine.
func Asinh(x Tensor) Tensor { return unary(x, math.Asinh, complexAsinh) }

// Acosh returns the inverse hyperbolic cosine, NaN below 1.
func Acosh(x Tensor) Tensor { return unary(x, math.Acosh, complexAcosh) }

// Atanh returns the inverse hyperbolic tangent, NaN outside [-1, 1].
func Atanh(x Tensor) Tensor { return unary(x, math.Atanh, complexAtanh) }

// Sqrt returns the square root; of -0 it is -0.
func Sqrt(x Tensor) Tensor {
	if x.DType == dtype.F32 {
		return eachOf(x, x.DType, func(v float32) float32 { return float32(math.Sqrt(float64(v))) })
	}
	return unary(x, math.Sqrt, cmplx.Sqrt)
}

// Rsqrt returns 1 / sqrt(x), rounded once for types below f64.
func Rsqrt(x Tensor) Tensor {
	return unary(x, func(v float64) float64 { return 1 / math.Sqrt(v) }, complexRsqrt)
}

// Cbrt returns the cube root.
func Cbrt(x Tensor) Tensor {
	return unary(x, math.Cbrt, func(v complex128) complex128 { return complexPower(v, 1.0/3) })
}

// Floor rounds down.
func Floor(x Tensor) Tensor { return floatUnary(x, math.Floor) }

// Ceil rounds up.
func Ceil(x Tensor) Tensor { return floatUnary(x, math.Ceil) }

// RoundNearestAfz rounds to the nearest integer, halves away from zero.
func RoundNearestAfz(x Tensor) Tensor { return floatUnary(x, math.Round) }

// RoundNearestEven rounds to the nearest integer, halves to even.
func RoundNearestEven(x Tensor) Tensor { return floatUnary(x, math.RoundToEven) }

// Erf returns the error function.
func Erf(x Tensor) Tensor { return floatUnary(x, math.Erf) }

// Erfc returns 1 - erf(x), accurate for large x.
func Erfc(x Tensor) Tensor { return floatUnary(x, math.Erfc) }

// ErfInv returns the inverse error function: infinite at ±1, NaN outside.
func ErfInv(x Tensor) Tensor { return floatUnary(x, math.Erfinv) }

// Lgamma returns log |Γ(x)|, infinite at integers ≤ 0.
func Lgamma(x Tensor) Tensor { return floatUnary(x, lgamma) }

// Digamma returns the derivative of lgamma, NaN at integers ≤ 0.
func Digamma(x Tensor) Tensor { return floatUnary(x, digamma) }

// BesselI1e returns e^-|x| I1(x).
func BesselI1e(x Tensor) Tensor { return floatUnary(x, besselI1e) }

// Square returns x * x.
func Square(x Tensor) Tensor { return Multiply(x, x) }

// IsFinite returns i1: neither infinite nor NaN.
func IsFinite(x Tensor) Tensor {
	return floatTest(x, func(v float64) bool { return v-v == 0 })
}

// IsInf returns i1: infinite.
func IsInf(x Tensor) Tensor {
	return floatTest(x, func(v float64) bool { return math.IsInf(v, 0) })
}

// IsPosInf returns i1: plus infinity.
func IsPosInf(x Tensor) Tensor {
	return floatTest(x, func(v float64) bool { return math.IsInf(v, 1) })
}

// IsNegInf returns i1: minus infinity.
func IsNegInf(x Tensor) Tensor {
	return floatTest(x, func(v float64) bool { return math.IsInf(v, -1) })
}

func floatTest(x Tensor, test func(float64) bool) Tensor {
	out := New(dtype.I1, x.Shape)
	for i, v := range x.Floats() {
		if test(v) {
			out.Data[i] = 1
		}
	}
	return out
}

// Abs returns the magnitude; the smallest integer stays, complex numbers give the type of their parts.
func Abs(x Tensor) Tensor {
	switch x.DType.Kind() {
	case dtype.Unsigned, dtype.Bool:
		return x
	case dtype.Signed:
		return intUnary(x, func(v int64) int64 { return max(v, -v) })
	case dtype.Complex:
		return complexToReal(x, cmplx.Abs)
	}
	if x.DType == dtype.F32 {
		out := newUnset(x.DType, x.Shape)
		dst := Elems[uint32](out)
		for i, v := range Elems[uint32](x) {
			dst[i] = v &^ (1 << 31)
		}
		return out
	}
	return floatUnary(x, math.Abs)
}

// Negate returns -x; integers wrap.
func Negate(x Tensor) Tensor {
	if x.DType == dtype.F32 {
		out := newUnset(x.DType, x.Shape)
		dst := Elems[uint32](out)
		for i, v := range Elems[uint32](x) {
			dst[i] = v ^ 1<<31
		}
		return out
	}
	switch x.DType.Kind() {
	case dtype.Float, dtype.Complex:
		return unary(x, func(v float64) float64 { return -v }, func(v complex128) complex128 { return -v })
	}
	return intUnary(x, func(v int64) int64 { return -v })
}

// Sign returns -1, 0 or 1; zeros and NaN stay, complex numbers give x / |x|.
func Sign(x Tensor) Tensor {
	switch x.DType.Kind() {
	case dtype.Float, dtype.Complex:
		return unary(x, sign, complexSign)
	case dtype.Signed:
		return intUnary(x, func(v int64) int64 { return max(-1, min(v, 1)) })
	}
	return intUnary(x, func(v int64) int64 {
		if v != 0 {
			return 1
		}
		return 0
	})
}

func sign(v float64) float64 {
	if v == 0 || v != v {
		return v
	}
	return math.Copysign(1, v)
}

// Not returns the bitwise complement; of i1 the logical one.
func Not(x Tensor) Tensor { return intUnary(x, func(v int64) int64 { return ^v }) }

// Popcnt returns the number of bits set.
func Popcnt(x Tensor) Tensor {
	mask := uint64(math.MaxUint64) >> (64 - x.DType.Bits())
	return intUnary(x, func(v int64) int64 { return int64(bits.OnesCount64(uint64(v) & mask)) })
}

// CountLeadingZeros returns the number of zero bits above the highest one; of 0 the width.
func CountLeadingZeros(x Tensor) Tensor {
	mask := uint64(math.MaxUint64) >> (64 - x.DType.Bits())
	return intUnary(x, func(v int64) int64 {
		return int64(bits.LeadingZeros64(uint64(v)&mask) - 64 + x.DType.Bits())
	})
}

// intUnary applies f to integers as int64 and wraps the result.
func intUnary(x Tensor, f func(int64) int64) Tensor {
	out := newUnset(x.DType, x.Shape)
	if x.DType == dtype.I1 {
		for i, v := range x.Data {
			out.Data[i] = uint8(f(int64(v)) & 1)
		}
		return out
	}
	integers(x.DType).unary(out, x, f)
	return out
}

func (storedAs[T]) unary(out, x Tensor, f func(int64) int64) {
	dst := Elems[T](out)
	for i, v := range Elems[T](x) {
		dst[i] = T(f(int64(v)))
	}
	wrapNarrow(dst, x.DType)
}

// Real returns the real parts; a real tensor itself.
func Real(x Tensor) Tensor {
	if x.DType.Kind() != dtype.Complex {
		return x
	}
	if x.DType == dtype.C64 {
		return eachOf(x, dtype.F32, func(v complex64) float32 { return real(v) })
	}
	return eachOf(x, dtype.F64, func(v complex128) float64 { return real(v) })
}

// Imag returns the imaginary parts; zeros of a real tensor.
func Imag(x Tensor) Tensor {
	if x.DType.Kind() != dtype.Complex {
		return New(x.DType, x.Shape)
	}
	return complexToReal(x, func(v complex128) float64 { return imag(v) })
}

// Conj returns the complex conjugate; a real tensor itself.
func Conj(x Tensor) Tensor {
	if x.DType.Kind() != dtype.Complex {
		return x
	}
	return unary(x, nil, cmplx.Conj)
}

// Complex returns the numbers with the given real and imaginary parts, f32 or f64.
func Complex(re, im Tensor) Tensor {
	if re.DType == dtype.F32 {
		out := newUnset(dtype.C64, resultShape(re, im))
		dst := Elems[complex64](out)
		eachBlock(len(dst), Elems[float32](re), Elems[float32](im), func(lo int, re, im []float32) {
			for i := range re {
				dst[lo+i] = complex(re[i], im[i])
			}
		})
		return out
	}
	out := newUnset(dtype.C128, resultShape(re, im))
	dst := Elems[complex128](out)
	eachBlock(len(dst), Elems[float64](re), Elems[float64](im), func(lo int, re, im []float64) {
		for i := range re {
			dst[lo+i] = complex(re[i], im[i])
		}
	})
	return out
}

func complexToReal(x Tensor, f func(complex128) float64) Tensor {
	if x.DType == dtype.C64 {
		return eachOf(x, dtype.F32, func(v complex64) float32 { return float32(f(complex128(v))) })
	}
	return eachOf(x, dtype.F64, f)
}

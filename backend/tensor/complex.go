package tensor

import (
	"math"
	"math/cmplx"
)

// complexExp avoids overflow of e^re where the cosine or sine of im brings the result back.
func complexExp(z complex128) complex128 {
	x, y := real(z), imag(z)
	if y == 0 {
		return complex(math.Exp(x), y)
	}
	if x < 709 || math.IsInf(x, 0) || math.IsInf(y, 0) || y != y {
		return cmplx.Exp(z)
	}
	sin, cos := math.Sincos(y)
	half := math.Exp(x / 2)
	return complex(half*cos*half, half*sin*half)
}

func complexExpm1(z complex128) complex128 {
	x, y := real(z), imag(z)
	if math.Abs(x) > 30 {
		return complexExp(z) - 1
	}
	sin, cos := math.Sincos(y)
	half := math.Sin(y / 2)
	return complex(math.Expm1(x)*cos-2*half*half, math.Exp(x)*sin)
}

// complexLog takes the logarithm of the modulus near 1 from |z|² - 1, computed with doubled precision.
func complexLog(z complex128) complex128 {
	x, y := math.Abs(real(z)), math.Abs(imag(z))
	if x < y {
		x, y = y, x
	}
	phase := atan2(imag(z), real(z))
	if x > 0.5 && x < 2 {
		return complex(math.Log1p(sumOfSquaresMinusOne(x, y))/2, phase)
	}
	if x > 1e300 || x > 0 && x < 1e-300 {
		_, exp := math.Frexp(x)
		scaled := math.Hypot(math.Ldexp(x, -exp), math.Ldexp(y, -exp))
		if !math.IsInf(x, 0) {
			return complex(math.Log(scaled)+float64(exp)*math.Ln2, phase)
		}
	}
	return complex(math.Log(math.Hypot(x, y)), phase)
}

// sumOfSquaresMinusOne returns x² + y² - 1 for x ≥ y, exact products included.
func sumOfSquaresMinusOne(x, y float64) float64 {
	xx, yy := x*x, y*y
	xLow, yLow := math.FMA(x, x, -xx), math.FMA(y, y, -yy)
	return (xx - 1) + yy + (xLow + yLow)
}

func complexLog1p(z complex128) complex128 {
	x, y := real(z), imag(z)
	if math.Abs(x) > 0.5 || math.Abs(y) > 0.5 {
		return complexLog(complex(1+x, y))
	}
	return complex(math.Log1p(x*2+(x*x+y*y))/2, atan2(y, 1+x))
}

// complexTanh is Kahan's algorithm.
func complexTanh(z complex128) complex128 {
	x, y := real(z), imag(z)
	if math.Abs(x) > 22 {
		sin, cos := math.Sincos(y)
		return complex(math.Copysign(1, x), 4*sin*cos*math.Exp(-2*math.Abs(x)))
	}
	t, s := math.Tan(y), math.Sinh(x)
	beta, rho := 1+t*t, math.Sqrt(1+s*s)
	if math.IsInf(t, 0) {
		return complex(rho/s, 1/t)
	}
	d := 1 + beta*s*s
	return complex(beta*rho*s/d, t/d)
}

func complexTan(z complex128) complex128 {
	w := complexTanh(complex(-imag(z), real(z)))
	return complex(imag(w), -real(w))
}

// arcs returns for x, y ≥ 0 the arc sine and arc cosine of the real part and the common imaginary part of
// asin(x+iy), by the method of Hull, Fairgrieve and Tang: nothing is squared that could overflow or cancel.
func arcs(x, y float64) (asin, acos, im float64) {
	if x > 1e150 || y > 1e150 {
		return math.Atan2(x, y), math.Atan2(y, x), math.Ln2 + real(complexLog(complex(x, y)))
	}
	r, s := math.Hypot(x+1, y), math.Hypot(x-1, y)
	a := (r + s) / 2
	b := x / a
	switch apx := a + x; {
	case b <= 0.6417:
		asin, acos = math.Asin(b), math.Acos(b)
	case x <= 1:
		root := math.Sqrt(0.5 * apx * (y*y/(r+x+1) + (s + (1 - x))))
		asin, acos = math.Atan2(x, root), math.Atan2(root, x)
	default:
		root := y * math.Sqrt(0.5*(apx/(r+x+1)+apx/(s+(x-1))))
		asin, acos = math.Atan2(x, root), math.Atan2(root, x)
	}
	switch {
	case a > 1.5:
		im = math.Log(a + math.Sqrt((a-1)*(a+1)))
	case x < 1:
		m := 0.5 * y * (y/(r+x+1) + y/(s+(1-x)))
		im = math.Log1p(m + math.Sqrt(m*(a+1)))
	default:
		m := 0.5 * (y*y/(r+x+1) + (s + (x - 1)))
		im = math.Log1p(m + math.Sqrt(m*(a+1)))
	}
	return asin, acos, im
}

func complexAsin(z complex128) complex128 {
	re, _, im := arcs(math.Abs(real(z)), math.Abs(imag(z)))
	return complex(math.Copysign(re, real(z)), math.Copysign(im, imag(z)))
}

func complexAcos(z complex128) complex128 {
	_, re, im := arcs(math.Abs(real(z)), math.Abs(imag(z)))
	if math.Signbit(real(z)) {
		re = math.Pi - re
	}
	return complex(re, -math.Copysign(im, imag(z)))
}

func complexAsinh(z complex128) complex128 {
	w := complexAsin(complex(imag(z), -real(z)))
	return complex(-imag(w), real(w))
}

func complexAcosh(z complex128) complex128 {
	w := complexAcos(z)
	return complex(math.Abs(imag(w)), math.Copysign(real(w), imag(z)))
}

func complexAtanh(z complex128) complex128 {
	x, y := math.Abs(real(z)), math.Abs(imag(z))
	var re, im float64
	if x > 1e100 || y > 1e100 {
		h := math.Hypot(x, y)
		re, im = x/h/h, math.Pi/2
	} else {
		re = math.Log1p(4*x/((1-x)*(1-x)+y*y)) / 4
		im = atan2(2*y, (1-x)*(1+x)-y*y) / 2
	}
	return complex(math.Copysign(re, real(z)), math.Copysign(im, imag(z)))
}

func complexAtan(z complex128) complex128 {
	w := complexAtanh(complex(-imag(z), real(z)))
	return complex(imag(w), -real(w))
}

func complexPower(x, y complex128) complex128 {
	if x == 0 || y == 0 {
		return cmplx.Pow(x, y)
	}
	return complexExp(y * complexLog(x))
}

func complexRsqrt(z complex128) complex128 { return 1 / cmplx.Sqrt(z) }

// complexSign returns z / |z|, and 0 at 0.
func complexSign(z complex128) complex128 {
	if z == 0 {
		return 0
	}
	return z / complex(cmplx.Abs(z), 0)
}

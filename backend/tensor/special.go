package tensor

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// log is the natural logarithm. That of package math takes numbers below the smallest normal one for others on amd64.
func log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// pow is x to the power y. That of package math takes the logarithm of x.
func pow(x, y float64) float64 {
	if a := math.Abs(x); a > 0 && a < 0x1p-1022 {
		return math.Pow(x*0x1p54, y) * math.Exp2(-54*y)
	}
	return math.Pow(x, y)
}

func lgamma(x float64) float64 {
	switch a := math.Abs(x); {
	case math.IsInf(x, 0):
		return math.Inf(1)
	case a > 0 && a < 0x1p-70:
		return -log(a)
	}
	v, _ := math.Lgamma(x)
	return v
}

// acos takes a way on which nothing cancels near 1, where the result is near 0.
func acos(x float64) float64 {
	if x > 0.5 {
		return 2 * math.Asin(math.Sqrt((1-x)/2))
	}
	return math.Acos(x)
}

// digamma reflects negative arguments, moves small ones up by ψ(x) = ψ(x+1) - 1/x and sums the asymptotic series.
func digamma(x float64) float64 {
	if x <= 0 {
		if x == math.Floor(x) {
			return math.NaN()
		}
		_, fraction := math.Modf(x)
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*fraction)
	}
	shift := 0.0
	for ; x < 12; x++ {
		shift += 1 / x
	}
	inv := 1 / (x * x)
	series := inv * (1.0/12 - inv*(1.0/120-inv*(1.0/252-inv*(1.0/240-inv*(1.0/132-inv*(691.0/32760-inv/12))))))
	return log(x) - 0.5/x - series - shift
}

func polygamma(n, x float64) float64 {
	switch {
	case n < 0 || n != math.Floor(n):
		return math.NaN()
	case n == 0:
		return digamma(x)
	}
	sign := 1.0
	if math.Mod(n, 2) == 0 {
		sign = -1
	}
	return sign * math.Gamma(n+1) * zeta(n+1, x)
}

// atan2 has the sign of y, which math.Atan2 loses where y/x is too small for a number.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(y, x), y) }

// zeta is the Hurwitz zeta function: infinite at its pole x = 1, NaN below.
func zeta(x, q float64) float64 {
	switch {
	case x != x || q != q || x < 1:
		return math.NaN()
	case x == 1:
		return math.Inf(1)
	case q <= 0 && q == math.Floor(q):
		if math.Mod(x, 2) == 0 {
			return math.Inf(1)
		}
		return math.NaN()
	case q <= 0 && x != math.Floor(x):
		return math.NaN()
	case math.IsInf(q, 1):
		return 0
	case q < 0:
		return zetaBelow(x, q)
	}
	return mathext.Zeta(x, q)
}

// zetaBelow is zeta at a negative q that is not whole, of a whole x. The terms below zero are those of a zeta function of the distance
// to the next whole number without those beyond q, so that there is no sum of as many terms as q has units (DLMF 25.11(iii)).
func zetaBelow(x, q float64) float64 {
	above, below := mathext.Zeta(x, q-math.Floor(q)), mathext.Zeta(x, math.Ceil(q)-q)-mathext.Zeta(x, 1-q)
	if math.Mod(x, 2) == 0 {
		return above + below
	}
	return above - below
}

// besselI1e sums the power series, whose terms all have one sign, and for large arguments the asymptotic one.
func besselI1e(x float64) float64 {
	a := math.Abs(x)
	if math.IsInf(a, 1) {
		return math.Copysign(0, x)
	}
	if a > 30 {
		term, sum := 1.0, 1.0
		for k := 1.0; k < 40; k++ {
			odd := 2*k - 1
			term *= -(4 - odd*odd) / (8 * a * k)
			sum += term
		}
		return math.Copysign(sum/math.Sqrt(2*math.Pi)/math.Sqrt(a), x)
	}
	half := a / 2
	term, sum := half, half
	for k := 1.0; term > sum*0x1p-56; k++ {
		term *= half * half / (k * (k + 1))
		sum += term
	}
	return math.Copysign(sum*math.Exp(-a), x)
}

package tensor

import (
	"math/rand/v2"
	"testing"

	"autoshard/ir/dtype"
)

// epsilon is the distance from 1 to the next number.
func epsilon(t dtype.Type) float64 {
	switch t {
	case dtype.C64:
		t = dtype.F32
	case dtype.C128:
		t = dtype.F64
	}
	if t.Kind() != dtype.Float {
		return 0
	}
	v := 1.0
	for range t.Mantissa() {
		v /= 2
	}
	return v
}

var (
	peerInts    = []dtype.Type{dtype.I4, dtype.I8, dtype.I16, dtype.I32, dtype.I64, dtype.UI4, dtype.UI8, dtype.UI16, dtype.UI32, dtype.UI64}
	peerFloats  = []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64}
	peerComplex = []dtype.Type{dtype.C64, dtype.C128}
)

func concat(lists ...[]dtype.Type) (all []dtype.Type) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Unary functions are those of XLA for all types and special numbers, within the roundings that each is allowed.
func TestUnaryAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var cases []peerCase
	for _, op := range []struct {
		name    string
		f       func(Tensor) Tensor
		types   []dtype.Type
		spread  float64
		special bool
		ulps    float64
	}{
		{"stablehlo.abs", Abs, concat(peerInts[:5], peerFloats, peerComplex), 3, true, 2},
		{"stablehlo.negate", Negate, concat(peerInts, peerFloats, peerComplex), 3, true, 0},
		{"stablehlo.sign", Sign, concat(peerInts[:5], peerFloats), 3, true, 0},
		{"stablehlo.not", Not, concat(peerInts, []dtype.Type{dtype.I1}), 3, true, 0},
		{"stablehlo.popcnt", Popcnt, peerInts[1:], 3, true, 0}, // XLA counts the bits of an i4 as of a byte
		{"stablehlo.count_leading_zeros", CountLeadingZeros, peerInts, 3, true, 0},
		{"stablehlo.floor", Floor, peerFloats, 3, true, 0},
		{"stablehlo.ceil", Ceil, peerFloats, 3, true, 0},
		{"stablehlo.round_nearest_afz", RoundNearestAfz, peerFloats, 3, true, 0},
		{"stablehlo.round_nearest_even", RoundNearestEven, peerFloats, 3, true, 0},
		{"stablehlo.is_finite", IsFinite, peerFloats, 3, true, 0},
		{"stablehlo.sqrt", Sqrt, peerFloats, 3, true, 2},
		{"stablehlo.rsqrt", Rsqrt, peerFloats, 3, true, 3},
		{"stablehlo.cbrt", Cbrt, peerFloats, 3, true, 4},
		{"stablehlo.exponential", Exponential, peerFloats, 3, true, 4},
		{"stablehlo.exponential_minus_one", ExponentialMinusOne, peerFloats, 1, true, 8},
		{"stablehlo.log", Log, peerFloats, 3, true, 4},
		{"stablehlo.log_plus_one", LogPlusOne, peerFloats, 0.3, true, 8},
		{"stablehlo.logistic", Logistic, peerFloats, 3, true, 8},
		{"stablehlo.sine", Sine, peerFloats, 3, true, 4},
		{"stablehlo.cosine", Cosine, peerFloats, 3, true, 4},
		{"stablehlo.tan", Tan, peerFloats, 3, true, 16},
		{"stablehlo.tanh", Tanh, peerFloats, 1, true, 8},
		{"stablehlo.real", Real, peerComplex, 3, true, 0},
		{"stablehlo.imag", Imag, peerComplex, 3, true, 0},
		{"stablehlo.exponential", Exponential, peerComplex, 2, false, 16},
		{"stablehlo.log", Log, peerComplex, 2, false, 16},
		{"stablehlo.log_plus_one", LogPlusOne, peerComplex, 2, false, 32},
		{"stablehlo.sqrt", Sqrt, peerComplex, 2, false, 16},
		{"stablehlo.rsqrt", Rsqrt, peerComplex, 2, false, 16},
		{"stablehlo.sine", Sine, peerComplex, 2, false, 16},
		{"stablehlo.cosine", Cosine, peerComplex, 2, false, 16},
		{"stablehlo.tanh", Tanh, peerComplex, 2, false, 32},
		{"stablehlo.sign", Sign, peerComplex, 2, false, 8},
		{"chlo.acos", Acos, concat(peerFloats, peerComplex), 0.5, false, 32},
		{"chlo.asin", Asin, concat(peerFloats, peerComplex), 0.5, false, 32},
		{"chlo.atan", Atan, concat(peerFloats, peerComplex), 2, false, 32},
		{"chlo.acosh", Acosh, concat(peerFloats, peerComplex), 2, false, 64},
		{"chlo.asinh", Asinh, concat(peerFloats, peerComplex), 2, false, 32},
		{"chlo.atanh", Atanh, concat(peerFloats, peerComplex), 0.5, false, 64},
		{"chlo.sinh", Sinh, concat(peerFloats, peerComplex), 2, false, 32},
		{"chlo.cosh", Cosh, concat(peerFloats, peerComplex), 2, false, 32},
		{"chlo.conj", Conj, peerComplex, 2, true, 0},
		{"chlo.square", Square, concat(peerFloats, peerComplex), 2, false, 16},
		{"chlo.erf", Erf, peerFloats, 1, true, 8},
		{"chlo.erfc", Erfc, peerFloats, 1, true, 32},
		{"chlo.erf_inv", ErfInv, peerFloats, 0.4, true, 32},
		{"chlo.lgamma", Lgamma, peerFloats, 4, false, 64},
		{"chlo.digamma", Digamma, peerFloats, 4, false, 512},
		{"chlo.bessel_i1e", BesselI1e, peerFloats[2:], 20, false, 32},
		{"chlo.is_inf", IsInf, peerFloats, 2, true, 0},
		{"chlo.is_pos_inf", IsPosInf, peerFloats, 2, true, 0},
		{"chlo.is_neg_inf", IsNegInf, peerFloats, 2, true, 0},
	} {
		for _, dt := range op.types {
			x := random(r, dt, op.spread, op.special, 3, 47)
			got := op.f(x)
			cases = append(cases, peerCase{
				name: op.name + " " + dt.String(), text: program(op.name, "", []Tensor{x}, []Tensor{got}),
				args: []Tensor{x}, got: []Tensor{got}, tolerance: op.ulps * epsilon(dt), scale: 1,
			})
		}
	}
	runPeer(t, cases)
}

// Binary functions are those of XLA for all types and special numbers, within the roundings that each is allowed.
func TestBinaryAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	numbers := concat(peerInts, peerFloats)
	bits := concat(peerInts, []dtype.Type{dtype.I1})
	var cases []peerCase
	for _, op := range []struct {
		name    string
		f       func(x, y Tensor) Tensor
		types   []dtype.Type
		special bool
		ulps    float64
	}{
		{"stablehlo.add", Add, concat(numbers, peerComplex, bits[10:]), true, 0},
		{"stablehlo.subtract", Subtract, concat(numbers, peerComplex), true, 0},
		{"stablehlo.multiply", Multiply, concat(numbers, bits[10:]), true, 0},
		{"stablehlo.multiply", Multiply, peerComplex, false, 4},
		{"stablehlo.divide", OpDivide.Of, numbers, true, 1},
		{"stablehlo.divide", OpDivide.Of, peerComplex, false, 16},
		{"stablehlo.remainder", OpRemainder.Of, numbers, true, 0},
		{"stablehlo.maximum", Maximum, concat(numbers, bits[10:]), true, 0},
		{"stablehlo.minimum", Minimum, concat(numbers, bits[10:]), true, 0},
		{"stablehlo.power", OpPower.Of, numbers, true, 8},
		{"stablehlo.power", OpPower.Of, peerComplex, false, 4096},
		{"stablehlo.atan2", OpAtan2.Of, peerFloats, true, 4},
		{"stablehlo.and", And, bits, true, 0},
		{"stablehlo.or", Or, bits, true, 0},
		{"stablehlo.xor", Xor, bits, true, 0},
		{"stablehlo.shift_left", OpShiftLeft.Of, peerInts, true, 0},
		{"stablehlo.shift_right_logical", OpShiftRightLogical.Of, peerInts, true, 0},
		{"stablehlo.shift_right_arithmetic", OpShiftRightArithmetic.Of, peerInts, true, 0},
		{"chlo.next_after", NextAfter, peerFloats, true, 0},
		{"chlo.mulhi", OpMulhi.Of, concat(peerInts[2:5], peerInts[7:]), true, 0},
	} {
		for _, dt := range op.types {
			x, y := random(r, dt, 3, op.special, 5, 60), random(r, dt, 3, op.special, 5, 60)
			if op.name == "stablehlo.shift_left" || op.name == "stablehlo.shift_right_logical" || op.name == "stablehlo.shift_right_arithmetic" {
				y = OpRemainder.Of(y, FromInts(dt, nil, 7))
			}
			scale := 1e-3
			switch {
			case dt.Kind() == dtype.Complex: // parts cancel
				scale = 1000
			case op.name == "stablehlo.power" && dt.Kind() != dtype.Float: // XLA reads six bits of the exponent
				y = OpRemainder.Of(y, FromInts(dt, nil, 64))
			}
			got := op.f(x, y)
			cases = append(cases, peerCase{
				name: op.name + " " + dt.String(), text: program(op.name, "", []Tensor{x, y}, []Tensor{got}),
				args: []Tensor{x, y}, got: []Tensor{got}, tolerance: op.ulps * epsilon(dt), scale: scale,
			})
		}
	}
	n, x := FromFloats(dtype.F32, []int64{6}, 0, 1, 2, 3, 5, 7), FromFloats(dtype.F32, []int64{6}, 0.5, 1.5, 2.25, 3, 0.1, 9)
	zeta := OpZeta.Of(Add(n, FromFloats(dtype.F32, nil, 2)), x)
	for name, got := range map[string]Tensor{"chlo.polygamma": OpPolygamma.Of(n, x), "chlo.zeta": zeta} {
		args := []Tensor{n, x}
		if name == "chlo.zeta" {
			args[0] = Add(n, FromFloats(dtype.F32, nil, 2))
		}
		cases = append(cases, peerCase{name: name, text: program(name, "", args, []Tensor{got}), args: args, got: []Tensor{got}, tolerance: 1e-5,
			scale: 1})
	}
	runPeer(t, cases)
}

// Conversions between any two types are those of XLA.
func TestConvertAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	types := concat(peerInts, peerFloats, peerComplex, []dtype.Type{dtype.I1, dtype.F8E4M3FN, dtype.F8E5M2, dtype.F8E4M3FNUZ,
		dtype.F8E4M3B11FNUZ, dtype.F8E3M4})
	var cases []peerCase
	for _, from := range types {
		for _, to := range types {
			if from.Kind() == dtype.Complex && to.Kind() != dtype.Complex {
				continue // XLA wants an explicit real part
			}
			x := random(r, from, 100, true, 64)
			got := Convert(x, to)
			cases = append(cases, peerCase{
				name: "convert " + from.String() + " to " + to.String(), text: program("stablehlo.convert", "", []Tensor{x}, []Tensor{got}),
				args: []Tensor{x}, got: []Tensor{got},
			})
		}
	}
	for _, c := range []struct {
		from, to dtype.Type
		shape    []int64
	}{
		{dtype.F32, dtype.UI32, []int64{4, 8}}, {dtype.UI32, dtype.UI8, []int64{4, 8, 4}}, {dtype.UI32, dtype.F64, []int64{4}},
		{dtype.C64, dtype.C64, []int64{4, 8}}, {dtype.F16, dtype.BF16, []int64{4, 8}}, {dtype.I64, dtype.UI16, []int64{4, 8, 4}},
	} {
		shape := []int64{4, 8}
		if len(c.shape) == 1 {
			shape = []int64{4, 2}
		}
		x := random(r, c.from, 3, false, shape...)
		got := BitcastConvert(x, c.to, c.shape)
		cases = append(cases, peerCase{
			name: "bitcast_convert " + c.from.String() + " to " + c.to.String(),
			text: program("stablehlo.bitcast_convert", "", []Tensor{x}, []Tensor{got}), args: []Tensor{x}, got: []Tensor{got},
		})
	}
	for _, format := range [][2]int{{5, 2}, {8, 7}, {4, 3}, {5, 10}, {2, 0}, {8, 23}} {
		for _, dt := range peerFloats {
			if dt == dtype.F16 && format[0] > 5 || dt.Mantissa() < format[1] {
				continue
			}
			x := random(r, dt, 1000, true, 200)
			got := ReducePrecision(x, format[0], format[1])
			attrs := "<{exponent_bits = " + FromInts(dtype.I32, nil, int64(format[0])).elementText(0) + " : i32, mantissa_bits = " +
				FromInts(dtype.I32, nil, int64(format[1])).elementText(0) + " : i32}>"
			cases = append(cases, peerCase{
				name: "reduce_precision " + dt.String(), text: program("stablehlo.reduce_precision", attrs, []Tensor{x}, []Tensor{got}),
				args: []Tensor{x}, got: []Tensor{got},
			})
		}
	}
	runPeer(t, cases)
}

// Comparisons, of floats also in their total order, choices and clamps are those of XLA.
func TestCompareSelectClampAgainstXLA(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	var cases []peerCase
	for _, dt := range concat(peerInts, peerFloats, []dtype.Type{dtype.I1}) {
		for d := EQ; d <= LT; d++ {
			x, y := random(r, dt, 2, true, 200), random(r, dt, 2, true, 200)
			for _, total := range []bool{false, true} {
				if total && dt.Kind() != dtype.Float {
					continue
				}
				kind := map[dtype.Kind]string{dtype.Float: "FLOAT", dtype.Signed: "SIGNED"}[dt.Kind()]
				if total {
					kind = "TOTALORDER"
				}
				if kind == "" {
					kind = "UNSIGNED"
				}
				got := Compare(x, y, d, total)
				attrs := "<{comparison_direction = #stablehlo<comparison_direction " + d.String() + ">, compare_type = #stablehlo<comparison_type " +
					kind + ">}>"
				cases = append(cases, peerCase{
					name: "compare " + d.String() + " " + kind + " " + dt.String(), text: program("stablehlo.compare", attrs, []Tensor{x, y},
						[]Tensor{got}),
					args: []Tensor{x, y}, got: []Tensor{got},
				})
			}
		}
		p, x, y := random(r, dtype.I1, 1, false, 4, 5), random(r, dt, 2, true, 4, 5), random(r, dt, 2, true, 4, 5)
		cases = append(cases, peerCase{
			name: "select " + dt.String(), text: program("stablehlo.select", "", []Tensor{p, x, y}, []Tensor{x}),
			args: []Tensor{p, x, y}, got: []Tensor{Select(p, x, y)},
		})
		low, high := random(r, dt, 1, false), random(r, dt, 1, false)
		cases = append(cases, peerCase{
			name: "clamp " + dt.String(), text: program("stablehlo.clamp", "", []Tensor{low, x, high}, []Tensor{x}),
			args: []Tensor{low, x, high}, got: []Tensor{Clamp(low, x, high)},
		})
	}
	runPeer(t, cases)
}

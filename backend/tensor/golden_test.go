package tensor

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func f32(values ...float64) Tensor {
	return FromFloats(dtype.F32, []int64{int64(len(values))}, values...)
}

func ints(dt dtype.Type, values ...int64) Tensor {
	return FromInts(dt, []int64{int64(len(values))}, values...)
}

// matrix returns an f32 matrix of the given number of columns.
func matrix(cols int64, values ...float64) Tensor {
	return Reshape(f32(values...), []int64{int64(len(values)) / cols, cols})
}

type goldenCase struct {
	name string
	got  Tensor
	want string
}

func check(t *testing.T, cases []goldenCase) {
	t.Helper()
	for _, c := range cases {
		if got := c.got.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Integers wrap, divisions by zero and NaN have the results that StableHLO gives them, and a scalar stands for all elements.
func TestElementwiseEdges(t *testing.T) {
	check(t, []goldenCase{
		{"add wraps", Add(ints(dtype.I8, 127), ints(dtype.I8, 1)), "i8[1] [-128]"},
		{"add i4 wraps", Add(ints(dtype.I4, 7, -8), ints(dtype.I4, 1, -1)), "i4[2] [-8, 7]"},
		{"add i1 is or", Add(ints(dtype.I1, 0, 0, 1, 1), ints(dtype.I1, 0, 1, 0, 1)), "i1[4] [false, true, true, true]"},
		{"multiply i1 is and", Multiply(ints(dtype.I1, 0, 0, 1, 1), ints(dtype.I1, 0, 1, 0, 1)), "i1[4] [false, false, false, true]"},
		{"scalar operands", Subtract(f32(1, 2, 3), FromFloats(dtype.F32, nil, 1)), "f32[3] [0, 1, 2]"},
		{"scalar left", Subtract(FromFloats(dtype.F32, nil, 1), f32(1, 2, 3)), "f32[3] [0, -1, -2]"},
		{"divide", OpDivide.Of(ints(dtype.I32, 7, -7, 7, 5, math.MinInt32), ints(dtype.I32, 2, 2, -2, 0, -1)),
			"i32[5] [3, -3, -3, -1, -2147483648]"},
		{"divide unsigned by zero", OpDivide.Of(ints(dtype.UI8, 5), ints(dtype.UI8, 0)), "ui8[1] [255]"},
		{"remainder", OpRemainder.Of(ints(dtype.I32, 7, -7, 5, math.MinInt32), ints(dtype.I32, 3, 3, 0, -1)), "i32[4] [1, -1, 5, 0]"},
		{"remainder f32", OpRemainder.Of(f32(1, inf, 5, -5.5), f32(inf, 2, 0, 2)), "f32[4] [1, NaN, NaN, -1.5]"},
		{"maximum", Maximum(f32(nan, 1, math.Copysign(0, -1)), f32(1, nan, 0)), "f32[3] [NaN, NaN, 0]"},
		{"minimum", Minimum(f32(nan, 1, 0), f32(1, nan, math.Copysign(0, -1))), "f32[3] [NaN, NaN, -0]"},
		{"power", OpPower.Of(f32(nan, 1, 0, -8, -1), f32(0, nan, -1, 1.0/3, inf)), "f32[5] [1, 1, +Inf, NaN, 1]"},
		{"power i32", OpPower.Of(ints(dtype.I32, 3, 2, 1, -1, -1, 2), ints(dtype.I32, 4, -1, -5, -3, -4, 40)), "i32[6] [81, 0, 1, -1, 1, 0]"},
		{"shift_left", OpShiftLeft.Of(ints(dtype.I8, 1, 1, 1), ints(dtype.I8, 7, 8, -1)), "i8[3] [-128, 0, 0]"},
		{"shift_right_logical", OpShiftRightLogical.Of(ints(dtype.I8, -1, -1, -1), ints(dtype.I8, 1, 8, -1)), "i8[3] [127, 0, 0]"},
		{"shift_right_logical i4", OpShiftRightLogical.Of(ints(dtype.I4, -1), ints(dtype.I4, 1)), "i4[1] [7]"},
		{"shift_right_arithmetic", OpShiftRightArithmetic.Of(ints(dtype.I8, -128, -128, 64), ints(dtype.I8, 1, -1, 9)), "i8[3] [-64, -1, 0]"},
		{"shift_right_arithmetic ui8", OpShiftRightArithmetic.Of(ints(dtype.UI8, 128), ints(dtype.UI8, 1)), "ui8[1] [192]"},
		{"abs", Abs(ints(dtype.I8, -128, -1, 3)), "i8[3] [-128, 1, 3]"},
		{"negate ui8", Negate(ints(dtype.UI8, 1)), "ui8[1] [255]"},
		{"sign", Sign(f32(-2, math.Copysign(0, -1), nan, 3)), "f32[4] [-1, -0, NaN, 1]"},
		{"not", Not(ints(dtype.I1, 0, 1)), "i1[2] [true, false]"},
		{"popcnt", Popcnt(ints(dtype.I4, -1, 5)), "i4[2] [4, 2]"},
		{"count_leading_zeros", CountLeadingZeros(ints(dtype.I16, 0, 1, -1)), "i16[3] [16, 15, 0]"},
		{"round_nearest_afz", RoundNearestAfz(f32(0.5, -2.5, 1.4)), "f32[3] [1, -3, 1]"},
		{"round_nearest_even", RoundNearestEven(f32(0.5, 1.5, -2.5)), "f32[3] [0, 2, -2]"},
		{"bf16 rounds to even", Add(FromFloats(dtype.BF16, []int64{2}, 1, 1), FromFloats(dtype.BF16, []int64{2}, 1.0/256, 3.0/256)),
			"bf16[2] [1, 1.015625]"},
		{"clamp", Clamp(f32(0, 3, nan), f32(-1, 2, 0), f32(1, 1, 1)), "f32[3] [0, 1, NaN]"},
		{"select scalar", Select(FromInts(dtype.I1, nil, 1), f32(1, 2), f32(3, 4)), "f32[2] [1, 2]"},
		{"select", Select(ints(dtype.I1, 1, 0), f32(1, 2), f32(3, 4)), "f32[2] [1, 4]"},
		{"compare NaN", Compare(f32(nan, nan, 1), f32(nan, 1, 1), NE, false), "i1[3] [true, true, false]"},
		{"compare total order", Compare(f32(math.Copysign(0, -1), nan, inf), f32(0, inf, nan), LT, true), "i1[3] [true, false, true]"},
		{"compare unsigned", Compare(ints(dtype.UI8, 255), ints(dtype.UI8, 1), GT, false), "i1[1] [true]"},
		{"next_after", NextAfter(f32(0, 1, 1, nan), f32(-1, 1, 2, 1)), "f32[4] [-1e-45, 1, 1.0000001, NaN]"},
		{"mulhi", OpMulhi.Of(ints(dtype.I32, -1, 1<<30), ints(dtype.I32, 1, 8)), "i32[2] [-1, 2]"},
		{"complex", Multiply(Complex(f32(1), f32(2)), Complex(f32(3), f32(4))), "complex<f32>[1] [(-5,10)]"},
		{"abs complex", Abs(Complex(f32(3), f32(4))), "f32[1] [5]"},
		{"reduce_precision without a mantissa", ReducePrecision(f32(3, -6, 1.5, 1.25), 8, 0), "f32[4] [2, -8, 2, 1]"},
		{"reduce_precision of what is subnormal", ReducePrecision(f32(1e-40, 1.5e-45), 8, 12), "f32[2] [1.00445e-40, 0]"},
		{"reduce_precision", ReducePrecision(f32(1e-40, 3.4e38, 1.1, nan), 5, 2), "f32[4] [0, +Inf, 1, NaN]"},
		{"expm1", ExponentialMinusOne(f32(1e-10)), "f32[1] [1e-10]"},
		{"erf_inv", ErfInv(f32(1, -1, 2, 0)), "f32[4] [+Inf, -Inf, NaN, 0]"},
		{"lgamma", Lgamma(f32(0, -1, 1, 5)), "f32[4] [+Inf, +Inf, 0, 3.1780539]"},
		{"digamma", Digamma(f32(0, -1, 1)), "f32[3] [NaN, NaN, -0.5772157]"},
		{"zeta", OpZeta.Of(f32(2), f32(1)), "f32[1] [1.644934]"},
		{"polygamma", OpPolygamma.Of(f32(1), f32(1)), "f32[1] [1.644934]"},
	})
}

// Floats beyond the range of integers saturate, integers wrap, and every conversion rounds once.
func TestConversions(t *testing.T) {
	check(t, []goldenCase{
		{"f32 to i8", Convert(f32(300, -300, 1.9, -1.9, nan), dtype.I8), "i8[5] [127, -128, 1, -1, 0]"},
		{"f32 to ui8", Convert(f32(-1, 256), dtype.UI8), "ui8[2] [0, 255]"},
		{"f32 to i64", Convert(f32(inf, -inf), dtype.I64), "i64[2] [9223372036854775807, -9223372036854775808]"},
		{"f32 to ui64", Convert(f32(inf, 1e19), dtype.UI64), "ui64[2] [18446744073709551615, 9999999980506447872]"},
		{"f32 to i4", Convert(f32(100, -100), dtype.I4), "i4[2] [7, -8]"},
		{"f32 to i1", Convert(f32(0, nan, 0.1), dtype.I1), "i1[3] [false, true, true]"},
		{"i32 to i8", Convert(ints(dtype.I32, 300), dtype.I8), "i8[1] [44]"},
		{"i8 to ui32", Convert(ints(dtype.I8, -1), dtype.UI32), "ui32[1] [4294967295]"},
		{"i64 to bf16 rounds once", Convert(ints(dtype.I64, 1<<62+1<<54, 1<<62+1<<54+1), dtype.BF16), "bf16[2] [4.611686e+18, 4.647715e+18]"},
		{"f32 to f8E4M3FN", Convert(f32(464, 465, -1e9), dtype.F8E4M3FN), "f8E4M3FN[3] [448, NaN, NaN]"},
		{"f32 to f8E5M2", Convert(f32(61440), dtype.F8E5M2), "f8E5M2[1] [+Inf]"},
		{"f32 to f4E2M1FN", Convert(f32(5, -100, 0.25), dtype.F4E2M1FN), "f4E2M1FN[3] [4, -6, 0]"},
		{"f32 to f16", Convert(f32(65519, 65520), dtype.F16), "f16[2] [65504, +Inf]"},
		{"tf32", Add(FromFloats(dtype.TF32, []int64{2}, 1, 3), FromFloats(dtype.TF32, []int64{2}, 1.0/2048, 0.25)), "tf32[2] [1, 3.25]"},
		{"complex to real", Convert(Complex(f32(1.5), f32(2)), dtype.I32), "i32[1] [1]"},
		{"bitcast narrower", BitcastConvert(ints(dtype.UI32, 0x01020304), dtype.UI8, []int64{1, 4}), "ui8[1,4] [[4, 3, 2, 1]]"},
		{"bitcast to i4", BitcastConvert(ints(dtype.UI8, 0xF1), dtype.I4, []int64{1, 2}), "i4[1,2] [[1, -1]]"},
		{"bitcast from i4", BitcastConvert(Reshape(ints(dtype.I4, 1, -1), []int64{1, 2}), dtype.UI8, []int64{1}), "ui8[1] [241]"},
		{"quantize", UniformQuantize(f32(1, -1, 1000, 0.25), Quantization{Scales: []float64{0.5}, ZeroPoints: []int64{3}, Min: -128, Max: 127},
			dtype.I8), "i8[4] [5, 1, 127, 3]"},
		{"dequantize by axis", UniformDequantize(Reshape(ints(dtype.I8, 2, 4, 2, 4), []int64{2, 2}),
			Quantization{Scales: []float64{1, 0.5}, ZeroPoints: []int64{0, 2}, Dim: 1}, dtype.F32), "f32[2,2] [[2, 1], [2, 1]]"},
	})
}

// Ops that move elements put each where StableHLO says.
func TestShapeOps(t *testing.T) {
	x := matrix(3, 1, 2, 3, 4, 5, 6)
	at := func(v int64) Tensor { return FromInts(dtype.I32, nil, v) }
	zero := FromFloats(dtype.F32, nil, 0)
	check(t, []goldenCase{
		{"broadcast that transposes", BroadcastInDim(x, []int64{1, 0}, []int64{3, 2}), "f32[3,2] [[1, 4], [2, 5], [3, 6]]"},
		{"transpose", Transpose(x, []int64{1, 0}), "f32[3,2] [[1, 4], [2, 5], [3, 6]]"},
		{"slice", Slice(x, []int64{0, 0}, []int64{2, 3}, []int64{1, 2}), "f32[2,2] [[1, 3], [4, 6]]"},
		{"empty slice", Slice(x, []int64{0, 1}, []int64{2, 1}, []int64{1, 1}), "f32[2,0] [[], []]"},
		{"dynamic_slice clamps", DynamicSlice(x, []Tensor{at(7), at(-7)}, []int64{1, 2}), "f32[1,2] [[4, 5]]"},
		{"dynamic_update_slice clamps", DynamicUpdateSlice(x, matrix(2, 8, 9), []Tensor{at(-1), at(5)}), "f32[2,3] [[1, 8, 9], [4, 5, 6]]"},
		{"pad", Pad(f32(1, 2, 3), zero, []int64{1}, []int64{2}, []int64{1}), "f32[8] [0, 1, 0, 2, 0, 3, 0, 0]"},
		{"pad crops", Pad(f32(1, 2, 3, 4), zero, []int64{-1}, []int64{-1}, []int64{1}), "f32[5] [0, 2, 0, 3, 0]"},
		{"pad crops everything", Pad(f32(1, 2), zero, []int64{-3}, []int64{5}, []int64{0}), "f32[4] [0, 0, 0, 0]"},
		{"concatenate", Concatenate([]Tensor{x, matrix(1, 7, 8)}, 1), "f32[2,4] [[1, 2, 3, 7], [4, 5, 6, 8]]"},
		{"reverse", NewReverse(x.Shape, []int64{0, 1}).Of(x), "f32[2,3] [[6, 5, 4], [3, 2, 1]]"},
		{"iota wraps", Slice(Iota(dtype.I8, []int64{130}, 0), []int64{126}, []int64{130}, []int64{1}), "i8[4] [126, 127, -128, -127]"},
		{"iota", Iota(dtype.F32, []int64{2, 3}, 1), "f32[2,3] [[0, 1, 2], [0, 1, 2]]"},
	})
	if !x.Equal(matrix(3, 1, 2, 3, 4, 5, 6)) {
		t.Errorf("an operand was changed: %v", x)
	}
}

// Products and convolutions of small arrays, by hand.
func TestDotAndConvolution(t *testing.T) {
	x := matrix(2, 1, 2, 3, 4)
	mul := DotDims{LHSContract: []int64{1}, RHSContract: []int64{0}}
	conv := ConvParams{Dims: ConvDims{
		InputBatch: 0, InputFeature: 1, InputSpatial: []int64{2}, KernelOutput: 0, KernelInput: 1, KernelSpatial: []int64{2},
		OutputBatch: 0, OutputFeature: 1, OutputSpatial: []int64{2},
	}}
	signal, kernel := Reshape(f32(1, 2, 3, 4), []int64{1, 1, 4}), Reshape(f32(1, 10), []int64{1, 1, 2})
	padded, reversed := conv, conv
	padded.Padding, padded.Stride = [][2]int64{{1, -1}}, []int64{2}
	reversed.Reverse = []bool{true}
	check(t, []goldenCase{
		{"matmul", DotGeneral(x, x, mul, dtype.F32), "f32[2,2] [[7, 10], [15, 22]]"},
		{"both transposed", DotGeneral(x, x, DotDims{LHSContract: []int64{0}, RHSContract: []int64{1}}, dtype.F32),
			"f32[2,2] [[7, 15], [10, 22]]"},
		{"zero times infinity", DotGeneral(matrix(2, 0, 1), matrix(1, inf, 1), mul, dtype.F32), "f32[1,1] [[NaN]]"},
		{"no contraction", DotGeneral(f32(1, 2), f32(3, 4), DotDims{}, dtype.F32), "f32[2,2] [[3, 4], [6, 8]]"},
		{"contracted size 0", DotGeneral(New(dtype.F32, []int64{2, 0}), New(dtype.F32, []int64{0, 1}), mul, dtype.F32), "f32[2,1] [[0], [0]]"},
		{"i8 into i32", DotGeneral(ints(dtype.I8, 127, 127), ints(dtype.I8, 127, 127), DotDims{LHSContract: []int64{0}, RHSContract: []int64{0}},
			dtype.I32), "i32[] 32258"},
		{"i8 wraps", DotGeneral(ints(dtype.I8, 127, 127), ints(dtype.I8, 127, 127), DotDims{LHSContract: []int64{0}, RHSContract: []int64{0}},
			dtype.I8), "i8[] 2"},
		{"ragged_dot", RaggedDot(matrix(2, 1, 2, 3, 4, 5, 6), Reshape(f32(1, 1, 10, 10), []int64{2, 2, 1}), ints(dtype.I32, 1, 1),
			RaggedDims{DotDims: DotDims{LHSContract: []int64{1}, RHSContract: []int64{1}}}, dtype.F32),
			"f32[3,1] [[3], [70], [0]]"},
		{"convolution", Convolution(signal, kernel, conv, dtype.F32), "f32[1,1,3] [[[21, 32, 43]]]"},
		{"convolution padded", Convolution(signal, kernel, padded, dtype.F32), "f32[1,1,2] [[[10, 32]]]"},
		{"convolution reversed", Convolution(signal, kernel, reversed, dtype.F32), "f32[1,1,3] [[[12, 23, 34]]]"},
	})
}

// Reductions, over windows too, start from their initial values and round once.
func TestReductions(t *testing.T) {
	x := matrix(3, 1, 2, 3, 4, 5, 6)
	zero, low := FromFloats(dtype.F32, nil, 0), FromFloats(dtype.F32, nil, -inf)
	reduce := func(x, init Tensor, dims []int64, m Monoid) Tensor {
		return must(Reduce([]Tensor{x}, []Tensor{init}, dims, Combiner{Monoid: m}))[0]
	}
	window := func(x, init Tensor, w Window, m Monoid) Tensor {
		return must(ReduceWindow([]Tensor{x}, []Tensor{init}, w, Combiner{Monoid: m}))[0]
	}
	check(t, []goldenCase{
		{"rows", reduce(x, zero, []int64{1}, MonoidAdd), "f32[2] [6, 15]"},
		{"columns", reduce(x, zero, []int64{0}, MonoidAdd), "f32[3] [5, 7, 9]"},
		{"all", reduce(x, FromFloats(dtype.F32, nil, 1), []int64{1, 0}, MonoidAdd), "f32[] 22"},
		{"maximum", reduce(f32(1, nan, 3), low, []int64{0}, MonoidMaximum), "f32[] NaN"},
		{"empty gives init", reduce(New(dtype.F32, []int64{2, 0}), low, []int64{1}, MonoidMaximum), "f32[2] [-Inf, -Inf]"},
		{"no dimension applies init", reduce(f32(1, 5), FromFloats(dtype.F32, nil, 3), nil, MonoidMaximum), "f32[2] [3, 5]"},
		{"any", reduce(ints(dtype.I1, 0, 1, 0), FromInts(dtype.I1, nil, 0), []int64{0}, MonoidOr), "i1[] true"},
		{"small terms are not lost", reduce(f32(1e8, 1, 1, 1, 1, 1, 1, 1, 1, -1e8), zero, []int64{0}, MonoidAdd), "f32[] 8"},
		{"bf16 rounds once", reduce(Convert(BroadcastInDim(FromFloats(dtype.F32, nil, 1), nil, []int64{1000}), dtype.BF16),
			FromFloats(dtype.BF16, nil, 0), []int64{0}, MonoidAdd), "bf16[] 1000"},
		{"cumsum", window(f32(1, 2, 3, 4, 5, 6), zero, Window{Size: []int64{6}, Padding: [][2]int64{{5, 0}}}, MonoidAdd),
			"f32[6] [1, 3, 6, 10, 15, 21]"},
		{"cumsum with an init that is not neutral", window(f32(1, 2, 3), FromFloats(dtype.F32, nil, 1),
			Window{Size: []int64{3}, Padding: [][2]int64{{2, 0}}}, MonoidAdd), "f32[3] [4, 5, 7]"},
		{"pooling", window(x, low, Window{Size: []int64{2, 2}}, MonoidMaximum), "f32[1,2] [[5, 6]]"},
		{"dilated", window(f32(1, 2, 3, 4), zero, Window{Size: []int64{2}, WindowDilation: []int64{2}}, MonoidAdd), "f32[2] [4, 6]"},
		{"window larger than input", window(f32(1), zero, Window{Size: []int64{2}}, MonoidAdd), "f32[0] []"},
		{"select_and_scatter", must(SelectAndScatter(f32(3, 3, 1, 5), f32(10, 20), zero, Window{Size: []int64{2}, Stride: []int64{2}},
			Selector{Known: true, Direction: GE}, Combiner{Monoid: MonoidAdd})), "f32[4] [10, 0, 0, 20]"},
		{"fold", must(Fold([]Tensor{f32(1e8), f32(1), f32(-1e8)}, Combiner{Monoid: MonoidAdd})), "f32[1] [1]"},
	})
}

// argmax is JAX's body: NaN first, then the greater, then the smaller index.
func argmax(args []Tensor) ([]Tensor, error) {
	a, i, b, j := args[0], args[1], args[2], args[3]
	takeA := Or(Compare(a, b, GT, false), Compare(a, a, NE, false))
	tie := And(Compare(a, b, EQ, false), Compare(i, j, LT, false))
	return []Tensor{Select(takeA, a, b), Select(Or(takeA, tie), i, j)}, nil
}

// A reducer of several values that nothing is known about runs as it is written, in order, and its errors are those of the op.
func TestGeneralBodies(t *testing.T) {
	n := int64(1000)
	values := OpRemainder.Of(Multiply(Iota(dtype.F32, []int64{n, 2}, 0), FromFloats(dtype.F32, nil, 7919)), FromFloats(dtype.F32, nil, 499))
	ids := Iota(dtype.I32, values.Shape, 0)
	inits := []Tensor{FromFloats(dtype.F32, nil, -inf), FromInts(dtype.I32, nil, 0)}
	for _, elementwise := range []bool{true, false} {
		c := Combiner{Body: argmax, Elementwise: elementwise}
		got := must(Reduce([]Tensor{values, ids}, inits, []int64{0}, c))
		check(t, []goldenCase{{"argmax values", got[0], "f32[2] [498, 498]"}})
		at := got[1].Ints()[0]
		for i, v := range values.Floats()[:2*at] {
			if v == 498 {
				t.Errorf("argmax is %d, but element %d has the value already", at, i/2)
			}
		}
		small := must(Reduce([]Tensor{f32(1, nan, 3), ints(dtype.I32, 0, 1, 2)}, inits, []int64{0}, c))
		check(t, []goldenCase{{"argmax of NaN", small[1], "i32[] 1"}})
	}
	failing := Combiner{Body: func([]Tensor) ([]Tensor, error) { return nil, diag.Invalid(diag.BadOp, diag.Position{}, "no") }}
	if _, err := Reduce([]Tensor{f32(1)}, []Tensor{f32(0).at(0)}, []int64{0}, failing); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("error of the body: %v", err)
	}
	if _, err := Sort([]Tensor{f32(2, 1)}, 0, Comparator{Body: failing.Body}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("error of the comparator: %v", err)
	}
	squares := must(Map([]Tensor{f32(1, 2)}, Combiner{Elementwise: true, Body: func(a []Tensor) ([]Tensor,
		error) {
		return []Tensor{Square(a[0])}, nil
	}}, []dtype.Type{dtype.F32}))
	check(t, []goldenCase{{"map", squares[0], "f32[2] [1, 4]"}})
}

// Gathers clamp their indices, scatters leave out what lies outside and go in order, and sorts put NaN last.
func TestGatherScatterSort(t *testing.T) {
	x := matrix(2, 1, 2, 3, 4, 5, 6)
	rows := GatherDims{OffsetDims: []int64{1}, CollapsedSliceDims: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: 1}
	windows := ScatterDims{UpdateWindowDims: []int64{1}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1}
	whole := windows
	whole.WholeWindows = true
	scatter := func(d ScatterDims, m Monoid, at Tensor, u Tensor) Tensor {
		return must(Scatter([]Tensor{f32(0, 0, 0, 0)}, at, []Tensor{u}, d, Combiner{Monoid: m}))[0]
	}
	at := Reshape(ints(dtype.I32, 3, -1, 0), []int64{3, 1})
	elements := ScatterDims{InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1}
	sorted := must(Sort([]Tensor{f32(nan, -inf, 0, math.Copysign(0, -1), inf, math.Copysign(nan, -1), 1)}, 0,
		Comparator{Keys: []SortKey{{}}}))[0]
	pairs := must(Sort([]Tensor{ints(dtype.I32, 2, 1, 2, 1), f32(1, 4, 0, 3)}, -1,
		Comparator{Keys: []SortKey{{Operand: 0}, {Operand: 1, Descending: true}}}))
	values, index := TopK(f32(1, nan, 3, 3), 3)
	_, zeros := TopK(f32(0, math.Copysign(0, -1), 0), 3)
	check(t, []goldenCase{
		{"gather clamps", Gather(x, Reshape(ints(dtype.I32, 2, -5, 9), []int64{3, 1}), rows, []int64{1, 2}), "f32[3,2] [[5, 6], [1, 2], [5, 6]]"},
		{"torch_index_select", TorchIndexSelect(x, ints(dtype.I32, 1, 0), 1, 0), "f32[3,2] [[2, 1], [4, 3], [6, 5]]"},
		{"scatter by element", scatter(windows, MonoidAdd, at, matrix(2, 1, 2, 3, 4, 5, 6)), "f32[4] [9, 6, 0, 1]"},
		{"scatter by window", scatter(whole, MonoidAdd, at, matrix(2, 1, 2, 3, 4, 5, 6)), "f32[4] [5, 6, 0, 0]"},
		{"scatter overwrites in order", scatter(elements, MonoidSecond, Reshape(ints(dtype.I32, 1, 1), []int64{2, 1}), f32(7, 8)),
			"f32[4] [0, 8, 0, 0]"},
		{"scatter far outside", scatter(elements, MonoidAdd, Reshape(ints(dtype.I64, math.MaxInt64, math.MinInt64), []int64{2, 1}), f32(7, 8)),
			"f32[4] [0, 0, 0, 0]"},
		{"sort", sorted, "f32[7] [-Inf, 0, -0, 1, +Inf, NaN, NaN]"},
		{"sort first key", pairs[0], "i32[4] [1, 1, 2, 2]"},
		{"sort second key", pairs[1], "f32[4] [4, 3, 1, 0]"},
		{"top_k", values, "f32[3] [NaN, 3, 3]"},
		{"top_k indices", index, "i32[3] [1, 2, 3]"},
		{"top_k zeros", zeros, "i32[3] [0, 2, 1]"},
	})
	if _, err := Sort([]Tensor{f32(3, 1, 2, 5, 4)}, 0, Comparator{Body: func([]Tensor) ([]Tensor, error) {
		return []Tensor{ints(dtype.I1, 1)},
			nil
	}}); err != nil {
		t.Errorf("a comparator that is no order: %v", err)
	}
}

// Generators, transforms, factorizations and normalization of small arrays, by hand.
func TestAlgorithms(t *testing.T) {
	state := Of(dtype.UI64, []int64{2}, uint64(1|2<<32), 3|4<<32)
	next, words := RngBitGenerator(state, RngPhilox, dtype.UI32, []int64{4})
	var hex []string
	for _, w := range Elems[uint32](words) {
		hex = append(hex, fmt.Sprintf("%08x", w))
	}
	if got := strings.Join(hex, " "); got != "1e8fe864 4d5e0bd7 4b87c9be 2d689201" {
		t.Errorf("philox words %s", got)
	}
	threeNext, three := RngBitGenerator(state, RngThreeFry, dtype.UI32, []int64{7})
	a := matrix(2, 4, 2, 2, 5)
	check(t, []goldenCase{
		{"philox state", next, "ui64[2] [8589934593, 17179869188]"},
		{"threefry", Slice(three, []int64{0}, []int64{4}, []int64{1}), "ui32[4] [1576285164, 2249660814, 740599976, 2425682526]"},
		{"threefry state", threeNext, "ui64[2] [8589934593, 17179869191]"},
		{"fft", Fft(f32(1, 0, 0, 0), RFFT, []int64{4}), "complex<f32>[3] [(1,0), (1,0), (1,0)]"},
		{"irfft", Fft(Fft(f32(1, 2, 3), RFFT, []int64{3}), IRFFT, []int64{3}), "f32[3] [1, 2, 3]"},
		{"cholesky", Cholesky(a, true), "f32[2,2] [[2, 0], [1, 2]]"},
		{"cholesky upper", Cholesky(a, false), "f32[2,2] [[2, 1], [0, 2]]"},
		{"cholesky fails", Cholesky(matrix(2, 1, 2, 2, 1), true), "f32[2,2] [[NaN, 0], [NaN, NaN]]"},
		{"triangular_solve", TriangularSolve(matrix(2, 2, 99, 1, 4), matrix(1, 2, 9), TriangularParams{LeftSide: true, Lower: true}),
			"f32[2,1] [[1], [2]]"},
		{"triangular_solve right", TriangularSolve(matrix(2, 2, 99, 1, 4), matrix(2, 4, 8), TriangularParams{Lower: true}), "f32[1,2] [[1, 2]]"},
	})
	y, mean, variance := BatchNormTraining(matrix(1, 1, 3), f32(2), f32(1), 0, 1)
	check(t, []goldenCase{{"batch norm", y, "f32[2,1] [[-1], [3]]"}, {"mean", mean, "f32[1] [2]"}, {"variance", variance, "f32[1] [1]"}})
}

// A tensor has as many bytes as its type and shape need, wherever they lie in memory; sizes that overflow are refused.
func TestConstructors(t *testing.T) {
	if _, err := FromBytes(dtype.F32, []int64{2}, make([]byte, 7)); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("7 bytes for two f32: %v", err)
	}
	if _, _, err := dtype.Size(dtype.F32, []int64{1 << 40, 1 << 40}); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("2^80 elements: %v", err)
	}
	if _, _, err := dtype.Size(dtype.F32, []int64{-1}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("negative size: %v", err)
	}
	if n, bytes, err := dtype.Size(dtype.F32, []int64{1 << 60, 0}); n != 0 || bytes != 0 || err != nil {
		t.Errorf("no elements: %d, %d, %v", n, bytes, err)
	}
	buffer := make([]byte, 17)
	x, err := FromBytes(dtype.F64, []int64{2}, buffer[1:])
	if err != nil || len(Elems[float64](x)) != 2 {
		t.Errorf("unaligned bytes: %v", err)
	}
}

package tensor

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/internal/lists"
	"autoshard/internal/testkit"
	"autoshard/ir/dtype"
)

// TestMain has all tests compute in memory full of garbage, and finds kernels that give back what is not theirs.
func TestMain(m *testing.M) {
	if os.Getenv(digestOnly) != "" {
		os.Stdout.WriteString(digest())
		return
	}
	os.Exit(testkit.InGarbage(m))
}

// allTypes are element types of every kind and width.
var allTypes = []dtype.Type{
	dtype.I1, dtype.I4, dtype.I8, dtype.I16, dtype.I32, dtype.I64, dtype.UI4, dtype.UI8, dtype.UI16, dtype.UI32, dtype.UI64,
	dtype.F8E4M3FN, dtype.BF16, dtype.F16, dtype.F32, dtype.F64, dtype.C64, dtype.C128,
}

// drawSize draws sizes around what is special: nothing, one, lanes and tiles with their neighbours.
func drawSize(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(0, 5), rapid.SampledFrom([]int64{6, 7, 8, 9, 15, 16, 17, 31, 33})).Draw(t, "size")
}

// drawSizes draws a shape of few elements.
func drawSizes(t *rapid.T, rank int) []int64 {
	shape := make([]int64, rank)
	for d, most := 0, int64(600); d < rank; d++ {
		shape[d] = min(drawSize(t), most)
		most = most / max(shape[d], 1)
	}
	return shape
}

// numbered returns a tensor whose elements differ, as far as their type allows.
func numbered(dt dtype.Type, shape []int64) Tensor {
	n := lists.Product(shape)
	x := New(dtype.I64, []int64{n})
	for i := range Elems[int64](x) {
		Elems[int64](x)[i] = int64(i*37%251) - 100
	}
	return Reshape(Convert(x, dt), shape)
}

// drawExact draws small integers: sums of their products are exact, in any order, in every type but the smallest.
func drawExact(t *rapid.T, dt dtype.Type, shape []int64) Tensor {
	n := int(lists.Product(shape))
	return Reshape(FromInts(dt, []int64{int64(n)}, rapid.SliceOfN(rapid.Int64Range(-2, 2), n, n).Draw(t, "values")...), shape)
}

// checkMoves compares a tensor with what the definition of an op says: from returns where the element at an index comes from.
func checkMoves(t *rapid.T, what string, got, x Tensor, from func(index []int64) (int64, bool), otherwise Tensor) {
	for i := range got.Len() {
		index := Unravel(int64(i), got.Shape)
		want := otherwise
		if at, ok := from(index); ok {
			want = x.at(int(at))
		}
		if string(got.at(i).Data) != string(want.Data) {
			t.Fatalf("%s of %s%v to %v: element %v is %v, want %v", what, x.DType, x.Shape, got.Shape, index, got.at(i), want)
		}
	}
}

// offset returns where the element at an index lies.
func offset(index, shape []int64) int64 {
	at := int64(0)
	for d, i := range index {
		at = at*shape[d] + i
	}
	return at
}

// Elements come from where the definitions say, whatever their width, in any shape and any order of dimensions.
func TestMovesAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(0, 5).Draw(t, "rank")
		x := numbered(rapid.SampledFrom(allTypes).Draw(t, "type"), drawSizes(t, rank))
		order := rapid.Permutation(lists.Of(rank, func(d int) int64 { return int64(d) })).Draw(t, "order")
		y := Transpose(x, order)
		checkMoves(t, "transpose", y, x, func(index []int64) (int64, bool) {
			from := make([]int64, rank)
			for k, d := range order {
				from[d] = index[k]
			}
			return offset(from, x.Shape), true
		}, Tensor{})
		testBroadcast(t, x)
		testSlices(t, x)
		testPad(t, x)
	})
}

func testBroadcast(t *rapid.T, x Tensor) {
	more := rapid.IntRange(0, 2).Draw(t, "more")
	places := rapid.Permutation(lists.Of(x.Rank()+more, func(d int) int64 { return int64(d) })).Draw(t, "places")
	shape := make([]int64, len(places))
	for k, d := range places {
		shape[d] = rapid.Int64Range(0, 4).Draw(t, "repeat")
		if k < x.Rank() && (x.Shape[k] != 1 || rapid.Bool().Draw(t, "keep")) {
			shape[d] = x.Shape[k]
		}
	}
	dims := places[:x.Rank()]
	checkMoves(t, "broadcast", BroadcastInDim(x, dims, shape), x, func(index []int64) (int64, bool) {
		from := make([]int64, x.Rank())
		for k, d := range dims {
			if x.Shape[k] != 1 {
				from[k] = index[d]
			}
		}
		return offset(from, x.Shape), true
	}, Tensor{})
}

func testSlices(t *rapid.T, x Tensor) {
	rank := x.Rank()
	start, limit, stride, starts := make([]int64, rank), make([]int64, rank), make([]int64, rank), make([]Tensor, rank)
	for d, n := range x.Shape {
		start[d] = rapid.Int64Range(0, n).Draw(t, "start")
		limit[d] = rapid.Int64Range(start[d], n).Draw(t, "limit")
		stride[d] = rapid.Int64Range(1, 3).Draw(t, "stride")
		starts[d] = FromInts(dtype.I32, nil, start[d])
	}
	checkMoves(t, "slice", Slice(x, start, limit, stride), x, func(index []int64) (int64, bool) {
		return offset(lists.Of(rank, func(d int) int64 { return start[d] + index[d]*stride[d] }), x.Shape), true
	}, Tensor{})
	sizes := lists.Of(rank, func(d int) int64 { return limit[d] - start[d] })
	part := DynamicSlice(x, starts, sizes)
	checkMoves(t, "dynamic slice", part, x, func(index []int64) (int64, bool) {
		return offset(lists.Of(rank, func(d int) int64 { return start[d] + index[d] }), x.Shape), true
	}, Tensor{})
	zeros := New(x.DType, x.Shape)
	checkMoves(t, "dynamic update", DynamicUpdateSlice(zeros, part, starts), part, func(index []int64) (int64, bool) {
		from := lists.Of(rank, func(d int) int64 { return index[d] - start[d] })
		for d, i := range from {
			if i < 0 || i >= sizes[d] {
				return 0, false
			}
		}
		return offset(from, part.Shape), true
	}, New(x.DType, nil))
	box, first := New(x.DType, sizes), make([]int64, rank)
	CopyBox(box, first, x, start, sizes)
	back := New(x.DType, x.Shape)
	CopyBox(back, start, box, first, sizes)
	if !box.Equal(part) || !back.Equal(DynamicUpdateSlice(zeros, part, starts)) {
		t.Fatalf("a box of %v from %v on of %v is %v, and at its place %v", sizes, start, x, box, back)
	}
	var flipped []int64
	for d := range int64(rank) {
		if rapid.Bool().Draw(t, "flip") {
			flipped = append(flipped, d)
		}
	}
	checkMoves(t, "reverse", NewReverse(x.Shape, flipped).Of(x), x, func(index []int64) (int64, bool) {
		from := slices.Clone(index)
		for _, d := range flipped {
			from[d] = x.Shape[d] - 1 - index[d]
		}
		return offset(from, x.Shape), true
	}, Tensor{})
}

func testPad(t *rapid.T, x Tensor) {
	rank := x.Rank()
	low, high, interior := make([]int64, rank), make([]int64, rank), make([]int64, rank)
	for d, n := range x.Shape {
		interior[d] = rapid.Int64Range(0, 2).Draw(t, "interior")
		low[d] = rapid.Int64Range(-2, 2).Draw(t, "low")
		high[d] = max(rapid.Int64Range(-2, 2).Draw(t, "high"), -(low[d] + n + max(n-1, 0)*interior[d]))
		low[d] = max(low[d], -(n + max(n-1, 0)*interior[d] + high[d]))
	}
	value := FromInts(x.DType, nil, 1)
	checkMoves(t, "pad", Pad(x, value, low, high, interior), x, func(index []int64) (int64, bool) {
		from := make([]int64, rank)
		for d, i := range index {
			i -= low[d]
			if i < 0 || i%(interior[d]+1) != 0 || i/(interior[d]+1) >= x.Shape[d] {
				return 0, false
			}
			from[d] = i / (interior[d] + 1)
		}
		return offset(from, x.Shape), true
	}, value)
	dim := rapid.Int64Range(0, int64(max(rank-1, 0))).Draw(t, "dim")
	if rank == 0 {
		return
	}
	whole := Concatenate([]Tensor{x, x}, dim)
	checkMoves(t, "concatenate", whole, x, func(index []int64) (int64, bool) {
		from := slices.Clone(index)
		from[dim] %= x.Shape[dim]
		return offset(from, x.Shape), true
	}, Tensor{})
}

// sameNumber says whether two scalars have the same bits, or are both NaN.
func sameNumber(x, y Tensor) bool {
	if string(x.Data) == string(y.Data) {
		return true
	}
	a, b := Elems[complex128](Convert(x, dtype.C128))[0], Elems[complex128](Convert(y, dtype.C128))[0]
	part := func(p, q float64) bool { return math.Float64bits(p) == math.Float64bits(q) || p != p && q != q }
	return part(real(a), real(b)) && part(imag(a), imag(b))
}

// drawAny draws numbers of all magnitudes, zeros of both signs, infinities and NaN.
func drawAny(t *rapid.T, dt dtype.Type, shape []int64) Tensor {
	n := int(lists.Product(shape))
	if k := dt.Kind(); k != dtype.Float && k != dtype.Complex {
		return Reshape(FromInts(dt, []int64{int64(n)}, rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, "integers")...), shape)
	}
	special := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-42, 3.4e38})
	values := rapid.SliceOfN(rapid.OneOf(special, rapid.Float64Range(-9, 9)), n, n).Draw(t, "floats")
	return Reshape(FromFloats(dt, []int64{int64(n)}, values...), shape)
}

// binaryKernels are the ops of two operands, by the kinds of types that have them.
var binaryKernels = []struct {
	name string
	f    func(x, y Tensor) Tensor
	has  func(dt dtype.Type) bool
}{
	{"add", Add, anyType}, {"subtract", Subtract, anyType}, {"multiply", Multiply, anyType}, {"maximum", Maximum, anyType},
	{"minimum", Minimum, anyType}, {"divide", OpDivide.Of, isNumber}, {"remainder", OpRemainder.Of, isReal}, {"power", OpPower.Of, isReal},
	{"and", And, isInteger}, {"or", Or, isInteger}, {"xor", Xor, isInteger}, {"shift left", OpShiftLeft.Of, isWord},
	{"shift right logical", OpShiftRightLogical.Of, isWord}, {"shift right arithmetic", OpShiftRightArithmetic.Of, isWord},
}

func anyType(dtype.Type) bool      { return true }
func isNumber(dt dtype.Type) bool  { return dt.Kind() != dtype.Bool }
func isReal(dt dtype.Type) bool    { return isNumber(dt) && dt.Kind() != dtype.Complex }
func isInteger(dt dtype.Type) bool { return dt.Kind() != dtype.Float && dt.Kind() != dtype.Complex }
func isWord(dt dtype.Type) bool    { return isInteger(dt) && isNumber(dt) }

// An op on tensors, or on one and a scalar that is repeated, is the op on each pair of elements: long loops have the bits of short ones.
func TestElementwiseIsEachElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom(allTypes).Draw(t, "type")
		shape := drawSizes(t, rapid.IntRange(0, 3).Draw(t, "rank"))
		operands := [2]Tensor{drawAny(t, dt, shape), drawAny(t, dt, shape)}
		if scalar := rapid.IntRange(0, 2).Draw(t, "scalar"); scalar < 2 {
			operands[scalar] = drawAny(t, dt, nil)
		}
		x, y := operands[0], operands[1]
		at := func(x Tensor, i int) Tensor {
			if x.Rank() == 0 {
				return x
			}
			return x.at(i)
		}
		for _, op := range binaryKernels {
			if !op.has(dt) {
				continue
			}
			got := op.f(x, y)
			for i := range got.Len() {
				if want := op.f(at(x, i), at(y, i)); !sameNumber(got.at(i), want) {
					t.Fatalf("%s of %s %v: element %d of %v and %v is %v, want %v", op.name, dt, shape, i, x, y, got.at(i), want)
				}
			}
		}
		pred := Reshape(FromInts(dtype.I1, []int64{lists.Product(shape)},
			rapid.SliceOfN(rapid.Int64Range(0, 1), int(lists.Product(shape)), int(lists.Product(shape))).Draw(t, "pred")...), shape)
		for i, chosen := 0, Select(pred, x, y); i < chosen.Len(); i++ {
			want := at(y, i)
			if pred.Data[i] != 0 {
				want = at(x, i)
			}
			if string(chosen.at(i).Data) != string(want.Data) {
				t.Fatalf("select of %v, %v and %v: element %d is %v", pred, x, y, i, chosen.at(i))
			}
		}
	})
}

// A product is the sums of its definition, for all types, sizes, and places of the dimensions.
func TestProductsAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := rapid.SampledFrom(allTypes).Draw(t, "type")
		sizes := drawSizes(t, 5) // of a batch, two contracted and two free dimensions
		b, k1, k2, m, n := sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
		lp := rapid.Permutation([]int64{0, 1, 2, 3}).Draw(t, "left")
		rp := rapid.Permutation([]int64{0, 1, 2, 3}).Draw(t, "right")
		left, right := make([]int64, 4), make([]int64, 4)
		for i, size := range []int64{b, k1, k2, m} {
			left[lp[i]] = size
		}
		for i, size := range []int64{b, k1, k2, n} {
			right[rp[i]] = size
		}
		x, y := drawExact(t, dt, left), drawExact(t, dt, right)
		got := DotGeneral(x, y, DotDims{lp[:1], rp[:1], lp[1:3], rp[1:3]}, dt)
		if !slices.Equal(got.Shape, []int64{b, m, n}) {
			t.Fatalf("the shape is %v, want %v", got.Shape, []int64{b, m, n})
		}
		pick := func(shape, places []int64, at ...int64) int64 {
			index := make([]int64, len(places))
			for i, v := range at {
				index[places[i]] = v
			}
			return offset(index, shape)
		}
		xs, ys := Elems[complex128](Convert(x, dtype.C128)), Elems[complex128](Convert(y, dtype.C128))
		for i := range got.Len() {
			at := Unravel(int64(i), got.Shape)
			sum := complex128(0)
			for p := range k1 {
				for q := range k2 {
					sum += xs[pick(left, lp, at[0], p, q, at[1])] * ys[pick(right, rp, at[0], p, q, at[2])]
				}
			}
			if dt == dtype.I1 { // a sum of i1 is or
				sum = complex(min(real(sum), 1), 0)
			}
			want := Convert(Of(dtype.C128, nil, sum), dt)
			if k := dt.Kind(); k == dtype.Signed || k == dtype.Unsigned {
				wrapped := int64(0)
				for p := range k1 {
					for q := range k2 {
						wrapped += x.Ints()[pick(left, lp, at[0], p, q, at[1])] * y.Ints()[pick(right, rp, at[0], p, q, at[2])]
					}
				}
				want = FromInts(dt, nil, wrapped)
			}
			if !sameNumber(got.at(i), want) {
				t.Fatalf("%s %v by %v: element %v is %v, want %v", dt, x, y, at, got.at(i), want)
			}
		}
	})
}

// digestOnly is set where a process of this test prints the digest and nothing else.
const digestOnly = "AUTOSHARD_TEST_DIGEST"

// digest returns a hash of what kernels make that run on vectors where there are any.
func digest() string {
	hash := sha256.New()
	see := func(x Tensor) { hash.Write(x.Data) }
	x := Sine(Reshape(Iota(dtype.F32, []int64{3 * 37 * 53}, 0), []int64{3, 37, 53}))
	y := Cosine(x)
	for _, dt := range []dtype.Type{dtype.BF16, dtype.F32, dtype.F64, dtype.I32} {
		a, b := Convert(Multiply(x, FromFloats(dtype.F32, nil, 90)), dt), Convert(Multiply(y, FromFloats(dtype.F32, nil, 90)), dt)
		for _, f := range []func(x, y Tensor) Tensor{Add, Subtract, Multiply, OpDivide.Of, Maximum, Minimum} {
			see(f(a, b))
		}
		see(DotGeneral(a, b, DotDims{[]int64{0}, []int64{0}, []int64{2}, []int64{2}}, dt))
		see(DotGeneral(a, b, DotDims{LHSContract: []int64{1}, RHSContract: []int64{1}}, dt))
		kernels := Reshape(Slice(b, []int64{0, 0, 0}, []int64{3, 7, 5}, []int64{1, 1, 1}), []int64{1, 5, 21, 1})
		see(Convolution(Reshape(a, []int64{3, 37, 53, 1}), kernels,
			ConvParams{Dims: ConvDims{InputFeature: 3, InputSpatial: []int64{1, 2}, KernelInput: 0, KernelOutput: 2, KernelSpatial: []int64{1, 3},
				OutputFeature: 3, OutputSpatial: []int64{1, 2}}}, dt))
		for _, m := range []Monoid{MonoidAdd, MonoidMaximum} {
			for d := range int64(3) {
				see(must(Reduce([]Tensor{a}, []Tensor{FromInts(dt, nil, 0)}, []int64{d}, Combiner{Monoid: m}))[0])
			}
		}
		if dt != dtype.I32 {
			see(Exponential(a))
			see(Logistic(a))
			see(Tanh(a))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// A process that believes its processor to have no vectors computes the same bits.
func TestSameBitsWithoutVectors(t *testing.T) {
	without := exec.Command(os.Args[0])
	without.Env = append(os.Environ(), digestOnly+"=1", "GODEBUG=cpu.avx2=off")
	out, err := without.Output()
	if got, want := string(out), digest(); err != nil || got != want {
		t.Errorf("the digest is %s without vectors, %s with them, %v", got, want, err)
	}
}

package conformance

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/internal/testkit/everyop"
	"autoshard/internal/testkit/peer"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// allowance is how far results of some ops on some types may be from those of a peer, and why. The document has a row for each.
type allowance struct {
	peer  peer.Name // "" for both
	kinds []ir.Kind // nil for all ops that round
	types func(dtype.Type) bool
	ulps  float64
	terms bool    // so many for each term of a sum
	least float64 // magnitude below which units are those of this one: where parts cancel; infinite for the largest element
	skip  bool    // nothing is compared
	loose bool    // nor is what is no number
	fades bool    // zero stands for results below the reciprocal of the largest number
	turns bool    // angles a turn apart are the same
	name  string  // in docs/numerics.md
}

func anyType(dtype.Type) bool      { return true }
func isComplex(e dtype.Type) bool  { return e.Kind() == dtype.Complex }
func isByte(e dtype.Type) bool     { return e.Bits() <= 8 }
func isDouble(e dtype.Type) bool   { return e == dtype.F64 }
func isAccurate(e dtype.Type) bool { return e == dtype.F32 || e == dtype.F64 }
func narrow(e dtype.Type) bool     { return e.Kind() == dtype.Float && e.Bits() < 32 }

// finiteOnly says whether a type of floats has no infinities.
func finiteOnly(e dtype.Type) bool {
	return e.Kind() == dtype.Float && !math.IsInf(dtype.Decode(e, dtype.Encode(e, math.Inf(1))), 0)
}

var (
	wholeNumbers = []ir.Kind{ir.OpCeil, ir.OpFloor, ir.OpRoundNearestAfz, ir.OpRoundNearestEven}
	sums         = []ir.Kind{ir.OpReduce, ir.OpReduceWindow, ir.OpChloScan, ir.OpDot, ir.OpDotGeneral, ir.OpConvolution, ir.OpDynamicConv,
		ir.OpEinsum, ir.OpUnaryEinsum, ir.OpChloRaggedDot}
	solvers   = []ir.Kind{ir.OpFft, ir.OpCholesky, ir.OpTriangularSolve}
	batchNorm = []ir.Kind{ir.OpBatchNormGrad, ir.OpBatchNormInference, ir.OpBatchNormTraining}
	gammas    = []ir.Kind{ir.OpChloLgamma, ir.OpChloDigamma, ir.OpChloPolygamma, ir.OpChloZeta, ir.OpChloBroadcastPolygamma,
		ir.OpChloBroadcastZeta}
	angles     = []ir.Kind{ir.OpAtan2, ir.OpChloBroadcastAtan2}
	powers     = []ir.Kind{ir.OpPower, ir.OpChloBroadcastPower}
	extremes   = []ir.Kind{ir.OpMaximum, ir.OpMinimum, ir.OpChloBroadcastMaximum, ir.OpChloBroadcastMinimum, ir.OpClamp}
	arithmetic = []ir.Kind{ir.OpAdd, ir.OpSubtract, ir.OpMultiply, ir.OpDivide, ir.OpSqrt, ir.OpConvert, ir.OpReducePrecision,
		ir.OpChloBroadcastAdd, ir.OpChloBroadcastSubtract, ir.OpChloBroadcastMultiply, ir.OpChloBroadcastDivide}
)

// allowances are what is allowed: the first that fits.
var allowances = []allowance{
	{types: everyop.Lacking, skip: true, name: "types that lack numbers"},
	{kinds: powers, peer: peer.XLA, types: func(e dtype.Type) bool { return !isInexact(e) }, skip: true, name: "integer powers"},
	{kinds: []ir.Kind{ir.OpPopcnt, ir.OpChloMulhi}, types: func(e dtype.Type) bool { return e.Bits() < 8 }, skip: true,
		name: "integers of less than a byte"},
	{kinds: extremes, peer: peer.XLA, types: isComplex, skip: true, name: "complex extremes"},
	{kinds: wholeNumbers, types: narrow, skip: true, name: "whole numbers of f8E3M4"},
	{kinds: []ir.Kind{ir.OpReducePrecision}, types: finiteOnly, skip: true, name: "reduce_precision without infinities"},
	{kinds: []ir.Kind{ir.OpReducePrecision}, types: isByte, skip: true, name: "reduce_precision of eight bits"},
	{kinds: sums, peer: peer.Evaluator, types: isByte, ulps: 1, terms: true, least: math.Inf(1), loose: true, name: "sums of eight bits"},
	{kinds: sums, types: anyType, ulps: 1, terms: true, name: "sums"},
	{kinds: solvers, types: anyType, ulps: 4, terms: true, least: math.Inf(1), name: "solvers"},
	{kinds: batchNorm, types: anyType, ulps: 8, terms: true, least: 1, name: "batch_norm"},
	{kinds: gammas, types: anyType, ulps: 8192, least: 1, loose: true, name: "gamma functions"},
	{kinds: powers, types: isComplex, ulps: 4096, least: 1, name: "complex powers"},
	{kinds: angles, types: isComplex, ulps: 256, least: 1, turns: true, name: "complex atan2"},
	{types: isComplex, ulps: 256, least: 1, name: "complex functions"},
	{kinds: []ir.Kind{ir.OpCbrt}, peer: peer.XLA, types: anyType, ulps: 4, least: 1e-6, name: "cbrt of subnormal numbers"},
	{kinds: []ir.Kind{ir.OpSqrt}, peer: peer.XLA, types: isByte, ulps: 1, name: "sqrt of eight bits"},
	{kinds: []ir.Kind{ir.OpDivide, ir.OpChloBroadcastDivide}, peer: peer.XLA, types: isAccurate, ulps: 1, name: "quotients"},
	{kinds: arithmetic, types: anyType, name: "arithmetic"},
	{kinds: []ir.Kind{ir.OpChloBesselI1e}, types: anyType, ulps: 16, name: "bessel_i1e"},
	{kinds: []ir.Kind{ir.OpChloErfc}, types: anyType, ulps: 512, fades: true, name: "erfc"},
	{kinds: []ir.Kind{ir.OpChloErfInv}, types: isAccurate, ulps: 1 << 16, name: "erf_inv"},
	{kinds: []ir.Kind{ir.OpChloErf}, peer: peer.Evaluator, types: isAccurate, ulps: 8, least: 1e-35, name: "erf of the least numbers"},
	{kinds: []ir.Kind{ir.OpSine, ir.OpCosine}, types: isDouble, ulps: 8, least: 1, name: "sine and cosine"},
	{kinds: []ir.Kind{ir.OpTan, ir.OpChloTan}, types: isDouble, ulps: 1 << 20, least: 1, name: "tan"},
	{kinds: []ir.Kind{ir.OpChloAsin, ir.OpChloAcos}, types: isDouble, ulps: 64, name: "asin and acos"},
	{kinds: []ir.Kind{ir.OpChloSinh, ir.OpChloCosh}, types: isDouble, ulps: 1024, name: "sinh and cosh"},
	{kinds: []ir.Kind{ir.OpChloSinh, ir.OpChloCosh}, types: isAccurate, ulps: 64, name: "sinh and cosh"},
	{kinds: powers, types: isDouble, ulps: 1024, name: "powers"},
	{kinds: []ir.Kind{ir.OpLogistic}, types: narrow, ulps: 2, fades: true, name: "logistic"},
	{kinds: []ir.Kind{ir.OpLogistic}, types: anyType, ulps: 8, fades: true, name: "logistic"},
	{types: narrow, ulps: 2, name: "narrow functions"},
	{types: anyType, ulps: 8, name: "functions"},
}

func isInexact(e dtype.Type) bool { return e.Kind() == dtype.Float || isComplex(e) }

// bound is what is allowed of one output.
type bound struct {
	ulps, least float64
	skip        bool
	flushes     bool // subnormal numbers may be zeros, read and written
	loose       bool // where there is no number, peers may have others
	fades       bool // zero stands for what is below the reciprocal of the largest number
	turns       bool // angles a turn apart are the same
}

// boundOf returns what is allowed of an output: nothing where no op rounds it.
func boundOf(t *testing.T, name peer.Name, r everyop.Rounding, e dtype.Type) bound {
	b := bound{flushes: name == peer.XLA}
	if r.By == ir.OpUnregistered {
		return b
	}
	for _, a := range allowances {
		if (a.peer == "" || a.peer == name) && (a.kinds == nil || slices.Contains(a.kinds, r.By)) && (a.types(r.Of) || a.types(e)) {
			b.ulps, b.least, b.skip, b.fades, b.turns = a.ulps, a.least, a.skip, a.fades, a.turns
			b.loose = a.loose || isComplex(e) || isComplex(r.Of) || finiteOnly(e)
			if a.terms {
				b.ulps *= float64(r.Terms)
			}
			if e == dtype.F64 {
				b.ulps += ownError(t, r.By)
			}
			return b
		}
	}
	t.Fatalf("nothing says how precise %s of %s is", r.By, e)
	return b
}

var functionRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([0-9.]+) \\|")

// ownErrors are those that docs/numerics.md states of our functions in f64.
var ownErrors = sync.OnceValues(func() (map[string]float64, error) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "numerics.md"))
	errors := map[string]float64{}
	for _, row := range functionRow.FindAllStringSubmatch(string(page), -1) {
		errors[row[1]], _ = strconv.ParseFloat(row[2], 64)
	}
	return errors, err
})

func ownError(t *testing.T, k ir.Kind) float64 {
	errors, err := ownErrors()
	if err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(k.String(), ".")
	return errors[strings.TrimPrefix(name, "broadcast_")]
}

// Every allowance is explained in the document, and each of its explanations is of one.
func TestAllowancesAreExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "numerics.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Beside XLA and the evaluator")
	section, _, _ = strings.Cut(section, "\n## ")
	var want []string
	for _, a := range allowances {
		want = append(want, a.name)
	}
	for _, u := range unaskedPrograms {
		want = append(want, u.name)
	}
	var have []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| what") {
			have = append(have, strings.TrimPrefix(cells[0], "| "))
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, slices.Compact(want)) {
		t.Errorf("docs/numerics.md explains\n%q\nbut there are\n%q", have, want)
	}
}

// flushConstants returns a program whose constants have zeros for subnormal numbers.
func flushConstants(t *testing.T, text string) *ir.Module {
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m.Walk(m.Body(), func(op ir.OpID) {
		if d, ok := m.Attr(op, "value").(*ir.Dense); ok {
			x := flush(&tensor.Tensor{DType: m.TypeOf(d.Type).DType, Data: d.Data})
			m.SetAttrs(op, m.OpAttrs(op).With("value", &ir.Dense{Type: d.Type, Data: x.Data, Splat: d.Splat}))
		}
	})
	return m
}

// flush returns a tensor whose subnormal numbers are zeros, as XLA reads them.
func flush(x *tensor.Tensor) *tensor.Tensor {
	y := *x
	part := x.DType.Part()
	if !flushable(part) {
		return &y
	}
	y.Data = slices.Clone(x.Data)
	size := part.Bytes()
	for at := 0; at < len(y.Data); at += size {
		if v := number(part, y.Data[at:at+size]); math.Abs(v) < smallest(part) {
			copy(y.Data[at:], dtype.AppendBits(nil, part, dtype.Encode(part, math.Copysign(0, v))))
		}
	}
	return &y
}

// flushable says whether subnormal numbers of a type are those of the processor's registers.
func flushable(e dtype.Type) bool { return e == dtype.F32 || e == dtype.F64 || e == dtype.BF16 }

// smallest returns the smallest normal number.
func smallest(e dtype.Type) float64 { return dtype.Decode(e, 1<<e.Mantissa()) }

// greatest returns the largest number.
func greatest(e dtype.Type) float64 {
	bits := uint64(1)<<(e.Bits()-1) - 1
	for v := dtype.Decode(e, bits); v != v || math.IsInf(v, 0); v = dtype.Decode(e, bits) {
		bits--
	}
	return dtype.Decode(e, bits)
}

func number(e dtype.Type, data []byte) float64 { return dtype.Decode(e, dtype.LoadBits(data)) }

// first returns the first element that differs from both of those that are wanted, and by how many units; -1 if none does.
func (b bound) first(got, want, flushed *tensor.Tensor) (at int, units float64) {
	if b.skip {
		return -1, 0
	}
	if math.IsInf(b.least, 1) {
		b.least = largest(want)
	}
	for i := range want.Len() {
		u := b.units(got, want, i)
		if !(u <= b.ulps) && !(b.flushes && b.units(got, flushed, i) <= b.ulps) {
			return i, u
		}
	}
	return -1, 0
}

// largest returns the largest magnitude of an element that is a number.
func largest(x *tensor.Tensor) (most float64) {
	part := x.DType.Part()
	for size, at := part.Bytes(), 0; at < len(x.Data); at += size {
		if v := math.Abs(number(part, x.Data[at:at+size])); v > most && !math.IsInf(v, 1) {
			most = v
		}
	}
	return most
}

// units returns how far an element is from the one that is wanted, in units in the last place of its modulus or of what is said to be
// the least: 0 for any two that are no numbers.
func (b bound) units(got, want *tensor.Tensor, i int) (worst float64) {
	size, part := want.DType.Bytes(), want.DType.Part()
	x, y := got.Data[i*size:(i+1)*size], want.Data[i*size:(i+1)*size]
	if string(x) == string(y) {
		return 0
	}
	if part.Kind() != dtype.Float {
		return math.Inf(1)
	}
	modulus, finite := b.least, true
	for at, step := 0, part.Bytes(); at < size; at += step {
		v, w := number(part, x[at:at+step]), number(part, y[at:at+step])
		modulus = max(modulus, math.Abs(w))
		finite = finite && !math.IsInf(v-w, 0) && v-w == v-w
	}
	if !finite && b.loose {
		return 0
	}
	for at, step := 0, part.Bytes(); at < size; at += step {
		worst = max(worst, b.apart(part, number(part, x[at:at+step]), number(part, y[at:at+step]), modulus))
	}
	return worst
}

// apart returns the distance of two numbers in units of the last place of a magnitude, which is 1 for zeros of different signs.
func (b bound) apart(e dtype.Type, v, w, magnitude float64) float64 {
	if turn := 2 * math.Pi; b.turns && v != w && math.Abs(v-w) < 2*turn {
		v -= turn * math.Round((v-w)/turn)
	}
	switch {
	case v != v && w != w, v == w && math.Signbit(v) == math.Signbit(w):
		return 0
	case b.flushes && flushable(e) && math.Abs(v) <= smallest(e) && math.Abs(w) <= smallest(e): // those that round up to it, too
		return 0
	case b.fades && v == 0 && math.Abs(w)*greatest(e) < 1:
		return 0
	case v == w:
		return 1
	case math.IsInf(v-w, 0) || v-w != v-w:
		return math.Inf(1)
	}
	_, exponent := math.Frexp(max(magnitude, smallest(e)))
	return math.Abs(v-w) / math.Ldexp(1, exponent-1-e.Mantissa())
}

package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"autoshard/internal/lists"
	"autoshard/internal/testkit/peer"
	"autoshard/ir/dtype"
)

// peerCase is a StableHLO program with its operands, what the kernels make of it, and how far XLA may be from
// that: relative to the larger of the value and scale.
type peerCase struct {
	name      string
	text      string
	args      []Tensor
	got       []Tensor
	tolerance float64
	scale     float64
}

// typeText returns the MLIR spelling of a tensor type.
func typeText(t Tensor) string {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, n := range t.Shape {
		fmt.Fprintf(&b, "%dx", n)
	}
	return b.String() + t.DType.String() + ">"
}

func typeTexts(ts []Tensor) string {
	texts := make([]string, len(ts))
	for i, t := range ts {
		texts[i] = typeText(t)
	}
	return strings.Join(texts, ", ")
}

// program returns a module whose main applies one op, in generic form, to its arguments. The rest is what stands
// between operands and colon: attributes and regions.
func program(op, rest string, args, results []Tensor) string {
	var params, names, outs []string
	for i, a := range args {
		names = append(names, fmt.Sprintf("%%a%d", i))
		params = append(params, names[i]+": "+typeText(a))
	}
	for i := range results {
		outs = append(outs, fmt.Sprintf("%%r#%d", i))
	}
	return fmt.Sprintf("module @m { func.func public @main(%s) -> (%s) {\n%%r:%d = %q(%s) %s : (%s) -> (%s)\nreturn %s : %s\n} }",
		strings.Join(params, ", "), typeTexts(results), len(results), op, strings.Join(names, ", "), rest, typeTexts(args),
		typeTexts(results), strings.Join(outs, ", "), typeTexts(results))
}

// runPeer evaluates the programs with XLA and compares. It skips where no Python with jax is given.
func runPeer(t *testing.T, cases []peerCase) {
	t.Helper()
	python := peer.Python(t)
	replies, err := peer.Ask(t.Context(), python, peer.XLA, lists.Map(cases, func(c peerCase) peer.Program {
		return peer.Program{Text: c.text, Args: lists.Map(c.args, func(x Tensor) peer.Array {
			return peer.Array{Type: x.DType, Shape: x.Shape, Data: x.Data}
		})}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if replies[i].Refusal != "" {
			t.Errorf("%s: XLA: %s\n%s", c.name, replies[i].Refusal, c.text)
			continue
		}
		for k, got := range c.got {
			x := replies[i].Results[k]
			want, err := FromBytes(x.Type, x.Shape, x.Data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(got, want, c.tolerance, c.scale); diff != "" {
				t.Errorf("%s: result %d: %s\n%s", c.name, k, diff, c.text)
			}
		}
	}
	t.Logf("%d programs agree with XLA", len(cases))
}

// difference describes the first element in which got is not want within the tolerance; NaN equals NaN.
func difference(got, want Tensor, tolerance, scale float64) string {
	if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
		return fmt.Sprintf("type %s, want %s", typeText(got), typeText(want))
	}
	if got.DType.Kind() == dtype.Complex {
		if diff := difference(Real(got), Real(want), tolerance, scale); diff != "" {
			return "real " + diff
		}
		return difference(Imag(got), Imag(want), tolerance, scale)
	}
	if got.DType.Kind() != dtype.Float {
		for i := range got.Len() {
			if g, w := got.at(i), want.at(i); !g.Equal(w) {
				return fmt.Sprintf("element %d is %v, want %v", i, g, w)
			}
		}
		return ""
	}
	gs, ws := got.Floats(), want.Floats()
	for i, g := range gs {
		w := ws[i]
		switch {
		case g == w || g != g && w != w:
		case math.Abs(w) < 1.2e-38 && math.Abs(g) < 1.2e-38: // XLA flushes subnormals
		case math.Abs(g-w) <= tolerance*max(math.Abs(w), scale):
		default:
			return fmt.Sprintf("element %d is %v, want %v", i, g, w)
		}
	}
	return ""
}

// random returns elements of all kinds of dt: for floats of magnitude about spread with some special values.
func random(r *rand.Rand, dt dtype.Type, spread float64, special bool, shape ...int64) Tensor {
	n := int(lists.Product(shape))
	switch dt.Kind() {
	case dtype.Float, dtype.Complex:
		values := make([]float64, n)
		for i := range values {
			values[i] = r.NormFloat64() * spread
			if special && r.IntN(4) == 0 {
				values[i] = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 0.5, 2.5, -2.5}[r.IntN(10)]
			}
		}
		x := FromFloats(dt, shape, values...)
		if dt.Kind() == dtype.Complex {
			im := random(r, dtype.F64, spread, special, shape...)
			re := Real(x)
			return Complex(re, Convert(im, re.DType))
		}
		return x
	}
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(r.Uint64())
		if special && r.IntN(3) == 0 {
			values[i] = []int64{0, 1, -1, 2, math.MinInt64, math.MaxInt64, -128, 127, math.MinInt32, 7}[r.IntN(10)]
		}
	}
	if dt == dtype.I1 {
		for i := range values {
			values[i] &= 1
		}
	}
	return FromInts(dt, shape, values...)
}

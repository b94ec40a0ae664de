package typed_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
)

// derivative is what a vector says of transposes or gradients.
type derivative struct {
	InSpecs       []string       `json:"in_specs"`
	OutSpecs      []string       `json:"out_specs"`
	Communication map[string]int `json:"communication"`
}

// TestVectorGradients runs every program that has gradients: the transpose and its transpose of those that are linear,
// and the transposed derivative of all (specification: shardmap.md section 13, points 5 and 6).
func TestVectorGradients(t *testing.T) {
	count := 0
	for _, v := range loadVectors(t) {
		if v.Grads == nil {
			continue
		}
		count++
		t.Run(v.ID, func(t *testing.T) {
			p, _, err := v.build(v.Body, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Elaborate(typed.Options{}); err != nil {
				t.Fatal(err)
			}
			if v.Transposed != nil {
				v.testTranspose(t, p)
			}
			v.testVJP(t, p)
		})
	}
	if count != 96 {
		t.Errorf("%d programs with gradients, want 96", count)
	}
}

// wrt returns the numbers of the inputs of derivatives.
func (v *vector) wrt() (out []int) {
	for _, name := range v.Wrt {
		out = append(out, slices.IndexFunc(v.Inputs, func(in input) bool { return in.Name == name }))
	}
	return out
}

// cotangents returns the given cotangents of the outputs.
func (v *vector) cotangents(p *typed.Program) (out []tensor.Tensor) {
	for j, g := range v.Cotangents {
		ret := p.Module.Operand(p.Return(), j)
		out = append(out, g.tensor(p.Module.ValueType(ret).DType, p.GlobalDims(j)))
	}
	return out
}

// others returns the arguments without those in wrt.
func (v *vector) others() (out []tensor.Tensor) {
	for k, x := range v.arguments() {
		if !slices.Contains(v.wrt(), k) {
			out = append(out, x)
		}
	}
	return out
}

func (v *vector) testTranspose(t *testing.T, p *typed.Program) {
	q, err := transpose.Linear(p, v.wrt())
	if err != nil {
		t.Fatal(err)
	}
	v.testSpecs(t, q, v.Transposed)
	wantCommunication(t, "transpose", q, count(q, p, nil), v.Transposed.Communication)
	roundTrip(t, q)
	grads := v.testGrads(t, q, append(v.cotangents(p), v.others()...))
	v.testPairing(t, p, grads)

	back, err := transpose.Linear(q, slices.Collect(numbers0(len(v.Cotangents))))
	if err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(v.Twice.Communication)
	if p.Check { // of gathers, JAX makes padded sums
		want = v.Forward
	}
	wantCommunication(t, "transpose of the transpose", back, count(back, p, nil), want)
	var args []tensor.Tensor
	for _, k := range v.wrt() {
		args = append(args, v.arguments()[k])
	}
	outputs, err := execute(t.Context(), back, append(args, v.others()...), run.Options{Debug: true})
	if err != nil {
		t.Fatalf("%v in\n%s", err, back)
	}
	for i, want := range v.Expected {
		if err := want.compare(outputs[i]); err != nil {
			t.Errorf("transposed twice: output %d: %v", i, err)
		}
	}
	for i, r := range back.Results {
		if !r.Spec.Equal(p.Results[i].Spec) {
			t.Errorf("transposed twice: output %d has spec %s, want %s", i, r.Spec, p.Results[i].Spec)
		}
	}
	v.testStable(t, p, back)
}

// testStable transposes a program that is a transpose of a transpose twice more: it must not grow. With the check off
// it may, by sums of copies.
func (v *vector) testStable(t *testing.T, p, back *typed.Program) {
	again := back
	for range 2 {
		next, err := transpose.Linear(again, slices.Collect(numbers0(len(v.Wrt))))
		if err != nil {
			t.Fatal(err)
		}
		again = next
	}
	if a, b := equations(again), equations(back); p.Check && a > b+b/4 {
		t.Errorf("transposed twice it has %d equations, four times %d:\n%s\n%s", b, a, back, again)
	}
}

func equations(p *typed.Program) (n int) {
	p.Module.Walk(p.Body(), func(ir.OpID) { n++ })
	return n
}

func numbers0(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for k := 0; k < n && yield(k); k++ {
		}
	}
}

// testVJP runs the transposed derivative and counts what it communicates for the sake of the cotangents.
func (v *vector) testVJP(t *testing.T, p *typed.Program) {
	q, err := transpose.VJP(p, v.wrt())
	if err != nil {
		t.Fatal(err)
	}
	v.testGrads(t, q, append(v.cotangents(p), v.arguments()...))
	want := v.Transposed
	if want == nil {
		want = &v.Backward[0]
		for _, more := range v.Backward[1:] {
			want.Communication = maps.Clone(want.Communication)
			for name, n := range more.Communication {
				want.Communication[name] += n
			}
		}
	}
	depends := dependent(q, len(v.Cotangents))
	wantCommunication(t, "transposed derivative", q, count(q, p, depends), want.Communication)
	roundTrip(t, q)
	if len(v.Cotangents) == 1 && p.GlobalDims(0) != nil && len(p.GlobalDims(0)) == 0 {
		g, err := transpose.Gradient(p, v.wrt())
		if err != nil {
			t.Fatal(err)
		}
		if v.Cotangents[0].List != nil && v.Cotangents[0].List[0] == 1 {
			v.testGrads(t, g, v.arguments())
		}
	}
}

// testSpecs compares specs: first those of the cotangents, then residuals, which are inputs here.
func (v *vector) testSpecs(t *testing.T, q *typed.Program, want *derivative) {
	plain := func(s typed.Spec) string {
		for len(s.Dims) > 0 && len(s.Dims[len(s.Dims)-1]) == 0 {
			s.Dims = s.Dims[:len(s.Dims)-1]
		}
		return strings.ReplaceAll(s.String(), "'", "")
	}
	trim := func(s string) string {
		for strings.HasSuffix(s, ", None)") {
			s = strings.TrimSuffix(s, ", None)") + ")"
		}
		return strings.Replace(s, "P(None)", "P()", 1)
	}
	for i := range v.Cotangents {
		if got := plain(q.Params[i].Spec); got != trim(want.InSpecs[i]) {
			t.Errorf("cotangent %d has spec %s, want %s", i, got, want.InSpecs[i])
		}
	}
	for i, r := range q.Results {
		if got := plain(r.Spec); got != trim(want.OutSpecs[i]) {
			t.Errorf("result %d has spec %s, want %s", i, got, want.OutSpecs[i])
		}
	}
}

func (v *vector) testGrads(t *testing.T, q *typed.Program, args []tensor.Tensor) []tensor.Tensor {
	t.Helper()
	outputs, err := execute(t.Context(), q, args, run.Options{Debug: true})
	if err != nil {
		t.Fatalf("%v in\n%s", err, q)
	}
	if len(outputs) != len(v.Grads) {
		t.Fatalf("%d gradients, want %d", len(outputs), len(v.Grads))
	}
	for i := range v.Grads {
		if err := v.Grads[i].compare(outputs[i]); err != nil {
			t.Errorf("derivative by %s: %v in\n%s", v.Wrt[i], err, q)
		}
	}
	return outputs
}

// testPairing checks <f(x), ct> = <x, fᵀ(ct)>.
func (v *vector) testPairing(t *testing.T, p *typed.Program, grads []tensor.Tensor) {
	outputs, err := execute(t.Context(), p, v.arguments(), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	left, right := 0.0, 0.0
	for j, ct := range v.cotangents(p) {
		left += dotProduct(outputs[j], ct)
	}
	for i, k := range v.wrt() {
		right += dotProduct(v.arguments()[k], grads[i])
	}
	for _, got := range []float64{left, right} {
		if math.Abs(got-v.Pairing) > 1e-5*math.Max(1, math.Abs(v.Pairing)) {
			t.Errorf("pairings are %v and %v, want %v", left, right, v.Pairing)
		}
	}
}

func dotProduct(x, y tensor.Tensor) (sum float64) {
	a, b := x.Floats(), y.Floats()
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}

// count counts collectives by the names of JAX; those of ops in depends only, unless it is nil.
func count(q, p *typed.Program, depends map[ir.OpID]bool) map[string]int {
	out := map[string]int{}
	for _, c := range q.Communications() {
		if depends == nil || depends[c.Op] {
			out[jaxName(p, &c)]++
		}
	}
	return out
}

// dependent returns the ops that depend on the first n inputs.
func dependent(q *typed.Program, n int) map[ir.OpID]bool {
	m, ops, values := q.Module, map[ir.OpID]bool{}, map[ir.ValueID]bool{}
	for _, v := range m.BlockArgs(q.Body())[:n] {
		values[v] = true
	}
	m.Walk(q.Body(), func(op ir.OpID) {
		if slices.ContainsFunc(q.Captures(op), func(v ir.ValueID) bool { return values[v] }) {
			ops[op] = true
			for _, v := range m.ResultValues(op) {
				values[v] = true
			}
			for _, r := range m.Regions(op) {
				for _, b := range m.Blocks(r) {
					for _, v := range m.BlockArgs(b) {
						values[v] = true
					}
				}
			}
		}
	})
	return ops
}

// wantCommunication compares counts of collectives. JAX makes a padded sum of the transpose of a cut.
func wantCommunication(t *testing.T, what string, q *typed.Program, got, want map[string]int) {
	t.Helper()
	got = maps.Clone(got)
	for name, n := range got {
		if axes, ok := strings.CutPrefix(name, "all_gather_invariant"); ok && want[name] == 0 && want["psum_invariant"+axes] > 0 {
			delete(got, name)
			got["psum_invariant"+axes] += n
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: communication %v, want %v in\n%s", what, got, want, q)
	}
}

package plan_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/diag"
	"autoshard/ir/mlir"
	"autoshard/plan"
	"autoshard/program"
)

// perceptron has two layers and rows that the user cuts.
const perceptron = `sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%x: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<512x1024xf32>, %v: tensor<1024x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<512x1024xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x512xf32>) -> tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}
`

func source(t *testing.T, text string) *answer.Source {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "program.mlir"})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return &answer.Source{Name: "program", Module: m}
}

// planOn plans a program on a hardware in an amount of memory, that of its chips for 0.
func planOn(t *testing.T, text, hardware string, memory int64) *plan.Plan {
	t.Helper()
	hw, err := cost.Lookup(hardware)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(t.Context(), source(t, text), plan.Options{Hardware: hw, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkPriced checks that the program of a plan costs what the plan says.
func checkPriced(t *testing.T, p *plan.Plan, hardware string) {
	t.Helper()
	hw, err := cost.Lookup(hardware)
	if err != nil {
		t.Fatal(err)
	}
	device, err := p.Lowered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e, err := device.Estimate(t.Context(), hw); err != nil || e != p.Estimate {
		t.Errorf("the program costs %+v, %v, the plan says %+v", e, err, p.Estimate)
	}
}

// A plan keeps what the user wrote and fits the memory. It is not slower than a baseline that fits, nor faster than its bound, and its
// program costs what it says.
func TestMake(t *testing.T) {
	for _, memory := range []int64{0, 6 << 20, 4 << 20} {
		p := planOn(t, perceptron, "h100", memory)
		if x := p.Inputs[0]; x.Spec != "P('data', None)" || !x.User || p.Estimate.PeakBytes > p.Memory || memory > 0 && p.Memory != memory {
			t.Errorf("x is %s, and the plan takes %d bytes of %d", x.Spec, p.Estimate.PeakBytes, p.Memory)
		}
		for _, b := range p.Baselines {
			if b.Fits && b.Estimate.Seconds < p.Estimate.Seconds || b.Fits && b.Estimate.PeakBytes > p.Memory {
				t.Errorf("%s takes %v, the plan %v", b.Name, b.Estimate, p.Estimate)
			}
		}
		c := p.Certificate
		priced, gap := p.Estimate.Seconds*program.Picoseconds, float64(c.Cost-c.Bound)/float64(c.Cost)
		if c.Bound > c.Cost || math.Abs(priced-float64(c.Cost)) > 1 || c.Gap != gap {
			t.Errorf("%+v is the certificate of %+v", c, p.Estimate)
		}
		checkPriced(t, p, "h100")
	}
	hw, err := cost.Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Make(t.Context(), source(t, perceptron), plan.Options{Hardware: hw, Memory: 1 << 20})
	if !errors.Is(err, diag.ErrInfeasible) {
		t.Errorf("a plan that does not fit: %v", err)
	}
}

// Where no plan fits, the answer says below which limit there is none, which sharding stands in the way, and a limit that works.
func TestInfeasible(t *testing.T) {
	const weights = "%w: tensor<512x1024xf32>"
	pinned := strings.Replace(perceptron, weights, weights+" {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}", 1)
	const limit = 3 << 20
	planned := func(text string, memory int64) error {
		_, err := plan.Make(t.Context(), source(t, text), plan.Options{Memory: memory})
		return err
	}
	err := planned(pinned, limit)
	if !errors.Is(err, diag.ErrInfeasible) {
		t.Fatalf("with the weights pinned: %v", err)
	}
	notes := ""
	for _, d := range diag.Diagnostics(err) {
		for _, n := range d.Notes {
			notes += n.Message + "\n"
		}
	}
	for _, want := range []string{"no plan of those that were searched can need less than 3 MiB",
		"without the sharding of argument 1 there is a plan that needs", "`--memory 4.5MiB` has a plan"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	if err := planned(pinned, 9<<19); err != nil {
		t.Errorf("the limit that is said to work: %v", err)
	}
	if err := planned(perceptron, limit); err != nil {
		t.Errorf("without the sharding that is said to stand in the way: %v", err)
	}
}

// A result that replaces an input lies as the user wrote for the result, and so does the input, whatever propagation would do with it.
func TestResultsOfState(t *testing.T) {
	p := planOn(t, `sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<1536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}, %y: tensor<1536xf32>)
    -> (tensor<1536xf32>, tensor<1536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %y : tensor<1536xf32>
  %1 = stablehlo.pad %y, %zero, low = [-1], high = [1], interior = [0] : (tensor<1536xf32>, tensor<f32>) -> tensor<1536xf32>
  return %0, %1 : tensor<1536xf32>, tensor<1536xf32>
}`, "tpu-v5e", 17_000)
	if in, out := p.Inputs[1].Spec, p.Outputs[1].Spec; !strings.HasPrefix(strings.TrimLeft(in, "P("), "'a'") || out != in {
		t.Errorf("the input is %s and the result that replaces it %s", in, out)
	}
}

// A plan is read as it was written, and its annotated program is planned as the plan says.
func TestPlansAreReadBack(t *testing.T) {
	p, err := plan.Make(t.Context(), source(t, perceptron), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := plan.Read(t.Context(), "plan.json", p.JSON())
	if err != nil || !bytes.Equal(again.JSON(), p.JSON()) {
		t.Errorf("%v; written\n%s\nread and written\n%s", err, p.JSON(), again.JSON())
	}
	text, err := again.Annotated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	replanned, err := plan.Make(t.Context(), source(t, string(text)), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range p.Inputs {
		if y := replanned.Inputs[i]; y.Spec != x.Spec || !y.User {
			t.Errorf("%s is %s in the plan, and %s in that of the annotated program", x.Name, x.Spec, y.Spec)
		}
	}
	if replanned.Estimate != p.Estimate {
		t.Errorf("the annotated program costs %+v, the plan %+v", replanned.Estimate, p.Estimate)
	}
}

// Queries and keys read one gather: the plan computes them in one ring, which sends no more than the gather, and its bound knows that
// there is nothing better.
func TestQueriesAndKeys(t *testing.T) {
	p := planOn(t, `sdy.mesh @mesh = <["model"=8]>
func.func @main(%x: tensor<8192x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %wq: tensor<8192x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wk: tensor<8192x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
    -> (tensor<8192x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
        tensor<8192x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {
  %q = stablehlo.dot_general %x, %wq, contracting_dims = [1] x [0] : (tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %k = stablehlo.dot_general %x, %wk, contracting_dims = [1] x [0] : (tensor<8192x8192xbf16>, tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
  return %q, %k : tensor<8192x8192xbf16>, tensor<8192x4096xbf16>
}`, "h100", 0)
	const gathered, most = 7 * 8192 * 8192 * 2, 1e-4
	if len(p.Collectives) != 7 || p.Estimate.SentBytes != gathered || p.Certificate.Gap > most {
		t.Errorf("%d collectives send %d bytes, want 7 with %d; the gap is %g", len(p.Collectives), p.Estimate.SentBytes, gathered,
			p.Certificate.Gap)
	}
}

package plan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/rewrites"
)

// weighed opens a session for an example under a short memory, for which inputs have to be cut: nothing is recomputed.
func weighed(t *testing.T, name string, memory int64) (*Session, *Plan, Options) {
	t.Helper()
	o := Options{Mesh: axes(t, "4,2"), Memory: memory, Steps: 3_000_000, Without: rewrites.Of(rewrites.RecomputeActivations)}
	s, now, err := NewSession(t.Context(), parse(t, "../examples/"+name+".mlir"), o)
	if err != nil {
		t.Fatal(err)
	}
	return s, now, o
}

// The best alternative of a value takes what a plan takes that is asked for with it as a pin, the others are no faster, each is there once,
// and the session is where it was.
func TestWeigh(t *testing.T) {
	s, now, o := weighed(t, "mlp_train", 50_000)
	for _, value := range []string{"arg0", "arg1", "arg5", "result[1]"} {
		w, err := s.Weigh(t.Context(), now, value, "")
		if err != nil {
			t.Fatal(err)
		}
		if w.Now.Seconds != now.Estimate.Seconds || w.Value != value {
			t.Errorf("%s now takes %+v", value, w.Now)
		}
		seen := []string{w.Now.Spec}
		for i, c := range w.Others {
			if slices.Contains(seen, c.Spec) || i > 0 && c.rank() < w.Others[i-1].rank() {
				t.Errorf("%s: %s is there twice, or faster than what stands before it", value, c.Spec)
			}
			seen = append(seen, c.Spec)
		}
		if value == "result[1]" {
			if len(w.Others) != 0 {
				t.Errorf("a scalar could be cut: %+v", w.Others)
			}
			continue
		}
		best := w.Others[0]
		o.Pins = []Pin{{value, best.Spec}}
		p, err := Make(t.Context(), s.planner.source, o)
		if err != nil {
			t.Fatal(err)
		}
		if !best.Anew || best.Seconds != p.Estimate.Seconds || best.PeakBytes != p.Estimate.PeakBytes {
			t.Errorf("%s as %s takes %g s, a plan with this pin %g", value, best.Spec, best.Seconds, p.Estimate.Seconds)
		}
	}
	again, err := s.Plan(t.Context())
	if err != nil || again.Estimate.Seconds > now.Estimate.Seconds {
		t.Errorf("the session has a plan of %+v, %v", again.Estimate, err)
	}
}

// Along one axis there are the alternatives that cut along it. Names that are none are errors with the nearest.
func TestWeighAxis(t *testing.T) {
	s, now, _ := weighed(t, "mlp_train", 50_000)
	w, err := s.Weigh(t.Context(), now, "arg3", "a")
	if err != nil || len(w.Others) == 0 {
		t.Fatalf("%+v, %v", w, err)
	}
	for _, c := range w.Others {
		if !strings.Contains(c.Spec, "'a'") {
			t.Errorf("%s is not cut along a", c.Spec)
		}
	}
	for _, wrong := range [][2]string{{"agr3", ""}, {"arg3", "A"}, {"arg*", ""}} {
		if _, err := s.Weigh(t.Context(), now, wrong[0], wrong[1]); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// What fits in no plan is refused with its reason, comes last, and leaves the session as it was.
func TestRefusedChoice(t *testing.T) {
	s, now, _ := weighed(t, "mlp_train", 23_500)
	decisions, err := s.Decisions(t.Context(), now, 3)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i, d := range decisions.List {
		if d.Whole.Refused != "" {
			refused++
			if !strings.HasPrefix(d.Whole.Refused, "no plan found that fits in 22.9 KiB") || i >= refused {
				t.Errorf("%+v", d.Whole)
			}
		}
	}
	if refused == 0 {
		t.Error("everything fits: the test shows nothing")
	}
	if p, err := s.Plan(t.Context()); err != nil || p.Estimate.Seconds > now.Estimate.Seconds {
		t.Errorf("the session has no plan as good as before: %v", err)
	}
}

// Inputs of equal layers are one decision; what is whole is none. Undoing the first decision costs the most.
func TestDecisions(t *testing.T) {
	s, now, o := weighed(t, "transformer_train", 700_000)
	decisions, err := s.Decisions(t.Context(), now, 2)
	if err != nil || len(decisions.List) == 0 {
		t.Fatalf("%+v, %v", decisions, err)
	}
	list := decisions.List
	for i, d := range list {
		if i > 0 && d.Whole.rank() > list[i-1].Whole.rank() {
			t.Errorf("%s stands behind %s, which matters less", d.Values[0], list[i-1].Values[0])
		}
		for _, name := range d.Values {
			at := slices.IndexFunc(now.Inputs, func(x answer.Tensor) bool { return x.Name == name })
			if x := now.Inputs[at]; x.Spec != d.Spec || len(x.Axes) == 0 {
				t.Errorf("%s is %s", name, x.Spec)
			}
		}
	}
	first := list[0]
	for _, name := range first.Values {
		o.Pins = append(o.Pins, Pin{name, first.Whole.Spec})
	}
	p, err := Make(t.Context(), s.planner.source, o)
	if err == nil && p.Estimate.Seconds != first.Whole.Seconds || (err != nil) != (first.Whole.Refused != "") {
		t.Errorf("%s whole takes %g s, %s; a plan with these pins %v", first.Values, first.Whole.Seconds, first.Whole.Refused, err)
	}
}

// Where time is over what is known is answered: alternatives without a plan are late, they are not called impossible, and come last.
// An interrupt is such an end; that nobody waits any more is an error.
func TestLateChoices(t *testing.T) {
	s, now, _ := weighed(t, "mlp_train", 50_000)
	over, enough := context.WithCancelCause(t.Context())
	enough(ErrEnough)
	w, err := s.Weigh(over, now, "arg3", "")
	if err != nil || len(w.Others) == 0 {
		t.Fatalf("%+v, %v", w, err)
	}
	for _, c := range w.Others {
		if !c.Late || c.Refused == "" {
			t.Errorf("%+v", c)
		}
	}
	d, err := s.Decisions(over, now, 3)
	if err != nil || len(d.List) == 0 || !d.List[0].Whole.Late {
		t.Errorf("%+v, %v", d, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Weigh(gone, now, "arg3", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("abandoned: %v", err)
	}
	for _, c := range [][2]Choice{{{Seconds: 1}, {Late: true, Refused: "late"}}, {{Refused: "none"}, {Seconds: 1}}} {
		if c[0].weight() <= c[1].weight() {
			t.Errorf("%+v matters no more than %+v", c[0], c[1])
		}
	}
}

// The time until a deadline is shared: the plan that is weighed leaves most of it, each alternative leaves some for the others, and the
// best is planned from scratch, too.
func TestWeighingSharesTime(t *testing.T) {
	o := Options{Mesh: axes(t, "4,2"), Memory: 50_000, Now: time.Now}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	begun := time.Now()
	beginning, stop := o.Beginning(ctx)
	defer stop()
	due, _ := beginning.Deadline()
	if share := due.Sub(begun); share < 4*time.Second || share > 6*time.Second {
		t.Errorf("the plan has %v of 20 s", share)
	}
	s, now, err := NewSession(beginning, parse(t, "../examples/mlp_train.mlir"), o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Weigh(ctx, now, "arg3", "")
	if err != nil || ctx.Err() != nil {
		t.Fatalf("%v; %v", err, ctx.Err())
	}
	for _, c := range w.Others {
		if c.Late {
			t.Errorf("no time for %s", c.Spec)
		}
	}
	if !w.Others[0].Anew {
		t.Errorf("the best was not planned from scratch: %+v", w.Others[0])
	}
}

// Of the ways to cut a large value along many axes those along the fewest are tried, and the others are counted.
func TestUntried(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tanh.mlir")
	text := `func.func @main(%x: tensor<8x8x8x8xf32>) -> tensor<8x8x8x8xf32> {
	%0 = stablehlo.tanh %x : tensor<8x8x8x8xf32>
	return %0 : tensor<8x8x8x8xf32>
}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, now, err := NewSession(t.Context(), parse(t, file), Options{Mesh: axes(t, "2,2,2")})
	if err != nil {
		t.Fatal(err)
	}
	over, enough := context.WithCancelCause(t.Context())
	enough(ErrEnough)
	w, err := s.Weigh(over, now, "arg0", "")
	if err != nil || len(w.Others) != mostAlternatives || w.Untried != 5*5*5-1-mostAlternatives {
		t.Errorf("%d tried, %d not, %v", len(w.Others), w.Untried, err)
	}
}

package plan

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir/mlir"
)

// smallStep is a training step of two layers whose text says where its values are made.
func smallStep(t *testing.T) *answer.Source {
	t.Helper()
	src, err := os.ReadFile("testdata/microbatches.mlir")
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: "microbatches.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	m.LocateByText()
	return &answer.Source{Name: "microbatches", Module: m}
}

// A value inside the program is asked about by its line; what the best alternative takes is what a plan with that pin takes, in which the
// value is cut so.
func TestWeighInnerValues(t *testing.T) {
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Mesh: axes(t, "2"), Hardware: hw}
	s, first, err := NewSession(t.Context(), smallStep(t), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"@5", "@10", "@12#0"} {
		w, err := s.Weigh(t.Context(), first, value, "")
		if err != nil {
			t.Fatal(err)
		}
		if w.Value != value || w.Now.Bytes == 0 || len(w.Others) == 0 || w.Others[0].Bytes == 0 || !w.Others[0].Anew {
			t.Errorf("%+v", w)
			continue
		}
		o.Pins = []Pin{{Value: value, Sharding: w.Others[0].Spec}}
		p, err := Make(t.Context(), smallStep(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(p.Estimate.Seconds-w.Others[0].Seconds) / p.Estimate.Seconds; off > 1e-3 {
			t.Errorf("%s as %s is said to take %g s, and takes %g", value, w.Others[0].Spec, w.Others[0].Seconds, p.Estimate.Seconds)
		}
		if len(p.Constraints) == 0 || p.Constraints[0].Spec != w.Others[0].Spec {
			t.Errorf("%s is pinned to %s, and the plan keeps %+v", value, w.Others[0].Spec, p.Constraints)
		}
	}
}

// What no line makes, or has no number, is an error of the option.
func TestInnerNames(t *testing.T) {
	for called, want := range map[string]string{
		"@1000": "line 1000 of the model makes no tensor",
		"@x":    "is no value of a line",
		"@5#7":  "line 5 of the model makes no tensor",
	} {
		_, err := Make(t.Context(), smallStep(t), Options{Mesh: axes(t, "2"), Pins: []Pin{{Value: called, Sharding: "P(None)"}}})
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", called, err, want)
		}
	}
}

package main

import (
	"math"
	"os"
	"slices"
	"testing"

	"autoshard/benchmarks/experts"
	"autoshard/cost"
	"autoshard/program"
)

// Equal values share their ranks.
func TestRanked(t *testing.T) {
	if got := ranked([]float64{3, 1, 3, 2}); !slices.Equal(got, []float64{2.5, 0, 2.5, 1}) {
		t.Errorf("ranks %v", got)
	}
}

// Predictions that are twice and half of what steps take are away by a factor of two, and not biased; their ranks count, not their sizes.
func TestAgreement(t *testing.T) {
	var rows []row
	for _, of := range [][2]float64{{2, 1}, {3, 6}, {20, 10}, {50, 100}} {
		rows = append(rows, row{said: program.Estimate{Seconds: of[0] - 0.5}, took: times{Step: of[1], Start: 0.5}})
	}
	ratios := off(rows)
	if math.Abs(ratios.Away()-2) > 1e-12 || math.Abs(ratios.Mean()-1) > 1e-12 || math.Abs(alike(rows)-1) > 1e-12 {
		t.Errorf("away by %v, ratio %v, ranks alike %v", ratios.Away(), ratios.Mean(), alike(rows))
	}
	slices.Reverse(rows[:2])
	rows[0].took.Step = 0.1
	if got := alike(rows); math.Abs(got-0.8) > 1e-12 {
		t.Errorf("ranks alike %v", got)
	}
}

// A step that sends takes longer than starting one that computes nothing.
func TestMeasure(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" || os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED are not set: they name a Python with jax, and the folder with the models")
	}
	models, err := experts.Matching("mlp_train")
	if err != nil {
		t.Fatal(err)
	}
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(t.Context(), python)
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	r, ok, err := p.measure(t.Context(), &models[0], &models[0].Plans[0], hw)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if r.took.Start <= 0 || r.took.Step <= r.took.Start || r.said.CollectiveSeconds <= 0 {
		t.Errorf("the row is %+v", r)
	}
}

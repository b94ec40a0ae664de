package chart_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"autoshard/pricing"
	"autoshard/report/chart"
)

func sweep() *pricing.SweepAnswer {
	return &pricing.SweepAnswer{Product: "A · B", Variable: "I", Strategies: []string{"gather", "reduce", "none"},
		Points:   []pricing.SweepPoint{{Size: 16, Seconds: []float64{1e-3, 2e-3, 0}}, {Size: 64, Seconds: []float64{4e-3, 2e-3, 0}}},
		Segments: []pricing.Segment{{From: 16, To: 31}, {From: 32, To: 64}}}
}

// A chart has a line and a name for each strategy that there is, marks where the fastest changes, and is the same each time.
func TestSweep(t *testing.T) {
	svg, err := chart.Sweep(sweep())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg ", ">gather</text>", ">reduce</text>", "> 32</text>", ">microseconds</text>"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the chart has no %s", want)
		}
	}
	if strings.Contains(string(svg), ">none</text>") {
		t.Error("the chart shows a strategy that there is not")
	}
	if again, err := chart.Sweep(sweep()); err != nil || !bytes.Equal(svg, again) {
		t.Errorf("the second chart differs, %v", err)
	}
}

func ExampleSweep() {
	svg, err := chart.Sweep(sweep())
	fmt.Println(bytes.HasPrefix(svg, []byte("<?xml")), err)
	// Output: true <nil>
}

package report_test

import (
	"testing"

	"autoshard/report"
)

// Measured times stand beside those of the profile; what was lost in noise is left out.
func TestBenchText(t *testing.T) {
	got := report.BenchText(&report.Bench{Devices: 2, Hardware: "cpu",
		Rounds: []report.BenchRound{{Bytes: 1 << 20, Times: []report.BenchTime{
			{Kind: "all_gather", Seconds: 100e-6, Spread: 4e-6, Predicted: 110e-6}, {Kind: "all_reduce", Predicted: 220e-6}}}},
		Ratios: []report.BenchRatio{{Kind: "all_gather", Measured: 1}, {Kind: "all_reduce", Measured: 1.985}}})
	want := `2 devices at once, beside the profile cpu
array     all_gather    said  all_reduce    said
1 MiB  100 us ± 2 us  110 us           -  220 us
all_reduce takes 1.99 times as long as all_gather
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

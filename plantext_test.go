package autoshard

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckText(t *testing.T) {
	c := &Check{
		Outputs: []OutputCheck{
			{Index: 0, Name: "y", Exact: true, ExpectedError: 1e-7, Passed: true},
			{Index: 1, Name: "z", UnshardedError: math.Inf(1), ExpectedError: 0.5},
		},
		Collectives: []CollectiveCheck{{Kind: "all_gather", Predicted: 10, Counted: 10}, {Kind: "all_gather", Predicted: 20, Counted: 21}},
	}
	want := `verified: 1 of 2 outputs pass, 1 equal bit for bit; largest relative error +Inf against the unsharded run, 0.5 against expected outputs
output  name  unsharded error  expected error
     1  z                +Inf             0.5
collective  places  equal  predicted bytes  counted bytes
all_gather       2      1               30             31
`
	if d := cmp.Diff(want, c.Text()); d != "" {
		t.Error(d)
	}
}

func TestFormatUnits(t *testing.T) {
	for s, want := range map[float64]string{0: "0 ps", 5e-13: "0.5 ps", 4.66e-8: "46.6 ns", 1.5e-3: "1.5 ms", 12.345: "12.3 s"} {
		if got := formatSeconds(s); got != want {
			t.Errorf("formatSeconds(%v) = %q, want %q", s, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1536: "1.5KiB", 1537: "1.51KiB", 1 << 30: "1GiB",
		1<<30 + 1: "1.01GiB", 5 << 50: "5120TiB"} {
		if got := atLeast(n); got != want {
			t.Errorf("atLeast(%d) = %q, want %q", n, got, want)
		}
	}
}

package autoshard

import (
	"testing"
)

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

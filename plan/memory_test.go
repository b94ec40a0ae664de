package plan

import (
	"testing"
)

// A limit is written in the largest unit that needs no more than two digits behind the point, and never as less than it is.
func TestFormatUnits(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1536: "1.5KiB", 1537: "1.51KiB", 1 << 30: "1GiB",
		1<<30 + 1: "1.01GiB", 5 << 50: "5120TiB"} {
		if got := atLeast(n); got != want {
			t.Errorf("atLeast(%d) = %q, want %q", n, got, want)
		}
	}
}

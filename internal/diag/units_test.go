package diag_test

import (
	"math"
	"testing"

	"autoshard/internal/diag"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 16e9: "14.9 GiB", 999 << 40: "999 TiB", math.MaxInt64: "8192 PiB",
	} {
		if got := diag.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{0: "0 ps", 5e-13: "0.5 ps", 4.66e-8: "46.6 ns", 1.5e-3: "1.5 ms", 12.345: "12.3 s"} {
		if got := diag.Seconds(s); got != want {
			t.Errorf("Seconds(%v) = %q, want %q", s, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	if one, none := diag.Count(1, "entry", "entries"), diag.Count(0, "entry", "entries"); one != "1 entry" || none != "0 entries" {
		t.Errorf("got %q and %q", one, none)
	}
}

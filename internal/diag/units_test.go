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

package diag

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var units = []struct {
	name  string
	bytes float64
}{
	{"", 1}, {"B", 1},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15},
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"PiB", 1 << 50},
}

// ParseSize reads a number of bytes with an SI unit (kB, MB, GB, TB, PB: powers of 1000) or an IEC unit (KiB, MiB,
// GiB, TiB, PiB: powers of 1024), such as 16GiB, 1.5GB or 4096. Fractions of a byte are cut off.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGTPikmgtp ")
	unit := strings.TrimSpace(text[len(digits):])
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || strings.ContainsAny(digits, "xXpP_nN") {
		return 0, fmt.Errorf("size must be a number with a unit, such as 16GiB or 80GB, not %q", text)
	}
	for _, u := range units {
		if u.name != unit {
			continue
		}
		bytes := x * u.bytes
		if bytes < 1 || bytes >= math.MaxInt64 {
			return 0, fmt.Errorf("size must be from 1 byte to %d, not %q", int64(math.MaxInt64), text)
		}
		return int64(bytes), nil
	}
	return 0, fmt.Errorf("unknown unit %q in %q: write B, kB, MB, GB, TB, KiB, MiB, GiB or TiB", unit, text)
}

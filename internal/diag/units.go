package diag

import (
	"fmt"
	"math"
)

// Bytes returns a size with three digits or all, and an IEC unit: 36.3 GiB.
func Bytes(n int64) string {
	x, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	for x >= 1024 && unit+1 < len(units) {
		x /= 1024
		unit++
	}
	if x >= 100 || x == math.Trunc(x) {
		return fmt.Sprintf("%.0f %s", x, units[unit])
	}
	return fmt.Sprintf("%.3g %s", x, units[unit])
}

// Count returns a number with its noun.
func Count(n int, one, many string) string { return fmt.Sprintf("%d %s", n, Plural(n, one, many)) }

// Plural returns the word for one thing or for several.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Seconds returns a time with three digits and a unit from ps to s: 1.23 ms.
func Seconds(s float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}} {
		if s >= u.size {
			return fmt.Sprintf("%.3g %s", s/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ps", s/1e-12)
}

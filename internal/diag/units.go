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

package propagate_test

import (
	"testing"

	"autoshard/propagate"

	"pgregory.net/rapid"
)

// TestEveryGapHasAReason: where the tensors of an op end up with different axes along a factor, the trace says why, and
// what it says is true.
func TestEveryGapHasAReason(t *testing.T) {
	gaps := 0
	rapid.Check(t, func(t *rapid.T) {
		m := imported(t)
		gaps += propagate.CheckGaps(t, m, drawOptions(t))
	})
	if gaps < 30 {
		t.Errorf("%d gaps only", gaps)
	}
}

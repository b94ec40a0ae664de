package propagate_test

import (
	"testing"

	"autoshard/propagate"

	"pgregory.net/rapid"
)

// TestEveryGapHasAReason: where the tensors of an op end up with different axes along a factor, the trace says why, and
// what it says is true. The program has settled before: the last visit of an op may itself open a gap.
func TestEveryGapHasAReason(t *testing.T) {
	gaps := 0
	rapid.Check(t, func(t *rapid.T) {
		m, o := imported(t), drawOptions(t)
		propagated(t, m, o)
		gaps += propagate.CheckGaps(t, m, o)
	})
	if gaps < 30 {
		t.Errorf("%d gaps only", gaps)
	}
}

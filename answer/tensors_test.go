package answer_test

import (
	"testing"

	"autoshard/answer"
)

// Roles have names for people, and what has none says whether a result takes its place.
func TestRoleName(t *testing.T) {
	for _, c := range []struct {
		role     string
		replaced bool
		want     string
	}{
		{"param", true, "parameters"}, {"opt_state", true, "optimizer state"}, {"batch", false, "batch inputs"},
		{"", true, "inputs that results replace"}, {"scalar", false, "other inputs"},
	} {
		if got := answer.RoleName(c.role, c.replaced); got != c.want {
			t.Errorf("%q is called %q, want %q", c.role, got, c.want)
		}
	}
}

package plan

import (
	"errors"
	"testing"

	"autoshard/internal/diag"

	"pgregory.net/rapid"
)

// A budget that is written is read back, whatever it is.
func TestBudgetTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{Kind: rapid.SampledFrom(append(kinds, ofAll)).Draw(t, "kind"), Bytes: rapid.Int64Range(0, 1<<50).Draw(t, "bytes"),
			Axes: rapid.SliceOfN(rapid.StringMatching(`[a-z]+`), 0, 3).Draw(t, "axes"), Each: rapid.Bool().Draw(t, "each")}
		back, err := ParseBudget(b.String())
		if err != nil || back.String() != b.String() || back.Bytes != b.Bytes || back.Each != b.Each || len(back.Axes) != len(b.Axes) {
			t.Fatalf("%s is read as %+v, %v", &b, back, err)
		}
	})
	for text, want := range map[string]string{"all_gather <= 64MiB": "all_gather<=64MiB", "all_reduce<=0": "all_reduce<=0",
		"sent: data, model<=1GB/device": "sent: data,model<=1000000000B/device"} {
		if b, err := ParseBudget(text); err != nil || b.String() != want {
			t.Errorf("%q is read as %s, %v, want %s", text, &b, err, want)
		}
	}
	for _, text := range []string{"", "all_gather", "all_gather<64MiB", "gather<=1", "all_gather<=x", "all_gather<=-1", "<=1"} {
		if _, err := ParseBudget(text); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

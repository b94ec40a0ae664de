package autoshard_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"autoshard"
	"autoshard/internal/diag"
	"autoshard/program"
)

// TestShardMapDocument reads and runs the programs of docs/shardmap.md.
func TestShardMapDocument(t *testing.T) {
	text, err := os.ReadFile("docs/shardmap.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for block := range strings.SplitSeq(string(text), "```\n") {
		if !autoshard.IsShardMap([]byte(block)) {
			continue
		}
		programs++
		p, err := autoshard.ReadShardMap(t.Context(), "docs/shardmap.md", []byte(block))
		if err != nil {
			t.Errorf("%v in\n%s", err, block)
			continue
		}
		if _, err := autoshard.ReadShardMap(t.Context(), "again", []byte(textOf(t, p))); err != nil {
			t.Errorf("%v in\n%s", err, textOf(t, p))
		}
		for _, form := range []string{"jax", "stablehlo", "sdy"} {
			if _, err := p.Emit(t.Context(), form); err != nil {
				t.Errorf("%s as %s: %v", p.Name, form, err)
			}
		}
	}
	if programs != 2 {
		t.Errorf("the document has %d programs, not 2", programs)
	}
}

// A text is a manual computation where it is MLIR that has one; a plan that holds such MLIR is none.
func TestIsManualComputation(t *testing.T) {
	for text, want := range map[string]bool{
		"module { sdy.manual_computation() }": true, "module {}": false, `{"program": "sdy.manual_computation"}`: false, "shard_map @f": false,
	} {
		if got := program.IsManualComputation([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if _, err := autoshard.ReadShardMap(t.Context(), "f.mlir", []byte("module {")); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("half a module is read: %v", err)
	}
}

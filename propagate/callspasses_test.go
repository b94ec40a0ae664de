package propagate_test

import (
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/ir/mlir"
	"autoshard/propagate"

	"github.com/google/go-cmp/cmp"
)

// TestCallsLikePasses compares Import, Run and Close with the passes that they stand for.
func TestCallsLikePasses(t *testing.T) {
	pipeline := beforeReshards("sdy-propagation-pipeline")
	pipeline = strings.ReplaceAll(pipeline, "{keep-sharding-rules=true}", "")
	pipeline = strings.ReplaceAll(pipeline, "sdy-sharding-constraint-to-reshard,", "")
	compared := 0
	for seed := int64(30_000); seed < 30_300; seed++ {
		text := randomProgram(seed)
		want, err := runPipeline(text, pipeline)
		if err != nil {
			continue // groups whose members cannot be together, for one
		}
		m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(calls.All(m)) == 0 {
			continue
		}
		compared++
		propagate.NameConstants(m)
		propagate.LiftInlinedMeshes(m)
		propagate.TagMeshes(m)
		if err := propagate.Import(t.Context(), m); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if _, err := propagate.Run(t.Context(), m, propagate.Options{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := propagate.Close(t.Context(), m); err != nil {
			if isValid(t, want) {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		if diff := cmp.Diff(want, string(mlir.Print(m, mlir.PrintOptions{}))); diff != "" {
			t.Errorf("seed %d (-passes +functions):\n%s\nof\n%s", seed, clip(diff), clip(text))
		}
	}
	if compared < 50 {
		t.Errorf("only %d programs have calls", compared)
	}
}

// isValid says whether a program is one that the passes may leave.
func isValid(t *testing.T, text string) bool {
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	return err == nil && ir.Verify(t.Context(), m) == nil
}

package autoshard_test

import (
	"strings"
	"testing"

	"autoshard"
	"autoshard/rewrites"
)

// A training step of small tensors, cut as its user says, sends many gradients as one: it takes less time for the same bytes, and computes
// the same; what is read back does, too. Where that is off there is nothing of it.
func TestMergedCollectives(t *testing.T) {
	model := readModel(t, "examples/transformer_train_megatron.mlir")
	o := options(t)
	o.Mesh, o.Steps = nil, 20_000_000
	merged := makePlan(t, model, o)
	o.Without = rewrites.Of(rewrites.MergeCollectives)
	separate := makePlan(t, model, o)
	if strings.Contains(separate.Program, "autoshard.merged_bytes") || !strings.Contains(merged.Program, "autoshard.merged_bytes") {
		t.Error("collectives are merged where that is off, or not where it is on")
	}
	if n, most := len(merged.Collectives), len(separate.Collectives); n >= most || merged.Estimate.Seconds >= separate.Estimate.Seconds {
		t.Errorf("%d collectives in %g s, separate ones are %d in %g s", n, merged.Estimate.Seconds, most, separate.Estimate.Seconds)
	}
	back, err := autoshard.ReadPlan(t.Context(), "plan.json", merged.JSON())
	if err != nil {
		t.Fatal(err)
	}
	const arrays = "examples/transformer_train"
	for _, p := range []*autoshard.Plan{merged, separate, back} {
		check := verify(t, p, arrays+".in.npz", arrays+".out.npz", 1e-4)
		if len(check.Collectives) != len(p.Collectives) {
			t.Errorf("%d collectives ran, the plan has %d", len(check.Collectives), len(p.Collectives))
		}
	}
}

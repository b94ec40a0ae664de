package autoshard_test

import (
	"context"
	"strings"
	"testing"

	"autoshard"
)

// Priorities propagate in two rounds, the batch first; the model axis is refused where the batch has it, and the
// trace says so.
func TestPrioritiesPropagateInRounds(t *testing.T) {
	m := readModel(t, "examples/transformer_train_megatron_priorities.mlir")
	p, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Trace.Rounds) != 2 || p.Trace.Rounds[0].UserPriority != 0 || p.Trace.Rounds[1].UserPriority != 1 {
		t.Fatalf("the trace has %d rounds, want those of priorities 0 and 1 in order", len(p.Trace.Rounds))
	}
	if first := p.Trace.Rounds[1].Levels[0].Steps[0]; first.Kind != "activate" || !strings.Contains(first.Axes, "model") {
		t.Errorf("the second round starts with %s, not with the model axis", first.String())
	}
	conflicts := 0
	for _, r := range p.Trace.Rounds {
		for _, l := range r.Levels {
			for _, s := range l.Steps {
				if s.Kind == "refusal" && s.Against != "" && s.Other != "" {
					conflicts++
				}
			}
		}
	}
	if conflicts == 0 {
		t.Error("no conflict is explained")
	}
}

// A limit on the priority leaves later rounds out.
func TestPropagateUpToPriority(t *testing.T) {
	m := readModel(t, "examples/transformer_train_megatron_priorities.mlir")
	p, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{MaxPriority: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Trace.Rounds); n != 1 {
		t.Errorf("%d rounds ran, want 1", n)
	}
}

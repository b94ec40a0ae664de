package autoshard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"autoshard"
)

// A session plans with a pin on top of the plan before, within deadlines too, and again without it.
func TestSession(t *testing.T) {
	o := options(t)
	o.Now = time.Now
	s, first, err := autoshard.NewSession(t.Context(), readModel(t, "examples/mlp_train.mlir"), o)
	if err != nil {
		t.Fatal(err)
	}
	neverWorse(t, first, o)
	weight := &first.Inputs[1]
	hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), hurried} {
		pinned, err := s.Plan(ctx, autoshard.Pin{Value: weight.Name, Sharding: "P('model', None)"})
		if err != nil {
			t.Fatal(err)
		}
		neverWorse(t, pinned, o)
		if got := pinned.Inputs[1].Spec; got != "P('model', None)" || !pinned.Inputs[1].User {
			t.Errorf("%s is %s", weight.Name, got)
		}
		free, err := s.Plan(t.Context(), autoshard.Pin{Value: weight.Name})
		if err != nil {
			t.Fatal(err)
		}
		if free.Certificate.Cost > first.Certificate.Cost {
			t.Errorf("without the pin again the plan costs %d, at first %d", free.Certificate.Cost, first.Certificate.Cost)
		}
	}
	if _, err := s.Plan(t.Context(), autoshard.Pin{Value: "nothing"}); !errors.Is(err, autoshard.ErrInvalid) {
		t.Errorf("a pin of nothing: %v", err)
	}
}

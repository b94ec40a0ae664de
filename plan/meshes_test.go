package plan

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/internal/diag"
)

// onDevices plans an example on eight devices of a mesh that is to be chosen.
func onDevices(ctx context.Context, t *testing.T, o Options) (*Plan, error) {
	t.Helper()
	var err error
	if o.Hardware, err = cost.Lookup("cpu"); err != nil {
		t.Fatal(err)
	}
	o.Devices = 8
	return Make(ctx, parse(t, "../examples/mlp_train.mlir"), o)
}

// The chosen mesh is, within a thousandth, as fast as every mesh of up to three axes that is given by hand, has no more axes than any that
// is as fast, and the plan lists them all with itself first. A second time the plan is the same, byte for byte.
func TestChosenMesh(t *testing.T) {
	p, err := onDevices(t.Context(), t, Options{Memory: 50_000})
	hw, unknown := cost.Lookup("cpu")
	if err != nil || unknown != nil {
		t.Fatal(err, unknown)
	}
	if again, err := onDevices(t.Context(), t, Options{Memory: 50_000}); err != nil || !bytes.Equal(p.JSON(), again.JSON()) {
		t.Errorf("another plan the second time, or none: %v", err)
	}
	if len(p.Meshes) != 4 || answer.FormatAxes(p.Meshes[0].Mesh) != answer.FormatAxes(p.Mesh) || p.Meshes[0].Seconds != p.Estimate.Seconds {
		t.Errorf("the plan on %v lists %+v", p.Mesh, p.Meshes)
	}
	for _, m := range p.Meshes {
		hand, err := Make(t.Context(), parse(t, "../examples/mlp_train.mlir"), Options{Mesh: m.Mesh, Hardware: hw, Memory: 50_000})
		if err != nil {
			t.Fatal(err)
		}
		best := p.Estimate.Seconds
		if hand.Estimate.Seconds*1.001 < best || hand.Estimate.Seconds <= best && len(m.Mesh) < len(p.Mesh) {
			t.Errorf("%v: %g s, the chosen mesh %v: %g s", m.Mesh, hand.Estimate.Seconds, p.Mesh, best)
		}
	}
}

// Meshes without an axis that a pin names are not tried; where nothing fits on any, the error says which needs the least; a mesh of the
// model must have as many devices as are asked for.
func TestMeshesOfRequests(t *testing.T) {
	p, err := onDevices(t.Context(), t, Options{Pins: []Pin{{"arg1", "P(None, 'fsdp')"}}})
	if err != nil || len(p.Meshes) != 1 || len(p.Mesh) != 3 {
		t.Errorf("a pin along fsdp: %+v, %v", p, err)
	}
	_, err = onDevices(t.Context(), t, Options{Memory: 1000})
	if !errors.Is(err, diag.ErrInfeasible) || !strings.Contains(err.Error(), "of 4 meshes") {
		t.Errorf("in a kilobyte: %v", err)
	}
	source := parse(t, "../examples/transformer_train_megatron.mlir")
	if _, err := Make(t.Context(), source, Options{Devices: 3}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("three devices on the mesh of a model: %v", err)
	}
}

// A request that asks for the best plan so far gets one on a mesh, and one that is given up its error.
func TestMeshesInTime(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrEnough)
	if p, err := onDevices(ctx, t, Options{}); err != nil || slices.ContainsFunc(p.Meshes, func(m TriedMesh) bool { return m.Full }) {
		t.Errorf("at once: %+v, %v", p, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := onDevices(ctx, t, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// Budgets hold on the mesh that is chosen, also where quick searches choose among many, and where no mesh keeps them the error says so.
func TestMeshesKeepBudgets(t *testing.T) {
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes int64
		kept  bool
	}{{220_000, true}, {1, false}} {
		b := Budget{Kind: ofAll, Bytes: c.bytes}
		o := Options{Devices: 16, Hardware: hw, Memory: 50_000, Steps: 10_000, Budgets: []Budget{b}}
		p, err := Make(t.Context(), parse(t, "../examples/mlp_train.mlir"), o)
		if !c.kept {
			if !errors.Is(err, diag.ErrInfeasible) || diag.Diagnostics(err)[0].Code != diag.BudgetLimit {
				t.Errorf("%s: %v", &b, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if sent, _ := b.sends(p.Collectives, o.Devices); sent > b.Bytes {
			t.Errorf("%d bytes are sent where the budget is %s", sent, &b)
		}
	}
}

package plan

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/program"
	"autoshard/subaxis"
)

// A search that begins with an earlier plan gives none that is worse, also where names are others, and says what it began with.
func TestFrom(t *testing.T) {
	o := Options{Mesh: []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}, Memory: 24_000}
	first, err := Make(t.Context(), parse(t, "../examples/mlp_train.mlir"), o)
	if err != nil {
		t.Fatal(err)
	}
	o.From, o.Steps = first, 1
	for _, rename := range []bool{false, true} {
		src := parse(t, "../examples/mlp_train.mlir")
		if rename {
			for _, v := range src.Module.BlockArgs(src.Module.MainFunc().Body) {
				src.Module.SetArgLoc(v, src.Module.AddLoc(ir.Location{Kind: ir.LocName, Name: "other"}))
			}
		}
		second, err := Make(t.Context(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		if second.Certificate.Cost > first.Certificate.Cost || second.Options.From != first.Hashes.Plan {
			t.Errorf("renamed %v: cost %d after %d, began with %q", rename, second.Certificate.Cost, first.Certificate.Cost, second.Options.From)
		}
		honest(t, second)
	}
}

// A plan is found again at once, however it is cut inside.
func TestFromIsThePlan(t *testing.T) {
	const programs = 60
	for seed := range programs {
		c := smallPrograms(1 + seed%3).Example(seed)
		c.module = withLines(t, c.module)
		o := c.options(unlimited)
		for range 3 {
			first, err := Make(t.Context(), c.source(), o)
			if errors.Is(err, diag.ErrInfeasible) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			o.From, o.Steps = first, 1
			second, err := Make(t.Context(), c.source(), o)
			if err != nil {
				t.Fatalf("program %d in %d bytes: %v", seed, o.Memory, err)
			}
			if second.Certificate.Cost > first.Certificate.Cost {
				t.Errorf("program %d in %d bytes: cost %d after %d", seed, o.Memory, second.Certificate.Cost, first.Certificate.Cost)
			}
			o = c.options(first.Estimate.PeakBytes * 4 / 5)
		}
	}
}

// A plan of another program, which has other ops on its lines, does no harm either: what comes of it computes what the program does.
func TestFromOtherPrograms(t *testing.T) {
	const programs = 90
	latest, rng := map[string]*Plan{}, rand.New(rand.NewPCG(1, 2)) // plans by mesh
	for seed := range programs {
		c := smallPrograms(1 + seed%3).Example(seed)
		c.module = withLines(t, c.module)
		o := c.options(unlimited)
		o.Steps = 1000
		mesh := fmt.Sprint(c.module.Mesh(1).Axes)
		o.From = latest[mesh]
		p, err := Make(t.Context(), c.source(), o)
		if err != nil {
			t.Fatalf("program %d: %v", seed, err)
		}
		latest[mesh] = p
		if p.Estimate.PeakBytes > 1<<20 {
			continue
		}
		lowered, err := p.Lowered(t.Context())
		if err != nil {
			t.Fatalf("program %d: %v", seed, err)
		}
		in := draw(rng, c.module)
		check, err := lowered.Verify(t.Context(), in, outputs(t, c.module, in), program.Tolerance{Rel: 1e-4})
		if err != nil || !check.Passed {
			t.Errorf("program %d: %+v, %v", seed, check, err)
		}
	}
}

// withLines returns a module as it is read from its text.
func withLines(t *testing.T, m *ir.Module) *ir.Module {
	text, err := mlir.Write(t.Context(), m, mlir.PrintOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err = mlir.Parse(t.Context(), text, mlir.Options{File: "small.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	m.LocateByText()
	return m
}

// A plan of another program on another mesh is no reason to fail.
func TestFromAnotherProgram(t *testing.T) {
	first, err := Make(t.Context(), parse(t, "../examples/transformer_train.mlir"),
		Options{Mesh: []subaxis.Axis{{Name: "x", Size: 2}}, Steps: 1000})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Make(t.Context(), parse(t, "../examples/mlp_train.mlir"),
		Options{Mesh: []subaxis.Axis{{Name: "data", Size: 8}}, From: first})
	if err != nil {
		t.Fatal(err)
	}
	honest(t, second)
}

// So is one that makes values again, for which the propagation of its cuts alone holds too much.
func TestFromMakesValuesAgain(t *testing.T) {
	o := Options{Mesh: axes(t, "4,2"), Memory: 180_000, Steps: 3_000_000}
	first, err := Make(t.Context(), parse(t, "../examples/transformer_train.mlir"), o)
	if err != nil || len(first.Recomputed) == 0 {
		t.Fatalf("%v: nothing is made again", err)
	}
	o.From, o.Steps = first, 1
	second, err := Make(t.Context(), parse(t, "../examples/transformer_train.mlir"), o)
	if err != nil || second.Certificate.Cost > first.Certificate.Cost {
		t.Errorf("cost %+v after %+v, %v", second.Certificate, first.Certificate, err)
	}
}

// And one that computes its batch in parts, whenever the time is over.
func TestFromInParts(t *testing.T) {
	o := Options{Mesh: axes(t, "2"), Memory: 20 << 10}
	first, err := Make(t.Context(), parse(t, "testdata/microbatches.mlir"), o)
	if err != nil || first.Microbatches < 2 {
		t.Fatalf("%v: the batch is whole", err)
	}
	o.From = first
	for looks := 1; looks < 200; looks += 1 + looks/4 {
		begun := time.Now()
		due := begun.Add(time.Hour)
		ctx, cancel := context.WithDeadline(t.Context(), due)
		o.Now = func() time.Time { // at so many looks at the clock, time is over
			begun = begun.Add(time.Hour / time.Duration(looks))
			return begun
		}
		second, err := Make(ctx, parse(t, "testdata/microbatches.mlir"), o)
		if cancel(); err != nil || second.Certificate.Cost > first.Certificate.Cost {
			t.Errorf("%d looks: %v, cost %+v after %+v", looks, err, second, first.Certificate)
		}
	}
}

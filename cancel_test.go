package autoshard_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"autoshard"
)

// patience is a context that ends as canceled when it has been looked at some times; 0: never.
type patience struct {
	context.Context
	mu    sync.Mutex
	looks int
	end   int
	done  chan struct{}
}

func newPatience(t *testing.T, end int) *patience {
	return &patience{Context: t.Context(), end: end, done: make(chan struct{})}
}

// Done implements context.Context.
func (p *patience) Done() <-chan struct{} { return p.done }

// Err implements context.Context.
func (p *patience) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks++
	if p.end == 0 || p.looks < p.end {
		return nil
	}
	if p.looks == p.end {
		close(p.done)
	}
	return context.Canceled
}

// Every stage looks at its context at least once an op, believes what it sees, and ends soon after that.
func TestContextIsHeard(t *testing.T) {
	const file = "examples/transformer_train.mlir"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	model := readModel(t, file)
	o := options(t)
	o.Memory, o.Steps = 500_000, 1000
	plan := makePlan(t, model, o)
	written, err := model.ConvertTo(t.Context(), autoshard.FormJSON, "")
	if err != nil {
		t.Fatal(err)
	}
	const ops = 1000 // about that many
	emit := func(form string) func(context.Context) error {
		return func(ctx context.Context) error {
			program, err := plan.Lowered(ctx)
			if err == nil {
				_, err = program.Emit(ctx, form)
			}
			return err
		}
	}
	for name, stage := range map[string]struct {
		run   func(ctx context.Context) error
		least int // looks
	}{
		"read text": {func(ctx context.Context) error { _, err := autoshard.ReadModel(ctx, file, src); return err }, ops},
		"read JSON": {func(ctx context.Context) error { _, err := autoshard.ReadModel(ctx, file, written); return err }, ops},
		"propagate": {func(ctx context.Context) error {
			_, err := autoshard.Propagate(ctx, model, autoshard.PropagateOptions{Mesh: o.Mesh})
			return err
		}, 3 * ops},
		"explain": {func(ctx context.Context) error {
			_, err := autoshard.NewExplainer(ctx, model, autoshard.PropagateOptions{Mesh: o.Mesh})
			return err
		}, 2 * ops},
		"lint":      {func(ctx context.Context) error { _, err := model.Lint(ctx, autoshard.LintOptions{}); return err }, 5},
		"annotated": {func(ctx context.Context) error { _, err := plan.Annotated(ctx); return err }, 3 * ops},
		"jax":       {emit("jax"), 3 * ops},
		"stablehlo": {emit("stablehlo"), 3 * ops},
		"sdy":       {emit("sdy"), 3 * ops},
		"shardmap":  {emit("shardmap"), 2 * ops},
	} {
		t.Run(name, func(t *testing.T) {
			all := newPatience(t, 0)
			if err := stage.run(all); err != nil {
				t.Fatal(err)
			}
			if all.looks < stage.least {
				t.Errorf("looks at its context %d times, want %d at least", all.looks, stage.least)
			}
			const samples, afterwards = 30, 20
			for i := range samples {
				some := newPatience(t, 1+(all.looks-1)*i/(samples-1))
				if err := stage.run(some); !errors.Is(err, context.Canceled) {
					t.Errorf("the context ends at look %d of %d, the error is %v", some.end, all.looks, err)
				}
				if some.looks > some.end+afterwards {
					t.Errorf("the context ends at look %d of %d, %d follow", some.end, all.looks, some.looks-some.end)
				}
			}
		})
	}
}

// Planning that nobody waits for any more ends soon, whatever it is doing. The bound is generous, for busy machines:
// benchmarks/cancel measures.
func TestCanceledPlanEnds(t *testing.T) {
	model := readModel(t, "examples/transformer_train.mlir")
	o := options(t)
	o.Memory = 500_000
	rng := rand.New(rand.NewPCG(1, 7))
	const moments, most = 12, 2 * time.Second
	for range moments {
		ctx, cancel := context.WithCancel(t.Context())
		var canceled time.Time
		timer := time.AfterFunc(time.Duration(rng.IntN(400))*time.Millisecond, func() { canceled = time.Now(); cancel() })
		_, err := autoshard.MakePlan(ctx, model, o)
		if timer.Stop() {
			cancel()
			continue // it was faster
		}
		<-ctx.Done()
		if took := time.Since(canceled); !errors.Is(err, context.Canceled) && err != nil || took > most {
			t.Errorf("it ends %v after the cancellation: %v", took, err)
		}
	}
}

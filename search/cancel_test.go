package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"autoshard/internal/diag"
)

// TestCancelLatency ends the context at many moments of all phases. Solve has to return within 50 ms; the test allows the odd delay of a
// busy machine.
func TestCancelLatency(t *testing.T) {
	p := layered(4, 3000, 30, 10)
	before := runtime.NumGoroutine()
	var late []time.Duration
	for ms := time.Duration(1); ms < 1500; ms = ms*3/2 + 1 {
		ctx, cancel := context.WithTimeout(context.Background(), ms*time.Millisecond)
		start := time.Now()
		r, err := Solve(ctx, p, Options{Steps: 1e12})
		late = append(late, time.Since(start)-ms*time.Millisecond)
		cancel()
		if err == nil && r.Status != Early || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %d ms: %s, %v", ms, r.Status, err)
		}
	}
	slices.Sort(late)
	if typical := late[len(late)/2]; typical > 50*time.Millisecond {
		t.Errorf("returned %v after the end of the context, at most %v", typical, late[len(late)-1])
	}
	for deadline := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// A search that ends wherever it looks at its context returns what it has: exact ones, and quick ones that begin with messages.
func TestEndsAnywhere(t *testing.T) {
	for seed := range uint64(4) {
		dense := denseProblem(rand.New(rand.NewPCG(seed, 13)))
		for name, solve := range map[string]func(context.Context) error{
			"exact": func(ctx context.Context) error {
				_, err := Solve(ctx, dense, Options{})
				return err
			},
			"quick": func(ctx context.Context) error {
				_, err := Solve(ctx, dense, Options{Rough: true, Quick: true, Brief: true, Gap: 0.0005, Messages: new(Messages)})
				return err
			},
			"least memory": func(ctx context.Context) error {
				_, err := MinPeak(ctx, dense, Options{})
				return err
			},
		} {
			looks := int64(1)
			for ended := true; ended; looks += 1 + looks/20 {
				ctx := &endsAt{Context: t.Context()}
				ctx.looks.Store(looks)
				if err := solve(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, diag.ErrInfeasible) {
					t.Fatalf("seed %d, %s, after %d looks: %v", seed, name, looks, err)
				}
				ended = ctx.looks.Load() <= 0
			}
		}
	}
}

// endsAt is a context that ends when it has been looked at so often.
type endsAt struct {
	context.Context
	looks atomic.Int64
}

func (c *endsAt) Err() error {
	if c.looks.Add(-1) <= 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelledResultsHold checks what is returned when the context ends in the middle: the bound is valid and the solution fits.
func TestCancelledResultsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 12))
	for seed := range 60 {
		p := denseProblem(rand.New(rand.NewPCG(uint64(seed), 13)))
		o := bruteForce(p)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(4000))*time.Microsecond)
		r, err := Solve(ctx, p, Options{})
		cancel()
		if err == nil && (r.Bound > o.best || r.Cost < o.best) {
			t.Fatalf("seed %d: bound %d, cost %d, optimum %d", seed, r.Bound, r.Cost, o.best)
		}
	}
}

// Brief searches say that they found nothing without looking for the smallest limit that works.
func TestBrief(t *testing.T) {
	b := NewBuilder()
	b.AddNode([]int64{0, 1}, []int64{10, 20}, 0, 1)
	b.SetLimit(5)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, brief := range []bool{false, true} {
		_, err := Solve(context.Background(), p, Options{Brief: brief})
		var none *InfeasibleError
		if !errors.As(err, &none) || none.Memory == brief || !none.Proven {
			t.Errorf("brief %v: %+v", brief, none)
		}
	}
}

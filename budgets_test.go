package autoshard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"autoshard"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/plan"
	"autoshard/subaxis"
)

// neverWorse checks that a plan is at least as good as every baseline that fits and keeps what the user wrote, and that
// its figures agree.
func neverWorse(t *testing.T, p *autoshard.Plan, o autoshard.PlanOptions) {
	t.Helper()
	for _, b := range p.Baselines {
		if b.Fits && b.Note == "" && b.Estimate.Seconds < p.Estimate.Seconds {
			t.Errorf("baseline %s takes %g s, the plan %g s", b.Name, b.Estimate.Seconds, p.Estimate.Seconds)
		}
	}
	if p.Estimate.PeakBytes > p.Memory {
		t.Errorf("the plan needs %d bytes of %d", p.Estimate.PeakBytes, p.Memory)
	}
	c := p.Certificate
	if cost := float64(c.Cost) / 1e12; cost != p.Estimate.Seconds || c.Bound > c.Cost || c.Bound <= 0 {
		t.Errorf("cost %d ps, bound %d ps, step time %g s", c.Cost, c.Bound, p.Estimate.Seconds)
	}
	if (c.Status == "optimal") != (c.Cost == c.Bound) || c.Gap != float64(c.Cost-c.Bound)/float64(c.Cost) {
		t.Errorf("%s with cost %d, bound %d, gap %g", c.Status, c.Cost, c.Bound, c.Gap)
	}
	fits := slices.ContainsFunc(p.Baselines, func(b plan.Baseline) bool { return b.Fits })
	if o.Steps > 0 && c.Steps > o.Steps && fits {
		t.Errorf("%d steps of %d, although a plan was known from the beginning", c.Steps, o.Steps)
	}
}

// budgeted is a model and a mesh to plan under small budgets; the file's own mesh where none is given.
type budgeted struct {
	file string
	mesh []int64
}

func (b budgeted) options(t *testing.T) autoshard.PlanOptions {
	o := options(t)
	o.Mesh = nil
	for i, n := range b.mesh {
		o.Mesh = append(o.Mesh, subaxis.Axis{Name: string(rune('a' + i)), Size: n})
	}
	return o
}

var smallModels = []budgeted{
	{"examples/mlp_train.mlir", []int64{4, 2}},
	{"examples/mlp_train.mlir", []int64{2, 2, 2}},
	{"examples/transformer_train.mlir", []int64{4, 2}},
	{"examples/transformer_train_megatron.mlir", nil},
	{"testdata/plan/branch.mlir", []int64{2, 2, 2}},
}

// Whatever ends the search, the answer is at least the best baseline that fits, and the figures agree; the same steps
// give the same bytes on any number of cores.
func TestNeverWorseThanBaselines(t *testing.T) {
	for _, b := range smallModels {
		t.Run(fmt.Sprint(b.file, b.mesh), func(t *testing.T) {
			m := readModel(t, b.file)
			for _, steps := range []int64{1, 1000, 1_000_000, 10_000_000} {
				o := b.options(t)
				o.Steps = steps
				var first []byte
				for _, procs := range []int{1, 2} {
					before := runtime.GOMAXPROCS(procs)
					p := makePlan(t, m, o)
					runtime.GOMAXPROCS(before)
					neverWorse(t, p, o)
					if first == nil {
						first = p.JSON()
					} else if !bytes.Equal(p.JSON(), first) {
						t.Errorf("%d steps: GOMAXPROCS=%d gives other bytes than 1", steps, procs)
					}
				}
			}
		})
	}
}

// A context that has ended, or ends at any moment, still gets the best baseline; one that nobody waits for gets nothing.
func TestEndedContexts(t *testing.T) {
	for _, b := range smallModels {
		t.Run(fmt.Sprint(b.file, b.mesh), func(t *testing.T) {
			m, o := readModel(t, b.file), b.options(t)
			o.Now = time.Now
			for _, after := range []time.Duration{-time.Second, time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond} {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				p, err := autoshard.MakePlan(ctx, m, o)
				cancel()
				if err != nil {
					t.Fatalf("deadline after %v: %v", after, err)
				}
				neverWorse(t, p, o)
			}
			enough, stop := context.WithCancelCause(t.Context())
			stop(autoshard.ErrEnough)
			p, err := autoshard.MakePlan(enough, m, o)
			if err != nil {
				t.Fatal(err)
			}
			neverWorse(t, p, o)
			if p.Certificate.Status != "early" && p.Certificate.Status != "optimal" {
				t.Errorf("status %s", p.Certificate.Status)
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := autoshard.MakePlan(gone, m, o); !errors.Is(err, context.Canceled) {
				t.Errorf("abandoned: %v", err)
			}
		})
	}
}

// Where a baseline fits, there is a plan, with no byte to spare too.
func TestBaselinesThatJustFit(t *testing.T) {
	for _, b := range smallModels {
		t.Run(fmt.Sprint(b.file, b.mesh), func(t *testing.T) {
			m, o := readModel(t, b.file), b.options(t)
			o.Steps = 1000
			for _, known := range makePlan(t, m, o).Baselines {
				if known.Estimate.PeakBytes == 0 || known.Note != "" {
					continue
				}
				for _, spare := range []int64{0, 1, 1000} {
					for _, steps := range []int64{1, 3_000_000} {
						o.Memory, o.Steps = known.Estimate.PeakBytes+spare, steps
						p, err := autoshard.MakePlan(t.Context(), m, o)
						if err != nil {
							t.Fatalf("%s needs %d bytes, limit %d, %d steps: %v", known.Name, known.Estimate.PeakBytes, o.Memory, steps, err)
						}
						neverWorse(t, p, o)
					}
				}
			}
		})
	}
}

// Large models on meshes of three axes are answered within small budgets, in bounded memory, and never worse than data
// parallel.
func TestLargeModelsInTime(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	for _, b := range []budgeted{
		{"remat_scan.mlir", []int64{2, 2, 2}},
		{"remat_scan.mlir", []int64{4, 4, 4}},
		{"gpt12_scan.mlir.gz", []int64{2, 2, 2}},
		{"gpt12.mlir.gz", []int64{4, 4, 4}},
		{"gpt12_scan.mlir.gz", []int64{2, 2, 2, 2, 2, 2}},
	} {
		t.Run(fmt.Sprint(b.file, b.mesh), func(t *testing.T) {
			m, o := unpack(t, filepath.Join(shared, "cases", b.file)), b.options(t)
			o.Now = time.Now
			for _, steps := range []int64{1, 1_000_000} {
				o.Steps = steps
				neverWorse(t, makePlan(t, m, o), o)
			}
			o.Steps = 0
			const limit = 2 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			start := time.Now()
			p, err := autoshard.MakePlan(ctx, m, o)
			if err != nil {
				t.Fatal(err)
			}
			neverWorse(t, p, o)
			if took := time.Since(start); took > 2*limit {
				t.Errorf("took %v of %v", took, limit)
			}
		})
	}
}

// ViT-L fits where its batch is cut: no value is computed whole for want of a rule, chlo.erfc of 13.2 GB included.
func TestVisionTransformerFits(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	o := budgeted{mesh: []int64{64}}.options(t)
	o.Hardware, o.Memory, o.Steps = hw, 40_000_000_000, 20_000_000
	neverWorse(t, makePlan(t, unpack(t, filepath.Join(shared, "models", "vit_large_train.mlir.gz")), o), o)
}

// unpack reads a model that may be packed.
func unpack(t *testing.T, file string) *autoshard.Model {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	src, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := autoshard.ReadModel(t.Context(), filepath.Base(file), src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// No plan at all is said only where none of those that are known fits.
func TestSmallestLimitWorks(t *testing.T) {
	m := readModel(t, "examples/mlp_train.mlir")
	for _, steps := range []int64{1, 1000, 10_000_000} {
		o := options(t)
		o.Memory, o.Steps = 1000, steps
		_, err := autoshard.MakePlan(t.Context(), m, o)
		if !errors.Is(err, diag.ErrInfeasible) {
			t.Fatalf("%d steps: got %v, want an infeasible error", steps, err)
		}
		o.Memory = limitOf(t, err)
		neverWorse(t, makePlan(t, m, o), o)
	}
}

// Progress names the stages in order, and its figures are those of the report: the last cost and bound are the plan's.
func TestProgressIsInStepTime(t *testing.T) {
	m, o := readModel(t, "examples/transformer_train.mlir"), options(t)
	var stages []string
	var last autoshard.Progress
	o.Progress = func(p autoshard.Progress) {
		if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
		if last.Seconds > 0 && (p.Seconds > last.Seconds || p.Bound > p.Seconds) {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	p := makePlan(t, m, o)
	if last.Seconds != p.Estimate.Seconds {
		t.Errorf("the last cost is %g s, that of the plan %g s", last.Seconds, p.Estimate.Seconds)
	}
	want := "baselines propagate baselines rules space search lower bound"
	if got := strings.Join(stages, " "); !strings.HasPrefix(got, want) {
		t.Errorf("stages are %s", got)
	}
}

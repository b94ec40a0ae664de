package plan

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"autoshard/answer"
	"autoshard/benchmarks/site"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/search"
	"autoshard/search/space"
)

// onChips returns a recorded model, and the hardware that it is planned for.
func onChips(t testing.TB, file string) (*ir.Module, cost.Hardware) {
	t.Helper()
	text, err := site.ReadText(recorded(t, file))
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), text, mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	return m, hw
}

// On three axes a mixture of experts has a plan that only likely costs lead to: in solutions of the relaxed problem uses count on others to
// make what they share, and the best of their programs took 474 ms.
func TestLikelyCostsOnThreeAxes(t *testing.T) {
	m, hw := onChips(t, "mixtral_8x7b_train_scan.mlir")
	p, err := Make(t.Context(), &answer.Source{Module: m}, Options{Mesh: axes(t, "8,8,8"), Hardware: hw})
	if err != nil {
		t.Fatal(err)
	}
	if p.Estimate.Seconds > 0.46 {
		t.Errorf("a step takes %g s, its bound is %g below", p.Estimate.Seconds, p.Certificate.Gap)
	}
}

// The account of memory is within a factor of one and a half of the most that is live while a recorded model is searched.
func TestAccountOfMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // so that what the collector last saw alive is nearly all
	for _, c := range []struct{ file, mesh string }{
		{"transformer_train.mlir", "4,2"},
		{"llama3_8b_train_scan.mlir", "16,8"},
		{"mixtral_8x7b_train_scan.mlir", "16,8"},
		{"gpt2_small_train.mlir.gz", "16,8"},
		{"llama3_8b_train_scan.mlir", "16,8,4"},
	} {
		t.Run(c.file+" "+c.mesh, func(t *testing.T) {
			runtime.GC()
			before := liveBytes()
			m, hw := onChips(t, c.file)
			p, err := newPlanner(t.Context(), &answer.Source{Module: m}, Options{Mesh: axes(t, c.mesh), Hardware: hw})
			if err != nil {
				t.Fatal(err)
			}
			baselines, err := p.baselines(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s := p.space(t.Context(), baselines).At(space.Level{Whole: true})
			problem, err := s.Build(t.Context(), 0, &space.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			most := mostLive(func() {
				if _, err := search.Solve(t.Context(), problem, search.Options{Steps: 100_000_000, Initial: s.WarmStarts()}); err != nil {
					t.Error(err)
				}
			}) - before
			z := problem.Size()
			account := programBytes*int64(p.module.NumOps()) + s.Bytes() + z.Bytes() + z.Solving()
			if ratio := float64(account) / float64(most); ratio < 1/1.5 || ratio > 1.5 {
				t.Errorf("accounts for %d bytes, %d are live: %.2f times as many", account, most, ratio)
			}
			runtime.KeepAlive(baselines)
		})
	}
}

// liveBytes returns what the last collection found alive.
func liveBytes() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// mostLive returns the most that any collection finds alive while f runs.
func mostLive(f func()) int64 {
	var most atomic.Int64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			most.Store(max(most.Load(), liveBytes()))
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	<-ended
	return most.Load()
}

// With little memory phases are left out, and the findings of a plan, or the notes of the error that nothing fits, name each with what it
// needs; with more none is. The plan is never worse than baselines.
func TestSearchMemory(t *testing.T) {
	src := parse(t, "../examples/transformer_train.mlir")
	const tooFew = 20_000
	for _, memory := range []int64{tooFew, 500_000, 1 << 30} {
		for search, left := range map[int64]bool{1: true, 6 << 20: true, 64 << 20: false} {
			p, err := Make(t.Context(), src, Options{Mesh: axes(t, "4,2"), Memory: memory, Steps: 10_000_000, SearchMemory: search})
			said := ""
			if err != nil {
				said = fmt.Sprint(diag.Diagnostics(err))
			} else {
				for _, f := range p.Findings {
					said += f.Message
				}
				for _, b := range p.Baselines {
					if b.Fits && b.Estimate.Seconds < p.Estimate.Seconds {
						t.Errorf("%d bytes: baseline %s takes %g s, the plan %g s", search, b.Name, b.Estimate.Seconds, p.Estimate.Seconds)
					}
				}
			}
			if (err != nil) != (memory == tooFew) || strings.Contains(said, "which needs about") != left {
				t.Errorf("%d bytes, %d to search with: %v, %s", memory, search, err, said)
			}
		}
	}
}

func parse(t *testing.T, file string) *answer.Source {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	return &answer.Source{Name: file, Module: m}
}

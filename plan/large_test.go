//go:build unix

package plan

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"autoshard/answer"
	"autoshard/program"
	"autoshard/search/space"
)

// BenchmarkLargeModel prices all strategies of the unrolled training step of a model of 8 billion parameters on 16 x 8 chips, and simulates
// its data-parallel program, on one core. Processor time is reported, which other work on the machine changes less.
func BenchmarkLargeModel(b *testing.B) {
	m, hw := onChips(b, "llama3_8b_train.mlir.gz")
	p, err := newPlanner(b.Context(), &answer.Source{Module: m}, Options{Mesh: axes(b, "16,8"), Hardware: hw})
	if err != nil {
		b.Fatal(err)
	}
	baselines, err := p.baselines(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.Run("price", func(b *testing.B) {
		strategies, spent := 0, time.Duration(0)
		for b.Loop() {
			s := p.space(b.Context(), baselines).At(space.Level{Whole: true})
			begin := processorTime(b)
			problem, err := s.Build(b.Context(), 0, &space.Effort{})
			if err != nil {
				b.Fatal(err)
			}
			spent += processorTime(b) - begin
			strategies = len(problem.Cost)
		}
		b.ReportMetric(spent.Seconds()*1000/float64(b.N), "cpu-ms/op")
		b.ReportMetric(float64(strategies), "strategies")
	})
	b.Run("simulate", func(b *testing.B) {
		begin := processorTime(b)
		for b.Loop() {
			if _, err := p.model.Simulate(b.Context(), baselines[1].lowered.program, program.DefaultAhead); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((processorTime(b)-begin).Seconds()*1000/float64(b.N), "cpu-ms/op")
	})
}

// processorTime returns the time that the process has spent on processors for itself.
func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano())
}

package main

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"

	"autoshard"
	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/benchmarks/experts"
	"autoshard/cost"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/program"
	"autoshard/program/inputs"
	"autoshard/shardmap"
)

// devices is how many virtual devices run the experts' plans.
const devices = 8

// here is what this repository needs for a model.
type here struct {
	Step  step
	Plans []planned
}

// step is what one step takes.
type step struct {
	Seconds     float64 // of the processor
	Allocations float64
	Bytes       float64 // allocated
}

// planned is a step on eight devices.
type planned struct {
	Name string
	Step step
	Work float64 // multiplications and elements that all devices compute, by those of the unsharded run
}

// measureHere times a model, and the experts' plans of it.
func measureHere(ctx context.Context, m *experts.Model, o options) (here, error) {
	var h here
	text, err := m.Text()
	if err != nil {
		return h, err
	}
	whole, err := mlir.Parse(ctx, text, mlir.Options{})
	if err != nil {
		return h, err
	}
	of, err := program.NewInterpreter(whole)
	if err != nil {
		return h, err
	}
	arguments, err := recorded(m, of.Inputs)
	if err != nil {
		return h, err
	}
	in, err := interp.New(whole, interp.Options{WholeWindows: true})
	if err != nil {
		return h, err
	}
	main, _ := whole.Main()
	unsharded := work{module: whole}
	if _, _, err := in.RunProcess(ctx, main, interp.Process{Observe: unsharded.see}, arguments); err != nil {
		return h, err
	}
	h.Step, err = fastest(o.rounds, func() error {
		_, err := in.Run(ctx, main, arguments)
		return err
	})
	if err != nil || !o.plans {
		return h, err
	}
	for i := range m.Plans {
		p, err := runPlan(ctx, m, &m.Plans[i], arguments, o.rounds, unsharded.total)
		if err != nil {
			return h, err
		}
		if p != nil {
			h.Plans = append(h.Plans, *p)
		}
	}
	return h, nil
}

// runPlan times a plan, nil for one that is not for eight devices.
func runPlan(ctx context.Context, m *experts.Model, p *experts.Plan, arguments []*tensor.Tensor, rounds int, unsharded float64) (*planned,
	error) {
	size := int64(1)
	for _, axis := range p.Mesh {
		size *= axis.Size
	}
	if size != devices {
		return nil, nil
	}
	device, err := lowered(ctx, m, p)
	if err != nil {
		return nil, err
	}
	counts := lists.Of(devices, func(int) work { return work{module: device.Module} })
	see := func(_ *ir.Module, d int, s *interp.Step) error { return counts[d].see(s) }
	if _, err := run.Program(ctx, device, arguments, run.Options{WholeWindows: true, Observe: see}); err != nil {
		return nil, err
	}
	total := 0.0
	for _, c := range counts {
		total += c.total
	}
	prepared, err := run.Prepare(device, run.Options{WholeWindows: true})
	if err != nil {
		return nil, err
	}
	s, err := fastest(rounds, func() error {
		_, err := prepared.Run(ctx, arguments)
		return err
	})
	return &planned{p.Name, s, total / unsharded}, err
}

// lowered returns the program of one device of an expert's plan.
func lowered(ctx context.Context, m *experts.Model, p *experts.Plan) (*shardmap.Program, error) {
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	if text, err = p.Annotate(ctx, text); err != nil {
		return nil, err
	}
	hw, err := cost.Lookup("cpu")
	if err != nil {
		return nil, err
	}
	model, err := autoshard.ReadModel(ctx, m.Name, text)
	if err != nil {
		return nil, err
	}
	plan, err := autoshard.PlanAsAnnotated(ctx, model, autoshard.PlanOptions{Hardware: hw, Memory: 1 << 62})
	if err != nil {
		return nil, err
	}
	whole, mesh, err := program.Parse(ctx, plan.Program)
	if err != nil {
		return nil, err
	}
	device, err := shardmap.Lower(ctx, whole, mesh)
	if err != nil {
		return nil, err
	}
	return device, shardmap.LowerAxes(ctx, device)
}

// recorded reads the inputs of a model.
func recorded(m *experts.Model, types []autoshard.Tensor) ([]*tensor.Tensor, error) {
	src, err := os.ReadFile(m.Path(m.Inputs))
	if err != nil {
		return nil, err
	}
	return inputs.Read(m.Inputs, src, "arg", types)
}

// work counts what a device computes: the elements of all values, and the multiplications behind those of products.
type work struct {
	module *ir.Module
	total  float64
}

func (w *work) see(s *interp.Step) error {
	if w.module.Kind(s.Op).Communicates() {
		return nil
	}
	for _, r := range s.Results {
		elements := float64(r.Len())
		switch a := w.module.Attr(s.Op, "dot_dimension_numbers").(type) {
		case *ir.DotDims:
			for _, d := range a.LhsContract {
				elements *= float64(s.Operands[0].Shape[d])
			}
		}
		if a, ok := w.module.Attr(s.Op, "dimension_numbers").(*ir.ConvDims); ok {
			elements *= float64(s.Operands[1].Len()) / float64(s.Operands[1].Shape[a.KernelOut])
		}
		w.total += elements
	}
	return nil
}

// fastest runs a step again and again, and returns what the fastest round took of each step.
func fastest(rounds int, run func() error) (step, error) {
	var best step
	steps := 1
	for round := 0; round < rounds; {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := processor()
		for range steps {
			if err := run(); err != nil {
				return best, err
			}
		}
		took := processor() - begin
		runtime.ReadMemStats(&after)
		if took < 50*time.Millisecond && steps < 1<<20 {
			steps *= 2
			continue
		}
		round++
		n := float64(steps)
		if s := took.Seconds() / n; best.Seconds == 0 || s < best.Seconds {
			best = step{s, float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n}
		}
	}
	return best, nil
}

// processor returns the processor time of the process so far, of all threads.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // no argument of it can be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

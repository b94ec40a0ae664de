package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/lists"
	"autoshard/report"
)

// Run runs a program on virtual devices.
func (s *service) Run(ctx context.Context, r *autoshardv1.RunRequest, out *connect.ServerStream[autoshardv1.RunResponse]) error {
	return s.limiter.stream(ctx, r, func(ctx context.Context) error {
		reporter := newReporter(func(p *autoshardv1.Progress) error {
			return out.Send(&autoshardv1.RunResponse{Event: &autoshardv1.RunResponse_Progress{Progress: p}})
		})
		x, err := newExecution(ctx, r, s.maxMemory, reporter.report)
		if err == nil {
			err = x.watch(ctx)
		}
		if err == nil {
			err = x.run(ctx)
		}
		if err := cmp.Or(err, reporter.close()); err != nil {
			return err
		}
		for i := range x.sights {
			if err := out.Send(&autoshardv1.RunResponse{Event: &autoshardv1.RunResponse_Sight{Sight: x.sights[i]}}); err != nil {
				return err
			}
		}
		return out.Send(&autoshardv1.RunResponse{Event: &autoshardv1.RunResponse_Result{Result: x.result}})
	})
}

// execution is a run of a program, with what is to be said about it.
type execution struct {
	request  *autoshardv1.RunRequest
	program  *autoshard.Program
	given    []*tensor.Tensor
	expected []*tensor.Tensor // nil: not known
	progress func(autoshard.Progress)

	sights []*autoshardv1.Sight
	result *autoshardv1.RunResult
}

// newExecution reads what a request runs, in so many bytes of memory.
func newExecution(ctx context.Context, r *autoshardv1.RunRequest, memory int64, progress func(autoshard.Progress)) (*execution, error) {
	progress(autoshard.Progress{Stage: "lower"})
	p, err := runnable(ctx, r)
	if err != nil {
		return nil, err
	}
	x := &execution{request: r, program: p.Within(memory), progress: progress, result: &autoshardv1.RunResult{Notes: p.Notes}}
	x.given, x.expected, err = arrays(r, p, memory)
	return x, err
}

// runnable returns the program of a request.
func runnable(ctx context.Context, r *autoshardv1.RunRequest) (*autoshard.Program, error) {
	file := cmp.Or(r.GetFileName(), "program")
	if r.GetPlan() != nil {
		plan, err := planOf(ctx, "plan", r.GetPlan())
		if err != nil {
			return nil, err
		}
		p, err := plan.Lowered(ctx)
		if err != nil || !r.GetUnchecked() {
			return p, err
		}
		return p.WithoutCheck(ctx)
	}
	read, src := autoshard.ReadProgram, r.GetArtifact()
	if r.GetUnchecked() {
		read = autoshard.ReadProgramUnchecked
	}
	if src == nil {
		src = []byte(r.GetText())
	}
	return read(ctx, file, src)
}

// watch runs the program and notes what devices hold of the values that the request asks for. It does nothing where it asks for none.
func (x *execution) watch(ctx context.Context) error {
	r := x.request
	if !r.GetPrint() && len(r.GetPrinted()) == 0 {
		return nil
	}
	x.progress(autoshard.Progress{Stage: "print"})
	w, err := x.program.Watch(ctx, x.given, r.GetPrinted())
	if err != nil {
		return err
	}
	texts := report.Sights(w, func(string) string { return "" })
	for i := range w.Sights {
		s := &w.Sights[i]
		message := &autoshardv1.Sight{Moment: s.Moment, Values: s.Values, Op: s.Op, Time: int64(s.Time), Text: texts[i]}
		for _, d := range s.Devices {
			held := &autoshardv1.Sight_Held{Device: d.Device, Coordinates: d.Coordinates}
			for _, t := range d.Blocks {
				var block bytes.Buffer
				if err := npz.WriteNpy(&block, t); err != nil {
					return err
				}
				held.Blocks = append(held.Blocks, block.Bytes())
			}
			message.Devices = append(message.Devices, held)
		}
		x.sights = append(x.sights, message)
	}
	return nil
}

// run runs the program and, where there are expected outputs, compares with these. What differs is no error.
func (x *execution) run(ctx context.Context) error {
	x.progress(autoshard.Progress{Stage: "run"})
	tolerance := toleranceOf(x.request.Relative, x.request.GetAbsolute())
	result, check, err := x.execute(ctx, tolerance)
	if err == nil && check == nil && x.expected != nil {
		x.progress(autoshard.Progress{Stage: "compare"})
		check, err = x.program.Compare(ctx, result, x.given, x.expected, tolerance)
	}
	if err != nil && !(errors.Is(err, autoshard.ErrFinding) && check != nil) {
		return err
	}
	x.result.Text = report.Run(result, x.program.Outputs)
	if check != nil {
		x.result.Verification = &autoshardv1.Verification{}
		x.result.Text = report.Check(check)
		if err := convert(check, x.result.Verification); err != nil {
			return err
		}
	}
	return x.describe(result)
}

// execute runs the program. Where the outputs are to be compared, every value is proved, too, unless the run is looked at in another way;
// then the check comes with the result, and the error of a check that did not pass.
func (x *execution) execute(ctx context.Context, t autoshard.Tolerance) (*autoshard.RunResult, *autoshard.Check, error) {
	r := x.request
	o := autoshard.RunOptions{MaxBytes: r.GetMaxMemory(), CheckNaNs: r.GetCheckNans()}
	if r.GetProfile() {
		start := time.Now()
		o.Clock = func() time.Duration { return time.Since(start) }
	}
	if x.expected == nil || r.GetProfile() || o.CheckNaNs || o.MaxBytes > 0 {
		result, err := x.program.RunWith(ctx, x.given, o)
		return result, nil, err
	}
	check, err := x.program.Verify(ctx, x.given, x.expected, t)
	if check == nil {
		return nil, nil, err
	}
	return check.Result, check, err
}

// describe writes down what a run gave.
func (x *execution) describe(result *autoshard.RunResult) error {
	out := x.result
	out.Notes, out.AsPredicted = append(out.Notes, result.Notes...), true
	for i := range result.Collectives {
		c := &result.Collectives[i]
		out.AsPredicted = out.AsPredicted && c.Agrees()
		out.Collectives = append(out.Collectives, &autoshardv1.Verification_CollectiveCheck{Kind: c.Kind, Predicted: c.Predicted,
			Counted: c.Counted, Varies: c.Varies})
	}
	if x.request.GetOutputs() {
		i := -1
		named := lists.Map(result.Outputs, func(t *tensor.Tensor) npz.Array {
			i++
			return npz.Array{Name: fmt.Sprint("out", i), Tensor: *t}
		})
		var file bytes.Buffer
		if err := npz.Write(&file, named); err != nil {
			return err
		}
		out.Outputs = file.Bytes()
	}
	if result.Profile == nil {
		return nil
	}
	trace, err := result.Profile.Trace()
	out.Trace, out.Text = string(trace), out.Text+"\n"+report.Measured(result.Profile)
	return err
}

package api

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"connectrpc.com/connect"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/backend/tensor"
	"autoshard/program/inputs"
	"autoshard/report"
)

// defaultRelative is the tolerance of programs in float32.
const defaultRelative = 1e-4

// Verify runs a plan on virtual devices and proves what they compute.
func (s *service) Verify(ctx context.Context, r *autoshardv1.VerifyRequest, out *connect.ServerStream[autoshardv1.VerifyResponse]) error {
	return s.limiter.stream(ctx, r, func(ctx context.Context) error {
		reporter := newReporter(func(p *autoshardv1.Progress) error {
			return out.Send(&autoshardv1.VerifyResponse{Event: &autoshardv1.VerifyResponse_Progress{Progress: p}})
		})
		result, err := s.verify(ctx, r, reporter.report)
		if err := cmp.Or(err, reporter.close()); err != nil {
			return err
		}
		return out.Send(&autoshardv1.VerifyResponse{Event: &autoshardv1.VerifyResponse_Result{Result: result}})
	})
}

func (s *service) verify(ctx context.Context, r *autoshardv1.VerifyRequest, progress func(autoshard.Progress)) (
	*autoshardv1.VerifyResult, error) {
	progress(autoshard.Progress{Stage: "lower"})
	plan, err := planOf(ctx, "plan", r.GetPlan())
	if err != nil {
		return nil, err
	}
	program, err := plan.Lowered(ctx)
	if err != nil {
		return nil, err
	}
	program = program.Within(s.maxMemory)
	given, expected, err := arrays(r, program, s.maxMemory)
	if err != nil {
		return nil, err
	}
	progress(autoshard.Progress{Stage: "verify", Seconds: plan.Estimate.Seconds})
	check, err := program.Verify(ctx, given, expected, toleranceOf(r.Relative, r.GetAbsolute()))
	if err != nil && !(errors.Is(err, autoshard.ErrFinding) && check != nil) {
		return nil, err
	}
	out := &autoshardv1.VerifyResult{Verification: &autoshardv1.Verification{}, Text: report.Check(check)}
	return out, convert(check, out.Verification)
}

// arraysRequest is what requests that run programs share.
type arraysRequest interface {
	GetInputs() []byte
	GetExpected() []byte
	GetSeed() uint64
}

// toleranceOf returns what results of other systems may differ by; relative is absent where the default counts.
func toleranceOf(relative *float64, absolute float64) autoshard.Tolerance {
	t := autoshard.Tolerance{Abs: absolute, Rel: defaultRelative}
	if relative != nil {
		t.Rel = *relative
	}
	return t
}

// arrays returns what to run a program with, and what it is to give, nil where that is not said. It makes no arrays that take more than the
// memory of a run.
func arrays(r arraysRequest, program *autoshard.Program, memory int64) (given, expected []*tensor.Tensor, err error) {
	size, err := inputs.Size(slices.Concat(program.Inputs, program.Outputs))
	if err != nil {
		return nil, nil, err
	}
	if size > memory {
		return nil, nil, connect.NewError(connect.CodeResourceExhausted,
			errors.New("inputs and outputs take more memory than this server gives to a run (serve.max-memory)"))
	}
	if len(r.GetInputs()) > 0 {
		given, err = inputs.Read("inputs", r.GetInputs(), "arg", program.Inputs)
	} else {
		given, err = inputs.Random(program.Inputs, r.GetSeed())
	}
	if err == nil && len(r.GetExpected()) > 0 {
		expected, err = inputs.Read("expected", r.GetExpected(), "out", program.Outputs)
	}
	return given, expected, err
}

package autoshard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"autoshard/answer"
	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/backend/verify"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/plan"
	"autoshard/shardmap"
)

// ReadPlan reads plan.json.
func ReadPlan(file string, src []byte) (*Plan, error) {
	if err := filekind.Check(file, src, filekind.Plan); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, diag.Invalid(diag.EmptyInput, diag.Position{File: file, Line: 1, Col: 1}, "input is empty: it holds no plan")
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, diag.Invalid(diag.BadFile, position(file, src, d.InputOffset(), err), "not a plan: %v", err)
	}
	if p.Schema != plan.Schema {
		return nil, diag.Invalid(diag.BadFile, diag.Position{File: file}, "schema %q is not %q", p.Schema, plan.Schema)
	}
	return &p, nil
}

// position returns the line and column of an error in JSON text, or of the offset where decoding stopped.
func position(file string, src []byte, offset int64, err error) diag.Position {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mismatch):
		offset = mismatch.Offset
	default:
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			offset = int64(max(0, bytes.Index(src, []byte(field))))
		}
	}
	before := src[:min(int(offset), len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return diag.Position{File: file, Line: 1 + bytes.Count(before, []byte{'\n'}), Col: max(1, len(before)-start)}
}

// RunResult is what a run of a plan gives: whole outputs, put together from the devices' blocks, and the bytes that
// each collective moved.
type RunResult struct {
	Outputs     []*tensor.Tensor
	Collectives []CollectiveCheck
	Uncounted   bool // the outputs come from a backend that does not count bytes
}

// Run executes a plan on virtual devices in this process: inputs are cut as the plan says, every device runs the
// same program on its blocks, and outputs are put together again. Inputs are whole tensors, one per input.
func Run(ctx context.Context, p *Plan, inputs []*tensor.Tensor) (result *RunResult, err error) {
	defer diag.Recover("run", &err)
	m, meshID, err := p.Whole(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkInputs(m, inputs); err != nil {
		return nil, err
	}
	program, err := plan.PerDevice(ctx, m, meshID)
	if err != nil {
		return nil, plan.AtModel(m, err)
	}
	outs, traffic, err := mesh.Run(ctx, m, program.Main, int(program.Mesh.Devices()), verify.Deal(program, inputs), mesh.Options{WholeWindows: true})
	if err != nil {
		return nil, plan.AtModel(m, err)
	}
	return &RunResult{Outputs: verify.Outputs(program, outs), Collectives: trafficOf(program, &traffic)}, nil
}

// trafficOf compares what the collectives moved with what is predicted.
func trafficOf(program *shardmap.Program, traffic *mesh.Traffic) (checks []CollectiveCheck) {
	for i := range program.Collectives {
		c := &program.Collectives[i]
		checks = append(checks, CollectiveCheck{Kind: c.Kind.String(), Predicted: c.TotalBytes(), Counted: traffic.Bytes(c.Op),
			Varies: c.Varies, once: c.TotalBytes() / max(1, c.Runs)})
	}
	return checks
}

func checkInputs(m *ir.Module, inputs []*tensor.Tensor) error {
	main, _ := m.Main()
	args := m.BlockArgs(m.Func(main).Body)
	if len(args) != len(inputs) {
		return diag.Invalid(diag.BadInputs, diag.Position{}, "the program takes %d inputs, %d are given", len(args), len(inputs))
	}
	given := names.Args(m, main)
	for i, arg := range args {
		t := m.ValueType(arg)
		if got, want := answer.FormatType(&ir.Type{DType: inputs[i].DType}, inputs[i].Shape), answer.FormatType(t, t.Dims); got != want {
			return diag.Invalid(diag.BadInputs, diag.Position{}, "%s is %s, the program takes %s", names.Port("input", i, given.Names[i]), got, want)
		}
	}
	return nil
}

// Unsharded runs the plan's program on one device that sees whole tensors, where collectives change nothing.
func Unsharded(ctx context.Context, p *Plan, inputs []*tensor.Tensor) (outputs []*tensor.Tensor, err error) {
	defer diag.Recover("run", &err)
	m, _, err := p.Whole(ctx)
	if err != nil {
		return nil, err
	}
	return runUnsharded(ctx, m, inputs)
}

func runUnsharded(ctx context.Context, m *ir.Module, inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	main, _ := m.Main()
	in, err := interp.New(m, interp.Options{WholeWindows: true})
	if err != nil {
		return nil, err
	}
	outputs, err := in.Run(ctx, main, inputs)
	return outputs, plan.AtModel(m, err)
}

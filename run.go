package autoshard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/ir"
	"autoshard/ir/names"
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
	if p.Schema != PlanSchema {
		return nil, diag.Invalid(diag.BadFile, diag.Position{File: file}, "schema %q is not %q", p.Schema, PlanSchema)
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
	defer recoverBug("run", &err)
	m, meshID, err := p.global(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkInputs(m, inputs); err != nil {
		return nil, err
	}
	program, err := perDevice(ctx, m, meshID)
	if err != nil {
		return nil, err
	}
	devices := int(program.Mesh.Devices())
	args := make([][]*tensor.Tensor, devices)
	for d := range args {
		args[d] = make([]*tensor.Tensor, len(inputs))
	}
	for i, t := range inputs {
		for d, block := range cut(&program.Mesh, &program.Inputs[i].Layout, t) {
			args[d][i] = block
		}
	}
	outs, traffic, err := mesh.Run(ctx, m, program.Main, devices, args, mesh.Options{WholeWindows: true})
	if err != nil {
		return nil, err
	}
	result = &RunResult{Outputs: make([]*tensor.Tensor, len(program.Outputs))}
	for i := range program.Outputs {
		blocks := make([]*tensor.Tensor, devices)
		for d := range blocks {
			blocks[d] = outs[d][i]
		}
		result.Outputs[i] = join(&program.Mesh, &program.Outputs[i], blocks)
	}
	for i := range program.Collectives {
		c := &program.Collectives[i]
		result.Collectives = append(result.Collectives,
			CollectiveCheck{Kind: c.Kind.String(), Predicted: c.TotalBytes(), Counted: traffic.Bytes(c.Op),
				Varies: c.Varies, once: c.TotalBytes() / max(1, c.Runs)})
	}
	return result, nil
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
		if got, want := formatType(&ir.Type{DType: inputs[i].DType}, inputs[i].Shape), formatType(t, t.Dims); got != want {
			return diag.Invalid(diag.BadInputs, diag.Position{}, "%s is %s, the program takes %s", names.Port("input", i, given.Names[i]), got, want)
		}
	}
	return nil
}

// Unsharded runs the plan's program on one device that sees whole tensors, where collectives change nothing.
func Unsharded(ctx context.Context, p *Plan, inputs []*tensor.Tensor) (outputs []*tensor.Tensor, err error) {
	defer recoverBug("run", &err)
	m, _, err := p.global(ctx)
	if err != nil {
		return nil, err
	}
	main, _ := m.Main()
	in, err := interp.New(m, interp.Options{WholeWindows: true})
	if err != nil {
		return nil, err
	}
	return in.Run(ctx, main, inputs)
}

// Verify runs a plan and compares its outputs with those of the unsharded run and, where given, with expected ones,
// and the bytes that collectives moved with the predicted ones. An output passes where the largest difference is at
// most tolerance times the largest magnitude of the reference. A Check that did not pass comes with a
// diag.ErrFinding.
func Verify(ctx context.Context, p *Plan, inputs, expected []*tensor.Tensor, tolerance float64) (*Check, error) {
	sharded, err := Run(ctx, p, inputs)
	if err != nil {
		return nil, err
	}
	return Compare(ctx, p, sharded, inputs, expected, tolerance)
}

// Compare is Verify for a run that was made before, here or by another system.
func Compare(ctx context.Context, p *Plan, sharded *RunResult, inputs, expected []*tensor.Tensor, tolerance float64) (*Check, error) {
	check := &Check{Passed: true, Collectives: sharded.Collectives, uncounted: sharded.Uncounted}
	whole, err := Unsharded(ctx, p, inputs)
	switch {
	case errors.Is(err, diag.ErrUnsupported) && expected != nil:
		check.Note = "compared with the expected outputs only; no unsharded run: " + err.Error()
	case err != nil:
		return nil, err
	}
	if expected != nil && len(expected) != len(sharded.Outputs) {
		return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "the program has %d outputs, %d are expected", len(sharded.Outputs), len(expected))
	}
	for i, got := range sharded.Outputs {
		o := OutputCheck{Index: i, Name: p.Outputs[i].Name}
		if whole != nil {
			o.Exact = bytes.Equal(got.Data, whole[i].Data)
			o.UnshardedError = relativeError(got, whole[i])
		}
		if expected != nil {
			o.ExpectedError = relativeError(got, expected[i])
		}
		o.Passed = o.UnshardedError <= tolerance && o.ExpectedError <= tolerance
		check.Passed = check.Passed && o.Passed
		check.Outputs = append(check.Outputs, o)
	}
	for _, c := range check.Collectives {
		check.Passed = check.Passed && c.Agrees()
	}
	if !check.Passed {
		return check, diag.Finding(diag.Mismatch, diag.Position{}, "the sharded run differs from the reference")
	}
	return check, nil
}

// Agrees says whether the count bears out the prediction. Where the data decides how often the collective runs, each
// run has to move what is predicted of one.
func (c *CollectiveCheck) Agrees() bool {
	return c.Predicted == c.Counted || c.Varies && c.once > 0 && c.Counted%c.once == 0
}

// relativeError returns max|got-want| / max|want|; NaN on one side only, or different shapes, are infinitely far.
func relativeError(got, want *tensor.Tensor) float64 {
	a, b := got.Floats(), want.Floats()
	if len(a) != len(b) {
		return math.Inf(1)
	}
	largest, difference := 0.0, 0.0
	for i := range a {
		switch {
		case a[i] == b[i] || math.IsNaN(a[i]) && math.IsNaN(b[i]):
		case math.IsNaN(a[i]) || math.IsNaN(b[i]):
			return math.Inf(1)
		default:
			difference = max(difference, math.Abs(a[i]-b[i]))
		}
		if !math.IsNaN(b[i]) && !math.IsInf(b[i], 0) {
			largest = max(largest, math.Abs(b[i]))
		}
	}
	if difference == 0 {
		return 0
	}
	return difference / max(largest, math.SmallestNonzeroFloat64)
}

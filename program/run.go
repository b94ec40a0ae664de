package program

import (
	"context"
	"fmt"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/shardmap"
)

// Run executes the program on virtual devices in this process and counts the bytes that collectives move: inputs are cut
// as the program says, every device runs the same on its blocks, and outputs are put together again. Inputs are whole
// tensors, one per input. Errors are of class diag.ErrInvalid for inputs that do not fit, diag.ErrUnsupported for an op that no
// kernel runs, or the context's.
func (p *Program) Run(ctx context.Context, inputs []*tensor.Tensor) (result *Result, err error) {
	return p.RunWith(ctx, inputs, RunOptions{})
}

// RunWith is Run under observation. Its errors are also of class diag.ErrTooLarge, located, for a device that would hold more than it may,
// and diag.ErrFinding for elements that are NaN.
func (p *Program) RunWith(ctx context.Context, inputs []*tensor.Tensor, o RunOptions) (result *Result, err error) {
	defer diag.Recover("run", &err)
	if err := o.check(inputs); err != nil {
		return nil, err
	}
	opts, recorder := o.of(int(p.Devices()))
	opts.MaxBytes = p.within(opts.MaxBytes)
	if p.typed != nil {
		ran, err := run.Typed(ctx, p.typed, inputs, opts)
		if err != nil {
			return nil, err
		}
		result := p.resultOf(ran)
		result.Profile = newProfile(p.typed.Lower().Module, recorder, &ran.Traffic)
		return result, nil
	}
	if err := checkInputs(p.whole, inputs); err != nil {
		return nil, err
	}
	d := p.grouped
	ran, err := run.Program(ctx, d, inputs, opts)
	if err != nil {
		return nil, atModel(p.whole, err)
	}
	return &Result{Outputs: ran.Outputs, Collectives: trafficOf(d, &ran.Traffic), Profile: newProfile(d.Module, recorder, &ran.Traffic),
		Notes: p.differ(ran.Differences(d))}, nil
}

// runTyped runs a shard_map program under the eyes of an observer, nil for none.
func (p *Program) runTyped(ctx context.Context, inputs []*tensor.Tensor, observe run.Observer) (*Result, error) {
	ran, err := run.Typed(ctx, p.typed, inputs, run.Options{WholeWindows: true, MaxBytes: p.most, Observe: observe})
	if err != nil {
		return nil, err
	}
	return p.resultOf(ran), nil
}

// resultOf describes the run of a shard_map program.
func (p *Program) resultOf(ran *run.Result) *Result {
	return &Result{Outputs: ran.Outputs, Collectives: trafficOf(p.typed.LowerOverAxes(), &ran.Traffic), Notes: p.differ(ran.Differ)}
}

// differ says of which outputs devices hold different copies.
func (p *Program) differ(found []run.Difference) []string {
	return lists.Map(found, func(d run.Difference) string {
		return fmt.Sprintf("output %s, of spec %s, differs between devices %d and %d: that of device %[3]d is taken", p.Outputs[d.Output].Name,
			p.Outputs[d.Output].Spec, d.First, d.Second)
	})
}

// trafficOf compares what the collectives moved with what is predicted (specification: cost.md section 2.2).
func trafficOf(d *shardmap.Program, traffic *mesh.Traffic) (checks []CollectiveCheck) {
	for i := range d.Collectives {
		c := &d.Collectives[i]
		checks = append(checks, CollectiveCheck{Kind: c.Kind.String(), Predicted: c.TotalBytes(), Counted: traffic.Bytes(c.Op),
			Varies: c.Varies, once: c.TotalBytes() / max(1, c.Runs)})
	}
	return checks
}

// Takes says what is wrong with inputs before another engine runs the program: it takes one whole tensor per input. Errors are of class
// diag.ErrInvalid and name the first input that does not fit.
func (p *Program) Takes(inputs []*tensor.Tensor) error {
	if p.typed != nil {
		return run.CheckInputs(p.typed, inputs)
	}
	return checkInputs(p.whole, inputs)
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
		if err := run.CheckInput(names.Port("input", i, given.Names[i]), inputs[i], t.DType, t.Dims); err != nil {
			return err
		}
	}
	return nil
}

// Unsharded runs the program on one device that sees whole tensors, where collectives change nothing. Manual computations, whose values
// differ between devices, run on all devices of the mesh, each by itself. It fails with diag.ErrUnsupported for a shard_map program, which
// has no such form.
func (p *Program) Unsharded(ctx context.Context, inputs []*tensor.Tensor) (outputs []*tensor.Tensor, err error) {
	defer diag.Recover("run", &err)
	if p.typed != nil {
		return nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "%s", noUnsharded)
	}
	if err := checkInputs(p.whole, inputs); err != nil {
		return nil, err
	}
	in, err := interp.New(p.whole, interp.Options{WholeWindows: true, MaxBytes: p.most,
		Manual: run.Manual(p.whole, run.Options{WholeWindows: true, MaxBytes: p.most})})
	if err != nil {
		return nil, err
	}
	main, _ := p.whole.Main()
	outputs, err = in.Run(ctx, main, inputs)
	return outputs, atModel(p.whole, err)
}

const noUnsharded = "a shard_map program has no unsharded form"

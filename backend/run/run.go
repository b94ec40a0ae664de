// Package run executes the program of one device on all virtual devices of a mesh: whole inputs are split into blocks,
// every device runs the program on its own, and the blocks that they return are joined.
//
//	result, err := run.Program(ctx, plan, inputs, run.Options{}) // of a plan, with device groups
//	result, err := run.Typed(ctx, program, inputs, run.Options{}) // a shard_map program
//	result.Outputs[0] // whole again
package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// maxDevices bounds the devices of a run of a shard_map program, of which anybody can write one over any mesh.
const maxDevices = 4096

// Options says how to run a program.
type Options struct {
	MaxBytes     int64 // bound on the live bytes of all devices together; 0 means the default of package mesh
	WholeWindows bool  // see interp.Options

	// Fill fills what pads the blocks of inputs that are stored padded: nothing of it may get into a result. Nil fills zeros.
	Fill Fill

	// Debug compares the blocks of every value along the axes over which its type says that it is equal. It is for
	// shard_map programs with their check on.
	Debug bool

	// Observe, if any, sees the ops of the module that each device executes; devices call it at the same time.
	Observe Observer

	// Differ, if any, is told of results of manual computations that [Manual] runs of which devices hold other copies than the first one.
	Differ func(op ir.OpID, d Difference)

	Meter func(device int) mesh.Meter // see mesh.Options
}

// Observer sees the ops of a module that a device executes.
type Observer func(m *ir.Module, device int, s *interp.Step) error

// Result is what a run returned.
type Result struct {
	Outputs []*tensor.Tensor   // whole
	Blocks  [][]*tensor.Tensor // by device and output; outputs may share their data
	Traffic mesh.Traffic
	Differ  []Difference // outputs of an unchecked program of which devices hold other copies than the first one, which counts
}

// Difference is an output of which two devices hold the same block with other elements.
type Difference struct {
	Output        int
	First, Second int64 // devices
}

// Differences returns the outputs of which devices hold different copies. That is no fault of a program that says so: of a shard_map whose
// check is off.
func (r *Result) Differences(p *shardmap.Program) (found []Difference) {
	for i := range p.Outputs {
		out := &p.Outputs[i]
		if first, second, ok := Copies(&p.Mesh, &out.Layout, out.Dims, r.output(i)); !ok {
			found = append(found, Difference{i, first, second})
		}
	}
	return found
}

// Program is Prepare and Prepared.Run, for programs that run once.
func Program(ctx context.Context, p *shardmap.Program, inputs []*tensor.Tensor, opts Options) (*Result, error) {
	prepared, err := Prepare(p, opts)
	if err != nil {
		return nil, err
	}
	return prepared.Run(ctx, inputs)
}

// Prepared is a program that is compiled once and may run many times.
type Prepared struct {
	program         *shardmap.Program
	machine         *mesh.Machine
	fill            Fill
	observed        bool // by somebody who may keep what devices hold
	inputs, outputs []*Cut
}

// cuts returns how inputs or outputs are cut.
func cuts(m *subaxis.Mesh, ports []shardmap.Port) []*Cut {
	return lists.Of(len(ports), func(i int) *Cut { return NewCut(m, &ports[i].Layout, ports[i].Stored()) })
}

// Prepare returns the program of one device, in plain StableHLO, ready to run on all of them. Errors are those of mesh.New. The program
// must not change as long as it is run.
func Prepare(p *shardmap.Program, opts Options) (*Prepared, error) {
	options := mesh.Options{MaxBytes: opts.MaxBytes, WholeWindows: opts.WholeWindows, Meter: opts.Meter}
	if opts.Observe != nil {
		options.Observe = func(device int, s *interp.Step) error { return opts.Observe(p.Module, device, s) }
	}
	machine, err := mesh.New(p.Module, p.Main, int(p.Mesh.Devices()), options)
	if err != nil {
		return nil, err
	}
	return &Prepared{p, machine, opts.Fill, opts.Observe != nil, cuts(&p.Mesh, p.Inputs), cuts(&p.Mesh, p.Outputs)}, nil
}

// Run runs the program on whole inputs. Of blocks that several devices hold the first one's counts. Errors are those of mesh.Machine.Run.
func (r *Prepared) Run(ctx context.Context, inputs []*tensor.Tensor) (*Result, error) {
	p := r.program
	args := make([]interp.Blocks, len(inputs))
	for i, t := range inputs {
		args[i] = r.inputs[i].Split(t, r.fill)
	}
	outs, traffic, err := r.machine.RunBlocks(ctx, args)
	if err != nil {
		return nil, err
	}
	for i := range args {
		if !r.observed && unsafe.SliceData(args[i].Block.Data) != unsafe.SliceData(inputs[i].Data) {
			memory.Give(args[i].Block.Data)
		}
	}
	result := &Result{Blocks: outs.Devices, Traffic: traffic, Outputs: make([]*tensor.Tensor, len(p.Outputs))}
	blocks := make([]*tensor.Tensor, len(outs.Devices))
	for i := range p.Outputs {
		if outs.Together != nil {
			if whole := r.outputs[i].whole(p.Outputs[i].Dims, &outs.Together[i]); whole != nil && !result.has(whole) {
				result.Outputs[i] = whole
				continue
			}
		}
		for d := range blocks {
			blocks[d] = outs.Devices[d][i]
		}
		result.Outputs[i] = r.outputs[i].Join(p.Outputs[i].Dims, blocks)
	}
	return result, nil
}

// has says whether an output has the data of a tensor: each is to have its own.
func (r *Result) has(x *tensor.Tensor) bool {
	return slices.ContainsFunc(r.Outputs, func(o *tensor.Tensor) bool {
		return o != nil && unsafe.SliceData(o.Data) == unsafe.SliceData(x.Data)
	})
}

// output returns the blocks of an output, by device.
func (r *Result) output(i int) []*tensor.Tensor {
	return lists.Map(r.Blocks, func(of []*tensor.Tensor) *tensor.Tensor { return of[i] })
}

// Typed splits the inputs by their specs, runs the body on one virtual device per place along the manual axes, and
// joins the blocks by the output specs (specification: shardmap.md sections 1.2 and 1.3). Blocks of which one copy is taken are compared
// bit for bit: where the check is off, that of the first device is taken though others differ, and Result.Differ says so.
//
// It returns an error of class diag.ErrInvalid for inputs that do not fit and a program without types, diag.ErrTooLarge for
// more devices than this process should hold, diag.ErrFinding for copies that differ ("replication violated"), and the
// errors of mesh.Run.
func Typed(ctx context.Context, p *typed.Program, inputs []*tensor.Tensor, opts Options) (*Result, error) {
	if err := ready(p, inputs); err != nil {
		return nil, err
	}
	if opts.Debug && p.Check {
		device, checks := p.LowerDebug()
		result, err := execute(ctx, p, device, inputs, opts)
		return result, explain(err, checks)
	}
	return execute(ctx, p, p.Lower(), inputs, opts)
}

// ready checks that a program can be run on the inputs.
func ready(p *typed.Program, inputs []*tensor.Tensor) error {
	if err := p.Runnable(); err != nil {
		return err
	}
	if n := p.GroupSize(p.Manual.Axes()); n > maxDevices {
		return diag.TooLarge(diag.InputTooLarge, diag.Position{}, "the program runs on %d devices, the limit is %d", n, maxDevices)
	}
	return CheckInputs(p, inputs)
}

// execute runs what a program was lowered to, and compares the copies of its outputs.
func execute(ctx context.Context, p *typed.Program, device *shardmap.Program, inputs []*tensor.Tensor, opts Options) (*Result, error) {
	result, err := Program(ctx, device, inputs, opts)
	if err != nil {
		return nil, err
	}
	result.Differ = result.Differences(device)
	if p.Check && len(result.Differ) > 0 {
		d := result.Differ[0]
		return nil, diag.Finding(diag.Mismatch, diag.Position{},
			"replication violated: output %d, %s with spec %s, differs between devices %d and %d, of which one copy would be taken",
			d.Output, p.FormatValue(p.Module.Operand(p.Return(), d.Output)), p.Results[d.Output].Spec, d.First, d.Second)
	}
	return result, nil
}

// CheckInputs says what is wrong with the inputs of a shard_map program. Errors are of class diag.ErrInvalid.
func CheckInputs(p *typed.Program, inputs []*tensor.Tensor) error {
	if len(inputs) != len(p.Params) {
		return diag.Invalid(diag.BadInputs, diag.Position{}, "the program takes %d arguments, %d are given", len(p.Params), len(inputs))
	}
	for i, param := range p.Params {
		t := p.Module.TypeOf(param.Type)
		if err := CheckInput(fmt.Sprintf("input %d (%s, spec %s)", i, param.Name, param.Spec), inputs[i], t.DType, t.Dims); err != nil {
			return err
		}
	}
	return nil
}

// CheckInput says what is wrong with one input, which it calls by a name: that it is missing, has another type than the program takes, or
// less data than its own type has. Errors are of class diag.ErrInvalid.
func CheckInput(name string, x *tensor.Tensor, t dtype.Type, dims []int64) error {
	switch {
	case x == nil:
		return diag.Invalid(diag.BadInputs, diag.Position{}, "%s is missing", name)
	case x.DType != t || !slices.Equal(x.Shape, dims):
		return diag.Invalid(diag.BadInputs, diag.Position{}, "%s is %s, the program takes %s", name, dtype.Format(x.DType, x.Shape),
			dtype.Format(t, dims))
	}
	if _, bytes, err := dtype.Size(t, dims); err != nil || bytes != int64(len(x.Data)) {
		return diag.Invalid(diag.BadInputs, diag.Position{}, "%s has %d bytes of data, its type %d", name, len(x.Data), bytes)
	}
	return nil
}

// explain says which value a failed comparison is about, not on which device: several may fail, and any of them first.
func explain(err error, checks []string) error {
	var e *diag.Error
	if !errors.As(err, &e) || e.Class != diag.ErrFinding || len(e.Diagnostics) == 0 {
		return err
	}
	if k := e.Diagnostics[0].Pos.Line; k > 0 && k <= len(checks) {
		return diag.Finding(diag.Mismatch, diag.Position{}, "replication violated: %s", checks[k-1])
	}
	return err
}

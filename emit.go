package autoshard

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
	"autoshard/plan"
	"autoshard/shardmap"
	"autoshard/shardmap/emit"
)

// emitters are the forms that Emit writes, by name.
var emitters = []struct {
	name  string
	write func(context.Context, *Plan) ([]byte, error)
}{
	{"jax", emitPython},
	{"stablehlo", emitStableHLO},
	{"shardmap", func(ctx context.Context, p *Plan) ([]byte, error) { return emitShardMap(ctx, p, "shardmap") }},
	{"sdy", func(ctx context.Context, p *Plan) ([]byte, error) { return emitShardMap(ctx, p, "sdy") }},
}

// EmitFormats returns the names of the forms that Emit writes.
func EmitFormats() []string {
	names := make([]string, len(emitters))
	for i := range emitters {
		names[i] = emitters[i].name
	}
	return names
}

// Emit writes the program of a plan in another form: as a Python file for JAX ("jax"), as the program of one device in
// StableHLO text ("stablehlo"), as a shard_map program with types ("shardmap"), or as that in an sdy.manual_computation
// ("sdy"). Errors are of class diag.ErrInvalid for an unknown form, and diag.ErrUnsupported for a program that the form
// cannot hold; or they are the context's.
func Emit(ctx context.Context, p *Plan, format string) (text []byte, err error) {
	defer diag.Recover("emit", &err)
	for i := range emitters {
		if emitters[i].name == format {
			return emitters[i].write(ctx, p)
		}
	}
	return nil, diag.Invalid(diag.BadOption, diag.Position{}, "unknown form %q: forms are %s", format, strings.Join(EmitFormats(), ", "))
}

// lower returns the plan's per-device program for other readers.
func lower(ctx context.Context, p *Plan) (*shardmap.Program, error) {
	m, mesh, err := p.Whole(ctx)
	if err != nil {
		return nil, err
	}
	program, err := plan.PerDevice(ctx, m, mesh)
	if err == nil {
		ir.ForgetTrips(program.Module)
	}
	return program, plan.AtModel(m, err)
}

func emitStableHLO(ctx context.Context, p *Plan) ([]byte, error) {
	program, err := lower(ctx, p)
	if err != nil {
		return nil, err
	}
	m := program.Module
	f := m.Func(program.Main)
	for i, arg := range m.BlockArgs(f.Body) {
		out := f.ArgAttrs[i].Int(ir.AliasAttr, -1)
		if out >= 0 && (int(out) >= len(f.ResultTypes) || f.ResultTypes[out] != m.Type(arg)) { // the blocks do not fit
			f.ArgAttrs[i] = f.ArgAttrs[i].Without(ir.AliasAttr).With(ir.DonorAttr, ir.BoolAttr(true))
		}
	}
	return printForXLA(ctx, m, p.Model, program.Mesh.Devices(), nameList(p.Inputs), nameList(p.Outputs))
}

// printForXLA prints a program with what XLA, and a person, cannot see in it: its name, on how many devices it runs, and
// what its arguments and results are called.
func printForXLA(ctx context.Context, m *ir.Module, name string, devices int64, inputs, outputs []string) ([]byte, error) {
	i32 := m.InternType(ir.Type{Kind: ir.ScalarKind, DType: dtype.I32})
	m.Attrs = m.Attrs.With("mhlo.num_partitions", ir.IntAttr{Value: devices, Type: i32}).
		With("mhlo.num_replicas", ir.IntAttr{Value: 1, Type: i32})
	m.Name = cmp.Or(m.Name, name)
	if main, ok := m.Main(); ok {
		names.Label(m, main, inputs, outputs)
	}
	return mlir.Write(ctx, m, mlir.PrintOptions{})
}

func nameList(tensors []Tensor) []string {
	out := make([]string, len(tensors))
	for i := range tensors {
		out[i] = tensors[i].Name
	}
	return out
}

func emitShardMap(ctx context.Context, p *Plan, form string) ([]byte, error) {
	s, err := LowerToShardMap(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.Emit(ctx, form)
}

func emitPython(ctx context.Context, p *Plan) ([]byte, error) {
	whole, _, err := p.Whole(ctx)
	if err != nil {
		return nil, err
	}
	program, err := lower(ctx, p)
	if err != nil {
		return nil, err
	}
	axes := make([]string, len(p.Mesh))
	for i, a := range p.Mesh {
		axes[i] = fmt.Sprintf("%s=%d", a.Name, a.Size)
	}
	e := &emit.Program{
		Title:   fmt.Sprintf("%s on the mesh %s, as autoshard planned it.", p.Model, strings.Join(axes, ", ")),
		Sharded: program, Whole: whole,
	}
	e.Dropped = p.Dropped
	main, _ := whole.Main()
	for i := range p.Inputs {
		e.Inputs = append(e.Inputs, p.Inputs[i].Name)
		if whole.Func(main).ArgAttrs[i].Donated() {
			e.Donated = append(e.Donated, int64(i))
		}
	}
	for i := range p.Outputs {
		e.Outputs = append(e.Outputs, p.Outputs[i].Name)
	}
	return emit.Python(ctx, e)
}

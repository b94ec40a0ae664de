package program

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
	"autoshard/shardmap"
	"autoshard/shardmap/emit"
)

// forms are what Emit writes.
var forms = []struct {
	name  string
	write func(context.Context, *Program) ([]byte, error)
}{
	{"jax", emitPython},
	{"stablehlo", emitStableHLO},
	{"shardmap", emitShardMap},
	{"sdy", emitManual},
}

// Forms returns the names of the forms that Emit writes.
func Forms() []string {
	names := make([]string, len(forms))
	for i := range forms {
		names[i] = forms[i].name
	}
	return names
}

// Emit writes the program in another form: as a Python file for JAX ("jax"), as the program of one device in StableHLO
// text ("stablehlo"), as a shard_map program with types ("shardmap"), or as that in an sdy.manual_computation ("sdy").
// Errors are of class diag.ErrInvalid for an unknown form, and diag.ErrUnsupported for a program that the form cannot
// hold, at the line of the model that is in the way; or they are the context's.
func (p *Program) Emit(ctx context.Context, form string) (text []byte, err error) {
	defer diag.Recover("emit", &err)
	for i := range forms {
		if forms[i].name == form {
			text, err := forms[i].write(ctx, p)
			if p.typed == nil {
				err = atModel(p.whole, err)
			}
			return text, err
		}
	}
	return nil, diag.Invalid(diag.BadOption, diag.Position{}, "unknown form %q: forms are %s", form, strings.Join(Forms(), ", "))
}

func emitShardMap(ctx context.Context, p *Program) ([]byte, error) {
	s, err := p.ShardMap(ctx)
	if err != nil {
		return nil, err
	}
	return []byte(s.text()), nil
}

func emitManual(ctx context.Context, p *Program) ([]byte, error) {
	s, err := p.ShardMap(ctx)
	if err != nil {
		return nil, err
	}
	return s.printForXLA(ctx, s.manual())
}

func emitStableHLO(ctx context.Context, p *Program) ([]byte, error) {
	if p.typed != nil {
		return p.printForXLA(ctx, p.typed.Lower().Module)
	}
	return p.printDevice(ctx, private(p.grouped))
}

// printDevice prints what one device of a plan runs, over device groups. It takes the program over.
func (p *Program) printDevice(ctx context.Context, device *shardmap.Program) ([]byte, error) {
	m := device.Module
	f := m.Func(device.Main)
	for i, arg := range m.BlockArgs(f.Body) {
		out := f.ArgAttrs[i].Int(ir.AliasAttr, -1)
		if out >= 0 && (int(out) >= len(f.ResultTypes) || f.ResultTypes[out] != m.Type(arg)) { // the blocks do not fit
			f.ArgAttrs[i] = f.ArgAttrs[i].Without(ir.AliasAttr).With(ir.DonorAttr, ir.BoolAttr(true))
		}
	}
	text, err := p.printForXLA(ctx, m)
	return append([]byte(comments("// ", storageOf(device).notes(p))), text...), err
}

// printForXLA prints a form of the program with what XLA, and a person, cannot see in it: its name, on how many devices it
// runs, and what its arguments and results are called. Those of a plan need not be identifiers.
func (p *Program) printForXLA(ctx context.Context, m *ir.Module) ([]byte, error) {
	i32 := m.ScalarType(dtype.I32)
	m.Attrs = m.Attrs.With("mhlo.num_partitions", ir.IntAttr{Value: p.Devices(), Type: i32}).
		With("mhlo.num_replicas", ir.IntAttr{Value: 1, Type: i32})
	m.Name = cmp.Or(m.Name, p.Name)
	inputs, outputs := p.ports[0], p.ports[1]
	if inputs == nil {
		inputs, outputs = nameList(p.Inputs), nameList(p.Outputs)
	}
	if main, ok := m.Main(); ok {
		names.Label(m, main, inputs, outputs)
	}
	return mlir.Write(ctx, m, mlir.PrintOptions{})
}

func nameList(tensors []answer.Tensor) []string {
	return lists.Map(tensors, func(t answer.Tensor) string { return t.Name })
}

// emitPython writes the program for JAX, behind comments that say how it was made.
func emitPython(ctx context.Context, p *Program) ([]byte, error) {
	text, err := p.python(ctx)
	return append([]byte(p.comments()), text...), err
}

func (p *Program) python(ctx context.Context) ([]byte, error) {
	if p.typed != nil {
		return emit.Typed(ctx, p.typed, nil)
	}
	e := &emit.Program{
		Title:   fmt.Sprintf("%s on the mesh %s, as autoshard planned it.", p.Name, lists.Joined(p.Mesh, answer.MeshAxis.String)),
		Sharded: private(p.device), Whole: p.whole.Clone(), Inputs: nameList(p.Inputs), Outputs: nameList(p.Outputs), Dropped: p.dropped,
	}
	for i := range p.Inputs {
		if p.whole.MainFunc().ArgAttrs[i].Donated() {
			e.Donated = append(e.Donated, int64(i))
		}
	}
	return emit.Python(ctx, e)
}

package program

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// describe returns a typed shard_map program with its signature.
func describe(p *typed.Program) *Program {
	s := &Program{Name: p.Name, Mesh: p.Mesh.Axes, typed: p}
	m := p.Module
	for i, param := range p.Params {
		t := m.TypeOf(param.Type)
		s.Inputs = append(s.Inputs, portOf(i, param.Name, t, t.Dims, m.ValueType(m.BlockArgs(p.Body())[i]), param.Spec))
	}
	for i, r := range p.Results {
		v := m.Operand(p.Return(), i)
		name := p.Names[v]
		name = cmp.Or(name, fmt.Sprintf("out%d", i))
		s.Outputs = append(s.Outputs, portOf(i, name, m.ValueType(v), p.GlobalDims(i), m.ValueType(v), r.Spec))
	}
	return s
}

func portOf(i int, name string, t *ir.Type, dims []int64, block *ir.Type, spec typed.Spec) answer.Tensor {
	return answer.Tensor{Index: i, Name: name, Type: answer.FormatType(t, dims), LocalType: answer.FormatType(block, block.Dims),
		Spec:  spec.String(),
		Bytes: block.Bytes(), WholeBytes: (&ir.Type{DType: t.DType, Dims: dims}).Bytes()}
}

// ShardMap returns the program as a shard_map program with types that say along which axes each value varies: itself if it is
// one, or that of a plan on a mesh of whole axes where the plan uses parts of axes. Errors are of class diag.ErrUnsupported,
// at the op or input that such a program has no form for, or the context's.
func (p *Program) ShardMap(ctx context.Context) (s *Program, err error) {
	defer diag.Recover("emit", &err)
	if p.typed != nil {
		return p, nil
	}
	at := p.whole.OpPos(p.whole.MainFunc().Op)
	if err := cmp.Or(unpadded(at, "input", p.device.Inputs), unpadded(at, "output", p.device.Outputs)); err != nil {
		return nil, atModel(p.whole, err)
	}
	called := typed.Names{Program: p.Name, Inputs: nameList(p.Inputs), Outputs: nameList(p.Outputs)}
	t, err := typed.FromDevice(ctx, private(p.device), called)
	if err != nil {
		return nil, atModel(p.whole, err)
	}
	s = describe(t.Program)
	s.Notes, s.refined, s.ports = notesOf(t), t.Mesh, [2][]string{called.Inputs, called.Outputs}
	return s, nil
}

// unpadded fails for an input or output that is stored padded: the blocks of a shard_map program make up the tensor.
func unpadded(at diag.Position, what string, ports []shardmap.Port) error {
	for i := range ports {
		if port := &ports[i]; port.Padded != nil {
			return diag.Unsupported(diag.NotSupported, at, "%s %d of shape %v is stored padded to %v, and the blocks of a shard_map "+
				"program have no padding: emit `jax` or `stablehlo`, or cut it evenly", what, i, port.Dims, port.Padded)
		}
	}
	return nil
}

// notesOf says what the text of a translated program does not.
func notesOf(t *typed.Translation) (notes []string) {
	for i, a := range t.Mesh.Coarse.Axes {
		fine := t.Mesh.Axes([]subaxis.Ref{t.Mesh.Coarse.Full(i)})
		if len(fine) < 2 {
			continue
		}
		notes = append(notes, fmt.Sprintf("%v is refined to %s", a, lists.Joined(lists.Pick(t.Mesh.Fine.Axes, fine), subaxis.Axis.String)))
	}
	if t.Mesh.Coarse.DeviceIDs != nil {
		notes = append(notes, fmt.Sprintf("place k of the mesh is device %v[k]", t.Mesh.Coarse.DeviceIDs))
	}
	if t.Unchecked != nil {
		reason := strings.Join(strings.Fields(diag.Diagnostics(t.Unchecked)[0].Message), " ")
		if at := strings.Index(reason, ": output "); at >= 0 { // behind the return, which names all outputs
			reason = reason[at+2:]
		}
		notes = append(notes, "the check is off: "+reason)
	}
	return notes
}

// Transpose returns the transpose of the program in the inputs of those names, in which it must be linear: a shard_map program
// that takes the cotangents of the outputs and then the other inputs, and returns the cotangents of these. Errors are of
// class diag.ErrInvalid for unknown inputs and a program that is not linear, and diag.ErrUnsupported for an op without a
// transpose; or the context's.
func (p *Program) Transpose(ctx context.Context, inputs []string) (*Program, error) {
	return p.derived(ctx, transpose.Linear, inputs)
}

// Gradient returns the shard_map program of the derivatives of the only output, a scalar, by the inputs of those names: it
// takes the inputs of the program. Errors are like those of Transpose.
func (p *Program) Gradient(ctx context.Context, inputs []string) (*Program, error) {
	return p.derived(ctx, transpose.Gradient, inputs)
}

func (p *Program) derived(ctx context.Context, derive func(*typed.Program, []int) (*typed.Program, error), inputs []string) (out *Program,
	err error) {
	defer diag.Recover("transpose", &err)
	s, err := p.ShardMap(ctx)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, name := range inputs {
		i := slices.IndexFunc(s.Inputs, func(t answer.Tensor) bool { return t.Name == name })
		if i < 0 || slices.Contains(numbers, i) {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "no input is named %q, or it is named twice; inputs are %s", name,
				strings.Join(nameList(s.Inputs), ", "))
		}
		numbers = append(numbers, i)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	derivative, err := derive(s.typed, numbers)
	if err != nil {
		return nil, err
	}
	out = describe(derivative)
	out.refined = s.refined
	return out, ctx.Err()
}

// manual returns the program as a manual computation, on the mesh of the plan that it comes from.
func (p *Program) manual() *ir.Module {
	if p.refined == nil {
		return p.typed.Export()
	}
	return p.typed.ExportOver(p.refined)
}

// text returns the text of a shard_map program, with all casts, types, notes, and where known the places in the source.
func (p *Program) text() string {
	var b strings.Builder
	for _, note := range p.Notes {
		b.WriteString("# " + note + "\n")
	}
	b.WriteString(p.typed.Format(typed.TextOptions{Sources: true}))
	return b.String()
}

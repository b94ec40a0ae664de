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
// one, or that of a plan on a mesh of whole axes where the plan uses parts of axes. Its inputs and outputs are what the plan stores: notes
// say which are padded. Errors are of class diag.ErrUnsupported,
// at the op or input that such a program has no form for, or the context's.
func (p *Program) ShardMap(ctx context.Context) (s *Program, err error) {
	defer diag.Recover("emit", &err)
	if p.typed != nil {
		return p, nil
	}
	called := typed.Names{Program: p.Name, Inputs: nameList(p.Inputs), Outputs: nameList(p.Outputs)}
	t, err := typed.FromDevice(ctx, private(p.device), called)
	if err != nil {
		return nil, atModel(p.whole, err)
	}
	s = describe(t.Program)
	s.refined, s.ports, s.stored = t.Mesh, [2][]string{called.Inputs, called.Outputs}, storageOf(p.device)
	s.Notes, s.written = slices.Concat(p.Notes, notesOf(t), s.stored.notes(p)), p.written
	return s, nil
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
	if t.Unchecked != nil {
		notes = append(notes, "the check is off: "+reasonOf(t.Unchecked))
	}
	return notes
}

// reasonOf returns on one line why types are refused.
func reasonOf(err error) string {
	reason := strings.Join(strings.Fields(diag.Diagnostics(err)[0].Message), " ")
	if at := strings.Index(reason, ": output "); at >= 0 { // behind the return, which names all outputs
		reason = reason[at+2:]
	}
	return reason
}

// manual returns the program as a manual computation, on the mesh of the plan that it comes from.
func (p *Program) manual() *ir.Module {
	if p.refined == nil {
		return p.typed.Export()
	}
	m := p.typed.ExportOver(p.refined)
	p.stored.unpad(m)
	return m
}

// text returns the text of a shard_map program, with all casts, types, notes, and where known the places in the source.
func (p *Program) text() string {
	return p.comments() + p.typed.Format(typed.TextOptions{Sources: true})
}

// comments are the notes, for the languages in which # begins a comment.
func (p *Program) comments() string { return comments("# ", p.Notes) }

// comments puts notes on lines of their own, each behind a mark.
func comments(mark string, notes []string) string {
	return strings.Join(lists.Map(notes, func(note string) string { return mark + note + "\n" }), "")
}

package autoshard

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// Spec is a sharding in the form of another system.
type Spec struct {
	Spec  string   `json:"spec,omitempty"`  // "" where the form cannot say it
	Mesh  string   `json:"mesh,omitempty"`  // x=2,y=4, major to minor; "" without a sharding
	Notes []string `json:"notes,omitempty"` // what the text leaves out
	// Problem says why the form cannot say the sharding, RefinedMesh over which mesh it can, and RefinedSpec how.
	Problem     string `json:"problem,omitempty"`
	RefinedMesh string `json:"refinedMesh,omitempty"`
	RefinedSpec string `json:"refinedSpec,omitempty"`
}

// ValueSpec is the sharding of one value of a model. A value without a sharding has neither Spec nor Problem.
type ValueSpec struct {
	Function string `json:"function"`
	Value    string `json:"value"`          // as MLIR names it, %arg0 or %3#1, or "result 0" of the function
	Name     string `json:"name,omitempty"` // of an argument or result, where the program gives one
	Type     string `json:"type"`           // f32[128,512]
	Spec
}

// Specs returns the shardings of the arguments and results of all functions, or of all values that have one too, in a
// form: sdy, partition-spec, dtensor or gspmd (package ir/specfmt). Where the form cannot say some of them, the error
// is of class diag.ErrUnsupported and the specs are complete nevertheless.
func (m *Model) Specs(ctx context.Context, form string, all bool) (specs []ValueSpec, err error) {
	defer diag.Recover("convert", &err)
	f, err := specfmt.ParseForm(form)
	if err != nil {
		return nil, err
	}
	module, _, err := m.source().Shardy(ctx, nil)
	if err != nil {
		return nil, err
	}
	l := &specLister{m: module, form: f, all: all, names: mlir.ValueNames(module)}
	for f := range module.Funcs() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.function(f)
	}
	return l.specs, l.err()
}

type specLister struct {
	m        *ir.Module
	form     specfmt.Form
	all      bool
	names    []string
	name     string // of the function at hand
	specs    []ValueSpec
	problems []diag.Diagnostic
}

// Label returns the name, or what MLIR calls the value.
func (v *ValueSpec) Label() string { return cmp.Or(v.Name, v.Value) }

func (l *specLister) add(value, name string, typ ir.TypeID, id ir.ShardingID, manual ir.ShardAxes) {
	t := l.m.TypeOf(typ)
	v := ValueSpec{Function: l.name, Value: value, Name: name, Type: answer.FormatType(t, t.Dims)}
	if id != 0 {
		layout := specfmt.LayoutOf(l.m, id, manual)
		var err error
		if v.Spec, err = specOf(l.form, &layout); err != nil {
			for _, d := range diag.Diagnostics(err) {
				d.Message = fmt.Sprintf("%s of @%s is %s", v.Label(), l.name, d.Message)
				l.problems = append(l.problems, d)
			}
		}
	}
	l.specs = append(l.specs, v)
}

func (l *specLister) function(id ir.FuncID) {
	f := l.m.Func(id)
	l.name = f.Name
	if !l.m.IsDeclaration(id) {
		args := names.Args(l.m, id)
		for i, v := range l.m.BlockArgs(f.Body) {
			l.add(l.names[v], args.Name(i), l.m.Type(v), l.m.Sharding(v), nil)
		}
		if l.all {
			l.block(f.Body, nil)
		}
	}
	results := names.Results(l.m, id)
	for i, typ := range f.ResultTypes {
		l.add(answer.NumberedResult(i), results.Name(i), typ, f.ResultShardings[i], nil)
	}
}

// values adds the values that have a sharding.
func (l *specLister) values(list []ir.ValueID, manual ir.ShardAxes) {
	for _, v := range list {
		if id := l.m.Sharding(v); id != 0 {
			l.add(l.names[v], "", l.m.Type(v), id, manual)
		}
	}
}

// block adds the values of the ops of a block, those inside of them first. Inside a manual computation its axes are
// manual, but its arguments have the shardings of the values that it takes, outside.
func (l *specLister) block(b ir.BlockID, manual ir.ShardAxes) {
	for op := range l.m.Ops(b) {
		inside := manual
		if axes, ok := l.m.Attr(op, "manual_axes").(*ir.AxesAttr); ok && l.m.Kind(op) == ir.OpSdyManualComputation {
			inside = subaxis.SortMerge(slices.Concat(manual, axes.Axes))
		}
		for inner := range l.m.InnerBlocks(op) {
			l.values(l.m.BlockArgs(inner), manual)
			l.block(inner, inside)
		}
		for _, v := range l.m.Results(op) {
			l.values([]ir.ValueID{v}, manual)
		}
	}
}

// maxProblems bounds how many of the shardings that a form cannot say an error lists.
const maxProblems = 5

func (l *specLister) err() error {
	n := len(l.problems)
	if n == 0 {
		return nil
	}
	e := &diag.Error{Class: diag.ErrUnsupported, Diagnostics: l.problems[:min(n, maxProblems)]}
	if n > maxProblems {
		return e.WithNote(diag.Position{}, "and %d more", n-maxProblems)
	}
	return e
}

// specOf returns a layout in a form. The error is that of specfmt.Format; the spec has what it says too.
func specOf(f specfmt.Form, l *specfmt.Layout) (Spec, error) {
	s := Spec{Mesh: specfmt.FormatMesh(&l.Mesh.Mesh)}
	var err error
	if s.Spec, s.Notes, err = specfmt.Format(f, l); err == nil {
		return s, nil
	}
	s.Problem = diag.Diagnostics(err)[0].Message
	if refined, ok := specfmt.Refine(l); ok {
		if text, notes, e := specfmt.Format(f, &refined); e == nil {
			s.RefinedMesh, s.RefinedSpec, s.Notes = specfmt.FormatMesh(&refined.Mesh.Mesh), text, notes
		}
	}
	return s, err
}

// SpecRequest asks for one sharding in another form.
type SpecRequest struct {
	Text      string
	Name      string         // of the text, in errors
	From, To  string         // forms: sdy, partition-spec, dtensor or gspmd
	Axes      []subaxis.Axis // of the mesh; nil: the mesh that the text tells, or one that fits (gspmd)
	DeviceIDs []int64        // nil: in order
	Ranks     []int          // of the tensor, or of each in a tuple; nil: as the text says
}

// ConvertSpec returns a sharding in another form, or those of a GSPMD tuple. Errors are of class diag.ErrInvalid for a
// text that is wrong, diag.ErrUnsupported for what a form cannot say.
func ConvertSpec(r SpecRequest) (specs []Spec, err error) {
	defer diag.Recover("convert", &err)
	from, err := specfmt.ParseForm(r.From)
	if err != nil {
		return nil, err
	}
	to, err := specfmt.ParseForm(r.To)
	if err != nil {
		return nil, err
	}
	mesh, err := r.mesh()
	if err != nil {
		return nil, err
	}
	elements, at := []string{r.Text}, []int{0}
	if from == specfmt.GSPMD {
		elements, at = specfmt.TupleElements(r.Text)
	}
	if len(r.Ranks) > 0 && len(r.Ranks) != len(elements) {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "%d ranks are given for %d shardings", len(r.Ranks), len(elements))
	}
	for i, text := range elements {
		rank := specfmt.AnyRank
		if len(r.Ranks) > 0 {
			rank = r.Ranks[i]
		}
		l, dropped, err := specfmt.Parse(from, mesh, rank, text, diag.Position{File: r.Name, Line: 1, Col: 1 + at[i]})
		if err != nil {
			return nil, err
		}
		if mesh != nil && l.Mesh.Name == "" {
			l.Mesh = &ir.MeshDecl{Mesh: l.Mesh.Mesh, Name: "mesh"}
		}
		s, err := specOf(to, &l)
		if err != nil {
			return nil, err
		}
		s.Notes = append(dropped, s.Notes...)
		specs = append(specs, s)
	}
	return specs, nil
}

// mesh returns the mesh, which has no name until a text gives it one; nil where the text is to tell it.
func (r *SpecRequest) mesh() (*ir.MeshDecl, error) {
	if r.Axes == nil && r.DeviceIDs == nil {
		return nil, nil
	}
	if err := answer.CheckAxes(r.Axes); err != nil {
		return nil, err
	}
	return specfmt.NewMesh(r.Axes, r.DeviceIDs)
}

// Package resharding answers how a tensor gets from one sharding to another: by the cheapest sequence of collectives, which is what plans
// take, with what each step sends, how long it takes and how much memory, and who holds what before and after.
//
//	a, err := resharding.Find(ctx, &resharding.Request{Mesh: axes, Tensor: "f32[64,64]", From: "P('x', None)", To: "P(None, 'x')"})
//	a.Steps[0].Kind // all_to_all
package resharding

import (
	"context"
	"errors"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// finder holds what the steps of one request share.
type finder struct {
	Request
	mesh    *ir.MeshDecl
	element dtype.Type
	reshard collectives.Reshard
	model   *estimate.Model
}

// Find returns the cheapest way. Errors are of class diag.ErrInvalid where the request is wrong, diag.ErrUnsupported for blocks of unequal
// sizes, for unreduced axes that only the goal has and for parts of one axis that depend on each other, diag.ErrInfeasible where every
// way takes more memory, naming the smallest limit that works, or the context's.
func Find(ctx context.Context, r *Request) (*Answer, error) {
	f, err := newFinder(r)
	if err != nil {
		return nil, err
	}
	found, shardy, err := f.ways(ctx)
	if err != nil {
		return nil, err
	}
	a := &Answer{Schema: Schema, Tensor: dtype.Format(f.element, f.reshard.Shape), Mesh: f.mesh.Axes, Hardware: f.Hardware.Name,
		Memory: f.Memory, From: f.place(&f.reshard.From), To: f.place(&f.reshard.To), Steps: found.steps, Totals: found.Totals,
		Program: found.program}
	if shardy != nil && shardy.program != found.program {
		a.Shardy = &shardy.Totals
	}
	return a, nil
}

// ways returns the cheapest way and Shardy's. The planner's is no longer than that but where Shardy's cuts an axis in parts that neither
// layout names, such as a larger axis that takes the place of a smaller one. Shardy's is nil where its steps are no program: some of its
// permutations change the sizes of blocks, such as from {x, y}, {z} to {z, x}, {y} where x has three devices, and Shardy refuses
// them itself.
func (f *finder) ways(ctx context.Context) (found, shardy *way, err error) {
	if shardy, err = f.follow(ctx, collectives.Shardy(&f.reshard)); err != nil && !errors.Is(err, diag.ErrUnsupported) {
		return nil, nil, err
	}
	planner := collectives.NewPlanner(f.model, f.Mesh)
	planned, ok := planner.Within(&f.reshard, f.Memory)
	if ok {
		if found, err = f.follow(ctx, planned.Steps()); err != nil {
			return nil, nil, err
		}
	}
	if shardy != nil && shardy.PeakBytes <= f.Memory && (!ok || shardy.picoseconds < found.picoseconds) {
		return shardy, shardy, nil
	}
	if !ok {
		return nil, nil, f.infeasible(planner, shardy)
	}
	return found, shardy, nil
}

func newFinder(r *Request) (*finder, error) {
	f := &finder{Request: *r}
	f.Hardware = f.Hardware.OrDefault()
	if f.Memory == 0 {
		f.Memory = int64(f.Hardware.HBMBytes)
	}
	if len(r.Mesh) == 0 {
		return nil, diag.Invalid(diag.BadMesh, diag.Position{}, "a mesh is needed, such as x=4,y=2")
	}
	if err := answer.CheckAxes(r.Mesh); err != nil {
		return nil, err
	}
	f.mesh = &ir.MeshDecl{Mesh: subaxis.Mesh{Axes: r.Mesh}, Name: "mesh"}
	options := cost.Planning()
	if r.Book {
		options = cost.Book()
	}
	var err error
	if f.model, err = estimate.NewUnder(f.Hardware, f.mesh.Mesh, options); err != nil {
		return nil, err
	}
	return f, f.read()
}

// read reads the tensor's type and its shardings.
func (f *finder) read() error {
	element, shape, ok := dtype.ParseTensor(f.Tensor)
	if !ok {
		return diag.Invalid(diag.TypeMismatch, diag.Position{File: "--shape", Line: 1, Col: 1}, "%q is no type of a tensor such as f32[64,128]",
			f.Tensor)
	}
	_, bytes, err := dtype.Size(element, shape)
	if err != nil {
		return err
	}
	f.element, f.reshard.Shape, f.reshard.Bytes = element, shape, bytes
	if f.reshard.From, err = f.layout("--from", f.From); err != nil {
		return err
	}
	if f.reshard.To, err = f.layout("--to", f.To); err != nil {
		return err
	}
	if added := subaxis.Difference(f.reshard.To.Unreduced, f.reshard.From.Unreduced); len(added) > 0 {
		return diag.Unsupported(diag.NotSupported, diag.Position{File: "--to"}, "the goal is unreduced along %s, the beginning is not: no "+
			"communication makes summands of a sum", f.mesh.FormatList(added))
	}
	return nil
}

// layout reads a sharding, which the option gives.
func (f *finder) layout(option, text string) (collectives.Layout, error) {
	unnamed := &ir.MeshDecl{Mesh: f.mesh.Mesh}
	parsed, _, err := specfmt.Parse(specfmt.FormOf(text), unnamed, len(f.reshard.Shape), text, diag.Position{File: option, Line: 1, Col: 1})
	if err != nil {
		return collectives.Layout{}, err
	}
	l := collectives.LayoutOf(&parsed.Sharding)
	if !l.Independent() {
		return l, diag.Unsupported(diag.NotSupported, diag.Position{File: option}, "%s cuts along parts of one axis that depend on each "+
			"other: cut by whole axes, or by parts that nest", text)
	}
	for d, size := range f.reshard.Shape {
		if n := subaxis.Product(l.Dims[d]); size%n != 0 {
			return l, diag.Unsupported(diag.NotSupported, diag.Position{File: option}, "dimension %d has size %d, no multiple of the %d devices "+
				"along %s", d, size, n, f.mesh.FormatList(l.Dims[d]))
		}
	}
	return l, nil
}

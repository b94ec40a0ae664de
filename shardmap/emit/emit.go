// Package emit writes programs as Python files for JAX, as a person would write them: a mesh, PartitionSpecs, the
// per-device function under shard_map, the unsharded function, and a main that compares the two.
//
//	%1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
//	%2 = shard_map.psum {"y"} %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//
// becomes, over the mesh x=2, y=2,
//
//	dot = x @ w  # f32[2,4]
//	summed = lax.psum(dot, "y")  # f32[2,4]
//
// The text runs on JAX 0.6 and later: what differs between versions is looked up by name. JAX's check of replication is
// off for plans, because the per-device program is explicit about all communication. The same program gives the same
// bytes.
//
// Shard_map programs with types (package typed) become files of the same kind, with the check that they ask for, every
// cast explicit, and the types behind the lines:
//
//	c = vary(b, "i")  # f32[8,32]{i,j}
//	z = lax.psum(a @ c, "j")  # f32[2,32]{i}
//
// Specification: shardmap.md sections 1.10, 8, 9 and 12.
package emit

import (
	"context"
	"fmt"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// Program is what to write. Writing changes the modules.
type Program struct {
	Title   string            // first line of the file's description
	Sharded *shardmap.Program // over axes
	Whole   *ir.Module        // the program over whole tensors; Shardy's collectives change nothing in it
	Inputs  []string          // names of the inputs, for people; the rest is numbered
	Outputs []string
	Donated []int64  // numbers of the inputs whose buffers outputs may take
	Dropped []string // arguments of the model's function that are no inputs, where that is known
}

// Python returns the text of a Python file. Without Sharded, the file runs the unsharded program alone; Whole is
// always there. Errors are of class diag.ErrUnsupported, at the op that JAX has no function for, or where no mesh of
// whole axes names the parts of axes that inputs and outputs are cut along.
func Python(ctx context.Context, p *Program) ([]byte, error) {
	f := &file{ctx: ctx, Program: p, names: newScope(), used: map[string]bool{}, constantNames: map[string]string{}}
	whole := newEmitter(f, p.Whole)
	main, ok := p.Whole.Main()
	if !ok {
		return nil, diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	if err := f.describe(p.Whole, main); err != nil {
		return nil, err
	}
	if p.Sharded != nil {
		if err := f.sharded(whole, main); err != nil {
			return nil, err
		}
	}
	if err := whole.topLevel("unsharded", "The program over whole arrays.", main, f.Inputs); err != nil {
		return nil, err
	}
	return []byte(f.text()), nil
}

// file collects the parts of a Python file.
type file struct {
	ctx context.Context
	*Program
	typed         *typed.Program // nil for a plan
	example       *Example
	body          string // name of the function of one device
	explicit      bool   // the axes of the mesh are explicit, in JAX's sense
	terms         bool   // some outputs are terms of a sum
	inSpecs       []*expr
	outSpecs      []*expr
	names         *scope          // of the top level
	mesh          *subaxis.Mesh   // nil without a per-device program
	coarse        subaxis.Mesh    // of a plan: the mesh of which that one is the refinement
	refining      *typed.Refining // of a plan: how one becomes the other
	inputs        []*expr
	outputs       []*expr
	functions     []string
	used          map[string]bool // helpers
	wide          bool            // there are 64-bit types
	decodes       bool            // there are arrays in base64
	constants     []constant
	constantNames map[string]string
}

// describe lists the types of inputs and outputs.
func (f *file) describe(m *ir.Module, main ir.FuncID) error {
	e, at := &emitter{file: f, m: m}, m.Func(main).Op
	for i, v := range m.BlockArgs(m.Func(main).Body) {
		x, err := e.row(at, nameAt(f.Inputs, i, "arg"), m.ValueType(v), m.Shape(v))
		if err != nil {
			return err
		}
		f.inputs = append(f.inputs, x)
	}
	for i, id := range m.Func(main).ResultTypes {
		x, err := e.row(at, nameAt(f.Outputs, i, "out"), m.TypeOf(id), m.TypeOf(id).Dims)
		if err != nil {
			return err
		}
		f.outputs = append(f.outputs, x)
	}
	return nil
}

// row returns the name of an input or output of a function, its element type, and its shape as a whole.
func (e *emitter) row(function ir.OpID, name string, t *ir.Type, dims []int64) (*expr, error) {
	if err := e.checkType(function, t); err != nil || t.Kind != ir.TensorKind {
		return nil, err
	}
	return tuple(atom(quoted(name)), e.dtypeOf(t.DType), ints(dims)), nil
}

// nameAt returns the name at a place, a numbered one where there is none.
func nameAt(names []string, i int, base string) string {
	switch {
	case i < len(names) && names[i] != "":
		return names[i]
	case base == "":
		return ""
	}
	return fmt.Sprintf("%s%d", base, i)
}

// sharded writes the per-device function, and prepares the mesh for both programs.
func (f *file) sharded(whole *emitter, main ir.FuncID) error {
	p := f.Sharded
	body := p.Module.Func(p.Main).Body
	f.coarse, f.refining = p.Mesh, typed.NewRefining(p.Mesh)
	if err := f.refining.CutPorts(p, typed.Names{Inputs: f.Inputs, Outputs: f.Outputs}); err != nil {
		return err
	}
	f.refining.CutGroups(p.Module, body)
	f.refining.CutBody(p.Module, body)
	manual, err := whole.cutManual(main)
	if err != nil {
		return err
	}
	f.mesh = &f.refining.Finish().Fine
	for _, op := range manual {
		if whole.manual[op], err = f.refining.Program(whole.m, main, whole.m.RegionBlock(op, 0)); err != nil {
			return err
		}
	}
	device := newEmitter(f, p.Module)
	if device.typed, err = f.refining.Program(p.Module, p.Main, body); err != nil {
		return err
	}
	f.body, f.inSpecs, f.outSpecs = "per_device", f.portSpecs(p.Inputs), f.portSpecs(p.Outputs)
	f.use("on_devices")
	return device.topLevel("per_device", "The program of one device, over its blocks.", p.Main, f.Inputs)
}

// cutManual cuts the mesh for the manual computations of a program that sees whole tensors, and returns them.
func (e *emitter) cutManual(main ir.FuncID) ([]ir.OpID, error) {
	found := e.m.OpsOf(e.m.Func(main).Body, ir.OpSdyManualComputation)
	for _, op := range found {
		if err := e.cutOne(op); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (e *emitter) cutOne(op ir.OpID) error {
	m, r := e.m, e.file.refining
	body := m.RegionBlock(op, 0)
	for _, v := range append(m.ResultValues(op), m.BlockArgs(body)...) {
		for _, refs := range e.specRefs(v) {
			if err := r.Cut(m.OpPos(op), "a manual computation", refs); err != nil {
				return err
			}
		}
	}
	shardmap.OverAxes(m, body, m.AddMesh("", e.file.coarse, nil, 0), nil)
	r.CutGroups(m, body)
	r.CutBody(m, body)
	return nil
}

// topLevel writes a function of the module as a function of the file. The main functions return a tuple always.
func (e *emitter) topLevel(name, doc string, fn ir.FuncID, args []string) error {
	outer, indent, gap, start, scope := e.out, e.indent, e.gap, e.start, e.scope
	e.out, e.indent, e.gap, e.start = &strings.Builder{}, 0, false, true
	e.scope = newScope(e.file.names)
	body := e.m.Func(fn).Body
	var params []*expr
	for i, v := range e.m.BlockArgs(body) {
		own := e.scope.take(identifier(nameAt(args, i, "arg"), "arg"))
		e.names[v] = own
		params = append(params, atom(own))
	}
	e.line("def ", call(name, params...), ":")
	e.indent, e.start = 4, true
	if doc != "" {
		e.line("", atom(`"""`+doc+`"""`), "")
	}
	e.parameterTypes(e.m.BlockArgs(body))
	if doc != "" {
		e.nameResults(body)
	}
	outs, err := e.block(body)
	if err != nil {
		return err
	}
	if len(outs) == 1 && doc != "" {
		e.line("return ", tuple(e.ref(outs[0])), "")
	} else {
		e.result(outs)
	}
	e.file.functions = append(e.file.functions, e.out.String())
	e.out, e.indent, e.gap, e.start, e.scope = outer, indent, gap, start, scope
	return nil
}

// nameResults gives the values that main returns the names of the outputs.
func (e *emitter) nameResults(body ir.BlockID) {
	for i, v := range e.m.Operands(e.m.LastOp(body)) {
		if name := identifier(nameAt(e.file.Outputs, i, ""), ""); name != "" && e.given[v] == "" {
			e.given[v] = name
		}
	}
}

// Package emit writes programs as Python files for JAX, as a person would write them: a mesh, PartitionSpecs, the
// per-device function under shard_map, the unsharded function, and a main that compares the two.
//
//	%1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
//	%2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<[[0, 1], [2, 3]]> ...}> ({ add })
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
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/typed"
)

// Program is what to write. Per-device and unsharded module are left unchanged.
type Program struct {
	Title   string // first line of the file's description
	Sharded *shardmap.Program
	Whole   *ir.Module // the program over whole tensors; Shardy's collectives change nothing in it
	Inputs  []string   // names of the inputs, for people; the rest is numbered
	Outputs []string
	Donated []int64  // numbers of the inputs whose buffers outputs may take
	Dropped []string // arguments of the model's function that are no inputs, where that is known
}

// Python returns the text of a Python file. Without Sharded, the file runs the unsharded program alone; Whole is
// always there. Errors are of class diag.ErrUnsupported, at the op that JAX has no function for, or where no mesh of
// whole axes names the parts of axes that inputs and outputs are cut along.
func Python(p *Program) ([]byte, error) {
	f := &file{Program: p, names: newScope(), used: map[string]bool{}, constantNames: map[string]string{}}
	whole := newEmitter(f, p.Whole, nil)
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
	if err := whole.topLevel("unsharded", "The program over whole arrays.", main, f.inputNames()); err != nil {
		return nil, err
	}
	return []byte(f.text()), nil
}

// file collects the parts of a Python file.
type file struct {
	*Program
	typed         *typed.Program // nil for a plan
	example       *Example
	body          string // name of the function of one device
	explicit      bool   // the axes of the mesh are explicit, in JAX's sense
	terms         bool   // some outputs are terms of a sum
	inSpecs       []*expr
	outSpecs      []*expr
	names         *scope // of the top level
	mesh          *mesh  // nil without a per-device program
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
	e := &emitter{file: f, m: m}
	row := func(name string, t *ir.Type) (*expr, error) {
		if err := e.checkType(m.Func(main).Op, t); err != nil || t.Kind != ir.TensorKind {
			return nil, err
		}
		return tuple(atom(quoted(name)), e.dtypeOf(t.DType), ints(t.Dims)), nil
	}
	names := f.inputNames()
	for i, v := range m.BlockArgs(m.Func(main).Body) {
		x, err := row(nameAt(names, i, "arg"), m.ValueType(v))
		if err != nil {
			return err
		}
		f.inputs = append(f.inputs, x)
	}
	for i, id := range m.Func(main).ResultTypes {
		x, err := row(nameAt(f.Outputs, i, "out"), m.TypeOf(id))
		if err != nil {
			return err
		}
		f.outputs = append(f.outputs, x)
	}
	return nil
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

func (f *file) inputNames() []string { return f.Inputs }

// sharded writes the per-device function, and prepares the mesh for both programs.
func (f *file) sharded(whole *emitter, main ir.FuncID) error {
	p := f.Sharded
	x, err := newMesh(p)
	if err != nil {
		return err
	}
	f.mesh, whole.blocks = x, x
	device := newEmitter(f, p.Module, x)
	body := p.Module.Func(p.Main).Body
	if err := device.findGroups(body); err != nil {
		return err
	}
	if err := whole.prepareManual(whole.m.Func(main).Body); err != nil {
		return err
	}
	device.findDeviceIndices(body)
	x.finish()
	f.body, f.inSpecs, f.outSpecs = "per_device", f.portSpecs(p.Inputs), f.portSpecs(p.Outputs)
	f.use("on_devices")
	return device.topLevel("per_device", "The program of one device, over its blocks.", p.Main, f.inputNames())
}

// prepareManual does for the bodies of manual computations what is done for the per-device program.
func (e *emitter) prepareManual(b ir.BlockID) error {
	var problem error
	e.m.Walk(b, func(op ir.OpID) {
		if e.m.Kind(op) != ir.OpSdyManualComputation || problem != nil {
			return
		}
		body := e.m.RegionBlock(op, 0)
		e.mesh = e.blocks
		problem = e.findGroups(body)
		e.findDeviceIndices(body)
		e.mesh = nil
		for _, v := range append(e.m.ResultValues(op), e.m.BlockArgs(body)...) {
			for _, refs := range e.specRefs(v) {
				if !e.blocks.cut(refs) && problem == nil {
					problem = e.unsupported(op, "the parts %s of mesh axes and those that others use have no common refinement", e.blocks.FormatList(refs))
				}
			}
		}
	})
	return problem
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

// text puts the file together.
func (f *file) text() string {
	parts := []string{f.head()}
	for _, h := range helpers {
		if f.used[h.name] || h.name == "decode" && f.decodes {
			parts = append(parts, h.text)
		}
	}
	parts = append(parts, f.functions...)
	var constants []string
	for i := range f.constants {
		constants = append(constants, f.constants[i].text())
	}
	if len(constants) > 0 {
		parts = append(parts, strings.Join(constants, ""))
	}
	parts = append(parts, f.run(), mainText, f.start())
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return strings.Join(parts, "\n\n\n") + "\n"
}

// head returns what stands before the functions: description, imports, tables and the mesh.
func (f *file) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\"\"\"%s\n\n", docText(f.Title))
	b.WriteString(f.purpose() + "; --help lists the options.\n")
	b.WriteString(f.arguments())
	b.WriteString("\"\"\"\n\nimport argparse\n")
	if f.decodes {
		b.WriteString("import base64\n")
	}
	b.WriteString("import os\nimport sys\n\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import lax\n")
	if f.mesh != nil {
		mesh := "Mesh"
		if f.explicit {
			mesh = "AxisType, Mesh"
		}
		fmt.Fprintf(&b, "from jax.sharding import %s, NamedSharding\nfrom jax.sharding import PartitionSpec as P\n", mesh)
	}
	b.WriteString("\n")
	if f.explicit {
		b.WriteString("if not hasattr(lax, \"pcast\"):\n    raise SystemExit(\"reduced and unreduced axes need a newer JAX\")\n\n")
	}
	if f.typed != nil && f.typed.Manual.Len() < len(f.typed.Mesh.Axes) {
		b.WriteString("# JAX before 0.7 has another partitioner, which fails where some axes are left to it.\n")
		b.WriteString("jax.config.update(\"jax_use_shardy_partitioner\", True)\n\n")
	}
	if f.wide {
		b.WriteString("jax.config.update(\"jax_enable_x64\", True)\n\n")
	}
	devices := int64(1)
	if f.mesh != nil {
		devices = f.mesh.Devices()
	}
	fmt.Fprintf(&b, "DEVICES = %d\n", devices)
	b.WriteString(statement(0, "INPUTS = ", tuple(f.inputs...), ""))
	b.WriteString(statement(0, "OUTPUTS = ", tuple(f.outputs...), ""))
	if len(f.Donated) > 0 {
		b.WriteString(statement(0, "DONATED = ", tuple(numbers(f.Donated)...), ""))
	}
	if f.mesh == nil {
		return b.String()
	}
	b.WriteString(statement(0, "IN_SPECS = ", tuple(f.inSpecs...), ""))
	b.WriteString(statement(0, "OUT_SPECS = ", tuple(f.outSpecs...), ""))
	b.WriteString("\n\n" + f.makeMesh())
	return b.String()
}

// portSpecs returns the specs of the inputs or outputs of a plan.
func (f *file) portSpecs(ports []shardmap.Port) []*expr {
	specs := make([]*expr, len(ports))
	for i := range specs {
		specs[i] = f.mesh.spec(ports[i].Layout.Dims)
	}
	return specs
}

// purpose says what running the file does.
func (f *file) purpose() string {
	switch {
	case f.typed == nil:
		return "Run it to compare the sharded program with the unsharded one"
	case f.example != nil:
		return "Run it to compare its outputs with those of its example"
	}
	return "Run it on the inputs of a file, or on random ones"
}

// arguments says what the file's functions take. The program does not tell which arguments jit dropped.
func (f *file) arguments() string {
	text := ""
	if f.typed == nil {
		text = `
INPUTS and OUTPUTS name the arguments and results in order, as the model does. Where the model
comes from jax.jit, these are the leaves of the function's arguments, without those that the
function does not use: jit drops them.
`
	}
	for i, name := range f.Dropped {
		if i == 0 {
			text += "\nDropped arguments:\n"
		}
		text += "  " + docText(name) + "\n"
	}
	if len(f.Donated) > 0 {
		text += "\nDONATED are the inputs whose buffers the program may reuse: they are gone after a call.\n"
	}
	return text
}

// start returns the statement that calls main.
func (f *file) start() string {
	with := "unsharded=unsharded"
	if f.typed != nil {
		with = ""
		if f.example != nil {
			with = "example=example"
		}
	}
	return "if __name__ == \"__main__\":\n    sys.exit(main(" + with + "))"
}

// docText makes a text safe inside a Python docstring.
func docText(text string) string {
	text = strings.NewReplacer("\\", "/", `"`, "'", "\n", " ").Replace(text)
	return strings.TrimSpace(text)
}

// makeMesh returns the function that makes the mesh.
func (f *file) makeMesh() string {
	var sizes []int64
	names := make([]string, len(f.mesh.pieces()))
	for i, a := range f.mesh.pieces() {
		sizes = append(sizes, a.Size)
		names[i] = quoted(a.Name)
	}
	var b strings.Builder
	b.WriteString("def make_mesh():\n")
	b.WriteString("    devices = jax.devices()\n    if len(devices) < DEVICES:\n")
	b.WriteString("        raise SystemExit(f\"{DEVICES} devices are needed, {len(devices)} are there\")\n")
	shape := method(atom("np.array(devices[:DEVICES])"), "reshape", numbers(sizes)...)
	if f.mesh.DeviceIDs != nil {
		b.WriteString(statement(4, "order = ", list(numbers(f.mesh.DeviceIDs)...), ""))
		shape = method(atom("np.array(devices)[order]"), "reshape", numbers(sizes)...)
	}
	args := []*expr{shape, tuple(atoms(names)...)}
	if f.explicit {
		args = append(args, keyword("axis_types", tuple(atoms(slices.Repeat([]string{"AxisType.Explicit"}, len(names)))...)))
	}
	b.WriteString(statement(4, "return ", call("Mesh", args...), ""))
	return b.String()
}

// jit returns the compiled form of a function of all inputs, which gives up the donated ones.
func (f *file) jit(function *expr) *expr {
	if len(f.Donated) == 0 {
		return call("jax.jit", function)
	}
	return call("jax.jit", function, keyword("donate_argnums", atom("DONATED")))
}

// run returns the function that main calls.
func (f *file) run() string {
	if f.mesh == nil {
		return "def run(values):\n    \"\"\"Runs the program.\"\"\"\n" + statement(4, "return ", f.jit(atom("unsharded")), "(*values)")
	}
	args := []*expr{atom(f.body), atom("mesh"), atom("IN_SPECS"), atom("OUT_SPECS")}
	if p := f.typed; p != nil {
		args = append(args, keyword("check", truth(p.Check)))
		if manual := p.Manual.Axes(); len(manual) < len(p.Mesh.Axes) {
			args = append(args, keyword("axes", braces(f.mesh.pieceNames(manual)...)))
		}
	}
	text := "def sharded(mesh):\n    \"\"\"Returns the program as a function of whole arrays.\"\"\"\n" +
		statement(4, "return ", f.jit(call("on_devices", args...)), "") + `

def run(values):
    """Runs the sharded program on all devices."""
    mesh = make_mesh()
    arrays = []
    for x, spec in zip(values, IN_SPECS):
        block = lambda i, x=x: np.asarray(x[i])
        arrays.append(jax.make_array_from_callback(x.shape, NamedSharding(mesh, spec), block))
`
	if !f.terms {
		return text + "    return sharded(mesh)(*arrays)\n"
	}
	return text + `    whole = lambda ys: jax.sharding.reshard(ys, NamedSharding(mesh, P()))  # adds up the terms
    return jax.jit(whole)(sharded(mesh)(*arrays))
`
}

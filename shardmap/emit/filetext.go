package emit

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/lists"
	"autoshard/shardmap"
)

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
		b.WriteString(statement(0, "DONATED = ", tuple(lists.Map(f.Donated, number)...), ""))
	}
	if f.mesh == nil {
		return b.String()
	}
	b.WriteString(statement(0, "IN_SPECS = ", tuple(f.inSpecs...), ""))
	b.WriteString(statement(0, "OUT_SPECS = ", tuple(f.outSpecs...), ""))
	if f.padded() {
		stored := lists.Map(f.Sharded.Inputs, func(p shardmap.Port) *expr { return ints(p.Stored()) })
		b.WriteString(statement(0, "STORED = ", tuple(stored...), ""))
	}
	b.WriteString("\n\n" + f.makeMesh())
	return b.String()
}

// portSpecs returns the specs of the inputs or outputs of a plan.
func (f *file) portSpecs(ports []shardmap.Port) []*expr {
	return lists.Map(ports, func(p shardmap.Port) *expr { return f.typedSpec(f.refining.Spec(p.Layout.Dims)) })
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
	if f.padded() {
		text = `
STORED has the shapes of the inputs that are cut into blocks: dimensions that the devices do not divide
are padded, and what pads the outputs is taken off them.
`
	}
	if f.typed == nil {
		text += `
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
	var names []string
	for _, a := range f.mesh.Axes {
		sizes, names = append(sizes, a.Size), append(names, a.Name)
	}
	var b strings.Builder
	b.WriteString("def make_mesh():\n")
	b.WriteString("    devices = jax.devices()\n    if len(devices) < DEVICES:\n")
	b.WriteString("        raise SystemExit(f\"{DEVICES} devices are needed, {len(devices)} are there\")\n")
	shape := method(atom("np.array(devices[:DEVICES])"), "reshape", lists.Map(sizes, number)...)
	if f.mesh.DeviceIDs != nil {
		b.WriteString(statement(4, "order = ", list(lists.Map(f.mesh.DeviceIDs, number)...), ""))
		shape = method(atom("np.array(devices)[order]"), "reshape", lists.Map(sizes, number)...)
	}
	args := []*expr{shape, tuple(quotedAll(names)...)}
	if f.explicit {
		args = append(args, keyword("axis_types", tuple(lists.Map(slices.Repeat([]string{"AxisType.Explicit"}, len(names)), atom)...)))
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

// padded says whether some input or output of a plan is stored padded.
func (f *file) padded() bool {
	if f.Program == nil || f.Sharded == nil {
		return false
	}
	return slices.ContainsFunc(slices.Concat(f.Sharded.Inputs, f.Sharded.Outputs), func(p shardmap.Port) bool { return p.Padded != nil })
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
			args = append(args, keyword("axes", braces(f.axisNames(manual)...)))
		}
	}
	text := "def sharded(mesh):\n    \"\"\"Returns the program as a function of whole arrays.\"\"\"\n" +
		statement(4, "return ", f.jit(call("on_devices", args...)), "") + `

def run(values):
    """Runs the sharded program on all devices."""
    mesh = make_mesh()
    arrays = []
` + f.arrays()
	if f.padded() {
		return text + `    outputs = [gather(y) for y in sharded(mesh)(*arrays)]
    return [y[tuple(map(slice, shape))] for y, (_, _, shape) in zip(outputs, OUTPUTS)]
`
	}
	if !f.terms {
		return text + "    return sharded(mesh)(*arrays)\n"
	}
	return text + `    whole = lambda ys: jax.sharding.reshard(ys, NamedSharding(mesh, P()))  # adds up the terms
    return jax.jit(whole)(sharded(mesh)(*arrays))
`
}

// arrays returns the loop of run that cuts inputs into blocks.
func (f *file) arrays() string {
	each, padded := "x, spec in zip(values, IN_SPECS)", ""
	if f.padded() {
		each = "x, spec, shape in zip(values, IN_SPECS, STORED)"
		padded = "        x = np.pad(np.asarray(x), [(0, m - n) for n, m in zip(x.shape, shape)])\n"
	}
	return "    for " + each + ":\n" + padded + `        block = lambda i, x=x: np.asarray(x[i])
        arrays.append(jax.make_array_from_callback(x.shape, NamedSharding(mesh, spec), block))
`
}

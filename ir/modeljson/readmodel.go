package modeljson

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/names"
	"autoshard/subaxis"
)

// RoleAttr is the attribute of arguments and results of public functions that holds what they are for: a string, one of
// Roles. Their names are in names.Attr; arguments named arg0, arg1, ... by their position have none.
const RoleAttr = "autoshard.role"

// BatchRole is the one of Roles of inputs whose leading dimension counts examples.
const BatchRole = "batch"

// Roles returns what an input or output may be for. An output that replaces an input has the input's role.
func Roles() []string {
	return []string{"param", "opt_state", "state", BatchRole, "kv_cache", "scalar", "output"}
}

// entryName is the name of the function that the model's own inputs, ops and outputs make.
const entryName = "main"

var (
	modelFields = []string{"schema", "name", "attributes", "meshes", "inputs", "ops", "outputs", "functions", "location",
		"resources", "body"}
	itemFields     = []string{"mesh", "function", "op", "module"}
	nestedFields   = []string{"name", "attributes", "body", "location"}
	axisFields     = []string{"name", "size"}
	meshFields     = []string{"name", "axes", "deviceIds", "attributes", "location"}
	inputFields    = []string{"name", "type", "role", "sharding", "donate", "aliasOutput", "attributes", "location"}
	outputFields   = []string{"value", "name", "type", "role", "sharding", "attributes"}
	functionFields = []string{"name", "visibility", "declaration", "attributes", "inputs", "ops", "outputs", "location",
		"blocks"}
)

func (r *reader) model(n *node) {
	if !r.object(n, "the model", modelFields...) {
		return
	}
	schema := n.get("schema")
	switch {
	case schema == nil:
		r.fail(n.at, diag.BadModel, "field \"schema\" is missing: add \"schema\": %q", Schema)
	case schema.kind != stringKind || schema.text != Schema:
		r.fail(schema.at, diag.BadModel, "schema is %q, this reader knows %q", schema.text, Schema)
	}
	r.m.Name = r.str(n, "name")
	r.m.Loc = r.location(n)
	for i := range r.array(n, "resources") {
		r.resource(&n.get("resources").elems[i])
	}
	if n.get("body") != nil {
		for _, other := range []string{"meshes", "inputs", "ops", "outputs", "functions"} {
			if v := n.get(other); v != nil {
				r.fail(v.at, diag.BadModel, "field %q cannot stand beside \"body\"", other)
			}
		}
		r.items(n, r.m.Body(), func() { r.m.Attrs = r.attributes(n.get("attributes"), ir.OpUnregistered, 0) })
		return
	}
	for i := range r.array(n, "meshes") {
		r.mesh(&n.get("meshes").elems[i])
	}
	r.m.Attrs = r.attributes(n.get("attributes"), ir.OpUnregistered, 0)
	var all []*function
	if n.get("inputs") != nil || n.get("ops") != nil || n.get("outputs") != nil || n.get("functions") == nil {
		all = append(all, r.declare(n, entryName, "public", true))
	}
	for i := range r.array(n, "functions") {
		f := &n.get("functions").elems[i]
		if r.object(f, "a function", functionFields...) {
			all = append(all, r.declare(f, r.str(f, "name"), r.visibility(f), false))
		}
	}
	for _, f := range all {
		r.body(f)
	}
}

func (r *reader) visibility(f *node) string {
	switch v := r.str(f, "visibility"); v {
	case "":
		return "private"
	case "public", "private", "nested":
		return v
	case "none":
		return ""
	default:
		r.fail(f.get("visibility").at, diag.BadModel, "visibility is %q, it must be public, private, nested or none", v)
		return ""
	}
}

// mesh reads a mesh and returns the operation that declares it, 0 after a problem.
func (r *reader) mesh(n *node) ir.OpID {
	if !r.object(n, "a mesh", meshFields...) {
		return 0
	}
	name := r.str(n, "name")
	name = cmp.Or(name, "mesh")
	if r.hasMesh(name) {
		r.fail(n.at, diag.Redefined, "mesh %q is declared twice: give each mesh a \"name\" of its own", name)
		return 0
	}
	var mesh subaxis.Mesh
	for i := range r.array(n, "axes") {
		if axis, ok := r.axis(&n.get("axes").elems[i], mesh.Axes); ok {
			mesh.Axes = append(mesh.Axes, axis)
		}
	}
	for i := range r.array(n, "deviceIds") {
		if id, ok := r.integer(&n.get("deviceIds").elems[i], "device id", 0, math.MaxInt32); ok {
			mesh.DeviceIDs = append(mesh.DeviceIDs, id)
		}
	}
	if devices := meshDevices(mesh.Axes); devices > math.MaxInt32 {
		r.fail(n.at, diag.BadMesh, "mesh %q has more than %d devices", name, math.MaxInt32)
		mesh.Axes = nil
	}
	id := r.m.AddMesh(name, mesh, r.attributes(n.get("attributes"), ir.OpUnregistered, 0), r.location(n))
	op := r.m.Mesh(id).Op
	r.m.MoveToEnd(op, r.moduleBody())
	r.setPos(op, n)
	return op
}

// hasMesh says whether the module at hand declares a mesh of that name.
func (r *reader) hasMesh(name string) bool {
	for id := ir.MeshID(1); int(id) < r.m.NumMeshes(); id++ {
		if mesh := r.m.Mesh(id); mesh.Name == name && r.m.OpBlock(mesh.Op) == r.moduleBody() {
			return true
		}
	}
	return false
}

// moduleBody returns the body of the module at hand.
func (r *reader) moduleBody() ir.BlockID {
	if r.in == 0 {
		return r.m.Body()
	}
	return r.in
}

// meshDevices returns the product of the axis sizes, cut off above 2^31.
func meshDevices(axes []subaxis.Axis) int64 {
	n := int64(1)
	for _, a := range axes {
		n = min(n*a.Size, math.MaxInt32+1)
	}
	return n
}

func (r *reader) axis(n *node, before []subaxis.Axis) (subaxis.Axis, bool) {
	if !r.object(n, "a mesh axis", axisFields...) {
		return subaxis.Axis{}, false
	}
	name, size := r.str(n, "name"), n.get("size")
	switch {
	case name == "":
		r.fail(n.at, diag.BadMesh, "mesh axis has no \"name\"")
	case size == nil:
		r.fail(n.at, diag.BadMesh, "mesh axis %q has no \"size\"", name)
	case slices.ContainsFunc(before, func(a subaxis.Axis) bool { return a.Name == name }):
		r.fail(n.at, diag.BadMesh, "mesh axis %q is declared twice", name)
	default:
		if i, ok := wholeNumber(size.text); size.kind == numberKind && ok && i < 1 {
			r.fail(size.at, diag.BadMesh, "mesh axis %q has size %d, it must be at least 1", name, i)
			return subaxis.Axis{}, false
		}
		v, ok := r.integer(size, "size of mesh axis "+strconv.Quote(name), 1, math.MaxInt32)
		return subaxis.Axis{Name: name, Size: v}, ok
	}
	return subaxis.Axis{}, false
}

// function is a function of the model while it is read.
type function struct {
	n       *node
	id      ir.FuncID
	names   *scope
	state   buildState
	results []ir.TypeID // nil until known
}

type buildState uint8

const (
	declared buildState = iota
	building
	built
)

// declare adds a function with its arguments; its body comes later, so that calls may stand before it. The entry's
// node is the model's.
func (r *reader) declare(n *node, name, visibility string, entry bool) *function {
	f := &function{n: n, names: &scope{values: map[string]ir.ValueID{}}}
	if name == "" {
		r.fail(n.at, diag.BadModel, "function has no \"name\"")
	} else if r.funcs[name] != nil {
		r.fail(n.at, diag.Redefined, "function %q is defined twice", name)
	}
	r.funcs[name] = f
	spec := ir.FuncSpec{Name: name, Visibility: visibility, Declaration: r.flag(n, "declaration"), In: r.in}
	if !entry {
		spec.Attrs, spec.Loc = r.attributes(n.get("attributes"), ir.OpFunc, 0), r.location(n)
	}
	inputs := r.array(n, "inputs")
	for i := range inputs {
		r.object(&inputs[i], "an input", inputFields...)
		spec.Args = append(spec.Args, r.typeField(&inputs[i], "type"))
		spec.ArgAttrs = append(spec.ArgAttrs, r.inputAttrs(&inputs[i], i, visibility))
	}
	outputs := r.array(n, "outputs")
	for i := range outputs {
		r.object(&outputs[i], "an output", outputFields...)
		spec.ResultAttrs = append(spec.ResultAttrs, r.outputAttrs(&outputs[i]))
	}
	spec.Results = make([]ir.TypeID, len(outputs))
	f.id = r.m.AddFunc(spec)
	r.setPos(r.m.Func(f.id).Op, n)
	f.results = r.declaredResults(outputs)
	args := r.m.BlockArgs(r.m.Func(f.id).Body)
	for i := range inputs {
		r.define(f.names, inputs[i].get("name"), &inputs[i], args[i])
		r.m.SetSharding(args[i], r.sharding(inputs[i].get("sharding"), spec.Args[i]))
		r.m.SetArgLoc(args[i], r.location(&inputs[i]))
	}
	return f
}

// declaredResults returns the types of the outputs if every output gives its own.
func (r *reader) declaredResults(outputs []node) []ir.TypeID {
	types := make([]ir.TypeID, 0, len(outputs))
	for i := range outputs {
		if outputs[i].get("type") == nil {
			return nil
		}
		types = append(types, r.typeField(&outputs[i], "type"))
	}
	return types
}

func (r *reader) inputAttrs(n *node, index int, visibility string) ir.Attrs {
	a := r.attributes(n.get("attributes"), ir.OpUnregistered, 0)
	if name := r.str(n, "name"); visibility == "public" && name != "" && name != "arg"+strconv.Itoa(index) {
		a = a.With(names.Attr, ir.StringAttr(name))
	}
	a = r.role(n, a)
	if r.flag(n, "donate") {
		a = a.With(ir.DonorAttr, ir.BoolAttr(true))
	}
	if alias := n.get("aliasOutput"); alias != nil {
		if v, ok := r.integer(alias, "aliasOutput", 0, math.MaxInt32); ok {
			a = a.With(ir.AliasAttr, ir.IntAttr{Value: v, Type: r.m.ScalarType(dtype.I32)})
		}
	}
	return a
}

func (r *reader) role(n *node, a ir.Attrs) ir.Attrs {
	role := r.str(n, "role")
	if role == "" {
		return a
	}
	if !slices.Contains(Roles(), role) {
		r.fail(n.get("role").at, diag.BadModel, "unknown role %q, roles are %q%s", role, Roles(), hint(role, Roles()))
	}
	return a.With(RoleAttr, ir.StringAttr(role))
}

func (r *reader) outputAttrs(n *node) ir.Attrs {
	a := r.attributes(n.get("attributes"), ir.OpUnregistered, 0)
	if name := r.str(n, "name"); name != "" {
		a = a.With(names.Attr, ir.StringAttr(name))
	}
	return r.role(n, a)
}

// maxCallDepth bounds how many functions may wait for the result types of another.
const maxCallDepth = 1000

// body reads the body of a function, and of the functions whose result types it needs before that.
func (r *reader) body(f *function) {
	if f.state != declared {
		return
	}
	f.state = building
	r.depth++
	defer func() { f.state, r.depth = built, r.depth-1 }()
	if r.depth > maxCallDepth {
		r.class = diag.ErrTooLarge
		r.fail(f.n.at, diag.NestingTooDeep, "calls are nested more than %d deep: give the outputs of function %q a \"type\"",
			maxCallDepth, r.m.Func(f.id).Name)
		return
	}
	outputs := r.array(f.n, "outputs")
	if r.m.IsDeclaration(f.id) {
		r.finishDeclaration(f, outputs)
		return
	}
	block := r.m.Func(f.id).Body
	if f.n.get("blocks") != nil {
		r.blocks(f.n, f.names, r.m.Regions(r.m.Func(f.id).Op)[0], block)
		r.typedOutputs(f, outputs, "has \"blocks\"")
		return
	}
	ended := r.ops(f.n, f.names, block)
	fn := r.m.Func(f.id)
	values := make([]ir.ValueID, len(outputs))
	complete := true
	for i := range outputs {
		values[i] = r.outputValue(&outputs[i], f.names)
		if values[i] == 0 {
			complete = false
			continue
		}
		fn.ResultTypes[i] = r.m.Type(values[i])
		r.checkOutputType(&outputs[i], fn.ResultTypes[i])
		fn.ResultShardings[i] = r.sharding(outputs[i].get("sharding"), fn.ResultTypes[i])
	}
	if complete {
		f.results = fn.ResultTypes
	}
	if complete && !ended {
		r.setPos(r.m.BuilderAtEnd(block).Op(ir.OpReturn, nil, nil, values...), f.n)
	}
}

// checkOutputType compares the type that an output may give with its value's.
func (r *reader) checkOutputType(n *node, want ir.TypeID) {
	if n.get("type") == nil {
		return
	}
	if t := r.typeField(n, "type"); t != 0 && t != want {
		r.fail(n.get("type").at, diag.TypeMismatch, "output has type %s, value %q has type %s",
			r.typeText(t), r.str(n, "value"), r.typeText(want))
	}
}

func (r *reader) finishDeclaration(f *function, outputs []node) {
	for _, field := range []string{"ops", "blocks"} {
		if v := f.n.get(field); v != nil {
			r.fail(v.at, diag.BadModel, "function %q is a declaration, it can have no %q", r.m.Func(f.id).Name, field)
		}
	}
	r.typedOutputs(f, outputs, "is a declaration")
}

// typedOutputs reads the outputs of a function that gives their types alone.
func (r *reader) typedOutputs(f *function, outputs []node, why string) {
	if f.results == nil {
		r.fail(f.n.at, diag.BadModel, "function %q %s: give a \"type\" to each of its outputs", r.m.Func(f.id).Name, why)
		return
	}
	for i := range outputs {
		if v := outputs[i].get("value"); v != nil {
			r.fail(v.at, diag.BadModel, "function %q %s: its outputs have a \"type\" and no \"value\"", r.m.Func(f.id).Name, why)
		}
	}
	fn := r.m.Func(f.id)
	fn.ResultTypes = f.results
	for i := range outputs {
		fn.ResultShardings[i] = r.sharding(outputs[i].get("sharding"), f.results[i])
	}
}

func (r *reader) outputValue(n *node, names *scope) ir.ValueID {
	if n.kind != objectKind {
		return 0
	}
	v := n.get("value")
	if v == nil {
		r.fail(n.at, diag.BadModel, "output has no \"value\": name the input or result that it returns")
		return 0
	}
	return r.lookup(names, v)
}

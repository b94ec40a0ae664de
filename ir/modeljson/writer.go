package modeljson

import (
	"regexp"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// writer turns a module into nodes.
type writer struct {
	m     *ir.Module
	names []string // by value
	err   error    // the first problem
}

// Write returns the JSON text of a module: deterministic, in lines that a person can read, and such that Read gives
// the same program up to the names of values; constants in resources become plain ones. It fails with
// diag.ErrUnsupported for regions of several blocks, for operations other than functions and meshes at the level of
// the module, and for resources without content.
func Write(m *ir.Module) ([]byte, error) {
	w := &writer{m: m, names: make([]string, m.NumValues())}
	root := w.model()
	if w.err != nil {
		return nil, w.err
	}
	return append(appendPretty(nil, &root, 0, 0), '\n'), nil
}

func (w *writer) unsupported(format string, args ...any) {
	if w.err == nil {
		w.err = diag.Unsupported(diag.NotSupported, diag.Position{}, format, args...)
	}
}

func (w *writer) model() node {
	root := node{kind: objectKind, expand: true}
	root.add("schema", text(Schema))
	if w.m.Name != "" {
		root.add("name", text(w.m.Name))
	}
	w.addAttrs(&root, w.m.Attrs, ir.OpUnregistered)
	w.addLocation(&root, w.m.Loc)
	meshes, functions := lines(), lines()
	entry := false
	for op := range w.m.Ops(w.m.Body()) {
		switch w.m.Kind(op) {
		case ir.OpMesh:
			meshes.elems = append(meshes.elems, w.mesh(op))
		case ir.OpFunc:
			if f := w.m.FuncOf(op); len(functions.elems) == 0 && !entry && w.isEntry(f) {
				entry = true
				if len(meshes.elems) > 0 {
					root.add("meshes", meshes)
				}
				w.function(&root, f)
			} else {
				n := node{kind: objectKind, expand: true}
				w.functionHead(&n, f)
				w.function(&n, f)
				functions.elems = append(functions.elems, n)
			}
		default:
			w.unsupported("model.json has no place for operation %q at the level of the module", w.m.OpName(op))
		}
	}
	if !entry && len(meshes.elems) > 0 {
		root.add("meshes", meshes)
	}
	if len(functions.elems) > 0 || !entry {
		root.add("functions", functions)
	}
	return root
}

// lines returns a list that is written one element a line.
func lines(elems ...node) node { return node{kind: arrayKind, expand: true, elems: elems} }

// isEntry says whether the model's own inputs, ops and outputs can stand for a function.
func (w *writer) isEntry(f ir.FuncID) bool {
	fn := w.m.Func(f)
	return fn.Name == entryName && fn.Visibility == "public" && len(w.m.OpAttrs(fn.Op)) == 0 && !w.known(w.m.OpLoc(fn.Op)) && !w.m.IsDeclaration(f)
}

func (w *writer) mesh(op ir.OpID) node {
	d := w.m.Mesh(w.m.MeshOf(op))
	n := node{kind: objectKind}
	n.add("name", text(d.Name))
	axes := node{kind: arrayKind}
	for _, a := range d.Axes {
		axis := node{kind: objectKind}
		axis.add("name", text(a.Name))
		axis.add("size", number(a.Size))
		axes.elems = append(axes.elems, axis)
	}
	n.add("axes", axes)
	if d.DeviceIDs != nil {
		n.add("deviceIds", numbers(d.DeviceIDs))
	}
	w.addAttrs(&n, w.m.OpAttrs(op), ir.OpUnregistered)
	return n
}

func (w *writer) functionHead(n *node, f ir.FuncID) {
	fn := w.m.Func(f)
	n.add("name", text(fn.Name))
	switch fn.Visibility {
	case "private":
	case "":
		n.add("visibility", text("none"))
	default:
		n.add("visibility", text(fn.Visibility))
	}
	if w.m.IsDeclaration(f) {
		n.add("declaration", boolean(true))
	}
	w.addAttrs(n, w.m.OpAttrs(fn.Op), ir.OpFunc)
	w.addLocation(n, w.m.OpLoc(fn.Op))
}

// function adds inputs, ops and outputs. A terminator with attributes or a location is written as an operation.
func (w *writer) function(n *node, f ir.FuncID) {
	fn := w.m.Func(f)
	inputs, ops, outputs := lines(), lines(), lines()
	next := 0
	args := w.m.BlockArgs(fn.Body)
	w.nameInputs(fn, args)
	for i, v := range args {
		inputs.elems = append(inputs.elems, w.input(fn, i, v))
	}
	n.add("inputs", inputs)
	last := w.m.LastOp(fn.Body)
	if w.m.IsDeclaration(f) {
		for i := range fn.ResultTypes {
			outputs.elems = append(outputs.elems, w.output(fn, i, 0))
		}
		n.add("outputs", outputs)
		return
	}
	if last == 0 || w.m.Kind(last) != ir.OpReturn {
		w.unsupported("function %q does not end with a return", fn.Name)
		return
	}
	plain := w.isPlain(last)
	for op := range w.m.Ops(fn.Body) {
		if op != last || !plain {
			ops.elems = append(ops.elems, w.op(op, &next))
		}
	}
	for i := range fn.ResultTypes {
		outputs.elems = append(outputs.elems, w.output(fn, i, w.m.Operand(last, i)))
	}
	n.add("ops", ops)
	n.add("outputs", outputs)
}

// isPlain says whether a terminator is told by its operands alone.
func (w *writer) isPlain(op ir.OpID) bool {
	return len(w.m.OpAttrs(op)) == 0 && !w.known(w.m.OpLoc(op))
}

// madeName matches the names that the writer makes itself, which no input may take from an attribute.
var madeName = regexp.MustCompile(`^(arg|v)[0-9]+$`)

// nameInputs names the arguments of a function by their name attributes if it is public, or by position.
func (w *writer) nameInputs(fn *ir.Func, args []ir.ValueID) {
	used := map[string]bool{}
	for i, v := range args {
		attr, _ := fn.ArgAttrs[i].Get(NameAttr).(ir.StringAttr)
		name := string(attr)
		if fn.Visibility != "public" || name == "" || used[name] || madeName.MatchString(name) || !isText(name) {
			name = "arg" + strconv.Itoa(i)
		}
		used[name] = true
		w.names[v] = name
	}
}

func (w *writer) input(fn *ir.Func, i int, v ir.ValueID) node {
	n := node{kind: objectKind}
	n.add("name", text(w.names[v]))
	n.add("type", text(typeText(w.m, w.m.Type(v))))
	a := fn.ArgAttrs[i]
	if name, ok := a.Get(NameAttr).(ir.StringAttr); ok && string(name) == w.names[v] && !madeName.MatchString(w.names[v]) {
		a = a.Without(NameAttr)
	}
	a = addRole(&n, a)
	w.addSharding(&n, w.m.Sharding(v))
	if a.Get(donorAttr) == ir.BoolAttr(true) {
		n.add("donate", boolean(true))
		a = a.Without(donorAttr)
	}
	if alias, ok := a.Get(aliasAttr).(ir.IntAttr); ok && alias.Value >= 0 && w.m.TypeOf(alias.Type).DType.String() == "i32" {
		n.add("aliasOutput", number(alias.Value))
		a = a.Without(aliasAttr)
	}
	w.addAttrs(&n, a, ir.OpUnregistered)
	w.addLocation(&n, w.m.ArgLoc(v))
	return n
}

// addRole moves a role from the attributes to its field.
func addRole(n *node, a ir.Attrs) ir.Attrs {
	role, _ := a.Get(RoleAttr).(ir.StringAttr)
	for _, known := range Roles() {
		if string(role) == known {
			n.add("role", text(known))
			return a.Without(RoleAttr)
		}
	}
	return a
}

// output returns a result of a function; of a declaration, for which v is 0, it gives the type.
func (w *writer) output(fn *ir.Func, i int, v ir.ValueID) node {
	n := node{kind: objectKind}
	if v != 0 {
		n.add("value", text(w.names[v]))
	} else {
		n.add("type", text(typeText(w.m, fn.ResultTypes[i])))
	}
	a := fn.ResultAttrs[i]
	if name, ok := a.Get(NameAttr).(ir.StringAttr); ok && name != "" && isText(string(name)) {
		n.add("name", text(string(name)))
		a = a.Without(NameAttr)
	}
	a = addRole(&n, a)
	w.addSharding(&n, fn.ResultShardings[i])
	w.addAttrs(&n, a, ir.OpUnregistered)
	return n
}

func (w *writer) addSharding(n *node, s ir.ShardingID) {
	if s != 0 {
		n.add("sharding", text(w.m.FormatSharding(s)))
	}
}

// known says whether a location tells anything.
func (w *writer) known(l ir.LocID) bool { return w.m.LocOf(l).Kind != ir.LocUnknown }

func (w *writer) addLocation(n *node, l ir.LocID) {
	if w.known(l) {
		n.add("location", text(mlir.FormatAttr(w.m, ir.LocAttr(l))))
	}
}

// op returns an operation with its regions; next numbers the values of a function.
func (w *writer) op(op ir.OpID, next *int) node {
	n := node{kind: objectKind}
	n.add("op", text(shortName(w.m.OpName(op))))
	if w.m.NumOperands(op) > 0 {
		operands := node{kind: arrayKind}
		for _, v := range w.m.Operands(op) {
			operands.elems = append(operands.elems, text(w.names[v]))
		}
		n.add("operands", operands)
	}
	attrs := w.m.OpAttrs(op)
	if k := w.m.Kind(op); k == ir.OpConstant || k == ir.OpSdyConstant || k == ir.OpChloConstant {
		if d, ok := attrs.Get("value").(*ir.Dense); ok && w.m.NumResults(op) == 1 {
			n.add("value", w.constant(d, w.m.Type(w.m.Result(op, 0))))
			attrs = attrs.Without("value")
		}
	}
	w.addAttrs(&n, attrs, w.m.Kind(op))
	if f, ok := w.applied(op); ok {
		n.add("apply", text(shortName(f.String())))
	} else {
		w.addRegions(&n, op, next)
	}
	w.addResults(&n, op, next)
	w.addLocation(&n, w.m.OpLoc(op))
	return n
}

// addRegions comes before the results are named: their names do not show inside.
func (w *writer) addRegions(n *node, op ir.OpID, next *int) {
	if w.m.NumRegions(op) == 0 {
		return
	}
	regions := lines()
	for _, r := range w.m.Regions(op) {
		region := node{kind: objectKind}
		switch blocks := w.m.Blocks(r); len(blocks) {
		case 0:
		case 1:
			region = w.block(op, blocks[0], next)
		default:
			w.unsupported("model.json has no form for the %d blocks in a region of %q", len(blocks), w.m.OpName(op))
		}
		regions.elems = append(regions.elems, region)
	}
	n.add("regions", regions)
}

func (w *writer) block(op ir.OpID, b ir.BlockID, next *int) node {
	n := node{kind: objectKind}
	if args := w.m.BlockArgs(b); len(args) > 0 {
		list := node{kind: arrayKind}
		for _, v := range args {
			list.elems = append(list.elems, w.regionArg(v, next))
		}
		n.add("args", list)
	}
	end, implied := terminator(w.m.Kind(op))
	last := w.m.LastOp(b)
	implied = implied && last != 0 && w.m.Kind(last) == end && w.isPlain(last)
	ops := lines()
	for inner := range w.m.Ops(b) {
		if inner != last || !implied {
			ops.elems = append(ops.elems, w.op(inner, next))
		}
	}
	if len(ops.elems) > 0 || !implied {
		n.add("ops", ops)
	}
	if implied {
		outputs := node{kind: arrayKind}
		for _, v := range w.m.Operands(last) {
			outputs.elems = append(outputs.elems, text(w.names[v]))
		}
		n.add("outputs", outputs)
	}
	return n
}

func (w *writer) regionArg(v ir.ValueID, next *int) node {
	w.name(v, next)
	n := node{kind: objectKind}
	n.add("name", text(w.names[v]))
	n.add("type", text(typeText(w.m, w.m.Type(v))))
	w.addSharding(&n, w.m.Sharding(v))
	w.addLocation(&n, w.m.ArgLoc(v))
	return n
}

func (w *writer) name(v ir.ValueID, next *int) {
	w.names[v] = "v" + strconv.Itoa(*next)
	*next++
}

// addResults adds names, types and shardings of the results.
func (w *writer) addResults(n *node, op ir.OpID, next *int) {
	count := w.m.NumResults(op)
	if count == 0 {
		return
	}
	var names, types, shardings []string
	sharded := false
	for _, v := range w.m.Results(op) {
		w.name(v, next)
		names = append(names, w.names[v])
		types = append(types, typeText(w.m, w.m.Type(v)))
		s := ""
		if id := w.m.Sharding(v); id != 0 {
			s, sharded = w.m.FormatSharding(id), true
		}
		shardings = append(shardings, s)
	}
	n.add("results", texts(names))
	if count == 1 {
		n.add("type", text(types[0]))
	} else {
		n.add("types", texts(types))
	}
	switch {
	case sharded && count == 1:
		n.add("sharding", text(shardings[0]))
	case sharded:
		n.add("shardings", texts(shardings))
	}
}

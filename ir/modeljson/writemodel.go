package modeljson

import (
	"autoshard/ir"
	"autoshard/subaxis"
)

func (w *writer) model() node {
	root := node{kind: objectKind, expand: true}
	root.add("schema", text(Schema))
	if w.m.Name != "" {
		root.add("name", w.text(w.m.Name, "module"))
	}
	w.addAttrs(&root, w.m.Attrs, ir.OpUnregistered)
	w.addLocation(&root, w.m.Loc)
	w.addResources(&root)
	if w.inOrder() {
		w.addSections(&root)
	} else {
		w.addBody(&root)
	}
	return root
}

// inOrder says whether all meshes stand before all functions, and nothing else beside them, so that each kind can have
// a list of its own.
func (w *writer) inOrder() bool {
	functions := false
	for op := range w.m.Ops(w.m.Body()) {
		switch k := w.m.Kind(op); {
		case k == ir.OpFunc:
			functions = true
		case k != ir.OpMesh || functions:
			return false
		}
	}
	return true
}

// addSections adds the meshes, the entry's inputs, operations and outputs, and the other functions.
func (w *writer) addSections(root *node) {
	meshes, functions := lines(), lines()
	entry := false
	for op := range w.m.Ops(w.m.Body()) {
		if w.m.Kind(op) == ir.OpMesh {
			meshes.elems = append(meshes.elems, w.mesh(op))
			continue
		}
		if len(functions.elems) == 0 && !entry && len(meshes.elems) > 0 {
			root.add("meshes", meshes)
		}
		if f := w.m.FuncOf(op); len(functions.elems) == 0 && !entry && w.isEntry(f) {
			entry = true
			w.function(root, f)
		} else {
			functions.elems = append(functions.elems, w.namedFunction(f))
		}
	}
	if len(functions.elems) == 0 && !entry && len(meshes.elems) > 0 {
		root.add("meshes", meshes)
	}
	if len(functions.elems) > 0 || !entry {
		root.add("functions", functions)
	}
}

// addBody adds everything at the level of the module in its order.
func (w *writer) addBody(root *node) {
	root.add("body", w.items(w.m.Body()))
}

// items returns everything at the level of a module in its order.
func (w *writer) items(b ir.BlockID) node {
	body := lines()
	next := 0
	for op := range w.m.Ops(b) {
		var item node
		switch w.m.Kind(op) {
		case ir.OpMesh:
			item = object("mesh", w.mesh(op))
		case ir.OpFunc:
			item = object("function", w.namedFunction(w.m.FuncOf(op)))
		case ir.OpModule:
			item = object("module", w.nestedModule(op))
		default:
			item = object("op", w.op(op, &next))
		}
		body.elems = append(body.elems, item)
	}
	return body
}

func (w *writer) nestedModule(op ir.OpID) node {
	n := node{kind: objectKind, expand: true}
	attrs := w.m.OpAttrs(op)
	if name := attrs.Str(symbolName); name != "" {
		n.add("name", w.text(name, "module"))
		attrs = attrs.Without(symbolName)
	}
	w.addAttrs(&n, attrs, ir.OpUnregistered)
	w.addLocation(&n, w.m.OpLoc(op))
	n.add("body", w.items(w.m.RegionBlock(op, 0)))
	return n
}

// isEntry says whether the model's own inputs, ops and outputs can stand for a function.
func (w *writer) isEntry(f ir.FuncID) bool {
	fn := w.m.Func(f)
	return fn.Name == entryName && fn.Visibility == "public" && len(w.m.OpAttrs(fn.Op)) == 0 && !w.known(w.m.OpLoc(fn.Op)) && w.returns(f)
}

// returns says whether a function is one block that ends with a return.
func (w *writer) returns(f ir.FuncID) bool {
	blocks := w.m.Blocks(w.m.Regions(w.m.Func(f).Op)[0])
	if len(blocks) != 1 {
		return false
	}
	last := w.m.LastOp(blocks[0])
	return last != 0 && w.m.Kind(last) == ir.OpReturn
}

func (w *writer) mesh(op ir.OpID) node {
	d := w.m.Mesh(w.m.MeshOf(op))
	n := object("name", w.text(d.Name, "mesh"))
	n.add("axes", each(d.Axes, func(a subaxis.Axis) node {
		axis := object("name", w.text(a.Name, "mesh axis"))
		axis.add("size", number(a.Size))
		return axis
	}))
	if d.DeviceIDs != nil {
		n.add("deviceIds", numbers(d.DeviceIDs))
	}
	w.addAttrs(&n, w.m.OpAttrs(op), ir.OpUnregistered)
	w.addLocation(&n, w.m.OpLoc(op))
	return n
}

func (w *writer) namedFunction(f ir.FuncID) node {
	fn := w.m.Func(f)
	n := node{kind: objectKind, expand: true}
	n.add("name", w.text(fn.Name, "function"))
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
	w.addAttrs(&n, w.m.OpAttrs(fn.Op), ir.OpFunc)
	w.addLocation(&n, w.m.OpLoc(fn.Op))
	w.function(&n, f)
	return n
}

// function adds inputs, operations and outputs. A return with attributes or a location is written as an operation. A
// function that is not one block with a return has its blocks in full, and outputs that are types.
func (w *writer) function(n *node, f ir.FuncID) {
	fn := w.m.Func(f)
	inputs, outputs := lines(), lines()
	args := w.m.BlockArgs(fn.Body)
	w.nameInputs(fn, args)
	for i, v := range args {
		inputs.elems = append(inputs.elems, w.input(fn, i, v))
	}
	n.add("inputs", inputs)
	next := 0
	returned := ir.OpID(0)
	switch {
	case w.m.IsDeclaration(f):
	case !w.returns(f):
		n.add("blocks", w.blocks(w.m.Blocks(w.m.Regions(fn.Op)[0]), &next))
	default:
		returned = w.m.LastOp(fn.Body)
		ops := lines()
		for op := range w.m.Ops(fn.Body) {
			if op != returned || !w.isPlain(op) {
				ops.elems = append(ops.elems, w.op(op, &next))
			}
		}
		n.add("ops", ops)
	}
	for i := range fn.ResultTypes {
		v := ir.ValueID(0)
		if returned != 0 {
			v = w.m.Operand(returned, i)
		}
		outputs.elems = append(outputs.elems, w.output(fn, i, v))
	}
	n.add("outputs", outputs)
}

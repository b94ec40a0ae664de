package modeljson

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// items reads everything at the level of a module, from the field "body" of n: meshes first, since anything may name
// them, then the module's own attributes, the heads of functions, operations and nested modules, and the bodies of
// functions. At the end all stand in the order of the text.
func (r *reader) items(n *node, body ir.BlockID, attributes func()) {
	list := r.array(n, "body")
	made := make([][]ir.OpID, len(list))
	for i := range list {
		if r.object(&list[i], "an item of the body", itemFields...) && len(list[i].keys) != 1 {
			r.fail(list[i].at, diag.BadModel, "item of the body must have one of %q", itemFields)
		}
		if mesh := list[i].get("mesh"); mesh != nil {
			made[i] = []ir.OpID{r.mesh(mesh)}
		}
	}
	attributes()
	var functions []*function
	for i := range list {
		if f := list[i].get("function"); f != nil && r.object(f, "a function", functionFields...) {
			head := r.declare(f, r.str(f, "name"), r.visibility(f), false)
			functions = append(functions, head)
			made[i] = []ir.OpID{r.m.Func(head.id).Op}
		}
	}
	names := &scope{values: map[string]ir.ValueID{}}
	for i := range list {
		before := r.m.LastOp(body)
		if op := list[i].get("op"); op != nil && r.object(op, "an operation", opFields...) {
			(&opReader{reader: r, n: op, names: names, block: body}).read()
		} else if nested := list[i].get("module"); nested != nil {
			r.nestedModule(nested, body)
		}
		for last := r.m.LastOp(body); last != before; last = r.m.PrevOp(last) {
			made[i] = append([]ir.OpID{last}, made[i]...)
		}
	}
	for _, f := range functions {
		r.body(f)
	}
	for _, op := range slices.Concat(made...) {
		if op != 0 {
			r.m.MoveToEnd(op, body)
		}
	}
}

// nestedModule reads a module inside another one. Its functions are its own.
func (r *reader) nestedModule(n *node, outer ir.BlockID) {
	if !r.object(n, "a module", nestedFields...) {
		return
	}
	b := r.m.BuilderAtEnd(outer)
	b.Loc = r.location(n)
	op := b.OpRegions(ir.OpModule, nil, nil, 1)
	r.setPos(op, n)
	in, funcs := r.in, r.funcs
	r.in, r.funcs = r.m.AddBlock(r.m.Regions(op)[0]), map[string]*function{}
	r.items(n, r.in, func() {
		attrs := r.attributes(n.get("attributes"), ir.OpUnregistered, 0)
		if name := r.str(n, "name"); name != "" {
			attrs = attrs.With(symbolName, ir.StringAttr(name))
		}
		r.m.SetAttrs(op, attrs)
	})
	r.in, r.funcs = in, funcs
}

// symbolName is the attribute that names a nested module.
const symbolName = "sym_name"

// blocks reads the field "blocks" of a region or function, which stands in place of its other contents: each block with
// all of its operations, of which the last one may name others as its successors. The first block of a function is
// there already, with the inputs as its arguments.
func (r *reader) blocks(n *node, names *scope, region ir.RegionID, first ir.BlockID) {
	for _, other := range []string{"ops", "args"} {
		if v := n.get(other); v != nil {
			r.fail(v.at, diag.BadModel, "field %q belongs into \"blocks\" where there are some", other)
		}
	}
	if v := n.get("outputs"); v != nil && first == 0 {
		r.fail(v.at, diag.BadModel, "a region with \"blocks\" can have no \"outputs\": end each block with an operation")
	}
	list := r.array(n, "blocks")
	labels := map[string]ir.BlockID{}
	made := make([]ir.BlockID, len(list))
	for i := range list {
		if !r.object(&list[i], "a block", blockFields...) {
			return
		}
		if made[i] = first; first == 0 || i > 0 {
			made[i] = r.m.AddBlock(region)
		} else if v := list[i].get("args"); v != nil {
			r.fail(v.at, diag.BadModel, "the first block of a function has its inputs as arguments, it can have no \"args\"")
		}
		name := r.str(&list[i], "name")
		if _, twice := labels[name]; twice && name != "" {
			r.fail(list[i].get("name").at, diag.Redefined, "block %q is defined twice", name)
		}
		labels[name] = made[i]
		r.args(&list[i], names, made[i])
	}
	outer := r.labels
	for i := range list {
		r.labels = labels
		r.ops(&list[i], names, made[i])
	}
	r.labels = outer
}

// successors reads the names of the blocks that an operation may go to.
func (o *opReader) successors(op ir.OpID) {
	list := o.array(o.n, "successors")
	if len(list) == 0 {
		return
	}
	var to []ir.BlockID
	for i := range list {
		b := ir.BlockID(0)
		if list[i].kind == stringKind && list[i].text != "" {
			b = o.labels[list[i].text]
		}
		if b == 0 {
			o.fail(list[i].at, diag.Undefined, "unknown block: \"successors\" names \"blocks\" of the same region by their \"name\"")
			return
		}
		to = append(to, b)
	}
	o.m.SetSuccessors(op, to)
}

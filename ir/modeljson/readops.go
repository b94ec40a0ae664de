package modeljson

import (
	"maps"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/rule"
)

// scope maps the names in view to values; a value of 0 stands for one whose definition is broken.
type scope struct {
	outer  *scope
	values map[string]ir.ValueID
}

// define gives a value its name. at is the name's node, or nil where it is missing in n.
func (r *reader) define(s *scope, name, n *node, v ir.ValueID) {
	if n.kind != objectKind {
		return
	}
	if name == nil || name.kind != stringKind || name.text == "" {
		r.fail(n.at, diag.BadModel, "value has no \"name\"")
		return
	}
	for o := s; o != nil; o = o.outer {
		if _, ok := o.values[name.text]; ok {
			r.fail(name.at, diag.Redefined, "value %q is defined twice", name.text)
			return
		}
	}
	s.values[name.text] = v
}

// lookup returns the value that a node names, 0 if there is none or it is broken.
func (r *reader) lookup(s *scope, n *node) ir.ValueID {
	if n.kind != stringKind {
		r.fail(n.at, diag.BadModel, "value must be named by a string, found %s", n.kind)
		return 0
	}
	var known []string
	for o := s; o != nil; o = o.outer {
		if v, ok := o.values[n.text]; ok {
			return v
		}
		known = slices.AppendSeq(known, maps.Keys(o.values))
	}
	slices.Sort(known)
	r.fail(n.at, diag.Undefined, "unknown value %q%s", n.text, hint(n.text, known))
	return 0
}

// opFields are the fields of an operation.
var opFields = []string{"op", "operands", "results", "type", "types", "sharding", "shardings", "attributes",
	"value", "equation", "apply", "regions", "location", "rule", "successors"}

// ops reads the operations in a field "ops" of a function or region into a block. It reports whether the last one
// ends the block.
func (r *reader) ops(n *node, s *scope, b ir.BlockID) (ended bool) {
	list := r.array(n, "ops")
	for i := range list {
		if r.ctx.Err() != nil {
			return true
		}
		if ended {
			r.fail(list[i].at, diag.BadOp, "operation follows the end of its block")
			return true
		}
		if len(r.problems) < maxDiagnostics && r.object(&list[i], "an operation", opFields...) {
			(&opReader{reader: r, n: &list[i], names: s, block: b}).read()
		}
		last := r.m.LastOp(b)
		ended = last != 0 && r.m.Kind(last).IsTerminator()
	}
	return ended
}

// opReader reads one operation.
type opReader struct {
	*reader
	n     *node
	names *scope
	block ir.BlockID

	kind     ir.Kind
	name     string // in full
	operands []ir.ValueID
}

func (o *opReader) read() {
	results := o.array(o.n, "results")
	op, ok := o.build()
	if ok && len(results) != o.m.NumResults(op) {
		o.fail(o.n.at, diag.BadOp, "operation %q has %d results, \"results\" names %d", shortName(o.name), o.m.NumResults(op), len(results))
		ok = false
	}
	for i := range results {
		v := ir.ValueID(0)
		if ok {
			v = o.m.Result(op, i)
		}
		o.define(o.names, &results[i], o.n, v)
	}
	if ok {
		o.regions(op)
	}
}

// build makes the operation without its regions; ok is false after a problem.
func (o *opReader) build() (op ir.OpID, ok bool) {
	before := len(o.problems)
	word := o.n.get("op")
	if word == nil || word.kind != stringKind {
		o.fail(o.n.at, diag.BadModel, "operation has no \"op\": name one, such as \"add\"")
		return 0, false
	}
	operands := o.array(o.n, "operands")
	o.operands = lists.Of(len(operands), func(i int) ir.ValueID { return o.lookup(o.names, &operands[i]) })
	if o.name = word.text; word.text == "einsum" {
		if slices.Contains(o.operands, 0) {
			return 0, false
		}
		op, ok = o.einsum()
		return op, ok && len(o.problems) == before
	}
	if !o.resolve(word) || slices.Contains(o.operands, 0) {
		return 0, false
	}
	if e := o.n.get("equation"); e != nil {
		o.fail(e.at, diag.UnknownField, "field \"equation\" belongs to \"einsum\", not to %q", word.text)
	}
	shardings := o.shardings()
	attrs := o.opAttributes(shardings)
	if len(o.problems) > before {
		return 0, false
	}
	types, ok := o.types(attrs)
	if !ok || len(o.problems) > before {
		return 0, false
	}
	op = o.insert(types, attrs)
	o.successors(op)
	o.rule(op)
	for i, v := range o.m.Results(op) {
		if i < len(shardings) {
			o.m.SetSharding(v, o.checkRank(o.shardingNode(i), shardings[i], types[i]))
		}
	}
	if len(shardings) > len(types) {
		o.fail(o.n.at, diag.BadSharding, "operation %q has %d results and %d shardings", word.text, len(types), len(shardings))
	}
	return op, len(o.problems) == before
}

// rule reads the sharding rule that people write for operations whose rule does not follow from their name.
func (o *opReader) rule(op ir.OpID) {
	n := o.n.get("rule")
	if n == nil || !o.is(n, stringKind, "rule") {
		return
	}
	if o.m.Attr(op, rule.Attr) != nil {
		o.fail(n.at, diag.BadModel, "operation has both \"rule\" and the attribute %q", rule.Attr)
		return
	}
	pos := o.pos(n.at + 1)
	t, err := rule.ParseText(n.text, pos, o.sourceLine(pos.Line))
	if err == nil {
		var r *ir.Rule
		if r, err = t.Rule(o.m, op); err == nil {
			o.m.SetAttrs(op, o.m.OpAttrs(op).With(rule.Attr, &ir.RuleAttr{Rule: r}))
			return
		}
	}
	o.problems = append(o.problems, diag.Diagnostics(err)...)
}

func (o *opReader) insert(types []ir.TypeID, attrs ir.Attrs) ir.OpID {
	b := o.m.BuilderAtEnd(o.block)
	b.Loc = o.location(o.n)
	regions := len(o.array(o.n, "regions"))
	if o.n.get("apply") != nil {
		regions++
	}
	var op ir.OpID
	if o.kind == ir.OpUnregistered {
		op = b.Unregistered(o.name, types, attrs, regions, o.operands...)
	} else {
		op = b.OpRegions(o.kind, types, attrs, regions, o.operands...)
	}
	o.setPos(op, o.n)
	return op
}

// location reads an optional source location, such as loc("model.py":12:3).
func (r *reader) location(n *node) ir.LocID {
	loc := n.get("location")
	if loc == nil || !r.is(loc, stringKind, "location") {
		return 0
	}
	a, err := mlir.ParseAttrIn(r.m, r.moduleBody(), loc.text, r.pos(loc.at))
	if err != nil {
		r.failWith(loc.at, err)
		return 0
	}
	l, ok := a.(ir.LocAttr)
	if !ok {
		r.fail(loc.at, diag.BadModel, "location must be written loc(...)")
	}
	return ir.LocID(l)
}

// setPos records where an operation stands in the text, for messages about it.
func (r *reader) setPos(op ir.OpID, n *node) { r.m.SetPos(op, r.pos(n.at)) }

// dialects whose operations this program knows; names of others are kept as they are.
var dialects = []string{"stablehlo", "chlo", "sdy", "func", "check", "interpreter", "builtin"}

// fullName returns the name with its dialect: stablehlo where none is given, but for func.call and func.return.
func fullName(name string) string {
	switch {
	case strings.Contains(name, "."):
		return name
	case name == "call":
		return ir.OpCall.String()
	}
	return "stablehlo." + name
}

// shortName is the inverse of fullName. The names that einsum and call take stay as they are.
func shortName(full string) string {
	short, ok := strings.CutPrefix(full, "stablehlo.")
	switch {
	case full == ir.OpCall.String():
		return "call"
	case ok && short != "einsum" && !strings.Contains(short, "."):
		return short
	}
	return full
}

// resolve finds the kind of the operation.
func (o *opReader) resolve(word *node) bool {
	o.name = fullName(word.text)
	kind, ok := ir.ParseKind(o.name)
	dialect, _, _ := strings.Cut(o.name, ".")
	switch {
	case ok && kind != ir.OpFunc && kind != ir.OpMesh:
		o.kind = kind
		return true
	case ok || slices.Contains(dialects, dialect):
		known := lists.Map(ir.KindNames(), shortName)
		known = append(known, "einsum")
		o.fail(word.at, diag.UnknownOp, "unknown operation %q%s", word.text, hint(word.text, known))
		return false
	}
	return true // of another dialect: kept as it is
}

// shardingNode returns where the sharding of result i is written.
func (o *opReader) shardingNode(i int) *node {
	if n := o.n.get("sharding"); n != nil {
		return n
	}
	return &o.n.get("shardings").elems[i]
}

// shardings reads the shardings of the results; 0 stands for none.
func (o *opReader) shardings() []ir.ShardingID {
	one, list := o.n.get("sharding"), o.n.get("shardings")
	if one != nil && list != nil {
		o.fail(list.at, diag.BadModel, "operation has both \"sharding\" and \"shardings\"")
		return nil
	}
	if one != nil {
		return []ir.ShardingID{o.sharding(one, 0)}
	}
	elems := o.array(o.n, "shardings")
	return lists.Of(len(elems), func(i int) ir.ShardingID { return o.sharding(&elems[i], 0) })
}

// opAttributes reads the attributes, and the value of a constant, which needs the type first.
func (o *opReader) opAttributes(shardings []ir.ShardingID) ir.Attrs {
	attrs := o.attributes(o.n.get("attributes"), o.kind, o.axesMesh(shardings))
	value := o.n.get("value")
	if o.kind != ir.OpConstant && o.kind != ir.OpSdyConstant && o.kind != ir.OpChloConstant {
		if value != nil {
			o.fail(value.at, diag.UnknownField, "field \"value\" belongs to \"constant\", not to %q", shortName(o.name))
		}
		return attrs
	}
	if value == nil {
		o.fail(o.n.at, diag.BadConstant, "constant has no \"value\"")
		return attrs
	}
	t := o.typeField(o.n, "type")
	if t == 0 {
		return attrs
	}
	if d := o.constant(value, t); d != nil {
		attrs = attrs.With("value", d)
	}
	return attrs
}

// axesMesh returns the mesh that lists of axes in the attributes speak of: that of the shardings at hand.
func (o *opReader) axesMesh(shardings []ir.ShardingID) ir.MeshID {
	mesh := ir.MeshID(0)
	for _, s := range shardings {
		if s != 0 {
			mesh = preferredMesh(o.m, mesh, o.m.ShardingOf(s).Mesh)
		}
	}
	for _, region := range o.array(o.n, "regions") {
		for _, arg := range o.array(&region, "args") {
			if s := o.sharding(arg.get("sharding"), 0); s != 0 {
				mesh = preferredMesh(o.m, mesh, o.m.ShardingOf(s).Mesh)
			}
		}
	}
	if mesh == 0 {
		mesh = onlyMesh(o.m)
	}
	return mesh
}

// types returns the result types: those given, or those that follow from the operands.
func (o *opReader) types(attrs ir.Attrs) ([]ir.TypeID, bool) {
	one, list := o.n.get("type"), o.n.get("types")
	switch {
	case one != nil && list != nil:
		o.fail(list.at, diag.BadModel, "operation has both \"type\" and \"types\"")
		return nil, false
	case one != nil:
		t := o.typ(one)
		return []ir.TypeID{t}, t != 0
	case list != nil:
		elems := o.array(o.n, "types")
		out := lists.Of(len(elems), func(i int) ir.TypeID { return o.typ(&elems[i]) })
		return out, !slices.Contains(out, 0)
	case o.kind == ir.OpCall:
		return o.callTypes(attrs)
	}
	types, err := ir.Infer(o.m, o.kind, o.operands, attrs)
	switch {
	case err != nil:
		o.fail(o.n.at, diag.TypeMismatch, "%s: %s%s", shortName(o.name), err, o.broadcastHint())
		return nil, false
	case types != nil || len(o.array(o.n, "results")) == 0:
		return types, true
	}
	o.fail(o.n.at, diag.BadModel, "result type of %q does not follow from its operands: add \"type\", such as f32[128,512]", shortName(o.name))
	return nil, false
}

// broadcastHint says what makes operands of different shapes or elements fit, "" where they are alike.
func (o *opReader) broadcastHint() string {
	if len(o.operands) != 2 || !o.kind.IsBinary() {
		return ""
	}
	x, y := o.m.ValueType(o.operands[0]), o.m.ValueType(o.operands[1])
	switch {
	case !slices.Equal(x.Dims, y.Dims):
		return "; there is no implicit broadcasting: bring them to one shape by broadcast_in_dim"
	case x.DType != y.DType:
		return "; convert one of them"
	}
	return ""
}

func (o *opReader) callTypes(attrs ir.Attrs) ([]ir.TypeID, bool) {
	callee, _ := attrs.Get("callee").(ir.SymbolAttr)
	if len(callee) != 1 {
		o.fail(o.n.at, diag.BadOp, "call names no function: add \"attributes\": {\"callee\": NAME}")
		return nil, false
	}
	f := o.funcs[callee[0]]
	if f == nil {
		known := slices.Sorted(maps.Keys(o.funcs))
		o.fail(o.n.at, diag.Undefined, "call of unknown function %q%s", callee[0], hint(callee[0], known))
		return nil, false
	}
	if f.results == nil && f.state == building {
		o.fail(o.n.at, diag.NotSupported, "function %q calls itself", callee[0])
		return nil, false
	}
	if f.results == nil {
		o.body(f)
	}
	return f.results, f.results != nil
}

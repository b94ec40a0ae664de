package modeljson

import (
	"regexp"
	"slices"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
)

// writer turns a module into nodes.
type writer struct {
	m      *ir.Module
	names  []string // by value
	labels map[ir.BlockID]string
	at     ir.OpID // the operation at hand
	err    error   // the first problem
}

// Write returns the JSON text of a module: deterministic, in lines that a person can read, and such that Read gives
// the same program up to the names of values. It fails with diag.ErrUnsupported for names that are not UTF-8, which JSON
// cannot hold, and for values that are used before they are defined, which dominance allows among blocks.
func Write(m *ir.Module) ([]byte, error) {
	w := &writer{m: m, names: make([]string, m.NumValues()), labels: map[ir.BlockID]string{}}
	root := w.model()
	if w.err != nil {
		return nil, w.err
	}
	return append(appendPretty(nil, &root, 0, 0), '\n'), nil
}

// text returns a name of the program, which must be UTF-8.
func (w *writer) text(s, what string) node {
	if !isText(s) {
		w.unsupported("%s %q is not UTF-8, JSON cannot hold it: rename it", what, s)
	}
	return text(s)
}

func (w *writer) unsupported(format string, args ...any) {
	if w.err == nil {
		w.err = diag.Unsupported(diag.NotSupported, diag.Position{}, format, args...)
	}
}

// lines returns a list that is written one element a line.
func lines(elems ...node) node { return node{kind: arrayKind, expand: true, elems: elems} }

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
		attr, _ := fn.ArgAttrs[i].Get(names.Attr).(ir.StringAttr)
		name := string(attr)
		if fn.Visibility != "public" || name == "" || used[name] || madeName.MatchString(name) || !isText(name) {
			name = "arg" + strconv.Itoa(i)
		}
		used[name] = true
		w.names[v] = name
	}
}

func (w *writer) input(fn *ir.Func, i int, v ir.ValueID) node {
	n := w.namedValue(v)
	a := fn.ArgAttrs[i]
	if name, ok := a.Get(names.Attr).(ir.StringAttr); ok && string(name) == w.names[v] && !madeName.MatchString(w.names[v]) {
		a = a.Without(names.Attr)
	}
	a = addRole(&n, a)
	w.addSharding(&n, w.m.Sharding(v))
	if a.Get(ir.DonorAttr) == ir.BoolAttr(true) {
		n.add("donate", boolean(true))
		a = a.Without(ir.DonorAttr)
	}
	if alias, ok := a.Get(ir.AliasAttr).(ir.IntAttr); ok && alias.Value >= 0 && w.m.TypeOf(alias.Type).DType.String() == "i32" {
		n.add("aliasOutput", number(alias.Value))
		a = a.Without(ir.AliasAttr)
	}
	w.addAttrs(&n, a, ir.OpUnregistered)
	w.addLocation(&n, w.m.ArgLoc(v))
	return n
}

// addRole moves a role from the attributes to its field.
func addRole(n *node, a ir.Attrs) ir.Attrs {
	role, _ := a.Get(RoleAttr).(ir.StringAttr)
	if !slices.Contains(Roles(), string(role)) {
		return a
	}
	n.add("role", text(string(role)))
	return a.Without(RoleAttr)
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
	if name, ok := a.Get(names.Attr).(ir.StringAttr); ok && name != "" && isText(string(name)) {
		n.add("name", text(string(name)))
		a = a.Without(names.Attr)
	}
	a = addRole(&n, a)
	w.addSharding(&n, fn.ResultShardings[i])
	w.addAttrs(&n, a, ir.OpUnregistered)
	return n
}

func (w *writer) addSharding(n *node, s ir.ShardingID) {
	if s != 0 {
		n.add("sharding", w.text(w.m.FormatSharding(s), "sharding"))
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
	n.add("op", w.text(shortName(w.m.OpName(op)), "operation"))
	if w.m.NumOperands(op) > 0 {
		n.add("operands", each(w.m.Operands(op), func(v ir.ValueID) node {
			if w.names[v] == "" {
				w.unsupported("operand of `%s` is defined behind it, in a block that comes before it in time: put its block first", w.m.OpName(op))
			}
			return w.value(v)
		}))
	}
	w.at = op
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
	if to := w.m.Successors(op); len(to) > 0 {
		n.add("successors", each(to, func(b ir.BlockID) node { return text(w.labels[b]) }))
	}
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
			if w.endsAsImplied(op, blocks[0]) && !w.isEmpty(blocks[0]) {
				region = w.block(op, blocks[0], next)
				break
			}
			fallthrough
		default:
			region.add("blocks", w.blocks(blocks, next))
		}
		regions.elems = append(regions.elems, region)
	}
	n.add("regions", regions)
}

// endsAsImplied says whether a block ends with the operation that the reader adds where it is left out, if there is one.
func (w *writer) endsAsImplied(op ir.OpID, b ir.BlockID) bool {
	end, implied := terminator(w.m.Kind(op))
	last := w.m.LastOp(b)
	return !implied || last != 0 && w.m.Kind(last) == end
}

// isEmpty says whether a block has neither arguments nor operations, so that only a list of blocks shows that it is there.
func (w *writer) isEmpty(b ir.BlockID) bool { return len(w.m.BlockArgs(b)) == 0 && w.m.FirstOp(b) == 0 }

func (w *writer) block(op ir.OpID, b ir.BlockID, next *int) node {
	n := node{kind: objectKind}
	w.addArgs(&n, b, next)
	_, implied := terminator(w.m.Kind(op))
	last := w.m.LastOp(b)
	implied = implied && w.isPlain(last)
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
		n.add("outputs", each(w.m.Operands(last), w.value))
	}
	return n
}

// blocks returns the blocks of a region that has several: their operations in full, the last ones too.
func (w *writer) blocks(blocks []ir.BlockID, next *int) node {
	list := lines()
	for i, b := range blocks {
		w.labels[b] = "b" + strconv.Itoa(i)
	}
	for _, b := range blocks {
		n := node{kind: objectKind, expand: true}
		if len(blocks) > 1 {
			n.add("name", text(w.labels[b]))
		}
		w.addArgs(&n, b, next)
		ops := lines()
		for op := range w.m.Ops(b) {
			ops.elems = append(ops.elems, w.op(op, next))
		}
		n.add("ops", ops)
		list.elems = append(list.elems, n)
	}
	return list
}

// addArgs names and adds the arguments of a block that have no name yet: those of a function are its inputs.
func (w *writer) addArgs(n *node, b ir.BlockID, next *int) {
	args := w.m.BlockArgs(b)
	if len(args) == 0 || w.names[args[0]] != "" {
		return
	}
	n.add("args", each(args, func(v ir.ValueID) node { return w.regionArg(v, next) }))
}

func (w *writer) regionArg(v ir.ValueID, next *int) node {
	w.name(v, next)
	n := w.namedValue(v)
	w.addSharding(&n, w.m.Sharding(v))
	w.addLocation(&n, w.m.ArgLoc(v))
	return n
}

// namedValue returns the name and the type of a value.
func (w *writer) namedValue(v ir.ValueID) node {
	n := object("name", w.value(v))
	n.add("type", text(typeText(w.m, w.m.Type(v))))
	return n
}

// value returns the name of a value.
func (w *writer) value(v ir.ValueID) node { return text(w.names[v]) }

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
			w.text(s, "sharding")
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

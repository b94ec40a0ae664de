package emit

import (
	"fmt"
	"path"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// emitter writes the functions of one module: those of the per-device program, or those of the unsharded one.
type emitter struct {
	file      *file
	m         *ir.Module
	typed     *typed.Program             // the program of a device; nil where the module sees whole tensors
	manual    map[ir.OpID]*typed.Program // those of manual computations
	names     map[ir.ValueID]string
	aliases   map[ir.ValueID]ir.ValueID
	needed    map[ir.OpID]bool
	funcs     map[ir.FuncID]string // names of functions
	written   map[ir.FuncID]bool
	scope     *scope           // of the top-level function at hand
	out       *strings.Builder // its lines
	indent    int
	gap       bool // an empty line is due
	start     bool // nothing is written yet in the function at hand
	lazy      map[ir.ValueID]bool
	intervals map[ir.ValueID]interval
	variedOf  map[ir.ValueID]variedNumber
	splats    map[ir.ValueID]string // of values whose elements are equal: the number; "" for others
	given     map[ir.ValueID]string // names that values have from outside
	place     string                // in the source, of the last assignment
	unequal   bool                  // operands of the op at hand may have unequal shapes
}

func newEmitter(f *file, m *ir.Module) *emitter {
	e := &emitter{file: f, m: m, manual: map[ir.OpID]*typed.Program{}, names: map[ir.ValueID]string{},
		aliases: map[ir.ValueID]ir.ValueID{}, needed: map[ir.OpID]bool{}, funcs: map[ir.FuncID]string{},
		lazy: map[ir.ValueID]bool{}, intervals: map[ir.ValueID]interval{}, variedOf: map[ir.ValueID]variedNumber{},
		splats: map[ir.ValueID]string{}, given: map[ir.ValueID]string{}, written: map[ir.FuncID]bool{}}
	for op := range m.Ops(m.Body()) {
		if fn := m.FuncOf(op); fn != 0 {
			e.funcs[fn] = f.names.take(identifier(strings.ToLower(m.Func(fn).Name), "function"))
		}
	}
	return e
}

// unsupported returns an error at an op.
func (e *emitter) unsupported(op ir.OpID, format string, args ...any) error {
	err := diag.Unsupported(diag.NotSupported, e.m.OpPos(op), "`%s`: %s", e.m.OpName(op), fmt.Sprintf(format, args...))
	err.Diagnostics[0].Source = e.m.SourceLine(e.m.OpPos(op).Line)
	return err
}

// invalid returns an error at an op that lacks an attribute or has one of the wrong kind.
func (e *emitter) invalid(op ir.OpID, name string) error {
	return diag.Invalid(diag.BadAttribute, e.m.OpPos(op), "`%s`: attribute %q is missing or of the wrong kind", e.m.OpName(op), name)
}

// checkType refuses types that JAX has no arrays of.
func (e *emitter) checkType(op ir.OpID, t *ir.Type) error {
	switch {
	case t.Kind == ir.TupleKind:
		for _, el := range t.Elems {
			if err := e.checkType(op, e.m.TypeOf(el)); err != nil {
				return err
			}
		}
	case t.Kind == ir.TokenKind, t.Kind == ir.OpaqueKind:
	case !t.IsStatic():
		return e.unsupported(op, "a tensor with dimensions that are not known has no form in JAX: give the program known shapes")
	case t.Quant != 0:
		return e.unsupported(op, "a tensor of quantized elements has no form in JAX: quantize with arithmetic on integers")
	case dtypeNames[t.DType] == "":
		return e.unsupported(op, "elements of %s have no form in JAX", t.DType)
	}
	return nil
}

// root follows ops that change nothing to the value that they pass on.
func (e *emitter) root(v ir.ValueID) ir.ValueID {
	for {
		next, ok := e.aliases[v]
		if !ok {
			return v
		}
		v = next
	}
}

// ref returns an array of exactly the value's type.
func (e *emitter) ref(v ir.ValueID) *expr {
	v = e.root(v)
	if name, ok := e.names[v]; ok {
		return atom(name)
	}
	t := e.m.ValueType(v)
	if text, ok := e.splat(v); ok {
		return e.full(t, text)
	}
	if text, axes, ok := e.varied(v); ok {
		return e.vary(e.full(t, text), axes)
	}
	if source, ok := e.spread(v); ok {
		return call("jnp.broadcast_to", source, ints(t.Dims))
	}
	panic(fmt.Sprintf("emit: a value of %s is used before it is written", e.m.OpName(e.m.DefiningOp(v))))
}

// line writes a statement at the current indentation.
func (e *emitter) line(prefix string, x *expr, suffix string) {
	e.write(statement(e.indent, prefix, x, suffix))
}

// write appends lines, after an empty one where a nested function ended.
func (e *emitter) write(lines string) {
	if e.gap {
		e.out.WriteByte('\n')
	}
	e.gap, e.start = false, false
	e.out.WriteString(lines)
}

// define writes an assignment to the first result of an op.
func (e *emitter) define(op ir.OpID, x *expr) { e.assign(op, x, e.m.Result(op, 0)) }

// assign writes an assignment of an expression to values, with their types as comment, and the place in the source where
// that changes.
func (e *emitter) assign(op ir.OpID, x *expr, values ...ir.ValueID) {
	names, types := e.declare(e.baseName(op), values)
	target := strings.Join(names, ", ")
	if len(values) == 0 {
		e.line("", x, "")
		return
	}
	comment := e.typeComment(target, types)
	if place := e.newPlace(op); place != "" && comment != "" {
		comment += "  " + place
	}
	if e.indent+len(target) > lineLength-20 && len(names) > 1 {
		whole := e.scope.take("results")
		e.line(whole+" = ", x, "")
		e.unpack(target + " = " + whole)
		return
	}
	e.line(target+" = ", x, comment)
}

// newPlace returns the file and line of an op, "" where the op before stood there too or nothing is known.
func (e *emitter) newPlace(op ir.OpID) string {
	l := e.m.FileLoc(e.m.OpLoc(op))
	if l.Kind != ir.LocFile {
		return ""
	}
	place := fmt.Sprintf("%s:%d", path.Base(l.File), l.Line)
	if place == e.place {
		return ""
	}
	e.place = place
	return place
}

// declare gives the results of an op names, and returns these and the types.
func (e *emitter) declare(base string, values []ir.ValueID) (names, types []string) {
	names, types = make([]string, len(values)), make([]string, len(values))
	for i, v := range values {
		names[i] = e.scope.take(e.nameFor(v, base))
		types[i] = e.typeOf(v)
		e.names[v] = names[i]
	}
	return names, types
}

// typeComment returns types as a comment behind an assignment; long ones are written before it.
func (e *emitter) typeComment(target string, types []string) string {
	comment := "  # " + strings.Join(types, ", ")
	if len(comment)+len(target)+e.indent > lineLength/2 {
		e.comment(strings.Join(types, ", "))
		return ""
	}
	return comment
}

// nameFor returns the name that a value has from outside, or another one.
func (e *emitter) nameFor(v ir.ValueID, base string) string {
	if name, ok := e.given[v]; ok {
		return name
	}
	return base
}

// typeOf returns the type of a value, with the axes along which it varies where that is known: f32[2,32]{i}.
func (e *emitter) typeOf(v ir.ValueID) string {
	if e.file.typed != nil {
		return e.typed.FormatTypeOf(v)
	}
	return e.typeText(e.m.Type(v))
}

// comment writes text as comment lines, broken after commas.
func (e *emitter) comment(text string) {
	pad := strings.Repeat(" ", e.indent) + "# "
	for len(pad)+len(text) > lineLength {
		at := strings.LastIndex(text[:max(lineLength-len(pad), 0)], ", ")
		if at < 0 {
			break
		}
		e.write(pad + text[:at+1] + "\n")
		text = text[at+2:]
	}
	e.write(pad + text + "\n")
}

// typeText returns f32[2,32], the types of a tuple in parentheses.
func (e *emitter) typeText(id ir.TypeID) string {
	t := e.m.TypeOf(id)
	switch t.Kind {
	case ir.TensorKind:
		return t.DType.String() + "[" + strings.Join(lists.Map(t.Dims, func(d int64) string { return fmt.Sprint(d) }), ",") + "]"
	case ir.TupleKind:
		return "(" + lists.Joined(t.Elems, e.typeText) + ")"
	}
	return e.m.FormatType(id)
}

// specRefs returns the axes of each dimension of a value's sharding.
func (e *emitter) specRefs(v ir.ValueID) [][]subaxis.Ref {
	if e.m.Sharding(v) == 0 {
		return nil
	}
	return lists.Map(e.m.ShardingOf(e.m.Sharding(v)).Dims, func(d ir.DimSharding) []subaxis.Ref { return d.Axes })
}

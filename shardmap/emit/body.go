package emit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// emitter writes the functions of one module: those of the per-device program, or those of the unsharded one.
type emitter struct {
	file      *file
	m         *ir.Module
	mesh      *mesh          // nil where the program sees whole tensors
	blocks    *mesh          // of the manual computations of a program that sees whole tensors
	typed     *typed.Program // nil where types do not say how values differ between devices
	names     map[ir.ValueID]string
	aliases   map[ir.ValueID]ir.ValueID
	indices   map[ir.ValueID]deviceIndex
	groups    map[ir.OpID]*grouping
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

func newEmitter(f *file, m *ir.Module, x *mesh) *emitter {
	e := &emitter{file: f, m: m, mesh: x, names: map[ir.ValueID]string{}, aliases: map[ir.ValueID]ir.ValueID{},
		indices: map[ir.ValueID]deviceIndex{}, groups: map[ir.OpID]*grouping{}, needed: map[ir.OpID]bool{}, funcs: map[ir.FuncID]string{}, lazy: map[ir.ValueID]bool{}, intervals: map[ir.ValueID]interval{}, variedOf: map[ir.ValueID]variedNumber{},
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

// spread returns an expression that NumPy's broadcasting repeats to the value, for broadcasts that are not written
// as lines of their own: m[:, None] for a vector along the rows.
func (e *emitter) spread(v ir.ValueID) (*expr, bool) {
	v = e.root(v)
	if _, ok := e.names[v]; ok || !e.isLazy(v) {
		return nil, false
	}
	op := e.m.DefiningOp(v)
	operand, dims := e.m.Operand(op, 0), e.m.OpAttrs(op).Ints("broadcast_dimensions")
	if x, ok := e.spread(operand); ok {
		return x, true // its dimensions are the last ones, as isLazy says
	}
	if text, ok := e.splat(operand); ok {
		return e.full(&ir.Type{Kind: ir.TensorKind, DType: e.m.ValueType(v).DType}, text), true
	}
	x := e.ref(operand)
	if index := newAxes(dims, len(e.m.Shape(v))); index != "" {
		return atom(x.String() + index), true
	}
	return x, true
}

// newAxes returns the index that gives an array new axes of size 1, so that its dimensions lie where dims say,
// counted from the last; "" where they do already.
func newAxes(dims []int64, rank int) string {
	if len(dims) == 0 {
		return ""
	}
	var parts []string
	gaps, next := false, 0
	for d := dims[0]; d < int64(rank); d++ {
		if next < len(dims) && dims[next] == d {
			parts = append(parts, ":")
			next++
		} else {
			parts = append(parts, "None")
			gaps = true
		}
	}
	if !gaps {
		return ""
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// isLazy says whether a broadcast is left to NumPy's rules in the ops that use it.
func (e *emitter) isLazy(v ir.ValueID) bool {
	known, ok := e.lazy[v]
	if !ok {
		known = e.canBeLazy(v)
		e.lazy[v] = known
	}
	return known
}

func (e *emitter) canBeLazy(v ir.ValueID) bool {
	op := e.m.DefiningOp(v)
	if op == 0 || e.m.Kind(op) != ir.OpBroadcastInDim || !e.m.HasUses(v) {
		return false
	}
	dims := e.m.OpAttrs(op).Ints("broadcast_dimensions")
	for i := 1; i < len(dims); i++ {
		if dims[i] <= dims[i-1] {
			return false
		}
	}
	for use := range e.m.Uses(v) {
		switch kind := e.m.Kind(use.Op); {
		case kind == ir.OpBroadcastInDim:
			if w := e.m.Result(use.Op, 0); !e.isLazy(w) || newAxes(e.m.OpAttrs(use.Op).Ints("broadcast_dimensions"), len(e.m.Shape(w))) != "" {
				return false
			}
		case !broadcasts[kind]:
			return false
		}
	}
	return true
}

// loose returns operands of an elementwise op for Python's operators and the functions of jax.numpy: numbers and
// smaller arrays may stand for what NumPy's broadcasting makes of them, as long as one operand has the full type.
func (e *emitter) loose(operands ...ir.ValueID) []*expr {
	out := make([]*expr, len(operands))
	if e.unequal {
		for i, v := range operands {
			out[i] = e.ref(v)
		}
		return out
	}
	whole := e.wholeOperand(operands)
	for i, v := range operands {
		out[i] = e.ref(v)
		if i == whole {
			continue
		}
		if x, ok := e.scalar(v); ok {
			out[i] = x
		} else if x, ok := e.spread(v); ok {
			out[i] = x
		}
	}
	return out
}

// scalar returns a value of equal elements as a number, of exactly its type where the number alone would change that.
func (e *emitter) scalar(v ir.ValueID) (*expr, bool) {
	text, known := e.splat(v)
	var axes []int
	if !known {
		text, axes, known = e.varied(v)
	}
	if !known {
		return nil, false
	}
	x, t := atom(text), e.m.ValueType(v).DType
	if !isWeak(t, text) {
		x = e.full(&ir.Type{Kind: ir.TensorKind, DType: t}, text)
	}
	return e.vary(x, axes), true
}

// wholeOperand returns the number of an operand that has to be written in its full type, -1 where the small arrays of
// the others repeat each other to it.
func (e *emitter) wholeOperand(operands []ir.ValueID) int {
	full := -1
	var shape []int64
	for i, v := range operands {
		if e.isNumber(v) {
			continue
		}
		small := e.spreadShape(v)
		if small == nil {
			return i
		}
		full = i
		shape = broadcastShapes(shape, small)
	}
	if full >= 0 && slices.Equal(shape, e.m.Shape(operands[full])) {
		return -1
	}
	return max(full, 0)
}

// spreadShape returns the shape of what spread returns, nil where there is none.
func (e *emitter) spreadShape(v ir.ValueID) []int64 {
	v = e.root(v)
	if _, ok := e.names[v]; ok || !e.isLazy(v) {
		return nil
	}
	op := e.m.DefiningOp(v)
	operand, dims := e.m.Operand(op, 0), e.m.OpAttrs(op).Ints("broadcast_dimensions")
	if inner := e.spreadShape(operand); inner != nil {
		return inner
	}
	shape := []int64{}
	for d, rank := int64(0), int64(len(e.m.Shape(v))); d < rank; d++ {
		if k := slices.Index(dims, d); k >= 0 {
			shape = append(shape, e.m.Shape(operand)[k])
		} else if len(shape) > 0 {
			shape = append(shape, 1)
		}
	}
	return shape
}

// broadcastShapes returns the shape that NumPy repeats two arrays to.
func broadcastShapes(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		if at := &out[len(a)-len(b)+i]; *at == 1 {
			*at = n
		}
	}
	return out
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
	if e.typed != nil {
		return e.typed.FormatTypeOf(v)
	}
	return e.typeText(e.m.Type(v))
}

// comment writes text as comment lines, broken after commas.
func (e *emitter) comment(text string) {
	pad := strings.Repeat(" ", e.indent) + "# "
	for len(pad)+len(text) > lineLength {
		at := strings.LastIndex(text[:lineLength-len(pad)], ", ")
		if at < 0 {
			break
		}
		e.write(pad + text[:at+1] + "\n")
		text = text[at+2:]
	}
	e.write(pad + text + "\n")
}

func atoms(texts []string) []*expr {
	out := make([]*expr, len(texts))
	for i, t := range texts {
		out[i] = atom(t)
	}
	return out
}

// typeText returns f32[2,32], the types of a tuple in parentheses.
func (e *emitter) typeText(id ir.TypeID) string {
	t := e.m.TypeOf(id)
	switch t.Kind {
	case ir.TensorKind:
		dims := make([]string, len(t.Dims))
		for i, d := range t.Dims {
			dims[i] = fmt.Sprint(d)
		}
		return t.DType.String() + "[" + strings.Join(dims, ",") + "]"
	case ir.TupleKind:
		parts := make([]string, len(t.Elems))
		for i, el := range t.Elems {
			parts[i] = e.typeText(el)
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return e.m.FormatType(id)
}

// baseName returns the name that results of an op get, before a number makes it new: the name of the innermost named
// location, or that of the op.
func (e *emitter) baseName(op ir.OpID) string {
	if _, ok := e.indices[e.firstResult(op)]; ok {
		return "index"
	}
	kind := e.m.OpName(op)
	if e.typed != nil && collectiveNames[e.typed.OpName(op)] != "" {
		return collectiveNames[e.typed.OpName(op)]
	}
	if named := shortNames[e.m.Kind(op)]; named != "" {
		return named
	}
	return identifier(kind[strings.IndexByte(kind, '.')+1:], "value")
}

func (e *emitter) firstResult(op ir.OpID) ir.ValueID {
	if e.m.NumResults(op) == 0 {
		return 0
	}
	return e.m.Result(op, 0)
}

// shortNames are the names of values where the op's own name is long or means something in Python.
var shortNames = map[ir.Kind]string{
	ir.OpDotGeneral: "dot", ir.OpBroadcastInDim: "spread", ir.OpBroadcast: "spread", ir.OpExponential: "exp", ir.OpLogistic: "sigmoid",
	ir.OpSubtract: "diff", ir.OpMultiply: "prod", ir.OpDivide: "quotient", ir.OpMaximum: "larger", ir.OpMinimum: "smaller", ir.OpNegate: "negative",
	ir.OpCompare: "test", ir.OpSelect: "chosen", ir.OpConvert: "cast", ir.OpReduce: "reduced", ir.OpReduceWindow: "windows", ir.OpConcatenate: "joined",
	ir.OpTranspose: "transposed", ir.OpReshape: "reshaped", ir.OpSlice: "part", ir.OpDynamicSlice: "part", ir.OpDynamicUpdateSlice: "updated",
	ir.OpGather: "taken", ir.OpScatter: "scattered", ir.OpAllReduce: "summed", ir.OpAllGather: "gathered", ir.OpReduceScatter: "shard",
	ir.OpAllToAll: "exchanged", ir.OpCollectivePermute: "moved", ir.OpSort: "ordered", ir.OpAdd: "total", ir.OpAbs: "magnitude", ir.OpPower: "power",
	ir.OpWhile: "state", ir.OpCase: "branch", ir.OpIf: "branch", ir.OpNot: "negation", ir.OpAnd: "both", ir.OpOr: "either", ir.OpXor: "mixed",
	ir.OpConvolution: "conv", ir.OpBitcastConvert: "bits", ir.OpPartitionId: "device", ir.OpRngBitGenerator: "random", ir.OpRemainder: "rest",
	ir.OpShiftLeft: "shifted", ir.OpShiftRightLogical: "shifted", ir.OpShiftRightArithmetic: "shifted", ir.OpIota: "iota", ir.OpReverse: "reversal",
	ir.OpClamp: "clipped", ir.OpOptimizationBarrier: "kept", ir.OpCall: "result", ir.OpCustomCall: "result", ir.OpPad: "padded", ir.OpSqrt: "root",
	ir.OpExponentialMinusOne: "expm1", ir.OpLogPlusOne: "log1p", ir.OpConstant: "constant", ir.OpSdyManualComputation: "manual",
}

// specRefs returns the axes of each dimension of a value's sharding.
func (e *emitter) specRefs(v ir.ValueID) [][]subaxis.Ref {
	if e.m.Sharding(v) == 0 {
		return nil
	}
	var out [][]subaxis.Ref
	for _, d := range e.m.ShardingOf(e.m.Sharding(v)).Dims {
		out = append(out, d.Axes)
	}
	return out
}

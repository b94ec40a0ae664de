package emit

import (
	"fmt"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// handler writes an op whose operands are written.
type handler func(e *emitter, op ir.OpID) error

// single makes a handler of a function that returns the expression of an op's only result.
func single(build func(e *emitter, op ir.OpID) (*expr, error)) handler {
	return func(e *emitter, op ir.OpID) error {
		x, err := build(e, op)
		if err == nil {
			e.define(op, x)
		}
		return err
	}
}

func controlOps() map[ir.Kind]handler {
	ops := map[ir.Kind]handler{
		ir.OpWhile:               (*emitter).while,
		ir.OpIf:                  (*emitter).cond,
		ir.OpCase:                (*emitter).branches,
		ir.OpCall:                func(e *emitter, op ir.OpID) error { return e.call(op, "callee") },
		ir.OpComposite:           func(e *emitter, op ir.OpID) error { return e.call(op, "decomposition") },
		ir.OpAsyncStart:          (*emitter).inline,
		ir.OpAsyncDone:           (*emitter).pass,
		ir.OpSdyNamedComputation: (*emitter).inline,
		ir.OpOptimizationBarrier: (*emitter).barrier,
		ir.OpTuple:               single(func(e *emitter, op ir.OpID) (*expr, error) { return tuple(e.refs(op)...), nil }),
		ir.OpGetTupleElement:     single((*emitter).element),
		ir.OpAfterAll:            (*emitter).token,
		ir.OpCreateToken:         (*emitter).token,
		ir.OpChloScan:            (*emitter).scan,
		ir.OpShardMapScan:        (*emitter).scanRows,
	}
	for kind := ir.OpShardMapPsum; kind < ir.OpShardMapScan; kind++ {
		ops[kind] = (*emitter).onMesh
	}
	for _, kind := range []ir.Kind{ir.OpCheckExpectEq, ir.OpCheckExpectEqConst, ir.OpCheckExpectAlmostEq, ir.OpCheckExpectAlmostEqConst,
		ir.OpCheckExpectClose, ir.OpCheckExpectSerializedEq, ir.OpInterpreterPrint, ir.OpSdyFuncDataFlowEdge, ir.OpSdyShardingGroup} {
		ops[kind] = func(*emitter, ir.OpID) error { return nil }
	}
	for _, kind := range []ir.Kind{ir.OpSdyAllGather, ir.OpSdyAllReduce, ir.OpSdyAllSlice, ir.OpSdyAllToAll, ir.OpSdyCollectivePermute,
		ir.OpSdyReduceScatter, ir.OpSdyReshard, ir.OpSdyShardingConstraint, ir.OpSdyPropagationBarrier, ir.OpSdyDataFlowEdge,
		ir.OpSdyReplicatedToUnreduced, ir.OpSdyShardedToUnreduced, ir.OpInterpreterProbe} {
		ops[kind] = (*emitter).pass
	}
	return ops
}

// refs returns all operands.
func (e *emitter) refs(op ir.OpID) []*expr { return lists.Map(e.m.Operands(op), e.ref) }

// pass makes results stand for the operands.
func (e *emitter) pass(op ir.OpID) error {
	for i, v := range e.m.Results(op) {
		e.aliases[v] = e.m.Operand(op, i)
	}
	return nil
}

func (e *emitter) token(op ir.OpID) error {
	e.define(op, tuple())
	return nil
}

func (e *emitter) element(op ir.OpID) (*expr, error) {
	return atom(fmt.Sprintf("%s[%d]", e.ref(e.m.Operand(op, 0)), e.m.OpAttrs(op).Int("index", 0))), nil
}

// block writes the ops of a block and returns the operands of its terminator.
func (e *emitter) block(b ir.BlockID) ([]ir.ValueID, error) {
	e.markNeeded(b)
	for op := range e.m.Ops(b) {
		if err := e.file.ctx.Err(); err != nil {
			return nil, err
		}
		if e.m.Kind(op).IsTerminator() {
			return e.m.Operands(op), nil
		}
		if !e.needed[op] {
			continue
		}
		if err := e.op(op); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (e *emitter) op(op ir.OpID) error {
	for _, v := range e.m.Results(op) {
		if err := e.checkType(op, e.m.ValueType(v)); err != nil {
			return err
		}
	}
	if v := e.firstResult(op); v != 0 && e.m.NumResults(op) == 1 {
		if e.isNumber(v) || e.isLazy(v) {
			return nil // written where it is used
		}
	}
	h, ok := handlers[e.m.Kind(op)]
	if !ok {
		return e.unsupported(op, "JAX has no function for it")
	}
	return h(e, op)
}

// param is a parameter of a function: one value, or several that come as a tuple.
type param struct {
	name   string
	values []ir.ValueID
}

// each makes every value a parameter of its own.
func each(name string, values []ir.ValueID) []param {
	return lists.Map(values, func(v ir.ValueID) param { return param{name, []ir.ValueID{v}} })
}

// def writes a nested function of a block and returns its name. It returns the given values, or, if they are nil, those
// of the block.
func (e *emitter) def(base string, b ir.BlockID, returned []ir.ValueID, params ...param) (string, error) {
	name := e.beginDef(base, params...)
	outs, err := e.block(b)
	if err != nil {
		return "", err
	}
	if returned == nil {
		returned = outs
	}
	e.result(returned)
	e.endDef()
	return name, nil
}

// function writes a region of an op as a nested function, each of whose arguments is a parameter, and returns its name.
func (e *emitter) function(base string, op ir.OpID, region int) (*expr, error) {
	b := e.m.RegionBlock(op, region)
	name, err := e.def(base, b, nil, each("x", e.m.BlockArgs(b))...)
	return atom(name), err
}

// beginDef writes the head of a nested function and returns its name.
func (e *emitter) beginDef(base string, params ...param) string {
	name := e.scope.take(base)
	names := make([]*expr, len(params))
	var unpack []string
	for i, p := range params {
		if len(p.values) == 1 {
			own := e.scope.take(e.nameFor(p.values[0], p.name))
			names[i], e.names[p.values[0]] = atom(own), own
			continue
		}
		own := e.scope.take(p.name)
		names[i] = atom(own)
		parts := make([]string, len(p.values))
		for k, v := range p.values {
			parts[k] = e.scope.take(e.nameFor(v, p.name))
			e.names[v] = parts[k]
		}
		if len(parts) > 0 {
			unpack = append(unpack, strings.Join(parts, ", ")+" = "+own)
		}
	}
	if !e.start {
		e.gap = true
	}
	e.line("def ", call(name, names...), ":")
	e.start = true
	e.indent += 4
	for _, p := range params {
		e.parameterTypes(p.values)
	}
	for _, text := range unpack {
		e.unpack(text)
	}
	return name
}

// endDef ends a nested function.
func (e *emitter) endDef() {
	e.indent -= 4
	e.gap = true
}

// parameterTypes writes the types of parameters, where they say more than those of the values that are passed.
func (e *emitter) parameterTypes(values []ir.ValueID) {
	if e.file.typed == nil || len(values) == 0 {
		return
	}
	e.comment(lists.Joined(values, func(v ir.ValueID) string { return e.names[v] + ": " + e.typeOf(v) }))
}

// unpack writes an assignment of a tuple to names, in parentheses where it is long.
func (e *emitter) unpack(text string) {
	if e.indent+len(text) <= lineLength {
		e.line("", atom(text), "")
		return
	}
	left, right, _ := strings.Cut(text, " = ")
	e.line("", tuple(lists.Map(strings.Split(left, ", "), atom)...), " = "+right)
}

// result writes a return statement.
func (e *emitter) result(outs []ir.ValueID) {
	items := lists.Map(outs, e.ref)
	switch flat := lists.Joined(items, (*expr).String); {
	case len(outs) == 1:
		e.line("return ", items[0], "")
	case len(outs) > 1 && e.indent+len("return ")+len(flat) <= lineLength:
		e.line("return ", atom(flat), "")
	default:
		e.line("return ", tuple(items...), "")
	}
}

// bundle returns one value as it is, several as a tuple.
func (e *emitter) bundle(values []ir.ValueID) *expr {
	items := lists.Map(values, e.ref)
	if len(items) == 1 {
		return items[0]
	}
	return tuple(items...)
}

// while carries what its body changes. What the body passes on as it came is the same in every round, and is used from
// outside.
func (e *emitter) while(op ir.OpID) error {
	m := e.m
	before, after := m.BlockArgs(m.RegionBlock(op, 0)), m.BlockArgs(m.RegionBlock(op, 1))
	returned := m.Operands(m.LastOp(m.RegionBlock(op, 1)))
	if len(returned) != m.NumOperands(op) || len(before) != len(returned) || len(after) != len(returned) {
		return e.unsupported(op, "its regions do not take and return what it carries")
	}
	var starts, tests, carries, next, results []ir.ValueID
	for i, v := range m.Operands(op) {
		if returned[i] == after[i] {
			for _, same := range []ir.ValueID{before[i], after[i], m.Result(op, i)} {
				e.aliases[same] = v
			}
			continue
		}
		starts, tests, carries = append(starts, v), append(tests, before[i]), append(carries, after[i])
		next, results = append(next, returned[i]), append(results, m.Result(op, i))
	}
	if len(starts) == 0 {
		return e.unsupported(op, "a loop that changes nothing runs never or for ever")
	}
	cond, err := e.def("condition", m.RegionBlock(op, 0), nil, param{"carry", tests})
	if err != nil {
		return err
	}
	body, err := e.def("body", m.RegionBlock(op, 1), next, param{"carry", carries})
	if err != nil {
		return err
	}
	e.assign(op, call("lax.while_loop", atom(cond), atom(body), e.bundle(starts)), results...)
	return nil
}

func (e *emitter) cond(op ir.OpID) error {
	yes, err := e.function("when_true", op, 0)
	if err != nil {
		return err
	}
	no, err := e.function("when_false", op, 1)
	if err != nil {
		return err
	}
	e.assign(op, call("lax.cond", e.ref(e.m.Operand(op, 0)), yes, no), e.m.ResultValues(op)...)
	return nil
}

// branches takes the last branch for an index out of range, below zero too.
func (e *emitter) branches(op ir.OpID) error {
	m := e.m
	var names []*expr
	for i := range m.NumRegions(op) {
		name, err := e.function("branch", op, i)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	v := e.root(m.Operand(op, 0))
	index := e.ref(v)
	inRange := false
	if source := m.DefiningOp(v); source != 0 && len(names) >= 2 {
		inRange = m.Kind(source) == ir.OpClamp || m.Kind(source) == ir.OpConvert && m.ValueType(m.Operand(source, 0)).DType.Bits() == 1
	}
	if !inRange {
		index = call("jnp.where", atom(fmt.Sprintf("(%s >= 0) & (%s < %d)", index, index, len(names))), index, number(int64(len(names)-1)))
	}
	e.assign(op, call("lax.switch", index, list(names...)), m.ResultValues(op)...)
	return nil
}

// call calls a function of the module, which is written at the top level of the file.
func (e *emitter) call(op ir.OpID, attr string) error {
	symbol, ok := e.m.Attr(op, attr).(ir.SymbolAttr)
	if !ok || len(symbol) != 1 {
		return e.invalid(op, attr)
	}
	fn, ok := e.m.LookupFunc(symbol[0])
	if !ok || e.m.IsDeclaration(fn) {
		return e.unsupported(op, "function @%s has no body in the module", symbol[0])
	}
	name := e.funcs[fn]
	if !e.written[fn] {
		e.written[fn] = true
		if err := e.topLevel(name, "", fn, nil); err != nil {
			return err
		}
	}
	e.assign(op, call(name, e.refs(op)...), e.m.ResultValues(op)...)
	return nil
}

// inline writes the one region of an op in its place.
func (e *emitter) inline(op ir.OpID) error {
	b := e.m.RegionBlock(op, 0)
	for i, arg := range e.m.BlockArgs(b) {
		e.aliases[arg] = e.m.Operand(op, i)
	}
	outs, err := e.block(b)
	if err != nil {
		return err
	}
	if len(outs) != e.m.NumResults(op) {
		return e.unsupported(op, "it returns %d values as one", len(outs))
	}
	for i, v := range e.m.Results(op) {
		e.aliases[v] = outs[i]
	}
	return nil
}

func (e *emitter) barrier(op ir.OpID) error {
	if e.m.NumOperands(op) > 0 {
		e.assign(op, call("lax.optimization_barrier", e.bundle(e.m.Operands(op))), e.m.ResultValues(op)...)
	}
	return nil
}

// scan runs a body over slices along one dimension: it takes slices and carries and returns slices and carries.
func (e *emitter) scan(op ir.OpID) error {
	m := e.m
	args, attrs := m.BlockArgs(m.RegionBlock(op, 0)), m.OpAttrs(op)
	inputs := 0
	for k, arg := range args {
		if k < m.NumOperands(op) && inputs == k && len(m.Shape(arg)) == len(m.Shape(m.Operand(op, k)))-1 {
			inputs++
		}
	}
	body, err := e.function("step", op, 0)
	if err != nil {
		return err
	}
	operands := e.refs(op)
	e.assign(op, e.helper("scan_along", body, tuple(operands[:inputs]...), tuple(operands[inputs:]...),
		number(attrs.Int("dimension", 0)), truth(attrs.Bool("is_reverse"))), m.ResultValues(op)...)
	return nil
}

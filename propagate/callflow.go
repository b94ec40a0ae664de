package propagate

import (
	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/priority"
)

// callFlow knows which function each call calls, and the calls of each function in the order of symbolUsers.
type callFlow struct {
	callee  map[ir.OpID]ir.FuncID
	callers map[ir.FuncID][]ir.OpID
	crossed map[ir.ValueID]bool // values at which notifyAcross has already been since the outermost call of it
	depth   int                 // how many calls of notifyAcross are under way
}

func newCallFlow(m *ir.Module) callFlow {
	flow := callFlow{callee: map[ir.OpID]ir.FuncID{}, callers: map[ir.FuncID][]ir.OpID{}, crossed: map[ir.ValueID]bool{}}
	table := calls.NewTable(m)
	for op := range m.Ops(m.Body()) {
		symbolUsers(m, op, func(call ir.OpID) {
			if f := table.Callee(call); f != 0 && !m.IsDeclaration(f) {
				flow.callee[call] = f
				flow.callers[f] = append(flow.callers[f], call)
			}
		})
	}
	return flow
}

// symbolUsers visits the calls inside an op as MLIR collects the users of symbols: those of a region before those of the
// regions inside it, of which the last comes first. The order matters: of several values that flow into an edge the first one wins.
func symbolUsers(m *ir.Module, op ir.OpID, visit func(ir.OpID)) {
	work := m.Regions(op)
	for len(work) > 0 {
		region := work[len(work)-1]
		work = work[:len(work)-1]
		for _, b := range m.Blocks(region) {
			for inner := range m.Ops(b) {
				if m.Kind(inner) == ir.OpCall {
					visit(inner)
				}
				work = append(work, m.Regions(inner)...)
			}
		}
	}
}

// sources returns the values that flow into the edge of a function's argument or of a call's result.
func (c *callFlow) sources(m *ir.Module, v ir.ValueID) []ir.ValueID {
	i := m.Index(v)
	if call := m.DefiningOp(v); call != 0 {
		f := c.callee[call]
		if f == 0 {
			return nil
		}
		if last := m.LastOp(m.Func(f).Body); last != 0 && i < m.NumOperands(last) {
			return []ir.ValueID{m.Operand(last, i)}
		}
		return nil
	}
	var list []ir.ValueID
	for _, call := range c.callers[m.FuncOf(m.BlockOp(m.ArgBlock(v)))] {
		if i < m.NumOperands(call) {
			list = append(list, m.Operand(call, i))
		}
	}
	return list
}

// addFuncEdge makes an op with all sources of a call's edge as operands and the edge as its result.
func (t *tables) addFuncEdge(op ir.OpID) {
	m := t.m
	v := m.Operand(op, 0)
	sources := t.calls.sources(m, v)
	if len(sources) == 0 || !t.fits(sources, m.Type(v)) {
		return
	}
	row := opRow{first: int32(len(t.slots)), n: int32(len(sources) + 1), class: priority.Rearrange, exempt: true}
	for _, s := range sources {
		t.slots = append(t.slots, t.home[s])
	}
	edge := slot(m.Result(op, 0))
	t.slots = append(t.slots, edge)
	t.names[edge] = int32(v)
	row.plan = t.planFor(t.identityRule(m.Type(v), len(sources)))
	t.rows[op] = row
}

// notifyAcross pushes the ops that see a value on the other side of a call: the users of what a return in a function
// with callers becomes, and of the argument that an operand becomes. It says whether the use was of that kind.
func (e *engine) notifyAcross(use ir.Use, current ir.OpID) bool {
	m := e.m
	var values []ir.ValueID
	switch m.Kind(use.Op) {
	case ir.OpReturn:
		callers := e.calls.callers[m.FuncOf(m.ParentOp(use.Op))]
		if len(callers) == 0 {
			return false
		}
		for _, call := range callers {
			if use.Index < m.NumResults(call) {
				values = append(values, m.Result(call, use.Index))
			}
		}
	case ir.OpCall:
		f := e.calls.callee[use.Op]
		if f == 0 {
			return false
		}
		if args := m.BlockArgs(m.Func(f).Body); use.Index < len(args) {
			values = append(values, args[use.Index])
		}
	default:
		return false
	}
	e.calls.depth++
	for _, v := range values {
		if !e.calls.crossed[v] {
			e.calls.crossed[v] = true
			e.notifyUsers(v, current)
		}
	}
	if e.calls.depth--; e.calls.depth == 0 {
		clear(e.calls.crossed)
	}
	return true
}

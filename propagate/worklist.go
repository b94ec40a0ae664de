package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
)

// worklist is a stack of ops, each at most once, popped from the top: the order in which MLIR's greedy driver
// works (source: shardy.md section 4.4). The op that is visited first wins a conflict, so that results depend on the order.
type worklist struct {
	stack   []ir.OpID
	present []bool    // by op
	all     []ir.OpID // in the order of the first filling, the last op of the program first; some were erased since
}

// fill starts with all ops, such that they pop in pre-order. The module gets no new ones while the worklist is in use.
func (w *worklist) fill(m *ir.Module) {
	if w.all == nil {
		w.present = make([]bool, m.NumOps())
		w.all, w.stack = make([]ir.OpID, 0, m.NumOps()), make([]ir.OpID, 0, m.NumOps())
		m.Walk(m.Body(), func(op ir.OpID) { w.all = append(w.all, op) })
		slices.Reverse(w.all)
	}
	w.stack = append(w.stack[:0], w.all...)
	for _, op := range w.all {
		w.present[op] = true
	}
}

func (w *worklist) pop() (ir.OpID, bool) {
	n := len(w.stack)
	if n == 0 {
		return 0, false
	}
	op := w.stack[n-1]
	w.stack = w.stack[:n-1]
	w.present[op] = false
	return op, true
}

// push puts an op and the ops around it on the stack, except those that are there already.
func (w *worklist) push(m *ir.Module, op ir.OpID) {
	for ; op != 0; op = m.ParentOp(op) {
		if !w.present[op] {
			w.present[op] = true
			w.stack = append(w.stack, op)
		}
	}
}

// notify pushes the ops that see the sharding of a slot.
func (e *engine) notify(s slot, current ir.OpID) {
	if int(s) >= len(e.home) {
		return
	}
	m, v := e.m, ir.ValueID(s)
	def := m.DefiningOp(v)
	if def == 0 {
		def = m.BlockOp(m.ArgBlock(v))
	} else if m.Kind(def) == ir.OpSdyDataFlowEdge {
		if owner := m.Operand(def, 0); e.edges[owner] == def {
			for _, target := range dataflow.OtherTargets(m, owner) {
				e.notifyUsers(target, current)
			}
		}
	}
	if def != current {
		e.work.push(m, def)
	}
	e.notifyUsers(v, current)
}

// notifyUsers pushes the ops that see a value as an operand, or the edges that it flows into.
func (e *engine) notifyUsers(v ir.ValueID, current ir.OpID) {
	m := e.m
	for use := range m.Uses(v) {
		op := use.Op
		if owner := dataflow.Into(m, use); e.around[owner] != 0 {
			e.notifyAround(owner, use, current)
			continue
		} else if owner != 0 && e.edges[owner] != 0 {
			op = e.edges[owner]
		} else if e.notifyAcross(use, current) {
			continue
		} else if m.Kind(op).IsTerminator() {
			op = m.ParentOp(op)
		}
		if op != current {
			e.work.push(m, op)
		}
	}
}

// notifyAround pushes the ops that see in and behind a loop what enters it by a use and is carried round unchanged.
func (e *engine) notifyAround(owner ir.ValueID, use ir.Use, current ir.OpID) {
	if e.m.Kind(use.Op).IsTerminator() {
		return // round again
	}
	for _, v := range append(dataflow.OtherTargets(e.m, owner), e.m.Result(e.around[owner], 0)) {
		e.notifyUsers(v, current)
	}
}

// eraseDead removes a dead op, whose shardings must not influence others, and pushes the ops that may have become dead by it.
// The ops of its regions are removed before it, the last one first.
func (e *engine) eraseDead(op ir.OpID) {
	m := e.m
	for _, r := range slices.Backward(m.Regions(op)) {
		for _, b := range m.Blocks(r) {
			for last := m.LastOp(b); last != 0; last = m.LastOp(b) {
				e.eraseDead(last)
			}
		}
	}
	for i := range m.NumOperands(op) {
		v := m.Operand(op, i)
		if def := m.DefiningOp(v); def != 0 && usersBeside(m, v, op) < 2 {
			e.work.push(m, def)
		}
	}
	m.Erase(op)
}

// usersBeside counts the ops other than one that use a value, up to 2.
func usersBeside(m *ir.Module, v ir.ValueID, op ir.OpID) int {
	var other ir.OpID
	for use := range m.Uses(v) {
		switch use.Op {
		case op, other:
		default:
			if other != 0 {
				return 2
			}
			other = use.Op
		}
	}
	if other != 0 {
		return 1
	}
	return 0
}

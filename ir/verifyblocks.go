package ir

import (
	"context"
	"fmt"
	"slices"

	"autoshard/internal/diag"
)

// blockOrder are the blocks of a region with several, by their immediate dominators.
type blockOrder struct {
	number map[BlockID]int // in reverse postorder from the entry; blocks that nothing reaches have none
	idom   []int           // by number; the entry is its own
	steps  int             // that meet may still take
}

// maxDominatorSteps bounds the work for one region: the method is quick for what compilers make, but quadratic at worst.
const maxDominatorSteps = 100_000_000

// newBlockOrder finds the dominators of a region by the method of Cooper, Harvey and Kennedy: walk the blocks in reverse
// postorder and meet the dominators of the predecessors until nothing changes. It gives up and returns nil where that
// takes too long or the context has ended.
func newBlockOrder(ctx context.Context, m *Module, blocks []BlockID) *blockOrder {
	order := postorder(m, blocks[0])
	slices.Reverse(order)
	o := &blockOrder{number: map[BlockID]int{}, idom: make([]int, len(order)), steps: maxDominatorSteps}
	predecessors := make([][]int, len(order))
	for n, b := range order {
		o.number[b], o.idom[n] = n, -1
	}
	for n, b := range order {
		for _, to := range m.Successors(m.LastOp(b)) {
			predecessors[o.number[to]] = append(predecessors[o.number[to]], n)
		}
	}
	o.idom[0] = 0
	for changed := true; changed; {
		changed = false
		for n := 1; n < len(order); n++ {
			best := -1
			for _, p := range predecessors[n] {
				if o.idom[p] >= 0 {
					best = o.meet(best, p)
				}
			}
			if o.steps < 0 || ctx.Err() != nil {
				return nil
			}
			if best != o.idom[n] {
				o.idom[n], changed = best, true
			}
		}
	}
	return o
}

// meet returns the nearest block that dominates both; -1 stands for no block yet.
func (o *blockOrder) meet(a, b int) int {
	if a < 0 {
		return b
	}
	for a != b && o.steps >= 0 {
		o.steps--
		if a > b {
			a = o.idom[a]
		} else {
			b = o.idom[b]
		}
	}
	return a
}

// postorder returns the blocks that can be reached from one, each behind its successors. It keeps its own stack, since
// chains of blocks may be long.
func postorder(m *Module, entry BlockID) []BlockID {
	type visit struct {
		block BlockID
		next  int
	}
	seen := map[BlockID]bool{entry: true}
	var order []BlockID
	for stack := []visit{{block: entry}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		to := m.Successors(m.LastOp(top.block))
		if top.next == len(to) {
			order = append(order, top.block)
			stack = stack[:len(stack)-1]
			continue
		}
		b := to[top.next]
		top.next++
		if !seen[b] {
			seen[b] = true
			stack = append(stack, visit{block: b})
		}
	}
	return order
}

// dominates says whether every way to block b leads through block a. Nothing leads to a block that is not reached.
func (o *blockOrder) dominates(a, b BlockID) bool {
	to, ok := o.number[b]
	if !ok {
		return true
	}
	from, ok := o.number[a]
	for ok && to > from {
		to = o.idom[to]
	}
	return ok && to == from
}

// blocks checks a region of several blocks: branches, and that values are defined on every way to their uses. Within a
// block the order of the ops is what the reader saw.
func (v *verifier) blocks(parent OpID, r RegionID) {
	m := v.m
	blocks := m.Blocks(r)
	for _, b := range blocks {
		for op := range m.Ops(b) {
			if to := m.Successors(op); len(to) > 0 {
				v.opReport(op, v.branch(op, to, blocks[0]))
			}
		}
	}
	if len(blocks) < 2 || v.full() {
		return
	}
	order := newBlockOrder(v.ctx, m, blocks)
	if order == nil {
		v.opReport(parent, &opError{code: diag.InputTooLarge,
			text: fmt.Sprintf("has a region of %d blocks whose branches are too tangled to check", len(blocks))})
		return
	}
	for _, b := range blocks {
		for op := range m.Ops(b) {
			if v.ctx.Err() != nil {
				return
			}
			v.uses(op, b, r, order)
		}
	}
}

// branch checks an op with successors: it ends its block, goes to no entry block, and brings what the blocks take.
func (v *verifier) branch(op OpID, to []BlockID, entry BlockID) error {
	m := v.m
	switch {
	case m.NextOp(op) != 0:
		return badOp("with block successors must terminate its parent block")
	case slices.Contains(to, entry):
		return badOp("goes to the entry block of its region, which may not have predecessors")
	}
	first := 0
	switch k := m.Kind(op); {
	case k == OpUnregistered:
		return nil
	case k == OpCondBranch && len(to) == 2 && m.NumOperands(op) > 0:
		first = 1
	case k != OpBranch || len(to) != 1:
		return badOp("has %d successors", len(to))
	}
	have := m.Operands(op)[first:]
	for i, b := range to {
		args := m.BlockArgs(b)
		if len(have) < len(args) || i == len(to)-1 && len(have) > len(args) {
			return badOp("branch has %d operands for successor #%d, but target block has %d", len(have), i, len(args))
		}
		for j, a := range args {
			if m.Type(a) != m.Type(have[j]) {
				return badType("type mismatch for bb argument #%d of successor #%d: '%s' vs '%s'", j, i, m.FormatType(m.Type(have[j])),
					m.FormatType(m.Type(a)))
			}
		}
		have = have[len(args):]
	}
	return nil
}

// uses checks the operands of an op, and of the ops inside it, that other blocks of the region define.
func (v *verifier) uses(op OpID, at BlockID, r RegionID, order *blockOrder) {
	m := v.m
	for i := range m.NumOperands(op) {
		value := m.Operand(op, i)
		from := m.ArgBlock(value)
		if def := m.DefiningOp(value); def != 0 {
			from = m.OpBlock(def)
		}
		if from != at && m.BlockRegion(from) == r && !order.dominates(from, at) {
			v.opReport(op, badOp("operand #%d does not dominate this use", i))
		}
	}
	for b := range m.InnerBlocks(op) {
		for o := range m.Ops(b) {
			v.uses(o, at, r, order)
		}
	}
}

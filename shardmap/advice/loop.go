package advice

import (
	"slices"

	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// gatherInLoop finds a collective in the body of a loop that reads nothing that the loop changes.
func gatherInLoop(p *typed.Program, op ir.OpID) *Advice {
	loop := p.Module.ParentOp(op)
	h := &hoist{p: p, loop: loop, needs: map[ir.OpID]bool{}}
	if !h.isBody(p.Module.OpBlock(op)) || !h.constant(op) {
		return nil
	}
	return &Advice{
		Rule:    lint.GatherInLoop,
		Message: p.Describe(op) + " does the same in every iteration: before the loop it is sent once",
		rewrite: func(e *editor) { h.apply(e, op) },
	}
}

// hoist moves ops of a loop's body before the loop.
type hoist struct {
	p     *typed.Program
	loop  ir.OpID
	needs map[ir.OpID]bool // ops that are moved
}

// isBody says whether a block is the body of the loop, which is no condition and no branch.
func (h *hoist) isBody(b ir.BlockID) bool {
	m := h.p.Module
	switch {
	case h.loop == 0:
		return false
	case m.Kind(h.loop) == ir.OpShardMapScan:
		return true
	}
	return m.Kind(h.loop) == ir.OpWhile && m.RegionBlock(h.loop, 1) == b
}

// constant says whether an op of the body gives the same in every iteration, and notes all that it needs.
func (h *hoist) constant(op ir.OpID) bool {
	m := h.p.Module
	if m.NumRegions(op) > 0 || !m.Kind(op).IsPure() && !m.Kind(op).IsShardMap() {
		return false
	}
	for _, v := range m.Operands(op) {
		if h.outside(v) == 0 && (m.DefiningOp(v) == 0 || !h.constant(m.DefiningOp(v))) {
			return false
		}
	}
	h.needs[op] = true
	return true
}

// outside returns the value before the loop that a value of the body is in every iteration: one from outside, or one that every iteration
// hands on as it came. It is 0 for others.
func (h *hoist) outside(v ir.ValueID) ir.ValueID {
	m := h.p.Module
	inside := m.BlockOf(v)
	if m.BlockOp(inside) != h.loop {
		return v // of a block around the loop, since the collective stands in its body
	}
	at := slices.Index(m.BlockArgs(inside), v)
	if m.DefiningOp(v) != 0 || at < 0 {
		return 0
	}
	if info := h.p.ScanOf(h.loop); m.Kind(h.loop) == ir.OpShardMapScan && at >= info.Carries {
		return 0 // a row
	}
	if m.Operand(m.LastOp(inside), at) != v {
		return 0
	}
	return m.Operand(h.loop, at)
}

// apply copies what a collective needs before the loop, and takes its result from there.
func (h *hoist) apply(e *editor, op ir.OpID) {
	m := e.m
	moved := map[ir.ValueID]ir.ValueID{}
	b := typed.Edit(e.p, h.loop)
	for inner := range m.Ops(m.OpBlock(op)) {
		if !h.needs[inner] {
			continue
		}
		for _, v := range m.Operands(inner) {
			if out := h.outside(v); out != 0 {
				moved[v] = out
			}
		}
		b.Copy(inner, moved)
	}
	e.p.Replace(m.Result(op, 0), moved[m.Result(op, 0)])
	e.drop(op)
}

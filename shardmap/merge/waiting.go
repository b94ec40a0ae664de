package merge

import (
	"slices"

	"autoshard/ir"
)

// Waits says whether ops of a kind can be put off until something else has to have what they make: those that compute element by
// element, move elements, or reduce on the way. Products and what has bodies stay where they are.
func Waits(k ir.Kind) bool { return k.IsElementwise() || slices.Contains(waiting, k) }

var waiting = []ir.Kind{ir.OpBroadcastInDim, ir.OpConcatenate, ir.OpDynamicSlice, ir.OpDynamicUpdateSlice, ir.OpPad, ir.OpReduce,
	ir.OpReshape, ir.OpReverse, ir.OpShardMapPscatter, ir.OpSlice, ir.OpTranspose}

// Waiting says how long values can be waited for, in places of ops in their block.
type Waiting struct {
	m     *ir.Module
	at    []int32 // per op: its place
	until []int32 // per op that waits: the place until which it can, 0 where that is not known
	known []ir.OpID
}

// NewWaiting numbers the ops of a block, and of the blocks inside it, from 1.
func NewWaiting(m *ir.Module, b ir.BlockID) *Waiting {
	w := &Waiting{m: m, at: make([]int32, m.NumOps()), until: make([]int32, m.NumOps())}
	w.number(b)
	return w
}

func (w *Waiting) number(b ir.BlockID) {
	next := int32(1)
	for op := range w.m.Ops(b) {
		w.at[op] = next
		next++
		for i := range w.m.NumRegions(op) {
			w.number(w.m.RegionBlock(op, i))
		}
	}
}

// At returns the place of an op.
func (w *Waiting) At(op ir.OpID) int32 { return w.at[op] }

// Needed returns the place of the first op that needs a value, in the value's block.
func (w *Waiting) Needed(v ir.ValueID) int32 {
	return w.first(v, func(op ir.OpID) int32 { return w.at[op] })
}

// Value returns the place of the first op that has to have a value: all that need it before can be put off.
func (w *Waiting) Value(v ir.ValueID) int32 { return w.first(v, w.op) }

// first returns the least place that a function gives to the ops that need a value. What is gone when collectives are merged, in a
// program without communications, does not count: groups, and manual computations, of which any op inside may be the first.
func (w *Waiting) first(v ir.ValueID, place func(ir.OpID) int32) int32 {
	first := int32(len(w.at))
	for u := range w.m.Uses(v) {
		user := w.m.AncestorIn(u.Op, w.m.BlockOf(v))
		if k := w.m.Kind(user); k != ir.OpSdyShardingGroup && k != ir.OpSdyManualComputation {
			first = min(first, place(user))
		}
	}
	return first
}

// op returns the place until which an op can be put off: its own if it does not wait.
func (w *Waiting) op(op ir.OpID) int32 {
	if !Waits(w.m.Kind(op)) {
		return w.at[op]
	}
	if w.until[op] == 0 {
		first := int32(len(w.at))
		for _, v := range w.m.Results(op) {
			first = min(first, w.Value(v))
		}
		w.until[op] = first
		w.known = append(w.known, op)
	}
	return w.until[op]
}

// forget drops what was found, since ops have moved.
func (w *Waiting) forget() {
	for _, op := range w.known {
		w.until[op] = 0
	}
	w.known = w.known[:0]
}

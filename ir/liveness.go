package ir

import "slices"

// Liveness numbers the ops of a function body in program order, ops inside loops and branches included, and says
// from when to when each value is needed.
type Liveness struct {
	m          *Module
	body       BlockID
	start, end []int32 // per op: its number, and the number after the last op inside it
	ops        []OpID  // by number
	reads      []int32 // per op: the number of the one at which it reads
	clock      int32
}

// NewLiveness numbers the ops of a block. Regions of reductions and the like count with their op.
func NewLiveness(m *Module, body BlockID) *Liveness {
	l := &Liveness{m: m, body: body, start: make([]int32, m.NumOps()), end: make([]int32, m.NumOps())}
	l.number(body)
	l.reads = slices.Clone(l.start)
	return l
}

func (l *Liveness) number(b BlockID) {
	for op := range l.m.Ops(b) {
		l.start[op] = l.clock
		l.ops = append(l.ops, op)
		l.clock++
		if l.m.Kind(op).HasBodies() {
			for i := range l.m.NumRegions(op) {
				l.number(l.m.RegionBlock(op, i))
			}
		}
		l.end[op] = l.clock
	}
}

// Through makes what some values are computed of needed until those are read, as nothing computes them before: values that have only one
// reader, in their block. Of
//
//	%1 = stablehlo.compare GT, %x, %0
//	%2 = stablehlo.dot_general %y, %w
//	%3 = stablehlo.select %1, %2, %0
//
// %x is needed until the select where %1 is such a value.
func (l *Liveness) Through(values []bool) {
	for _, op := range slices.Backward(l.ops) {
		if l.m.NumResults(op) == 1 && values[l.m.Result(op, 0)] {
			l.Delay(op)
		}
	}
}

// Delay lets an op read where the only reader of its result does. Readers are to be delayed before.
func (l *Liveness) Delay(op OpID) { l.reads[op] = l.Reads(l.m.OnlyReader(l.m.Result(op, 0))) }

// Reads returns the number of the op at which an op reads: its own, unless it was delayed.
func (l *Liveness) Reads(op OpID) int32 { return l.reads[op] }

// Len returns how many ops were numbered.
func (l *Liveness) Len() int32 { return l.clock }

// At returns the number of an op.
func (l *Liveness) At(op OpID) int32 { return l.start[op] }

// Interval returns the half-open interval in which a value is needed: from the op that makes it (0 for arguments of
// the function) to after its last use. What a loop or branch reads from outside it keeps to its end, as a loop does its results.
func (l *Liveness) Interval(v ValueID) (lo, hi int32) {
	home := l.m.ArgBlock(v)
	if op := l.m.DefiningOp(v); op != 0 {
		home = l.m.OpBlock(op)
		lo = l.start[op]
	} else if parent := l.m.BlockOp(home); parent != 0 {
		lo = l.start[parent]
	}
	hi = lo + 1
	if op := l.m.DefiningOp(v); l.m.Kind(op) == OpWhile {
		hi = l.end[op] // what it carries is there in every round
	}
	for u := range l.m.Uses(v) {
		hi = max(hi, l.lastUse(home, u.Op)+1)
	}
	return lo, hi
}

// lastUse returns the time until which a use keeps a value of a block: that at which the user reads, or the end of the outermost
// op around the user inside the value's block.
func (l *Liveness) lastUse(home BlockID, user OpID) int32 {
	last := l.Reads(user)
	for op := user; op != 0 && l.m.OpBlock(op) != home; {
		if op = l.m.ParentOp(op); op != 0 {
			last = max(last, l.end[op])
		}
	}
	return last
}

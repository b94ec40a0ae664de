package ir

// Liveness numbers the ops of a function body in program order, ops inside loops and branches included, and says
// from when to when each value is needed.
type Liveness struct {
	m          *Module
	body       BlockID
	start, end []int32 // per op: its number, and the number after the last op inside it
	clock      int32
}

// NewLiveness numbers the ops of a block. Regions of reductions and the like count with their op.
func NewLiveness(m *Module, body BlockID) *Liveness {
	l := &Liveness{m: m, body: body, start: make([]int32, m.NumOps()), end: make([]int32, m.NumOps())}
	l.number(body)
	return l
}

func (l *Liveness) number(b BlockID) {
	for op := range l.m.Ops(b) {
		l.start[op] = l.clock
		l.clock++
		if l.m.Kind(op).HasBodies() {
			for i := range l.m.NumRegions(op) {
				l.number(l.m.RegionBlock(op, i))
			}
		}
		l.end[op] = l.clock
	}
}

// Len returns how many ops were numbered.
func (l *Liveness) Len() int32 { return l.clock }

// At returns the number of an op.
func (l *Liveness) At(op OpID) int32 { return l.start[op] }

// Interval returns the half-open interval in which a value is needed: from the op that makes it (0 for arguments of
// the function) to after its last use. What a loop or branch reads from outside it keeps to its end.
func (l *Liveness) Interval(v ValueID) (lo, hi int32) {
	home := l.m.ArgBlock(v)
	if op := l.m.DefiningOp(v); op != 0 {
		home = l.m.OpBlock(op)
		lo = l.start[op]
	} else if parent := l.m.BlockOp(home); parent != 0 {
		lo = l.start[parent]
	}
	hi = lo + 1
	for u := range l.m.Uses(v) {
		hi = max(hi, l.lastUse(home, u.Op)+1)
	}
	return lo, hi
}

// lastUse returns the time until which a use keeps a value of a block: that of the user, or the end of the outermost
// op around the user inside the value's block.
func (l *Liveness) lastUse(home BlockID, user OpID) int32 {
	last := l.start[user]
	for op := user; op != 0 && l.m.OpBlock(op) != home; {
		if op = l.m.ParentOp(op); op != 0 {
			last = max(last, l.end[op])
		}
	}
	return last
}

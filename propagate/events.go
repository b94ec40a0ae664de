package propagate

import (
	"autoshard/ir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// event returns the refusal of an op whose tensors are on different meshes.
func (c meshClash) event() trace.Event {
	return trace.Event{Kind: trace.Refusal, Reason: trace.MeshMismatch, Factor: trace.NoFactor,
		From: tensorPlace(c.first, -1), To: tensorPlace(c.other, -1)}
}

// binder makes events of the patterns of a trace. It keeps what that takes of the tables.
type binder struct {
	rows    []opRow
	slots   []slot
	names   []int32
	reserve *reserve
}

// Bind implements trace.Binder.
func (b *binder) Bind(op, round int32, e trace.Event) (trace.Event, bool) {
	row := &b.rows[op]
	return b.bind(b.slots[row.first:row.first+row.n], round, e)
}

func (b *binder) bind(slots []slot, round int32, e trace.Event) (trace.Event, bool) {
	to := slots[e.To.Value-1]
	if to == 0 {
		return e, false
	}
	if e.Reason == trace.Closed || e.Reason == trace.Replicated {
		if b.reserve.holds(to, e.To.Dim, e.Axes, round) {
			e.Reason = trace.LowerPriority
		}
	}
	for _, p := range [...]*trace.Place{&e.From, &e.To, &e.Other} {
		if p.Value != 0 {
			p.Value = b.name(slots[p.Value-1])
		}
	}
	return e, true
}

// name returns how the trace calls a slot.
func (b *binder) name(s slot) int32 {
	if n := b.names[s]; n != 0 {
		return n
	}
	return s
}

// recorder writes the trace.
type recorder struct {
	*tables
	trace    *trace.Trace
	binder   *binder
	reserve  *reserve
	round    int32                   // user priority
	last     []trace.PatternID       // by op: the refusals that it has recorded last
	lastTied map[int]trace.PatternID // by result of the main function
}

// newRecorder returns the recorder of a trace that continues the patterns of another one.
func newRecorder(t *tables, known *trace.Trace) recorder {
	r := recorder{tables: t, reserve: &reserve{waiting: map[slot][]waitingDim{}}, last: make([]trace.PatternID, t.m.NumOps()+1),
		lastTied: map[int]trace.PatternID{}}
	r.binder = &binder{t.rows, t.slots, t.names, r.reserve}
	r.trace = known.Next(r.binder)
	r.reserve.trace = r.trace
	return r
}

// recordRefusals puts the refusals of an op into the trace, unless they are those that it recorded last.
func (r *recorder) recordRefusals(op ir.OpID, refusals trace.PatternID) {
	if refusals != 0 && r.last[op] != refusals {
		r.trace.Record(int32(op), refusals)
		r.last[op] = refusals
	}
}

// recordTiedRefusals is recordRefusals for result i of the main function and the value that it returns.
func (r *recorder) recordTiedRefusals(i int, slots []slot, refusals trace.PatternID) {
	if refusals != 0 && r.lastTied[i] != refusals {
		r.record(0, slots, r.trace.PatternEvents(refusals))
		r.lastTied[i] = refusals
	}
}

// record puts events of the tensors of an op into the trace, where they are no pattern.
func (r *recorder) record(op ir.OpID, slots []slot, events []trace.Event) {
	for _, ev := range events {
		ev.Op = int32(op)
		if bound, ok := r.binder.bind(slots, r.round, ev); ok {
			r.trace.Add(bound)
		}
	}
}

// recordChange puts the difference that a new sharding makes to a slot into the trace, where the slot takes over the whole sharding of
// another one.
func (r *recorder) recordChange(op ir.OpID, from, to slot, id ir.ShardingID) {
	s := r.m.ShardingOf(id)
	for d := range s.Dims {
		var old []subaxis.Ref
		if before := r.shardings[to]; before != 0 && d < len(r.m.ShardingOf(before).Dims) { // on a single device it has none
			old = r.m.ShardingOf(before).Dims[d].Axes
		}
		ev := trace.Event{Kind: trace.Move, Op: int32(op), Factor: trace.NoFactor, Mesh: int32(s.Mesh),
			From: trace.Place{Value: r.binder.name(from), Dim: int32(d)}, To: trace.Place{Value: r.binder.name(to), Dim: int32(d)}}
		switch subaxis.PrefixStatus(old, s.Dims[d].Axes) {
		case subaxis.EqualLists:
			continue
		case subaxis.StrictPrefix:
			added := addedAxes(old, s.Dims[d].Axes)
			ev.Axes, ev.Apart = r.trace.Intern(added), isApart(old, added[0], s.Dims[d].Axes)
		default:
			ev.Kind, ev.Axes = trace.Replace, r.trace.Intern(s.Dims[d].Axes)
		}
		r.trace.Add(ev)
	}
}

// recordGroupCopies puts what members of groups took over before propagation into the trace. Dimensions of later
// user priorities have their own event, unless all take part from the start.
func (r *recorder) recordGroupCopies(copies []groupCopy, noUserPriority bool) {
	for _, c := range copies {
		s := r.m.ShardingOf(r.m.Sharding(c.to))
		for d, dim := range s.Dims {
			if len(dim.Axes) == 0 || dim.Priority > 0 && !noUserPriority {
				continue
			}
			r.trace.Add(trace.Event{Kind: trace.Move, Factor: trace.NoFactor, Mesh: int32(s.Mesh), Axes: r.trace.Intern(dim.Axes),
				From: trace.Place{Value: r.binder.name(slot(c.from)), Dim: int32(d)}, To: trace.Place{Value: r.binder.name(slot(c.to)), Dim: int32(d)}})
		}
	}
}

package propagate

import (
	"autoshard/ir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// event returns the refusal of an op whose tensors are on different meshes.
func (c meshClash) event() trace.Event {
	return trace.Event{Kind: trace.Refusal, Reason: trace.MeshMismatch, Factor: trace.NoFactor, From: tensorPlace(c.first, -1), To: tensorPlace(c.other, -1)}
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

// record puts events of the tensors of an op into the trace, where they are no pattern.
func (e *engine) record(op ir.OpID, slots []slot, events []trace.Event) {
	for _, ev := range events {
		ev.Op = int32(op)
		if bound, ok := e.binder.bind(slots, e.round, ev); ok {
			e.trace.Add(bound)
		}
	}
}

// recordChange puts the difference that a new sharding makes to a slot into the trace, where it is taken over as a
// whole from another one.
func (e *engine) recordChange(op ir.OpID, from, to slot, id ir.ShardingID) {
	s := e.m.ShardingOf(id)
	for d := range s.Dims {
		var old []subaxis.Ref
		if before := e.shardings[to]; before != 0 && d < len(e.m.ShardingOf(before).Dims) { // on a single device it has none
			old = e.m.ShardingOf(before).Dims[d].Axes
		}
		ev := trace.Event{Kind: trace.Move, Op: int32(op), Factor: trace.NoFactor, Mesh: int32(s.Mesh),
			From: trace.Place{Value: e.binder.name(from), Dim: int32(d)}, To: trace.Place{Value: e.binder.name(to), Dim: int32(d)}}
		switch subaxis.PrefixStatus(old, s.Dims[d].Axes) {
		case subaxis.EqualLists:
			continue
		case subaxis.StrictPrefix:
			added := addedAxes(old, s.Dims[d].Axes)
			ev.Axes, ev.Apart = axesOf(e.trace, added), isApart(old, added[0], s.Dims[d].Axes)
		default:
			ev.Kind, ev.Axes = trace.Replace, axesOf(e.trace, s.Dims[d].Axes)
		}
		e.trace.Add(ev)
	}
}

// recordGroupCopies puts what members of groups took over before propagation into the trace. Dimensions of later
// user priorities have their own event.
func (e *engine) recordGroupCopies(copies []groupCopy) {
	for _, c := range copies {
		s := e.m.ShardingOf(e.m.Sharding(c.to))
		for d, dim := range s.Dims {
			if len(dim.Axes) == 0 || dim.Priority > 0 && !e.options.NoUserPriority {
				continue
			}
			e.trace.Add(trace.Event{Kind: trace.Move, Factor: trace.NoFactor, Mesh: int32(s.Mesh), Axes: axesOf(e.trace, dim.Axes),
				From: trace.Place{Value: e.binder.name(slot(c.from)), Dim: int32(d)}, To: trace.Place{Value: e.binder.name(slot(c.to)), Dim: int32(d)}})
		}
	}
}

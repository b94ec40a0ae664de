package propagate

import (
	"slices"

	"autoshard/internal/trace"
	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
)

// event is a move or a refusal in terms of the tensors of an op, so that it holds for every op in that situation.
type event struct {
	reason    trace.Reason
	factor    int32
	apart     bool
	mesh      ir.MeshID
	axes      trace.AxesID
	from, to  tensorDim
	against   trace.AxesID
	other     tensorDim
	withOther bool
}

type tensorDim struct{ tensor, dim int32 }

// remember keeps the axes of all factors as they are before the strategy runs.
func (s *step) remember() {
	s.before = resize(s.before, len(s.factors))
	for i := range s.factors {
		s.before[i] = s.factors[i].axes
	}
}

func (s *step) had(t int, f int32) []subaxis.Ref { return s.before[t*len(s.rule.Sizes)+int(f)] }

// place returns the dimension of a tensor that has a factor.
func (s *step) place(t int, f int32) tensorDim {
	for d, factors := range s.dims(t) {
		for _, g := range factors {
			if f == g {
				return tensorDim{int32(t), int32(d)}
			}
		}
	}
	return tensorDim{int32(t), -1}
}

// moves lists the axes that a tensor got, by dimension and factor. old is its sharding before, 0 for none.
func (s *step) moves(tr *trace.Trace, t int, old []ir.DimSharding, new *ir.Sharding) []event {
	var list []event
	tf := &s.tensors[t]
	for d, factors := range s.dims(t) {
		var axes []subaxis.Ref
		if old != nil {
			axes = slices.Clone(old[d].Axes)
		}
		for _, f := range factors {
			fs := &tf.factors[f]
			if added := addedAxes(s.had(t, f), fs.axes); len(added) > 0 {
				apart := isApart(axes, added[0], new.Dims[d].Axes)
				axes = extend(axes, added, apart)
				list = append(list, event{factor: f, mesh: new.Mesh, axes: axesOf(tr, added), apart: apart,
					from: s.place(s.sender(t, f, fs.axes), f), to: tensorDim{int32(t), int32(d)}})
			}
			if len(fs.overflow) > 0 || subaxis.Product(fs.axes) < s.rule.Sizes[f] {
				break
			}
		}
	}
	return list
}

// extend appends what a move adds to the axes of a dimension.
func extend(axes, added []subaxis.Ref, apart bool) []subaxis.Ref {
	if apart {
		return append(axes, added...)
	}
	return append(subaxis.AppendMerge(axes, added[0]), added[1:]...)
}

// isApart says whether an axis that continues the last one of a list stays an axis of its own in the result.
func isApart(list []subaxis.Ref, next subaxis.Ref, result []subaxis.Ref) bool {
	n := len(list)
	return n > 0 && list[n-1].CanMerge(next) && n < len(result) && result[n-1] == list[n-1]
}

// addedAxes returns what a list has beyond an earlier state of it.
func addedAxes(old, new []subaxis.Ref) []subaxis.Ref {
	n := len(old)
	if n == 0 || n > len(new) || old[n-1] == new[n-1] {
		return new[min(n, len(new)):]
	}
	last, grown := old[n-1], new[n-1]
	rest := subaxis.Ref{Axis: last.Axis, Pre: last.Pre * last.Size, Size: grown.Size / last.Size}
	return append([]subaxis.Ref{rest}, new[n:]...)
}

// sender returns the tensor that the axes of a factor came from: the first that had them all (source: shardy.md
// section 6.1), else the first that had some of them.
func (s *step) sender(t int, f int32, axes []subaxis.Ref) int {
	some := t
	for u := range s.tensors {
		if u == t || !s.tensors[u].factors[f].mapped {
			continue
		}
		had := s.had(u, f)
		if subaxis.PrefixStatus(axes, had) != subaxis.NotPrefix {
			return u
		}
		if some == t && len(subaxis.CommonPrefix(had, axes)) > len(s.had(t, f)) {
			some = u
		}
	}
	return some
}

// refusals lists what tensors had before and others could have got, but did not.
func (s *step) refusals(tr *trace.Trace, mesh ir.MeshID, barrier bool) []event {
	var list []event
	for f := range int32(len(s.rule.Sizes)) {
		direction := s.directions[f]
		if direction == priority.None && !barrier && !s.isBlocked(f) {
			continue
		}
		for t := range s.tensors {
			if !s.tensors[t].factors[f].mapped {
				continue
			}
			if e, ok := s.refusal(f, t, barrier); ok {
				e.mesh = mesh
				e.axes, e.against = axesOf(tr, e.keptAway), axesOf(tr, e.winner)
				list = append(list, e.event)
			}
		}
	}
	return list
}

func (s *step) isBlocked(f int32) bool {
	for _, g := range s.rule.Blocked {
		if f == g {
			return true
		}
	}
	return false
}

// refused is an event with the axes that are still to be interned.
type refused struct {
	event
	keptAway, winner []subaxis.Ref
}

// refusal finds the axes that tensor t lacks along a factor although another tensor offers them, and why.
func (s *step) refusal(f int32, t int, barrier bool) (refused, bool) {
	has := s.tensors[t].factors[f].axes
	r := refused{event: event{factor: f, to: s.place(t, f)}}
	best := int64(1)
	for u := range s.tensors {
		had := s.had(u, f)
		if u == t || len(had) == 0 || subaxis.PrefixStatus(had, has) != subaxis.NotPrefix {
			continue
		}
		missing := addedAxes(subaxis.CommonPrefix(had, has), had)
		if n := subaxis.Product(missing); n > best && (barrier || s.offers(u, f)) {
			best, r.keptAway, r.from = n, missing, s.place(u, f)
		}
	}
	if best == 1 {
		return s.overflowing(r, f, t)
	}
	sends := s.sends(int(r.from.tensor), f)
	switch {
	case s.isBlocked(f):
		r.reason = trace.BlockedFactor
	case !sends && barrier:
		r.reason = trace.Barrier
	case !sends:
		return r, false
	default:
		s.explain(&r, f, t)
	}
	return r, r.reason != trace.NoReason
}

// overflowing finds axes of another tensor's dimension that do not divide the factor: they stay where they are.
func (s *step) overflowing(r refused, f int32, t int) (refused, bool) {
	for u := range s.tensors {
		overflow := s.tensors[u].factors[f].overflow
		if u != t && len(overflow) > 0 && s.sends(u, f) {
			r.keptAway, r.from, r.reason = overflow, s.place(u, f), trace.NotDivisible
			return r, true
		}
	}
	return r, false
}

// offers says whether a tensor would give its axes away along a factor: it is on the sending side, or the factor is
// blocked, which is worth telling.
func (s *step) offers(t int, f int32) bool {
	return s.sends(t, f) || s.isBlocked(f)
}

// sends says whether a tensor is on the sending side of a factor.
func (s *step) sends(t int, f int32) bool {
	if t < s.operands {
		return s.directions[f]&priority.Forward != 0
	}
	return s.directions[f]&priority.Backward != 0
}

// explain finds the reason why tensor t did not take the axes of factor f.
func (s *step) explain(r *refused, f int32, t int) {
	tf := &s.tensors[t]
	fs := &tf.factors[f]
	axis := r.keptAway[0]
	before := subaxis.CommonPrefix(s.had(int(r.from.tensor), f), fs.axes)
	switch {
	case subaxis.PrefixStatus(fs.axes, before) == subaxis.NotPrefix:
		r.lose(trace.Different, fs.axes, r.to)
	case fs.closed:
		r.reason = trace.Closed
	case s.overlapping(r, trace.Replicated, tf.replicated, tensorDim{int32(t), -1}, axis):
	case s.overlapping(r, trace.Unreduced, tf.unreduced, tensorDim{int32(t), -1}, axis):
	case s.takenByFactor(r, tf, f, t, axis):
	case len(fs.overflow) > 0 || !fs.minorMost && !s.divides(f, fs.axes, axis):
		r.reason = trace.NotDivisible
	default:
		s.vetoed(r, f, t, axis)
	}
}

func (r *refused) lose(reason trace.Reason, winner []subaxis.Ref, other tensorDim) {
	r.reason, r.winner, r.other, r.withOther = reason, winner, other, true
}

// overlapping reports the first of the axes that the wanted one overlaps or cannot stand beside.
func (s *step) overlapping(r *refused, reason trace.Reason, axes []subaxis.Ref, other tensorDim, want subaxis.Ref) bool {
	for _, a := range axes {
		switch {
		case !want.CanCoexist(a):
			r.lose(trace.SubAxes, []subaxis.Ref{a}, other)
			return true
		case want.Overlaps(a):
			r.lose(reason, []subaxis.Ref{a}, other)
			return true
		}
	}
	return false
}

// takenByFactor reports the factor of the same tensor that has the wanted axis.
func (s *step) takenByFactor(r *refused, tf *tensorFactors, f int32, t int, want subaxis.Ref) bool {
	for g := range tf.factors {
		other := &tf.factors[g]
		if int32(g) == f || !other.mapped {
			continue
		}
		place := s.place(t, int32(g))
		if s.overlapping(r, trace.Conflict, other.axes, place, want) || s.overlapping(r, trace.Conflict, other.overflow, place, want) {
			return true
		}
	}
	return false
}

// divides says whether a factor that is not the last of its dimension can take an axis, or a part of it.
func (s *step) divides(f int32, have []subaxis.Ref, axis subaxis.Ref) bool {
	shards := subaxis.Product(have)
	return shards > 0 && s.rule.Sizes[f]%shards == 0 && subaxis.GCD(s.rule.Sizes[f]/shards, int64(axis.Size)) > 1
}

// vetoed reports another tensor of the op that does not admit the axis: it is sharded by others along the factor,
// or uses the axis along another one.
func (s *step) vetoed(r *refused, f int32, t int, axis subaxis.Ref) {
	for u := range s.tensors {
		if u == t || u == int(r.from.tensor) {
			continue
		}
		tf := &s.tensors[u]
		had := s.had(u, f)
		if tf.factors[f].mapped && len(had) > 0 &&
			subaxis.PrefixStatus(had, s.had(int(r.from.tensor), f)) == subaxis.NotPrefix {
			r.lose(trace.Veto, had, s.place(u, f))
			return
		}
		var other refused
		if s.takenByFactor(&other, tf, f, u, axis) {
			r.lose(trace.Veto, other.winner, other.other)
			return
		}
		if fs := &tf.factors[f]; fs.mapped && fs.closed && subaxis.PrefixStatus(s.had(int(r.from.tensor), f), fs.axes) == subaxis.NotPrefix {
			r.lose(trace.Veto, nil, s.place(u, f))
			return
		}
	}
}

// event returns the refusal of an op whose tensors are on different meshes.
func (c meshClash) event() event {
	return event{reason: trace.MeshMismatch, factor: trace.NoFactor, from: tensorDim{int32(c.first), -1}, to: tensorDim{int32(c.other), -1}}
}

func (e *engine) placeOf(slots []slot, p tensorDim) trace.Place {
	return trace.Place{Value: e.name(slots[p.tensor]), Dim: p.dim}
}

// recordMoves puts moves of an op into the trace.
func (e *engine) recordMoves(op ir.OpID, slots []slot, moves []event) {
	for i := range moves {
		v := &moves[i]
		e.trace.Add(trace.Event{Kind: trace.Move, Op: int32(op), Factor: v.factor, Mesh: int32(v.mesh), Axes: v.axes,
			Apart: v.apart, From: e.placeOf(slots, v.from), To: e.placeOf(slots, v.to)})
	}
}

// recordRefusals puts refusals of an op into the trace.
func (e *engine) recordRefusals(op ir.OpID, slots []slot, refusals []event) {
	for i := range refusals {
		v := &refusals[i]
		if slots[v.to.tensor] == 0 {
			continue
		}
		ev := trace.Event{Kind: trace.Refusal, Reason: v.reason, Op: int32(op), Factor: v.factor, Mesh: int32(v.mesh),
			Axes: v.axes, Against: v.against, From: e.placeOf(slots, v.from), To: e.placeOf(slots, v.to)}
		if v.withOther {
			ev.Other = e.placeOf(slots, v.other)
		}
		if v.reason == trace.Closed || v.reason == trace.Replicated {
			if e.isWaiting(slots[v.to.tensor], v.to.dim, e.trace.Axes(v.axes)) {
				ev.Reason = trace.LowerPriority
			}
		}
		e.trace.Add(ev)
	}
}

// recordChange puts the difference that a new sharding makes to a slot into the trace, where it is taken over as a
// whole from another one.
func (e *engine) recordChange(op ir.OpID, from, to slot, id ir.ShardingID) {
	s := e.m.ShardingOf(id)
	for d := range s.Dims {
		var old []subaxis.Ref
		if before := e.shardings[to]; before != 0 {
			old = e.m.ShardingOf(before).Dims[d].Axes
		}
		ev := trace.Event{Kind: trace.Move, Op: int32(op), Factor: trace.NoFactor, Mesh: int32(s.Mesh),
			From: trace.Place{Value: e.name(from), Dim: int32(d)}, To: trace.Place{Value: e.name(to), Dim: int32(d)}}
		switch subaxis.PrefixStatus(old, s.Dims[d].Axes) {
		case subaxis.EqualLists:
			continue
		case subaxis.StrictPrefix:
			added := addedAxes(old, s.Dims[d].Axes)
			ev.Axes, ev.Apart = axesOf(e.trace, added), isApart(old, added[0], s.Dims[d].Axes)
		default:
			ev.Kind, ev.Axes = trace.Activate, axesOf(e.trace, s.Dims[d].Axes)
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
				From: trace.Place{Value: e.name(slot(c.from)), Dim: int32(d)}, To: trace.Place{Value: e.name(slot(c.to)), Dim: int32(d)}})
		}
	}
}

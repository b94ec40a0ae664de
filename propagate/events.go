package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
	"autoshard/trace"
)

// remember keeps the axes of all factors as they are before the strategy runs.
func (s *step) remember() {
	s.before = resize(s.before, len(s.factors))
	for i := range s.factors {
		s.before[i] = s.factors[i].axes
	}
}

func (s *step) had(t int, f int32) []subaxis.Ref { return s.before[t*len(s.rule.Sizes)+int(f)] }

// place returns the dimension of a tensor that has a factor, in terms of a pattern of the trace.
func (s *step) place(t int, f int32) trace.Place {
	for d, factors := range s.dims(t) {
		if slices.Contains(factors, f) {
			return tensorPlace(t, d)
		}
	}
	return tensorPlace(t, -1)
}

// tensorPlace names a dimension of a tensor of any op, -1 for the whole tensor.
func tensorPlace(t, dim int) trace.Place { return trace.Place{Value: int32(t) + 1, Dim: int32(dim)} }

// moves appends to a list the axes that a tensor got, by dimension and factor. old is its sharding before, 0 for none.
func (s *step) moves(list []trace.Event, tr *trace.Trace, t int, old []ir.DimSharding, new *ir.Sharding) []trace.Event {
	tf := &s.tensors[t]
	for d, factors := range s.dims(t) {
		var axes []subaxis.Ref
		first := true
		for _, f := range factors {
			fs := &tf.factors[f]
			if added := addedAxes(s.had(t, f), fs.axes); len(added) > 0 {
				if first && old != nil {
					axes = slices.Clone(old[d].Axes)
				}
				first = false
				apart := isApart(axes, added[0], new.Dims[d].Axes)
				axes = trace.Extend(axes, added, apart)
				list = append(list, trace.Event{Kind: trace.Move, Factor: f, Mesh: int32(new.Mesh), Axes: axesOf(tr, added), Apart: apart,
					From: s.place(s.sender(t, f, fs.axes), f), To: tensorPlace(t, d)})
			}
			if len(fs.overflow) > 0 || subaxis.Product(fs.axes) < s.rule.Sizes[f] {
				break
			}
		}
	}
	return list
}

// isApart says whether an axis that continues the last one of a list stays an axis of its own in the result.
func isApart(list []subaxis.Ref, next subaxis.Ref, result []subaxis.Ref) bool {
	n := len(list)
	return n > 0 && list[n-1].CanMerge(next) && n < len(result) && result[n-1] == list[n-1]
}

// addedAxes returns what a list has beyond an earlier state of it: of a part that grew the rest, or all of it where it
// is no multiple of what it was, as 3 of 6 is none of 2.
func addedAxes(old, new []subaxis.Ref) []subaxis.Ref {
	n := len(old)
	if n == 0 || n > len(new) || old[n-1] == new[n-1] {
		return new[min(n, len(new)):]
	}
	last, grown := old[n-1], new[n-1]
	if grown.Size%last.Size != 0 {
		return new[n-1:]
	}
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
func (s *step) refusals(tr *trace.Trace, mesh ir.MeshID, barrier bool) []trace.Event {
	list := s.refused[:0]
	for _, f := range s.open {
		direction := s.directions[f]
		if direction == priority.None && !barrier && !s.isBlocked(f) || !s.isSharded(f) {
			continue
		}
		for t := range s.tensors {
			if !s.tensors[t].factors[f].mapped {
				continue
			}
			if e, ok := s.refusal(f, t, barrier); ok {
				e.Kind, e.Mesh = trace.Refusal, int32(mesh)
				e.Axes, e.Against = axesOf(tr, e.keptAway), axesOf(tr, e.winner)
				list = append(list, e.Event)
			}
		}
	}
	s.refused = list
	return list
}

// isStrided says whether axes of a factor of a tensor would cut a dimension into pieces that do not lie together, since
// a factor before it in the dimension is not fully sharded.
func (s *step) isStrided(t int, f int32) bool {
	for _, factors := range s.dims(t) {
		i := slices.Index(factors, f)
		for _, g := range factors[:max(i, 0)] {
			if fs := &s.tensors[t].factors[g]; len(fs.overflow) > 0 || subaxis.Product(fs.axes) < s.rule.Sizes[g] {
				return true
			}
		}
	}
	return false
}

func (s *step) isBlocked(f int32) bool {
	for _, g := range s.rule.Blocked {
		if f == g {
			return true
		}
	}
	return false
}

// isSharded says whether a tensor had axes along a factor, or axes that fit none.
func (s *step) isSharded(f int32) bool {
	for t := range s.tensors {
		if len(s.had(t, f)) > 0 || len(s.tensors[t].factors[f].overflow) > 0 {
			return true
		}
	}
	return false
}

// refused is an event with the axes that are still to be interned.
type refused struct {
	trace.Event
	keptAway, winner []subaxis.Ref
}

// refusal finds the axes that tensor t lacks along a factor although another tensor offers them, and why.
func (s *step) refusal(f int32, t int, barrier bool) (refused, bool) {
	has := s.tensors[t].factors[f].axes
	if s.isStrided(t, f) {
		has = s.had(t, f) // the strategy's update came to nothing
	}
	r := refused{Event: trace.Event{Factor: f}}
	best := int64(1)
	for u := range s.tensors {
		had := s.had(u, f)
		if u == t || len(had) == 0 || subaxis.PrefixStatus(had, has) != subaxis.NotPrefix {
			continue
		}
		missing := addedAxes(subaxis.CommonPrefix(had, has), had)
		if n := subaxis.Product(missing); n > best && (barrier || s.offers(u, f)) {
			best, r.keptAway, r.From = n, missing, s.place(u, f)
		}
	}
	if best == 1 {
		return s.overflowing(r, f, t)
	}
	r.To = s.place(t, f)
	sends := s.sends(r.source(), f)
	switch {
	case s.isBlocked(f):
		r.Reason = trace.BlockedFactor
	case !sends && barrier:
		r.Reason = trace.Barrier
	case !sends:
		return r, false
	default:
		s.explain(&r, f, t)
	}
	return r, r.Reason != trace.NoReason
}

// overflowing finds axes of another tensor's dimension that do not divide the factor: they stay where they are.
func (s *step) overflowing(r refused, f int32, t int) (refused, bool) {
	for u := range s.tensors {
		overflow := s.tensors[u].factors[f].overflow
		if u != t && len(overflow) > 0 && s.sends(u, f) {
			r.keptAway, r.From, r.To, r.Reason = overflow, s.place(u, f), s.place(t, f), trace.NotDivisible
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
	before := subaxis.CommonPrefix(s.had(r.source(), f), fs.axes)
	apart := slices.IndexFunc(fs.axes, func(a subaxis.Ref) bool { return !axis.CanCoexist(a) })
	switch {
	case apart >= 0:
		r.lose(trace.SubAxes, fs.axes[apart:apart+1], r.To)
	case subaxis.PrefixStatus(fs.axes, before) == subaxis.NotPrefix:
		r.lose(trace.Different, fs.axes, r.To)
	case fs.closed:
		r.Reason = trace.Closed
	case s.overlapping(r, trace.Replicated, tf.replicated, tensorPlace(t, -1), axis):
	case s.overlapping(r, trace.Unreduced, tf.unreduced, tensorPlace(t, -1), axis):
	case s.takenByFactor(r, tf, f, t, axis):
	case len(fs.overflow) > 0 || !fs.minorMost && !s.divides(f, fs.axes, axis):
		r.Reason = trace.NotDivisible
	case s.isStrided(t, f):
		r.Reason = trace.Strided
	case s.conservative && (!fs.minorMost || slices.ContainsFunc(s.had(r.source(), f), s.rejected)):
		r.Reason = trace.WholeAxes
	default:
		for _, a := range s.had(r.source(), f) { // what stops an axis stops those after it
			if s.vetoed(r, f, t, a) || a.Overlaps(axis) && a.Axis == axis.Axis {
				return
			}
		}
	}
}

// source returns the tensor that offers the axes.
func (r *refused) source() int { return int(r.From.Value) - 1 }

func (r *refused) lose(reason trace.Reason, winner []subaxis.Ref, other trace.Place) {
	r.Reason, r.winner, r.Other = reason, winner, other
}

// overlapping reports the first of the axes that the wanted one overlaps or cannot stand beside.
func (s *step) overlapping(r *refused, reason trace.Reason, axes []subaxis.Ref, other trace.Place, want subaxis.Ref) bool {
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

// vetoed reports another tensor of the op that does not admit the axis: it is sharded by others along the factor, or
// uses the axis otherwise, or its dimension is closed or cannot be divided further.
func (s *step) vetoed(r *refused, f int32, t int, axis subaxis.Ref) bool {
	offered := s.had(r.source(), f)
	for u := range s.tensors {
		if u == t || u == r.source() {
			continue
		}
		tf := &s.tensors[u]
		fs := &tf.factors[f]
		var other refused
		switch {
		case fs.mapped && len(s.had(u, f)) > 0 && subaxis.PrefixStatus(s.had(u, f), offered) == subaxis.NotPrefix:
			r.lose(trace.Veto, s.had(u, f), s.place(u, f))
		case s.takenByFactor(&other, tf, f, u, axis),
			fs.mapped && s.overlapping(&other, trace.Replicated, tf.replicated, tensorPlace(u, -1), axis),
			fs.mapped && s.overlapping(&other, trace.Unreduced, tf.unreduced, tensorPlace(u, -1), axis):
			r.lose(trace.Veto, other.winner, other.Other)
		case fs.mapped && subaxis.PrefixStatus(offered, fs.axes) == subaxis.NotPrefix &&
			(fs.closed || len(fs.overflow) > 0 || !fs.minorMost && !s.divides(f, fs.axes, axis)):
			r.lose(trace.Veto, nil, s.place(u, f))
		default:
			continue
		}
		return true
	}
	return false
}

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

package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
	"autoshard/trace"
)

// After a strategy has run, an axis that one tensor had and another could have got, but did not, is a refusal of the trace. Why it was
// refused is said by the functions with which the strategies ask whether an axis fits, asked again with the missing axis: about
// the tensor itself, and if it fits there, about the other tensors of the op. Outcomes are memoised, so that this happens once for each
// situation and not at each visit.

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
				e.Axes, e.Against = tr.Intern(e.keptAway), tr.Intern(e.winner)
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
	return slices.Contains(s.rule.Blocked, f)
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
		has = s.had(t, f) // the strategy's update cannot be written as a sharding, and was dropped
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
	fs := &s.tensors[t].factors[f]
	axis, offered := r.keptAway[0], s.had(r.source(), f)
	apart := slices.IndexFunc(fs.axes, func(a subaxis.Ref) bool { return !axis.CanCoexist(a) })
	switch o := s.obstacle(t, f, axis); {
	case apart >= 0:
		r.lose(trace.SubAxes, fs.axes[apart:apart+1], r.To)
	case subaxis.PrefixStatus(fs.axes, subaxis.CommonPrefix(offered, fs.axes)) == subaxis.NotPrefix:
		r.lose(trace.Different, fs.axes, r.To)
	case fs.closed:
		r.Reason = trace.Closed // it takes no axis at all, so that others in its way do not matter
	case o.axes != nil:
		r.lose(o.reason, o.axes, s.placeOf(t, f, o))
	case o.reason != trace.NoReason:
		r.Reason = o.reason
	case s.isStrided(t, f):
		r.Reason = trace.Strided
	case s.conservative && (!fs.minorMost || slices.ContainsFunc(offered, s.rejected)):
		r.Reason = trace.WholeAxes
	default:
		for _, a := range offered { // what stops an axis stops those after it
			if s.vetoed(r, f, t, a) || a.Overlaps(axis) && a.Axis == axis.Axis {
				return
			}
		}
	}
}

// obstacle returns why a tensor does not take all of an axis that comes behind those that it has along a factor, by asking what
// the strategies ask.
func (s *step) obstacle(t int, f int32, axis subaxis.Ref) obstacle {
	tf := &s.tensors[t]
	_, across := tf.acrossFactors(f, axis)
	if !tf.factors[f].mapped {
		return across
	}
	_, inTensor := tf.withinTensor(axis)
	_, inFactor := s.withinFactor(tf, f, axis, subaxis.Product(tf.factors[f].axes))
	return inTensor.or(across).or(inFactor)
}

// vetoed reports another tensor of the op that stopped the axis: it is sharded by others along the factor, or has an obstacle of
// its own.
func (s *step) vetoed(r *refused, f int32, t int, axis subaxis.Ref) bool {
	offered := s.had(r.source(), f)
	for u := range s.tensors {
		if u == t || u == r.source() {
			continue
		}
		if had := s.had(u, f); len(had) > 0 && subaxis.PrefixStatus(had, offered) == subaxis.NotPrefix {
			r.lose(trace.Veto, had, s.place(u, f))
			return true
		}
		if o := s.obstacle(u, f, axis); o.reason != trace.NoReason {
			r.lose(trace.Veto, o.axes, s.placeOf(u, f, o))
			return true
		}
	}
	return false
}

// placeOf returns where the axes of an obstacle are that a tensor has along a factor.
func (s *step) placeOf(t int, f int32, o obstacle) trace.Place {
	switch {
	case o.axes == nil:
		return s.place(t, f)
	case o.factor == trace.NoFactor:
		return tensorPlace(t, -1)
	}
	return s.place(t, o.factor)
}

// source returns the tensor that offers the axes.
func (r *refused) source() int { return int(r.From.Value) - 1 }

func (r *refused) lose(reason trace.Reason, winner []subaxis.Ref, other trace.Place) {
	r.Reason, r.winner, r.Other = reason, winner, other
}

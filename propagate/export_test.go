package propagate

import (
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
	"autoshard/trace"
)

// reporter is what tests of all kinds have.
type reporter interface {
	Errorf(format string, args ...any)
}

// CheckGaps propagates an imported module and checks that, where a tensor of an op then offers axes along a factor that
// another one lacks, the trace says why, and what it says is true. It returns how many such gaps there are.
func CheckGaps(t reporter, m *ir.Module, o Options) (gaps int) {
	copies := syncGroups(m)
	e := newEngine(context.Background(), m, o)
	e.recordGroupCopies(copies, o.NoUserPriority)
	e.run()
	e.aggressive, e.level = o.Strategy != Basic, allLevels
	told := map[refusedAt]bool{}
	for _, ev := range e.trace.Events() {
		if ev.Kind == trace.Refusal {
			told[refusedAt{ev.Op, ev.Factor, ev.To.Value}] = true
		}
	}
	for i := range e.rows {
		op, row := ir.OpID(i), &e.rows[i]
		if row.plan == 0 || m.OpBlock(op) == 0 || row.view != 0 || hearsLate(m, op) {
			continue
		}
		slots := e.slots[row.first : row.first+row.n]
		if !e.read(slots) {
			continue
		}
		mesh, _, ok := e.commonMesh()
		if !ok {
			continue
		}
		s := &e.step
		s.conservative, s.elementwise = o.Conservative && !row.exempt, row.elementwise
		s.setDirections(&e.plans[row.plan], e.moves(op, row))
		s.project(m, mesh, e.plans[row.plan].rule, e.current)
		s.remember()
		for f := range int32(len(s.rule.Sizes)) {
			for u := range s.tensors {
				if !s.gap(f, u) {
					continue
				}
				gaps++
				r, _ := s.refusal(f, u, row.barrier)
				if r.Reason == trace.NoReason {
					t.Errorf("%s, factor %d, tensor %d: no reason", m.OpName(op), f, u)
				}
				if slots[u] != 0 && !e.returns(slots) && !told[refusedAt{int32(op), f, e.binder.name(slots[u])}] {
					t.Errorf("%s, factor %d, tensor %d: the trace does not say why", m.OpName(op), f, u)
				}
				s.checkReason(t, &r, f, u)
			}
		}
	}
	return gaps
}

// hearsLate says whether an op is the edge of a block argument of a computation, which hears of news from outside only in
// the next round.
func hearsLate(m *ir.Module, op ir.OpID) bool {
	return m.Kind(op) == ir.OpSdyDataFlowEdge && m.DefiningOp(m.Operand(op, 0)) == 0
}

// returns says whether the main function returns one of the values: they may still change after the last visit of an op.
func (e *engine) returns(slots []slot) bool {
	last := e.m.LastOp(e.m.Func(e.results[0].f).Body)
	return slices.ContainsFunc(e.m.Operands(last), func(v ir.ValueID) bool { return slices.Contains(slots, e.home[v]) })
}

type refusedAt struct{ op, factor, value int32 }

// gap says whether a tensor lacks axes of a factor that another one has and may send.
func (s *step) gap(f int32, t int) bool {
	if !s.tensors[t].factors[f].mapped {
		return false
	}
	for u := range s.tensors {
		if u != t && s.sends(u, f) && len(s.had(u, f)) > 0 && subaxis.PrefixStatus(s.had(u, f), s.had(t, f)) == subaxis.NotPrefix {
			return true
		}
	}
	return false
}

// checkReason checks what a refusal says against the projection.
func (s *step) checkReason(t reporter, r *refused, f int32, tensor int) {
	fs := &s.tensors[tensor].factors[f]
	tf := &s.tensors[tensor]
	overlaps := func(axes []subaxis.Ref) bool {
		return slices.ContainsFunc(r.keptAway, func(a subaxis.Ref) bool { _, ok := subaxis.Overlapping(axes, a); return ok })
	}
	ok := true
	switch r.Reason {
	case trace.Closed:
		ok = fs.closed
	case trace.Replicated:
		ok = overlaps(tf.replicated)
	case trace.Unreduced:
		ok = overlaps(tf.unreduced)
	case trace.Conflict:
		ok = !slices.Equal(r.winner, fs.axes) && overlaps(r.winner)
	case trace.Different:
		ok = subaxis.PrefixStatus(fs.axes, s.had(r.source(), f)) == subaxis.NotPrefix
	case trace.NotDivisible:
		ok = len(fs.overflow) > 0 || !fs.minorMost || len(s.tensors[r.source()].factors[f].overflow) > 0
	case trace.BlockedFactor:
		ok = s.isBlocked(f)
	case trace.Veto:
		ok = r.Other.Value != 0
	case trace.Barrier:
		ok = s.directions[f] != priority.Both
	}
	if !ok {
		t.Errorf("%v of factor %d is refused at tensor %d as %q, which is not so", r.keptAway, f, tensor, r.Reason)
	}
}

// RunShuffled is Run for modules without sharding groups, but for the order in which each fixpoint first visits ops, which
// shuffle decides.
func RunShuffled(m *ir.Module, o Options, shuffle func([]ir.OpID)) *trace.Trace {
	e := newEngine(context.Background(), m, o)
	round := func(level int) {
		e.level = level
		e.begin(0, level)
		for class := range e.schedule {
			c := priority.Class(class)
			e.schedule[class] = moves{priority.At(c, false, level), priority.At(c, true, level)}
		}
		e.tieResults()
		e.work.fill(e.m)
		shuffle(e.work.stack)
		e.started = true
		for op, ok := e.work.pop(); ok; op, ok = e.work.pop() {
			switch {
			case e.m.OpBlock(op) == 0:
			case ir.IsDead(e.m, op):
				e.eraseDead(op)
			case e.rows[op].plan != 0:
				e.visit(op)
			}
		}
		e.started = false
		e.tieResults()
	}
	e.aggressive = o.Strategy == Aggressive
	if o.NoOpPriority {
		round(allLevels)
	} else {
		for level := range priority.Levels {
			round(level)
		}
	}
	e.store()
	return e.trace
}

package estimate

import (
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/shardmap"
)

// Event is the run of an op in a simulated step. A loop is an event, too, for all its runs; those inside it show its first one.
type Event struct {
	Op         ir.OpID
	Collective int   // index in the program's list; -1 for a local op, a loop or a branch
	Links      []int // that a collective uses, by the numbers of Timeline.Links
	Start      int64 // picoseconds
	Length     int64
	Waited     int64 // how long the units had stood still for it: for what it reads, of a local op
	For        int   // the collective that they waited for; -1: none
}

// Timeline is a simulated step. Times are in picoseconds.
type Timeline struct {
	Events  []Event // in program order
	Links   []string
	Length  int64
	Compute int64   // that the units are busy
	Sending []int64 // that each kind of links is busy
}

// Simulate runs a step of a program on paper. Local ops run one after the other, in program order. Collectives run beside them: each starts
// once what it reads is there, the links that it uses are free of those before it, and the op that stands so many places before it has
// begun. What reads its result waits. Around loops and branches nothing overlaps. The only error is the context's.
func (md *Model) Simulate(ctx context.Context, p *shardmap.Program, ahead int) (*Timeline, error) {
	r, err := md.read(ctx, p)
	if err != nil {
		return nil, err
	}
	t := &Timeline{Links: md.topology.LinkNames()}
	t.Sending = make([]int64, len(t.Links))
	s := &simulation{reading: r, md: md, p: p, ahead: ahead, timeline: t, ready: make([]int64, p.Module.NumValues()),
		behind: make([]int32, p.Module.NumValues()), links: make([]int64, len(t.Links))}
	t.Length, err = s.block(ctx, p.Module.Func(p.Main).Body, 1)
	return t, err
}

// simulation is the state of one.
type simulation struct {
	*reading
	md       *Model
	p        *shardmap.Program
	ahead    int
	timeline *Timeline

	now    int64   // when the units are free
	links  []int64 // when each kind of links is
	ready  []int64 // when each value is there
	behind []int32 // the collective that a value waits for, plus one; 0: none
}

// block runs a block from when all is free on, and returns when all is free again. Runs is how often the ops in it run in the step.
func (s *simulation) block(ctx context.Context, b ir.BlockID, runs int64) (end int64, err error) {
	m := s.p.Module
	var begun []int64 // when each op of the block began
	for op := range m.Ops(b) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		at := s.now
		switch i, communicates := s.index[op]; {
		case m.Kind(op).IsTerminator():
		case communicates:
			s.send(op, i, s.floor(begun), runs)
		case m.Kind(op).HasBodies():
			if at, err = s.bodies(ctx, op, runs); err != nil {
				return 0, err
			}
		default:
			at = s.compute(op, runs)
		}
		begun = append(begun, at)
	}
	return s.settle(), nil
}

// floor returns when a collective may start at its place behind some ops of a block.
func (s *simulation) floor(begun []int64) int64 {
	switch n := len(begun) - s.ahead; {
	case n < 0:
		return 0
	case n < len(begun):
		return begun[n]
	}
	return s.now
}

// settle waits until all is free, and returns when that is.
func (s *simulation) settle() int64 {
	end := max(s.now, slices.Max(append(slices.Clone(s.links), 0)))
	s.now = end
	for i := range s.links {
		s.links[i] = end
	}
	return end
}

// compute runs a local op and returns when it began. Ops that take no time run beside others.
func (s *simulation) compute(op ir.OpID, runs int64) int64 {
	m := s.p.Module
	length := int64(0)
	if !s.free[op] {
		length = s.md.Op(m, op, shapes(m, m.Operands(op)), shapes(m, m.ResultValues(op)), s.Fused)
	}
	there, cause := s.operands(op)
	if length == 0 {
		s.make(op, there, cause)
		return s.now
	}
	start := max(s.now, there)
	e := Event{Op: op, Collective: -1, Start: start, Length: length, Waited: start - s.now, For: -1}
	if e.Waited > 0 {
		e.For = int(cause) - 1
	}
	s.timeline.Events = append(s.timeline.Events, e)
	s.timeline.Compute += length * runs
	s.now = start + length
	s.make(op, s.now, 0)
	return start
}

// send starts a collective, no sooner than a time.
func (s *simulation) send(op ir.OpID, i int, floor, runs int64) {
	c := &s.p.Collectives[i]
	start, _ := s.operands(op)
	start = max(start, floor)
	links := s.md.topology.Links(c.Axes)
	if c.Members != nil {
		links = s.md.topology.LinksAmong(c.Members)
	}
	for _, l := range links {
		start = max(start, s.links[l])
	}
	length := s.sent[op]
	for _, l := range links {
		s.links[l] = start + length
		s.timeline.Sending[l] += length * runs
	}
	s.timeline.Events = append(s.timeline.Events, Event{Op: op, Collective: i, Links: links, Start: start, Length: length, For: -1})
	s.make(op, start+length, int32(i)+1)
}

// operands returns when all that an op reads is there, and the collective that the last of it waits for.
func (s *simulation) operands(op ir.OpID) (there int64, cause int32) {
	for _, v := range s.p.Module.Operands(op) {
		if s.ready[v] > there {
			there, cause = s.ready[v], s.behind[v]
		}
	}
	return there, cause
}

// make says when the results of an op are there.
func (s *simulation) make(op ir.OpID, at int64, cause int32) {
	for _, v := range s.p.Module.ResultValues(op) {
		s.ready[v], s.behind[v] = at, cause
	}
}

// bodies runs a loop, or that branch which takes longest, with nothing beside it, and returns when it began.
func (s *simulation) bodies(ctx context.Context, op ir.OpID, runs int64) (start int64, err error) {
	m := s.p.Module
	start = s.settle()
	there, _ := s.operands(op)
	start = max(start, there)
	place := len(s.timeline.Events)
	s.timeline.Events = append(s.timeline.Events, Event{Op: op, Collective: -1, Start: start, For: -1})
	s.rewind(start)
	if m.Kind(op) == ir.OpWhile {
		trips := ir.Trips(m, op)
		for i := range m.NumRegions(op) {
			if _, err := s.block(ctx, m.RegionBlock(op, i), runs*trips); err != nil {
				return 0, err
			}
		}
		s.rewind(start + (s.now-start)*trips)
	} else if err := s.branches(ctx, op, start, runs); err != nil {
		return 0, err
	}
	s.timeline.Events[place].Length = s.now - start
	s.make(op, s.now, 0)
	return start, nil
}

// rewind makes everything free at a time.
func (s *simulation) rewind(at int64) {
	s.now = at
	for i := range s.links {
		s.links[i] = at
	}
}

// branches runs all branches of an op from a time on, keeps the events of the longest, and ends where that does.
func (s *simulation) branches(ctx context.Context, op ir.OpID, start, runs int64) error {
	t, end := s.timeline, start
	before, kept := len(t.Events), []Event(nil)
	compute, sending := t.Compute, slices.Clone(t.Sending)
	busy, sent := compute, slices.Clone(sending)
	for i := range s.p.Module.NumRegions(op) {
		s.rewind(start)
		t.Compute, t.Sending = compute, slices.Clone(sending)
		if _, err := s.block(ctx, s.p.Module.RegionBlock(op, i), runs); err != nil {
			return err
		}
		if s.now > end || kept == nil {
			end, kept = s.now, slices.Clone(t.Events[before:])
			busy, sent = t.Compute, t.Sending
		}
		t.Events = t.Events[:before]
	}
	t.Events = append(t.Events, kept...)
	t.Compute, t.Sending = busy, sent
	s.rewind(end)
	return nil
}

// Stalls returns how long the units stand still for each collective of a program, in one run of the loops around.
func (t *Timeline) Stalls(p *shardmap.Program) []int64 {
	out := make([]int64, len(p.Collectives))
	for i := range t.Events {
		if e := &t.Events[i]; e.For >= 0 {
			out[e.For] += e.Waited
		}
	}
	return out
}

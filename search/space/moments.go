package space

import (
	"context"
	"slices"

	"autoshard/ir"
)

// What a node of the problem uses is what its values take where they are kept. A program holds more for moments: what an op
// reads in another layout is copied before it, step by step, and what it makes is sent on to where it is kept after it. A
// space counts that at the ops that it is asked to watch ([Space.Watch]): to watch all would double the problem, and
// it matters only where memory is short. Copies are counted as if each read had its own.

// moments is a program in time. An op is several moments: the copies of what it reads, one after the other, the op itself,
// and the sending of its results.
type moments struct {
	first []int32   // per op: its first moment; one more for the end
	reads [][]read  // per op: what it reads, in order
	made  [][]int32 // per op: the nodes of its results
	until []int32   // per node: the op at which its op reads, another one if its result is taken on the fly
	ends  []int32   // per node: the op behind the one at which its values are read last
	held  []bool    // per node: its value is held that its reader might take on the fly
	over  []bool    // per node: its result is written over what its op reads
	flows []read    // of values that may flow, what is made last first
}

// read is a value that a node reads: in the layout of an operand, or in which it keeps its own value.
type read struct {
	value    ir.ValueID
	from, to int32
	operand  int // -1: as kept
}

// layouts returns the list of the layouts in which the strategies of the reader read.
func (r *read) layouts(reader *class) int32 {
	if r.operand < 0 {
		return reader.kept[0]
	}
	return reader.operands[r.operand]
}

// moments returns those of the main function.
func (s *Space) moments() *moments {
	if s.time == nil {
		s.time = s.schedule()
	}
	return s.time
}

// schedule finds the moments.
func (s *Space) schedule() *moments {
	body := s.m.MainFunc().Body
	l := ir.NewLiveness(s.m, body)
	t := &moments{first: make([]int32, l.Len()+1), reads: make([][]read, l.Len()), made: make([][]int32, l.Len())}
	for i := range s.nodes {
		n := &s.nodes[i]
		at := s.m.LastOp(body)
		if n.op != 0 {
			at = n.op
			t.made[l.At(at)] = append(t.made[l.At(at)], int32(i))
		}
		for j, v := range n.operands {
			s.reads(t, l.At(at), read{value: v, to: int32(i), operand: j})
		}
		s.returned(n, func(v ir.ValueID, b ir.BlockID, _ int64, _ share) {
			s.reads(t, l.At(s.m.LastOp(b)), read{value: v, to: int32(i), operand: -1})
		})
	}
	for op := range t.reads {
		t.first[op+1] = t.first[op] + int32(len(t.reads[op])) + 2
	}
	s.settle(t, l)
	return t
}

// reads adds a read, unless the same node reads the value in the same layout whatever its strategy: one copy serves both.
func (s *Space) reads(t *moments, op int32, r read) {
	if r.from = s.nodeOf[r.value]; r.from < 0 || !s.isTensor(r.value) {
		return
	}
	reader := s.nodes[r.to].class
	again := func(o read) bool {
		return o.value == r.value && o.to == r.to && o.layouts(reader) == r.layouts(reader)
	}
	if !slices.ContainsFunc(t.reads[op], again) {
		t.reads[op] = append(t.reads[op], r)
	}
}

// computes returns the moment in which an op computes; its results are sent in the next.
func (t *moments) computes(op int32) int32 { return t.first[op+1] - 2 }

// end returns the moment after the last.
func (t *moments) end() int32 { return t.first[len(t.first)-1] }

// lastRead returns the place among the reads of an op of the last one of a node, -1 if it reads none of it.
func (t *moments) lastRead(op, node int32) int32 {
	for j := len(t.reads[op]) - 1; j >= 0; j-- {
		if t.reads[op][j].from == node {
			return int32(j)
		}
	}
	return -1
}

// occupies returns the moments in which what a node keeps takes memory of its own whatever the layouts are.
func (s *Space) occupies(t *moments, i int32, watched func(op int32) bool) (lo, hi int32) {
	if s.nodes[i].residence == within {
		return 0, 0
	}
	return s.lifetime(t, i, watched)
}

// lifetime returns the moments in which what a node keeps is in memory: to the end of the op that reads it last or, where
// that is watched, to the moment in which it is copied or read.
func (s *Space) lifetime(t *moments, i int32, watched func(op int32) bool) (lo, hi int32) {
	n, end := &s.nodes[i], t.ends[i]
	if n.lo >= end {
		return 0, 0
	}
	if !n.isInput() {
		lo = t.computes(n.lo)
		if n.residence == succeeding || n.residence == copying || t.over[i] || watched(n.lo) && s.sends(n) {
			lo++
		}
	}
	last := end - 1
	if int(last) >= len(t.reads) {
		return lo, t.end()
	}
	if watched(last) {
		if j := t.lastRead(last, i); j >= 0 {
			return lo, t.first[last] + j + 1
		}
		return lo, t.computes(last) + 1
	}
	return lo, t.first[end]
}

func everywhere(int32) bool { return true }

// profile returns what the program of a solution holds at each moment. The only error is the context's.
func (s *Space) profile(ctx context.Context, solution []int32) ([]int64, error) {
	t := s.timeOf(solution)
	use := make([]int64, t.end()+1)
	add := func(lo, hi int32, bytes int64) {
		if lo < hi {
			use[lo], use[hi] = use[lo]+bytes, use[hi]-bytes
		}
	}
	for i := range s.nodes {
		lo, hi := s.occupies(t, int32(i), everywhere)
		add(lo, hi, s.usage(t, int32(i), solution[i]))
	}
	for op := range t.reads {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, h := range s.heldAt(t, int32(op)) {
			add(h.lo, h.hi, h.of(solution))
		}
	}
	for i := 1; i < len(use); i++ {
		use[i] += use[i-1]
	}
	return use, nil
}

// Peak returns the most that the program of a solution holds at any moment if each read has a copy of its own and each summand is
// reduced by itself, but for what ops need inside themselves. The only error is the context's.
func (s *Space) Peak(ctx context.Context, solution []int32) (int64, error) {
	use, err := s.profile(ctx, solution)
	if err != nil {
		return 0, err
	}
	return slices.Max(use), nil
}

// Watch finds the ops at which the program of a solution holds more than a limit and that are not watched yet, and watches
// them from now on. It reports whether there are any. The only error is the context's.
func (s *Space) Watch(ctx context.Context, solution []int32, limit int64) (more bool, err error) {
	use, err := s.profile(ctx, solution)
	if err != nil {
		return false, err
	}
	t := s.moments()
	if s.watched == nil {
		s.watched = make([]bool, len(t.reads))
	}
	for op := range t.reads {
		if !s.watched[op] && slices.Max(use[t.first[op]:t.first[op+1]]) > limit {
			s.watched[op], more = true, true
		}
	}
	return more, nil
}

// Watched returns the number of ops that are watched.
func (s *Space) Watched() (n int) {
	for _, is := range s.watched {
		if is {
			n++
		}
	}
	return n
}

// Held is what of a program's memory counts in a problem.
type Held uint8

const (
	Kept      Held = iota // what nodes keep, as long as it surely is there
	Moments               // with what is held for moments at the ops that are watched
	Remaining             // what is there although values are made again: inputs at the beginning, and what there is at the end
)

// lives returns the function that says when a node's values take memory, in ops or, where any is watched, in moments. Those of a relaxed
// problem that does not watch live no longer than they surely do: what others take on the fly may be sent before, too.
func (s *Space) lives(relaxed bool, counts Held) func(i int32) (lo, hi int32) {
	t := s.moments()
	switch {
	case counts == Remaining:
		return s.remains
	case counts == Moments && s.watched != nil:
		return func(i int32) (lo, hi int32) { return s.occupies(t, i, func(op int32) bool { return s.watched[op] }) }
	}
	return func(i int32) (lo, hi int32) {
		n := &s.nodes[i]
		if hi = t.ends[i]; relaxed && counts == Kept {
			hi = n.hi
		}
		switch {
		case n.residence == within:
			return 0, 0
		case n.residence == succeeding, t.over[i], relaxed && s.mayOverwrite(i):
			return min(n.lo+1, hi), hi
		default:
			return n.lo, hi
		}
	}
}

// remains says when a node's values take memory in every program, whatever it makes again where it is read: at the beginning, 0, or at the
// end, 1. There are results in the layouts of the inputs whose places they take then.
func (s *Space) remains(i int32) (lo, hi int32) {
	n := &s.nodes[i]
	switch {
	case n.isInput():
		if arg := n.values[0]; s.donated(arg) && !slices.Contains(s.tied, s.m.Index(arg)) {
			return 0, 1
		}
		return 0, 2
	case n.residence != within && len(n.values) == 1 && s.crosses[n.values[0]]:
		return 1, 2
	}
	return 0, 0
}

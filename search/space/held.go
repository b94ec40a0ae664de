package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/rule"
)

// held is memory that a program takes for some moments, by the strategies of one node or two: how they class the strategies of
// either, and what each pair of classes takes. Without a second node the class is the bytes.
type held struct {
	from, to int32 // to is -1 for none
	lo, hi   int32
	row, col func(strategy int32) int64
	bytes    func(row, col int64) int64
}

// of returns what a solution takes.
func (h *held) of(solution []int32) int64 {
	row := h.row(solution[h.from])
	if h.to < 0 {
		return row
	}
	return h.bytes(row, h.col(solution[h.to]))
}

// heldAt returns what a program takes at an op beside what its nodes keep.
func (s *Space) heldAt(t *moments, op int32) []held {
	var out []held
	for _, i := range t.made[op] {
		out = append(out, s.sending(t, op, i)...)
		switch n := &s.nodes[i]; n.residence {
		case within:
			out = append(out, s.apart(t, i))
		case copying:
			out = append(out, s.beside(t, i))
		}
	}
	for j := range t.reads[op] {
		out = append(out, s.copying(t, op, int32(j))...)
	}
	return out
}

// sends says whether the results of a node's op may come out in other layouts than they are kept in.
func (s *Space) sends(n *node) bool {
	k := s.m.Kind(n.op)
	return n.op != 0 && !k.HasBodies() && k != ir.OpOptimizationBarrier && !passesOn(k) && k != ir.OpSdyManualComputation &&
		(!freelyMade(k) || s.isTable(n.op))
}

// made returns the function that says in which layouts a strategy's results come out of the op; nil where that is always as
// they are kept.
func (s *Space) made(n *node) func(strategy int32) []layoutID {
	if !s.sends(n) {
		return nil
	}
	whole := s.internAll(s.wholes(n.values))
	r := s.rules[n.op]
	if r == nil || len(n.operands) == 0 {
		return func(int32) []layoutID { return whole }
	}
	_, reduction := rule.Shardable(s.m, n.op, r)
	return func(strategy int32) []layoutID {
		_, results, _ := collectives.Project(r, n.class.strategies[strategy].factors, reduction)
		return s.internAll(results)
	}
}

// kept returns the layout in which a strategy keeps a value of its node.
func (s *Space) kept(n *node, slot, strategy int32) layoutID {
	return s.lists.all[n.class.kept[slot]].of(strategy)
}

// sending returns what the results of an op take as they come out, while they are sent on and, where they would be taken on
// the fly if they were not sent, until they are read.
func (s *Space) sending(t *moments, op, i int32) []held {
	n := &s.nodes[i]
	made := s.made(n)
	if made == nil {
		return nil
	}
	item := func(lo, hi int32, bytes func(v ir.ValueID, from, to layoutID) int64) held {
		sum := func(strategy int32) int64 {
			total := int64(0)
			for k, l := range made(strategy) {
				if s.isTensor(n.values[k]) {
					total += bytes(n.values[k], l, s.kept(n, int32(k), strategy))
				}
			}
			return total
		}
		return held{from: i, to: -1, lo: lo, hi: hi, row: sum}
	}
	now := t.computes(op)
	_, end := s.lifetime(t, i, everywhere)
	arrives := func(v ir.ValueID, from, to layoutID) int64 {
		if from == to || s.holding(t, v) {
			return 0
		}
		return s.bytes(v, to)
	}
	comesOut := func(v ir.ValueID, from, to layoutID) int64 {
		if from == to && !s.holding(t, v) {
			return 0
		}
		return s.bytes(v, from)
	}
	out := []held{item(now+1, now+2, s.sent), item(now+1, end, arrives)}
	switch n.residence {
	case alone:
		if !t.over[i] {
			out = append(out, item(now, now+1, comesOut))
		}
	case within:
		out = append(out, item(now, now+1, s.goesOn))
	}
	return out
}

// beside returns what a result takes beside the operand that it would be written over, which is needed later: while its op runs, in the
// layout of the operand. In another one it is written over the copy that the op reads.
func (s *Space) beside(t *moments, i int32) held {
	n := &s.nodes[i]
	from, read := s.nodeOf[n.over], &s.lists.all[n.class.operands[slices.Index(n.operands, n.over)]]
	now := t.computes(n.lo)
	return held{from: from, to: i, lo: now, hi: now + 1,
		row: func(strategy int32) int64 { return int64(s.kept(&s.nodes[from], s.slotOf[n.over], strategy)) },
		col: func(strategy int32) int64 { return int64(read.of(strategy)) },
		bytes: func(row, col int64) int64 {
			if row != col {
				return 0
			}
			return s.bytes(n.over, layoutID(col))
		}}
}

// apart returns what the value of a node takes that would be written into what another node keeps, if that were in its layout.
func (s *Space) apart(t *moments, i int32) held {
	n := &s.nodes[i]
	keeper := s.nodeOf[n.over]
	lo, hi := s.lifetime(t, i, everywhere)
	return held{from: i, to: keeper, lo: lo, hi: hi,
		row: func(strategy int32) int64 { return int64(s.kept(n, 0, strategy)) },
		col: func(strategy int32) int64 { return int64(s.kept(&s.nodes[keeper], s.slotOf[n.over], strategy)) },
		bytes: func(row, col int64) int64 {
			if row == col {
				return 0
			}
			return s.bytes(n.values[0], layoutID(row))
		}}
}

// goesOn returns what a result takes as it comes out of its op if it is sent on.
func (s *Space) goesOn(v ir.ValueID, from, to layoutID) int64 {
	if from == to {
		return 0
	}
	return s.bytes(v, from)
}

// sent returns what a result takes while it is sent on, beside what it takes afterwards.
func (s *Space) sent(v ir.ValueID, from, to layoutID) int64 {
	if from == to {
		return 0
	}
	first, most := s.steps(v, from, to)
	return max(s.bytes(v, from)+first, most) - s.bytes(v, to)
}

// copying returns what the copy of a read takes while it is made and until it is read and, where the value would be read on
// the fly, what the value takes. One copy serves all reads of an op in one layout.
func (s *Space) copying(t *moments, op, j int32) []held {
	r := &t.reads[op][j]
	v, slot, n := r.value, s.slotOf[r.value], &s.nodes[r.to]
	side, mine := s.sideBySide(t.reads[op], j)
	item := func(lo, hi int32, bytes func(from layoutID, to []layoutID) int64) held {
		return held{from: r.from, to: r.to, lo: lo, hi: hi,
			row:   func(strategy int32) int64 { return int64(s.kept(&s.nodes[r.from], slot, strategy)) },
			col:   side.of,
			bytes: func(row, col int64) int64 { return bytes(layoutID(row), side.layouts(col)) }}
	}
	at, dies := t.first[op]+j, t.ends[r.from]-1 == op && t.lastRead(op, r.from) == j
	lands, until := r.operand < 0 && n.op != 0, op // the copy is written into what a loop or branch keeps
	if r.operand >= 0 {
		until = max(op, t.until[r.to])
	}
	served := func(from layoutID, to []layoutID) bool {
		return to[mine] == from || slices.Contains(to[:mine], to[mine])
	}
	out := []held{item(at, at+1, func(from layoutID, to []layoutID) int64 {
		if served(from, to) {
			return 0
		}
		if bytes := s.copied(v, from, to[mine], dies && !slices.Contains(to, from)); !lands {
			return bytes
		} else {
			return max(0, bytes-s.bytes(v, to[mine]))
		}
	})}
	if n.op == 0 || !passesOn(s.m.Kind(n.op)) {
		reads := t.computes(until)
		asKept := func(from layoutID, to []layoutID) int64 {
			if !dies || !s.holding(t, v) || s.nodes[r.from].residence == within || !slices.Contains(to, from) {
				return 0
			}
			return s.bytes(v, from)
		}
		takes := func(from layoutID, to []layoutID) int64 {
			bytes := asKept(from, to)
			if !served(from, to) && !lands {
				bytes += s.bytes(v, to[mine])
			}
			return bytes
		}
		if s.receives(t, op, j) {
			out = append(out, item(at+1, reads, takes), item(reads, reads+1, asKept))
		} else {
			out = append(out, item(at+1, reads+1, takes))
		}
	}
	if !s.holding(t, v) {
		out = append(out, s.unfused(t, r, at))
	}
	return out
}

// side are the layouts in which strategies of one node read one value, operand by operand.
type side struct {
	lists  []*list
	tuples [][]layoutID // that are met; nil where there is one operand: its layout stands for itself
}

// sideBySide returns the layouts of all reads of a value by the node of one of some reads, and the place of that among them.
func (s *Space) sideBySide(reads []read, j int32) (out *side, mine int) {
	out = &side{}
	for k := range reads {
		if r := &reads[k]; r.value == reads[j].value && r.to == reads[j].to {
			if int32(k) == j {
				mine = len(out.lists)
			}
			out.lists = append(out.lists, &s.lists.all[r.layouts(s.nodes[r.to].class)])
		}
	}
	return out, mine
}

// of returns what stands for the layouts of a strategy.
func (a *side) of(strategy int32) int64 {
	if len(a.lists) == 1 {
		return int64(a.lists[0].of(strategy))
	}
	tuple := make([]layoutID, len(a.lists))
	for i, l := range a.lists {
		tuple[i] = l.of(strategy)
	}
	at := slices.IndexFunc(a.tuples, func(t []layoutID) bool { return slices.Equal(t, tuple) })
	if at < 0 {
		at, a.tuples = len(a.tuples), append(a.tuples, tuple)
	}
	return int64(at)
}

// layouts returns the layouts that something stands for.
func (a *side) layouts(stands int64) []layoutID {
	if len(a.lists) == 1 {
		return []layoutID{layoutID(stands)}
	}
	return a.tuples[stands]
}

// copied returns what a copy takes while it is made, beside the value, which is not needed after the first step if it dies.
func (s *Space) copied(v ir.ValueID, from, to layoutID, dies bool) int64 {
	if from == to {
		return 0
	}
	first, most := s.steps(v, from, to)
	if dies {
		most -= s.bytes(v, from)
	}
	return max(first, most)
}

// unfused returns what a value takes until it is copied at a moment, which would otherwise be read on the fly. Where it is
// sent on that is counted there.
func (s *Space) unfused(t *moments, r *read, at int32) held {
	n := &s.nodes[r.from]
	made := s.made(n)
	const asMade = 1 << 32
	row := func(strategy int32) int64 {
		kept := s.kept(n, 0, strategy)
		if made == nil || made(strategy)[0] == kept {
			return int64(kept) | asMade
		}
		return int64(kept)
	}
	read := &s.lists.all[r.layouts(s.nodes[r.to].class)]
	col := func(strategy int32) int64 { return int64(read.of(strategy)) }
	bytes := func(row, col int64) int64 {
		if row&asMade == 0 || row&^asMade == col {
			return 0
		}
		return s.bytes(r.value, layoutID(row&^asMade))
	}
	lo := t.computes(n.lo)
	if t.over[r.from] {
		lo++
	}
	return held{r.from, r.to, lo, at + 1, row, col, bytes}
}

// bytes returns what a value takes in a layout on one device.
func (s *Space) bytes(v ir.ValueID, l layoutID) int64 {
	t := s.m.ValueType(v)
	return s.layouts[l].LocalElements(t.Dims) * int64(t.DType.Bytes())
}

// steps returns what a reshard holds beside the value that it begins with: the result of its first step, and the most that
// any later step reads and makes.
func (s *Space) steps(v ir.ValueID, from, to layoutID) (first, most int64) {
	w := s.planner.Way(s.tensor(v), s.known[from], s.known[to])
	after := int64(0)
	w.Back(func(h collectives.Hop) {
		if h.Joined {
			return
		}
		if after > 0 {
			most = max(most, h.After+after)
		}
		first, after = h.After, h.After
	})
	return first, most
}

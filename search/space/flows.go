package space

import (
	"cmp"
	"iter"
	"slices"

	"autoshard/ir"
	"autoshard/ir/fusion"
)

// A value that flows is computed where its only reader reads it, and what it is made of is held until then, unless it is sent on before, or
// held because more would have to be held otherwise ([fusion.Values]). Which ones are is known for a solution; problems suppose that none
// is sent, and may say that a program holds more than it does, and relaxed ones that all are.

// settle lets values live as they do where none that flows is sent.
func (s *Space) settle(t *moments, l *ir.Liveness) {
	l.Through(s.own.OnTheFly())
	t.until, t.ends, t.held = make([]int32, len(s.nodes)), s.lastReads(l), make([]bool, len(s.nodes))
	for i := range s.nodes {
		if n := &s.nodes[i]; n.op != 0 {
			t.until[i] = l.Reads(n.op)
			t.held[i] = len(n.values) == 1 && s.own.Flowing[n.values[0]] && !s.own.Unheld[n.values[0]]
		}
	}
	for _, reads := range t.reads {
		for _, r := range reads {
			if r.operand >= 0 && s.own.Flowing[r.value] {
				t.flows = append(t.flows, r)
			}
		}
	}
	slices.SortFunc(t.flows, func(a, b read) int { return cmp.Compare(s.nodes[b.from].lo, s.nodes[a.from].lo) })
	l.Through(s.own.Flowing)
	latest := timing{s, &moments{reads: t.reads, ends: s.lastReads(l)}, nil, make([]bool, len(s.nodes))}
	for i, held := range t.held {
		latest.flows[i] = !held
	}
	latest.findOverwriting()
	t.over = latest.over
}

// lastReads returns per node the op behind the one at which its values are read last.
func (s *Space) lastReads(l *ir.Liveness) []int32 {
	out := make([]int32, len(s.nodes))
	for i := range s.nodes {
		n := &s.nodes[i]
		out[i] = n.hi
		for _, v := range n.values {
			_, end := l.Interval(v)
			out[i] = max(out[i], end)
		}
	}
	return out
}

// timeOf returns the moments of the program of a solution.
func (s *Space) timeOf(solution []int32) *moments {
	t := *s.moments()
	t.until, t.ends, t.held = make([]int32, len(s.nodes)), make([]int32, len(s.nodes)), make([]bool, len(s.nodes))
	p := timing{s, &t, solution, make([]bool, len(s.nodes))}
	for i := range s.nodes {
		t.until[i], t.ends[i] = s.nodes[i].lo, s.nodes[i].hi
	}
	for i := range t.flows {
		p.flows[t.flows[i].from] = true
	}
	for i := range t.flows {
		if f := &t.flows[i]; !s.unsent(f, solution) {
			p.flows[f.from] = false
		}
	}
	for i := range t.flows {
		f := &t.flows[i]
		at := t.until[f.to]
		switch {
		case !p.flows[f.from]:
		case len(p.sources(f.from, at, fusion.FarthestSource, nil)) > 1:
			t.held[f.from], p.flows[f.from] = true, false
		default:
			t.until[f.from] = at
			for r := range s.readsOf(&t, f.from) {
				if p.readAsKept(r) {
					t.ends[r.from] = max(t.ends[r.from], at+1)
				}
			}
		}
	}
	p.findOverwriting()
	return &t
}

// unsent says whether the program of a solution sends neither a value that may flow nor a copy of it.
func (s *Space) unsent(f *read, solution []int32) bool {
	if !s.readAsKept(f, solution) {
		return false
	}
	n, strategy := &s.nodes[f.from], solution[f.from]
	made := s.made(n)
	return made == nil || made(strategy)[0] == s.kept(n, 0, strategy)
}

// readsOf yields what the op of a node that computes elements reads, each value once: all of its operands are in one layout.
func (s *Space) readsOf(t *moments, node int32) iter.Seq[*read] {
	return func(yield func(*read) bool) {
		reads := t.reads[s.nodes[node].lo]
		for j := range reads {
			r := &reads[j]
			again := func(before read) bool { return before.to == node && before.operand >= 0 && before.value == r.value }
			if r.to == node && r.operand >= 0 && !slices.ContainsFunc(reads[:j], again) && !yield(r) {
				return
			}
		}
	}
}

// readAsKept says whether an op reads a value in the layout in which it is kept.
func (s *Space) readAsKept(r *read, solution []int32) bool {
	kept := s.kept(&s.nodes[r.from], s.slotOf[r.value], solution[r.from])
	return s.lists.all[r.layouts(s.nodes[r.to].class)].of(solution[r.to]) == kept
}

// timing finds what flows in the program of a solution, and what is written over what.
type timing struct {
	*Space
	*moments
	solution []int32 // nil: every value is read as it is kept
	flows    []bool  // per node, as far as that is decided
}

func (p *timing) readAsKept(r *read) bool {
	return p.solution == nil || p.Space.readAsKept(r, p.solution)
}

// sources adds to the values and copies that would be held for longer if the op of a node read at a later op, as [fusion.Of] does.
func (p *timing) sources(node, at int32, ops int, found []source) []source {
	if p.m.Kind(p.nodes[node].op) == ir.OpBroadcastInDim {
		return found
	}
	for r := range p.readsOf(p.moments, node) {
		kept := p.readAsKept(r)
		it := source{r.value, 0}
		if !kept {
			it.copiedBy = node
		}
		switch {
		case len(found) > 1:
			return found
		case kept && p.flows[r.from] && ops > 0:
			found = p.sources(r.from, at, ops-1, found)
		case kept && p.ends[r.from] > at || !fusion.MayBeHeldLonger(p.m, r.value) || slices.Contains(found, it):
		default:
			found = append(found, it)
		}
	}
	return found
}

// source is what is held: a value, or the copy of it for an op.
type source struct {
	value    ir.ValueID
	copiedBy int32
}

// usage returns what the value that a strategy of a node keeps takes in a program.
func (s *Space) usage(t *moments, i, strategy int32) int64 {
	n := &s.nodes[i]
	if t.held[i] {
		return s.bytes(n.values[0], s.kept(n, 0, strategy))
	}
	return n.class.strategies[strategy].bytes
}

// holding says whether a value takes memory of its own in a program that does not send it.
func (s *Space) holding(t *moments, v ir.ValueID) bool { return !s.unheld[v] || t.held[s.nodeOf[v]] }

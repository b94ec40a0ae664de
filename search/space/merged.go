package space

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/merge"
	"autoshard/subaxis"
)

// Collectives that are sent as one take together, once, what each takes before it sends anything (package shardmap/merge). The relaxed
// problem charges each a part of that. Whatever the parts are, as long as those of what can be sent as one are no more than the whole,
// its optimum is a bound. To begin with they are equal; after a solution, of what it would send as one one pays.

// scene is where reductions can meet: a block, and the type of the elements.
type scene struct {
	block   ir.BlockID
	element dtype.Type
}

// span is the places of a block between which the result of a node can be reduced; late in a block behind the loops that it is in.
type span struct {
	node, from, to int32
	late           bool
}

// manyAxes stands for what several steps have in common: what they take before they send does not count.
const manyAxes = -1

// latency is what collectives take before they send anything that can be merged with each other: those of one kind over the same axes.
type latency struct {
	time  int64
	over  int32 // which those are: even but for reduce-scatters, whose number is that of the all-reduces over the same axes and one
	along int32 // which of these can be without moving anything: gathers of one dimension
}

// other returns the number of the reduce-scatters over the same axes as some all-reduces, and the other way round.
func other(over int32) int32 { return over ^ 1 }

// latencyKey is what that depends on. A planner hands out the same axes for all steps over them.
type latencyKey struct {
	kind collectives.Kind
	axes *subaxis.Ref
	n    int
	dim  int // that is gathered
}

// latencies remembers them.
type latencies struct {
	sync.Mutex
	of   map[latencyKey]latency
	over map[string]int32 // even numbers of kinds, lists of axes and dimensions
}

// rounding of the prices of collectives to picoseconds: what each may seem to save beyond that.
const rounding = 2

// latency returns what a step takes before it sends anything if it can be merged with others.
func (s *Space) latency(h *collectives.Hop) latency {
	switch h.Kind {
	case collectives.AllReduce, collectives.ReduceScatter, collectives.AllGather, collectives.AllToAll:
	default:
		return latency{}
	}
	l, key := s.latencies, latencyKey{kind: h.Kind, axes: &h.Axes[0], n: len(h.Axes)}
	if h.Kind == collectives.AllGather {
		key.dim = h.Dim
	}
	l.Lock()
	defer l.Unlock()
	known, ok := l.of[key]
	if !ok {
		axes := s.m.Mesh(s.mesh).FormatList(h.Axes)
		known = latency{s.model.Start(h.Kind, h.Axes) + rounding, l.number(h.Kind, axes), l.number(h.Kind, fmt.Sprint(axes, key.dim))}
		l.of[key] = known
	}
	return known
}

// number returns the number of collectives of a kind, by what they have in common.
func (l *latencies) number(kind collectives.Kind, common string) int32 {
	scatters := int32(0)
	if kind == collectives.ReduceScatter {
		kind, scatters = collectives.AllReduce, 1
	}
	name := fmt.Sprint(kind, common)
	over, ok := l.over[name]
	if !ok {
		over = int32(2 * len(l.over))
		l.over[name] = over
	}
	return over + scatters
}

// reduces says whether a step reduces partial values.
func reduces(k collectives.Kind) bool {
	return k == collectives.AllReduce || k == collectives.ReduceScatter
}

// company finds where the collectives of nodes and links can meet others.
func (s *Space) company() {
	s.spans, s.paying = nil, payments{reductions: make([]map[int32]int64, len(s.nodes))}
	for i := range s.nodes {
		s.nodes[i].merged, s.nodes[i].delay.merged = 1, 1
	}
	for i := range s.links {
		s.links[i].merged = 1
	}
	if s.merges {
		waiting := merge.NewWaiting(s.m, s.m.MainFunc().Body)
		s.reductions(waiting)
		s.gathers(waiting)
	}
}

// reductions are made where the results come out, or wait until these have to be there: those that can wait for one place can be
// one.
func (s *Space) reductions(waiting *merge.Waiting) {
	m := s.m
	at := map[scene]int{}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.op == 0 || !n.class.reduces {
			continue
		}
		v, block := n.values[0], m.OpBlock(n.op)
		add := func(block ir.BlockID, x span) {
			key := scene{block, m.ValueType(v).DType}
			k, ok := at[key]
			if !ok {
				k = len(s.spans)
				at[key], s.spans = k, append(s.spans, nil)
			}
			s.spans[k] = append(s.spans[k], x)
		}
		to := waiting.Value(v)
		switch d := &n.delay; {
		case d.behind:
			after := m.BlockOf(d.sum)
			add(after, span{int32(i), waiting.At(m.AncestorIn(n.op, after)), waiting.Value(d.sum), true})
		case d.sum != 0:
			to = max(to, waiting.Value(d.sum))
		}
		add(block, span{int32(i), waiting.At(n.op), to, false})
	}
	for _, list := range s.spans {
		slices.SortStableFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		s.meet(list)
	}
}

// meet says of each span how many others go on, with it, at one place.
func (s *Space) meet(list []span) {
	most := s.atOnce(list, func(*span) int64 { return 1 })
	for i, x := range list {
		*s.nodes[x.node].mergedAt(x.late) = most[i]
	}
}

// mergedAt returns where it stands how many reductions can be sent as one with the node's: behind loops, or where its values are made.
func (n *node) mergedAt(late bool) *int64 {
	if late {
		return &n.delay.merged
	}
	return &n.merged
}

// atOnce returns for each of some spans, in the order in which they begin, the most that those pay which may be sent as one at a place
// where it can be.
func (s *Space) atOnce(list []span, pays func(*span) int64) []int64 {
	last := make([]int, len(list)) // the spans, by their ends
	for i := range last {
		last[i] = i
	}
	slices.SortStableFunc(last, func(i, j int) int { return cmp.Compare(list[i].end(), list[j].end()) })
	going, at := s.antichain(), make([]int64, len(list))
	for i := range list {
		for ; list[last[0]].end() <= list[i].from; last = last[1:] {
			going.set(list[last[0]].node, 0)
		}
		going.set(list[i].node, pays(&list[i]))
		at[i] = going.most
	}
	out := make([]int64, len(list))
	for i, x := range list {
		for j := i; j < len(list) && list[j].from < x.end(); j++ {
			out[i] = max(out[i], at[j])
		}
	}
	return out
}

// saved returns what the reductions of a strategy, made at once or late, do not pay of what they take before they send anything.
func (s *Space) saved(i int32, st *strategy, late bool) int64 {
	switch {
	case !s.merges:
		return 0
	case st.reduced == 0:
		return st.free
	}
	return st.free + max(0, st.reduced-portion(st.reduced, s.paid(i, st.over, late))-st.copied)
}

// counts says whether a span is where a reduction is made: behind loops where it can be.
func (s *Space) counts(x *span) bool { return x.late == s.nodes[x.node].delay.behind }

// meeting is where reductions of a solution over some axes are sent as one: at a place of a block.
type meeting struct {
	place   int32
	until   int32 // the place behind the last one where it could be
	members []span
	saved   int64 // picoseconds that all but one of them do not pay
}

// meetings returns for each list of spans, and for each kind and list of axes, where a solution's reductions are sent, from the last one to
// the first: as late as the first result that has to be there allows. A reduction that is sent alone is one, too. Each is sent with the
// last one that it can wait for, or with the nearest.
func (s *Space) meetings(solution []int32, nearest bool) []map[int32][]meeting {
	all := make([]map[int32][]meeting, len(s.spans))
	for k, list := range s.spans {
		all[k] = map[int32][]meeting{}
		come := map[int32][]int32{} // per node: how many meetings there were when something that comes of it had joined one
		for _, x := range slices.Backward(list) {
			n := &s.nodes[x.node]
			st := &n.class.strategies[solution[x.node]]
			if st.reduced == 0 || !s.counts(&x) {
				continue
			}
			if come[st.over] == nil {
				come[st.over] = make([]int32, len(s.nodes))
			}
			known, saves := all[k][st.over], st.reduced
			at := int(come[st.over][x.node])
			if nearest {
				at = max(at, len(known)-1)
			}
			for at < len(known) && x.to <= known[at].place {
				at++
			}
			if at == len(known) {
				known, saves = append(known, meeting{place: x.from, until: x.end()}), 0
			}
			m := &known[at]
			m.members, m.until = append(m.members, x), min(m.until, x.end())
			m.saved += n.runs / max(1, n.delay.rounds) * (saves - st.copied)
			all[k][st.over] = known
			for i := s.comesOf[x.node]; i >= 0 && come[st.over][i] <= int32(at); i = s.comesOf[i] {
				come[st.over][i] = int32(at) + 1
			}
		}
	}
	return all
}

package space

import (
	"slices"

	"autoshard/search"
)

// holder is a node of a problem behind those of the space: what is held, by its size, or what a pair of gathers is. The strategies of the
// nodes that cause it say which of its strategies it takes.
type holder struct {
	from, to   int32
	rows, cols []int32 // the classes of the strategies of from and to
	states     []state
	state      []int32 // by row and column
	width      int     // number of columns
}

// state is a strategy of a holder: what is held for strategies of one class of the second node.
type state struct {
	col   int
	bytes int64
}

// holds adds what is held at the watched ops to a problem, where it begins before them, too.
func (s *Space) holds(b *search.Builder, counts Held) {
	if counts != Moments || s.watched == nil {
		return
	}
	s.holders = nil
	t := s.moments()
	seen := t.watchedBefore(s.watched)
	for op := range s.watched {
		if !s.charge(0) {
			return
		}
		for _, h := range s.heldAt(t, int32(op)) {
			if h.lo < h.hi && seen[h.hi] > seen[h.lo] {
				s.hold(b, &h)
			}
		}
	}
}

// watchedBefore counts the moments of watched ops before each moment.
func (t *moments) watchedBefore(watched []bool) []int32 {
	out := make([]int32, t.end()+1)
	for op, is := range watched {
		for at := t.first[op]; at < t.first[op+1]; at++ {
			if out[at+1] = out[at]; is {
				out[at+1]++
			}
		}
	}
	return out
}

// hold adds a node for what is held, unless that is always nothing, and ties it to the strategies that cause it.
func (s *Space) hold(b *search.Builder, h *held) {
	x := s.holder(h)
	usages := make([]int64, len(x.states))
	for i, st := range x.states {
		usages[i] = st.bytes
	}
	if slices.Max(usages) > 0 && s.addHolder(b, &x, usages, h.lo, h.hi) {
		s.holders = append(s.holders, x)
	}
}

// addHolder adds the node of a holder, and ties it to the strategies that cause it.
func (s *Space) addHolder(b *search.Builder, x *holder, usages []int64, lo, hi int32) bool {
	rows, states := len(x.state)/x.width, len(x.states)
	if !s.charge(int64(states * (rows + x.width))) {
		return false
	}
	node := b.AddNode(make([]int64, states), usages, lo, hi)
	inRow := func(i, j int) bool { return x.state[i*x.width+x.states[j].col] == int32(j) }
	b.AddEdgeThrough(x.from, node, allowed(b, rows, states, inRow), x.rows, nil)
	if x.to >= 0 {
		inCol := func(i, j int) bool { return x.states[j].col == i }
		b.AddEdgeThrough(x.to, node, allowed(b, x.width, states, inCol), x.cols, nil)
	}
	return true
}

// holder finds the strategies of the node for what is held.
func (s *Space) holder(h *held) holder {
	x := holder{from: h.from, to: h.to, width: 1}
	var rows []int64
	x.rows, rows = classify(&s.nodes[h.from], h.row)
	cols, bytes := []int64{0}, func(row, _ int64) int64 { return row }
	if h.to >= 0 {
		x.cols, cols = classify(&s.nodes[h.to], h.col)
		x.width, bytes = len(cols), h.bytes
	}
	for _, row := range rows {
		for c, col := range cols {
			st := state{c, bytes(row, col)}
			at := slices.Index(x.states, st)
			if at < 0 {
				at = len(x.states)
				x.states = append(x.states, st)
			}
			x.state = append(x.state, int32(at))
		}
	}
	return x
}

// classify returns the different classes of a node's strategies, and that of each.
func classify(n *node, of func(strategy int32) int64) (at []int32, all []int64) {
	ids := map[int64]int32{}
	for i := range n.class.strategies {
		key := of(int32(i))
		id, ok := ids[key]
		if !ok {
			id = int32(len(all))
			ids[key], all = id, append(all, key)
		}
		at = append(at, id)
	}
	return at, all
}

// allowed adds a matrix of nothing but the pairs that may be.
func allowed(b *search.Builder, rows, cols int, ok func(i, j int) bool) search.MatrixID {
	values := make([]int64, rows*cols)
	for i := range values {
		if !ok(i/cols, i%cols) {
			values[i] = search.Inf
		}
	}
	return b.AddMatrix(rows, cols, values)
}

// Extend returns a solution for a problem of the space, which may have nodes for what is held, or for pairs, behind the space's own.
func (s *Space) Extend(solution []int32, p *search.Problem) []int32 {
	out, holders := slices.Clone(solution), s.holders
	if p == s.paired {
		holders = s.pairHolders
	}
	if p.NumNodes() != len(s.nodes)+len(holders) || len(out) != len(s.nodes) {
		return out
	}
	for i := range holders {
		x := &holders[i]
		at := x.rows[out[x.from]] * int32(x.width)
		if x.to >= 0 {
			at += x.cols[out[x.to]]
		}
		out = append(out, x.state[at])
	}
	return out
}

// Own returns the part of a solution that is about the space's own nodes.
func (s *Space) Own(solution []int32) []int32 { return solution[:len(s.nodes)] }

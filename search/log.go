package search

import "slices"

type stepKind uint8

const (
	stepRestrict stepKind = iota // node keeps the values table; back maps an old value to its new index or that of its stand-in, or -1
	stepMerge                    // the value of node is table[value of left]
	// the best value of node is table[value of left], or values[table[class of left * width + class of right]]; -1 for a missing neighbour
	stepEliminate
)

// step is one entry of the log of reductions.
type step struct {
	kind        stepKind
	node        int32
	left, right int32
	table, back []int32

	// Of an elimination between two nodes: number of classes of the right one, the classes of both and what the table's entries stand for.
	width                 int32
	leftClass, rightClass []int32
	values                []int32
}

// eliminated returns the value of the step's node, which had been eliminated.
func (s *step) eliminated(values []int32) int32 {
	switch {
	case s.left < 0:
		return s.table[0]
	case s.right < 0:
		return s.table[values[s.left]]
	}
	return s.values[s.table[through(s.leftClass, values[s.left])*s.width+through(s.rightClass, values[s.right])]]
}

// lift turns values of the nodes that are still alive into a solution of the problem by undoing the log from the end. values has an entry
// for every node of the problem, 0 for dead ones, and is changed in place.
func lift(log []step, values []int32) {
	for _, s := range slices.Backward(log) {
		switch s.kind {
		case stepRestrict:
			values[s.node] = s.table[values[s.node]]
		case stepMerge:
			values[s.node] = s.table[values[s.left]]
		case stepEliminate:
			values[s.node] = s.eliminated(values)
		}
	}
}

// project is the inverse of lift for solutions that come from outside: it follows the log from the start, replacing dominated values by
// what dominates them, and reports false if the solution uses a value that was deleted for another reason.
func project(log []step, values []int32) bool {
	for _, s := range log {
		switch s.kind {
		case stepRestrict:
			a := s.back[values[s.node]]
			if a < 0 {
				return false
			}
			values[s.node] = a
		case stepMerge:
			if s.table[values[s.left]] != values[s.node] {
				return false
			}
		}
	}
	return true
}

// origin leads from the nodes of a compact working model to those of the problem: node i was node[i] of a model of n nodes whose log was
// log.
type origin struct {
	parent *origin
	log    []step
	node   []int32
	n      int
}

// solution lifts values of the live nodes, 0 for dead ones, to the problem. values is changed.
func (w *work) solution(values []int32) []int32 {
	lift(w.log, values)
	return w.origin.solution(values)
}

// solution lifts values of the compact model to the problem. values is changed.
func (o *origin) solution(values []int32) []int32 {
	for ; o != nil; o = o.parent {
		outer := make([]int32, o.n)
		for i, a := range values {
			outer[o.node[i]] = a
		}
		lift(o.log, outer)
		values = outer
	}
	return values
}

// values projects a solution of the problem to the compact model; false if a reduction has excluded it.
func (o *origin) values(solution []int32) ([]int32, bool) {
	if o == nil {
		return slices.Clone(solution), true
	}
	outer, ok := o.parent.values(solution)
	if !ok || !project(o.log, outer) {
		return nil, false
	}
	return pick(outer, o.node), true
}

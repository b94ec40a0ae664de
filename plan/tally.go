package plan

import "autoshard/ir"

// tally counts the ops that have something in common, in the order in which it is met, and knows the first of them.
type tally[K comparable] struct {
	keys  []K
	count map[K]int
	first map[K]ir.OpID
}

func newTally[K comparable]() *tally[K] {
	return &tally[K]{count: map[K]int{}, first: map[K]ir.OpID{}}
}

// note counts an op.
func (t *tally[K]) note(key K, op ir.OpID) {
	if t.count[key]++; t.count[key] == 1 {
		t.keys, t.first[key] = append(t.keys, key), op
	}
}

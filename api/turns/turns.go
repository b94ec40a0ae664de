// Package turns lets clients take turns, so that one with much to do does not keep the others waiting.
//
//	var waiting turns.Turns[string]
//	waiting.Add("ann", "a job")
//	job, ok := waiting.Take()
package turns

import "slices"

// Turns holds items of clients that take turns; those of one client go in the order in which they came. The zero value is empty. It is not
// safe for concurrent use.
type Turns[T comparable] struct{ lines []line[T] }

// line holds the items of one client in the order in which they came.
type line[T comparable] struct {
	client string
	items  []T
}

// Empty says whether there is no item.
func (t *Turns[T]) Empty() bool { return len(t.lines) == 0 }

// Add adds an item of a client. A client that had none is the last to have its turn.
func (t *Turns[T]) Add(client string, item T) {
	at := t.at(client)
	if at < 0 {
		at = len(t.lines)
		t.lines = append(t.lines, line[T]{client: client})
	}
	t.lines[at].items = append(t.lines[at].items, item)
}

// Next returns the item whose turn it is; ok says whether there is one.
func (t *Turns[T]) Next() (item T, ok bool) {
	if t.Empty() {
		return item, false
	}
	return t.lines[0].items[0], true
}

// Take removes the item whose turn it is, and returns it; ok says whether there is one. Its client is the last to have another turn.
func (t *Turns[T]) Take() (item T, ok bool) {
	if item, ok = t.Next(); !ok {
		return item, false
	}
	first := t.lines[0]
	t.lines = slices.Delete(t.lines, 0, 1)
	if first.items = first.items[1:]; len(first.items) > 0 {
		t.lines = append(t.lines, first)
	}
	return item, true
}

// Remove removes an item of a client that gave up, if it is there. The turns of others, and of what else the client has, stay.
func (t *Turns[T]) Remove(client string, item T) {
	at := t.at(client)
	if at < 0 {
		return
	}
	l := &t.lines[at]
	i := slices.Index(l.items, item)
	if i < 0 {
		return
	}
	if l.items = slices.Delete(l.items, i, i+1); len(l.items) == 0 {
		t.lines = slices.Delete(t.lines, at, at+1)
	}
}

func (t *Turns[T]) at(client string) int {
	return slices.IndexFunc(t.lines, func(l line[T]) bool { return l.client == client })
}

package turns

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// item is a number, and whose it is.
type item struct {
	client string
	number int
}

// law is what must be true of turns, whatever happens to them.
type law struct {
	turns   Turns[item]
	waiting []item                     // in the order in which they came
	seen    map[string]map[string]bool // by client that waits: who had a turn since it does
}

// Nothing is lost or given twice, the items of one client go in the order in which they came, and nobody has two turns while another
// client waits.
func TestFairness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Repeat(rapid.StateMachineActions(&law{seen: map[string]map[string]bool{}}))
	})
}

// Check implements rapid.StateMachine.
func (l *law) Check(t *rapid.T) {
	if l.turns.Empty() != (len(l.waiting) == 0) {
		t.Fatalf("empty is %v with %v", l.turns.Empty(), l.waiting)
	}
}

// Add adds an item.
func (l *law) Add(t *rapid.T) {
	added := item{rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "client"), rapid.Int().Draw(t, "number")}
	l.turns.Add(added.client, added)
	l.waiting = append(l.waiting, added)
	if l.seen[added.client] == nil {
		l.seen[added.client] = map[string]bool{}
	}
}

// Take takes the item whose turn it is.
func (l *law) Take(t *rapid.T) {
	next, _ := l.turns.Next()
	got, ok := l.turns.Take()
	first := slices.IndexFunc(l.waiting, func(w item) bool { return w.client == got.client })
	if ok != (len(l.waiting) > 0) || ok && (got != next || first < 0 || got != l.waiting[first]) {
		t.Fatalf("took %v, %v after %v, of %v", got, ok, next, l.waiting)
	}
	if !ok {
		return
	}
	l.seen[got.client] = map[string]bool{}
	l.leave(first)
	for client, seen := range l.seen {
		if client != got.client && seen[got.client] {
			t.Fatalf("%q waits while %q has two turns", client, got.client)
		}
		seen[got.client] = client != got.client
	}
}

// Remove removes an item, and one that is not there.
func (l *law) Remove(t *rapid.T) {
	l.turns.Remove("nobody", item{})
	l.turns.Remove("a", item{client: "nobody"})
	if len(l.waiting) == 0 {
		return
	}
	gone := rapid.SampledFrom(l.waiting).Draw(t, "gone")
	l.turns.Remove(gone.client, gone)
	l.leave(slices.Index(l.waiting, gone))
}

func (l *law) leave(i int) {
	client := l.waiting[i].client
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if !slices.ContainsFunc(l.waiting, func(w item) bool { return w.client == client }) {
		delete(l.seen, client)
	}
}

func ExampleTurns() {
	var waiting Turns[int]
	for i := range 3 {
		waiting.Add("ann", i)
	}
	waiting.Add("bob", 10)
	waiting.Remove("ann", 1)
	for i, ok := waiting.Take(); ok; i, ok = waiting.Take() {
		fmt.Println(i)
	}
	// Output:
	// 0
	// 10
	// 2
}

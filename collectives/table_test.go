package collectives

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// small prices many steps alike, and some at nothing.
type small struct{}

func (small) Price(kind Kind, axes []subaxis.Ref, bytes int64) int64 {
	return (int64(kind) + int64(len(axes)) + bytes/100) % 4
}

// stop is where the first of the shortest ways from a layout passes a vertex.
type stop struct {
	price  int64
	steps  int
	before int32
	done   bool
}

// dijkstra finds the ways from a vertex to all others one by one: the cheapest, of those that with the fewest steps, and of those the one
// whose vertices, from the last back, have the smallest keys.
func dijkstra(tab *table, start int32) map[int32]*stop {
	stops := map[int32]*stop{start: {before: -1}}
	for {
		at := int32(-1)
		for v, s := range stops {
			if !s.done && (at < 0 || s.less(stops[at])) {
				at = v
			}
		}
		if at < 0 {
			return stops
		}
		here := stops[at]
		here.done = true
		for _, r := range tab.roadsFrom(at) {
			next := &stop{price: here.price + tab.price(tab.graph.vertices[at].arcs[r.arc].move), steps: here.steps + 1, before: at}
			old, ok := stops[r.to]
			key := func(s *stop) string { return tab.graph.vertices[s.before].key }
			if !ok || next.less(old) || !old.less(next) && old.before >= 0 && key(next) < key(old) {
				stops[r.to] = next
			}
		}
	}
}

func (s *stop) less(o *stop) bool {
	return cmp.Or(cmp.Compare(s.price, o.price), cmp.Compare(s.steps, o.steps)) < 0
}

// Ways that are found for many goals at once, whatever was asked before, pass the vertices that the ways pass which Dijkstra's algorithm
// finds one by one, also where many ways cost the same and within a memory limit.
func TestTablesHoldTheFirstOfTheShortestWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh, axes, _ := drawAxes(t)
		tensor := &Tensor{sizes: []int64{rapid.SampledFrom([]int64{2, 8, 48}).Draw(t, "rows"), 16}, bytes: 12800, tables: map[*graph]*table{},
			most: rapid.SampledFrom([]int64{0, 12800, 6400}).Draw(t, "most")}
		g := newGraph(newAtoms(mesh, &Layout{Dims: make([][]subaxis.Ref, 2), Unreduced: axes}))
		tab := tensor.table(g, rapid.SampledFrom([]Pricer{small{}, ring{}}).Draw(t, "prices"))
		everyLayout(axes, Layout{Dims: make([][]subaxis.Ref, 2)}, func(l Layout) { g.of(LayoutID(len(g.known)), &l) })
		var vertices []int32
		for v := range int32(len(g.vertices)) {
			if tab.divides(v) {
				vertices = append(vertices, v)
			}
		}
		for range rapid.IntRange(1, 4).Draw(t, "asks") {
			some := rapid.SliceOfN(rapid.SampledFrom(vertices), 1, 5)
			starts, goals := some.Draw(t, "starts"), some.Draw(t, "goals")
			tab.aim(starts, goals)
			for _, start := range starts {
				stops := dijkstra(tab, start)
				for _, goal := range goals {
					checkWay(t, tab, start, goal, stops)
				}
			}
		}
	})
}

func checkWay(t *rapid.T, tab *table, start, goal int32, stops map[int32]*stop) {
	l := leg{aim: tab.aims[goal], start: start}
	end, ok := stops[goal]
	if !ok {
		if l.length() != nowhere {
			t.Fatalf("from %d to %d there is a way, but should be none", start, goal)
		}
		return
	}
	var want, got []int32
	for at := goal; at != start; at = stops[at].before {
		want = append(want, at)
	}
	slices.Reverse(want)
	for _, p := range l.passages(nil) {
		got = append(got, p.arc.to)
	}
	if l.length() != end.price<<stepBits+int64(end.steps) || !slices.Equal(got, want) {
		t.Fatalf("from %d to %d: the way passes %v, the shortest one %v", start, goal, got, want)
	}
}

// Steps that take longer than anybody waits have lengths that can be added up.
func TestLengthsCanBeAddedUp(t *testing.T) {
	if l := lengthOf(math.MaxInt64); l < lengthOf(1_000_000_000_000_000) || l >= nowhere/(1<<stepBits-1) {
		t.Errorf("the longest step has the length %d", l)
	}
}

// slow prices every step at two hours.
type slow struct{}

func (slow) Price(Kind, []subaxis.Ref, int64) int64 { return 2 * 3600 * 1_000_000_000_000 }

// Steps that take hours cost what they take, although their lengths do not say it.
func TestSlowStepsHaveTheirPrice(t *testing.T) {
	axes := []subaxis.Axis{{Name: "x", Size: 2}}
	along := []subaxis.Ref{{Axis: 0, Pre: 1, Size: 2}}
	p := NewPlanner(slow{}, axes)
	cut, whole := p.Intern(Layout{Dims: [][]subaxis.Ref{along, nil}}), p.Intern(Layout{Dims: [][]subaxis.Ref{nil, nil}})
	w := p.Way(p.Tensor([]int64{8, 8}, 4), cut, whole)
	hops := int64(0)
	w.Back(func(h Hop) { hops += h.Price })
	if want := (slow{}).Price(AllGather, along, 0); w.Price() != want || hops != want {
		t.Errorf("a gather of two hours costs %d, its steps %d", w.Price(), hops)
	}
}

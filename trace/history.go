package trace

import (
	"cmp"
	"maps"
	"slices"

	"autoshard/subaxis"
)

// History answers where the axes of a dimension came from, by the events of a trace.
type History struct {
	trace  *Trace
	events []Event
	start  func(Place) []subaxis.Ref
	into   map[Place][]int32 // events that change a place, in order
	kept   map[Place][]int32 // refusals
}

// NewHistory returns the history of a trace. start returns the axes that a dimension had before it, without those
// that events of kind Activate bring.
func NewHistory(t *Trace, start func(Place) []subaxis.Ref) *History {
	h := &History{trace: t, events: t.Events(), start: start, into: map[Place][]int32{}, kept: map[Place][]int32{}}
	for i := range h.events {
		e := &h.events[i]
		if e.Kind == Refusal {
			h.kept[e.To] = append(h.kept[e.To], int32(i))
			if e.Reason == MeshMismatch {
				h.kept[e.From] = append(h.kept[e.From], int32(i))
			}
		} else {
			h.into[e.To] = append(h.into[e.To], int32(i))
		}
	}
	return h
}

// Link is a step on the way of axes to a dimension: an event, or for Given the axes that the dimension To had from
// the start. Axes are those of the event that matter.
type Link struct {
	Event
	Given bool
	Parts []subaxis.Ref
}

// Axes returns the axes of a place at the end.
func (h *History) Axes(p Place) []subaxis.Ref {
	list := slices.Clone(h.start(p))
	for _, i := range h.into[p] {
		e := &h.events[i]
		list = e.apply(list, h.trace.Axes(e.Axes))
	}
	return list
}

// apply returns the axes of a dimension after an event that is no refusal brought axes to it.
func (e *Event) apply(list, axes []subaxis.Ref) []subaxis.Ref {
	if e.Kind != Move {
		list = nil
	}
	return Extend(list, axes, e.Apart)
}

// Extend appends what a move adds to the axes of a dimension. The first axis continues the last one of the list
// unless it stays apart, or takes its place where that was a smaller part from the same start.
func Extend(list, added []subaxis.Ref, apart bool) []subaxis.Ref {
	for i, a := range added {
		switch n := len(list); {
		case i > 0 || apart:
			list = append(list, a)
		case n > 0 && list[n-1].Axis == a.Axis && list[n-1].PrefixOf(a):
			list[n-1] = a
		default:
			list = subaxis.AppendMerge(list, a)
		}
	}
	return list
}

// need is a wish for axes at a place before an event.
type need struct {
	place  Place
	before int32
	axes   []subaxis.Ref
}

// Chain returns the links that together lead axes to a place, in order: first what was given, then what moved.
func (h *History) Chain(p Place, axes []subaxis.Ref) []Link {
	return h.chain(need{p, int32(len(h.events)), axes})
}

func (h *History) chain(goal need) []Link {
	given, used := map[Place][]subaxis.Ref{}, map[int32][]subaxis.Ref{}
	todo := []need{goal}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = h.trackBack(todo[:len(todo)-1], n, given, used)
	}
	return h.links(given, used)
}

// trackBack finds the latest events that brought the needed axes, and adds to the list what these need themselves.
func (h *History) trackBack(todo []need, n need, given map[Place][]subaxis.Ref, used map[int32][]subaxis.Ref) []need {
	into := h.into[n.place]
	end, _ := slices.BinarySearch(into, n.before)
	for k := end - 1; k >= 0 && len(n.axes) > 0; k-- {
		i := into[k]
		e := &h.events[i]
		hit := Common(n.axes, h.trace.Axes(e.Axes))
		if fresh := subaxis.Difference(hit, used[i]); len(fresh) > 0 {
			used[i] = append(used[i], fresh...)
			if e.Kind != Activate {
				todo = append(todo, need{e.From, i, fresh})
			}
		}
		if e.Kind != Move {
			return todo
		}
		n.axes = subaxis.Difference(n.axes, hit)
	}
	if hit := subaxis.Difference(Common(n.axes, h.start(n.place)), given[n.place]); len(hit) > 0 {
		given[n.place] = append(given[n.place], hit...)
	}
	return todo
}

func (h *History) links(given map[Place][]subaxis.Ref, used map[int32][]subaxis.Ref) []Link {
	var out []Link
	for _, p := range slices.SortedFunc(maps.Keys(given), comparePlaces) {
		out = append(out, Link{Event: Event{To: p}, Given: true, Parts: Common(h.start(p), given[p])})
	}
	for _, i := range slices.Sorted(maps.Keys(used)) {
		e := h.events[i]
		out = append(out, Link{Event: e, Parts: Common(h.trace.Axes(e.Axes), used[i])})
	}
	return out
}

// comparePlaces puts values in program order before results of functions.
func comparePlaces(a, b Place) int {
	if (a.Value < 0) != (b.Value < 0) {
		return cmp.Compare(b.Value, a.Value)
	}
	if a.Value < 0 {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Dim, b.Dim))
	}
	return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Dim, b.Dim))
}

// Common returns the parts of axes that are in another list, in the order of the first.
func Common(axes, other []subaxis.Ref) []subaxis.Ref {
	var out []subaxis.Ref
	for _, a := range axes {
		var parts []subaxis.Ref
		for _, b := range other {
			if a.Axis == b.Axis && a.CanCoexist(b) {
				if part, ok := a.Overlap(b); ok {
					parts = append(parts, part)
				}
			}
		}
		out = append(out, subaxis.SortMerge(parts)...)
	}
	return out
}

// Causes returns for each event the earlier ones that brought the axes to the place that it takes them from. An event whose axes were given
// has none. The numbers are those of Trace.Events.
func (h *History) Causes() [][]int32 {
	out := make([][]int32, len(h.events))
	for i := range h.events {
		e := &h.events[i]
		if e.Kind == Activate {
			continue
		}
		given, used := map[Place][]subaxis.Ref{}, map[int32][]subaxis.Ref{}
		h.trackBack(nil, need{e.From, int32(i), h.trace.Axes(e.Axes)}, given, used)
		out[i] = slices.Sorted(maps.Keys(used))
	}
	return out
}

package trace

import (
	"slices"

	"autoshard/subaxis"
)

// Relations says which dimensions shardings move between.
type Relations interface {
	// Related returns the dimensions next to one, in a fixed order.
	Related(Place) []Place
}

// Way is a way that axes could have taken to a dimension.
type Way struct {
	Places  []Place // from the dimension to the one that refused
	Refusal Event
	Parts   []subaxis.Ref // the axes that were refused
	Sources []Link        // how the place that offered them came by them
}

// WhyNot finds the refusals that kept axes away from a dimension: at the dimension itself or else at the nearest ones,
// at most limit of them. Of several with the same reason at the same place only the first counts. It reports how many
// there are.
func (h *History) WhyNot(p Place, axes []subaxis.Ref, relations Relations, limit int) ([]Way, int) {
	if !h.everRefused(axes) {
		return nil, 0
	}
	from := map[Place]Place{p: p}
	for level := []Place{p}; len(level) > 0; {
		if ways, n := h.refusedAt(level, from, axes, limit); n > 0 {
			return ways, n
		}
		var next []Place
		for _, q := range level {
			for _, r := range relations.Related(q) {
				if _, seen := from[r]; !seen {
					from[r] = q
					next = append(next, r)
				}
			}
		}
		level = next
	}
	return nil, 0
}

// everRefused says whether axes were refused anywhere.
func (h *History) everRefused(axes []subaxis.Ref) bool {
	return slices.ContainsFunc(h.events, func(e Event) bool {
		return e.Kind == Refusal && (e.Reason == MeshMismatch || len(Common(h.trace.Axes(e.Axes), axes)) > 0)
	})
}

func (h *History) refusedAt(places []Place, from map[Place]Place, axes []subaxis.Ref, limit int) ([]Way, int) {
	var ways []Way
	n := 0
	seen := map[refusal]bool{}
	for _, q := range places {
		for _, i := range append(slices.Clone(h.kept[q]), h.kept[Place{q.Value, -1}]...) {
			e := &h.events[i]
			parts := Common(h.trace.Axes(e.Axes), axes)
			if len(parts) == 0 && e.Reason != MeshMismatch {
				continue
			}
			k := refusal{reason: e.Reason, against: e.Against, to: e.To}
			if seen[k] {
				continue
			}
			seen[k] = true
			if n++; n <= limit {
				ways = append(ways, Way{Places: path(from, q), Refusal: *e, Parts: parts, Sources: h.chain(need{e.From, i, parts})})
			}
		}
	}
	return ways, n
}

// path returns the way back from a place to where the search began, turned around.
func path(from map[Place]Place, q Place) []Place {
	list := []Place{q}
	for from[q] != q {
		q = from[q]
		list = append(list, q)
	}
	slices.Reverse(list)
	return list
}

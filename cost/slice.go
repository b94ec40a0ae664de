package cost

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// On returns the hardware on a part of its network, as people write it: on a torus the shape of a slice, such as 4x4x8, with what its axes
// are where the hardware's rule does not hold, such as 4x8:line,ring; on switches how many children a level has, such as node=4,leaf=2.
// The error is of class diag.ErrInvalid, and its position is the byte in the text.
func (h Hardware) On(topology string) (Hardware, error) {
	h = h.clone()
	h.Topology = topology
	if h.Torus == nil {
		return h, h.setDegrees(topology)
	}
	h.Torus.Slice = SliceShape{}
	shape, wraps, given := strings.Cut(topology, ":")
	at := 1
	for size := range strings.SplitSeq(shape, "x") {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 1 || n > maxExtent {
			return h, badTopology(at, "the shape of a slice must be sizes such as 4x4x8, not %q", clip(shape))
		}
		h.Torus.Slice.Shape = append(h.Torus.Slice.Shape, n)
		at += len(size) + 1
	}
	if !fits(h.Torus.Slice.Shape, h.Torus.Shape) {
		return h, badTopology(1, "a slice %s is no part of a torus %s of %q", shape, formatShape(h.Torus.Shape), h.Name)
	}
	if !given {
		return h, nil
	}
	for kind := range strings.SplitSeq(wraps, ",") {
		if kind != ringAxis && kind != lineAxis {
			return h, badTopology(at, "an axis must be a `%s` or a `%s`, not %q", ringAxis, lineAxis, clip(kind))
		}
		h.Torus.Slice.Wrap = append(h.Torus.Slice.Wrap, kind == ringAxis)
		at += len(kind) + 1
	}
	if n := len(h.Torus.Slice.Shape); len(h.Torus.Slice.Wrap) != n {
		return h, badTopology(len(shape)+2, "%s, but %s of %s and %s", diag.Count(n, "axis", "axes"),
			diag.Count(len(h.Torus.Slice.Wrap), "kind", "kinds"), ringAxis, lineAxis)
	}
	return h, nil
}

// The kinds of axes of a slice.
const ringAxis, lineAxis = "ring", "line"

func badTopology(at int, format string, args ...any) *diag.Error {
	return diag.Invalid(diag.BadOption, diag.Position{Line: 1, Col: at}, format, args...)
}

// setDegrees reads what switches connect, such as node=4,leaf=2.
func (h *Hardware) setDegrees(topology string) error {
	names := lists.Map(h.Levels, func(l Level) string { return l.Name })
	at := 1
	for part := range strings.SplitSeq(topology, ",") {
		name, degree, _ := strings.Cut(part, "=")
		i := slices.Index(names, name)
		n, err := strconv.ParseInt(degree, 10, 64)
		switch {
		case i < 0:
			return badTopology(at, "hardware %q has no level %q%s", h.Name, clip(name), diag.DidYouMean(name, names)).
				WithNote(diag.Position{}, "levels are %s", strings.Join(names, ", "))
		case err != nil || n < 1 || n > maxExtent:
			return badTopology(at+len(name)+1, "level %q needs a number of children, such as %s=8", name, name)
		}
		h.Levels[i].Degree = n
		at += len(part) + 1
	}
	return nil
}

// formatShape writes 4x4x8.
func formatShape(shape []int64) string {
	return strings.Join(lists.Map(shape, func(n int64) string { return fmt.Sprint(n) }), "x")
}

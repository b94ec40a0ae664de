package explain

import (
	"fmt"

	"autoshard/ir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// change says what would have to be otherwise for axes not to be kept away: of the refusal alone, for there may be others behind it.
func (e *Explainer) change(r *trace.Event, axes string) string {
	to, from, value := e.names.Place(r.To), e.names.Place(r.From), e.names.Place(trace.Place{Value: r.To.Value, Dim: -1})
	other, against := e.other(r), e.m.Mesh(ir.MeshID(r.Mesh)).FormatList(e.trace.Axes(r.Against))
	switch r.Reason {
	case trace.Closed:
		return fmt.Sprintf("open %s: a ? in its braces lets axes in, or write %s there", to, axes)
	case trace.Replicated:
		return fmt.Sprintf("take %s out of what is replicated at %s", axes, value)
	case trace.Unreduced:
		return fmt.Sprintf("reduce %s before: partial results along %s cannot be cut along it", value, axes)
	case trace.LowerPriority:
		return fmt.Sprintf("write %s at %s, or nowhere in %s: a later user priority wants it at another dimension", axes, to,
			value)
	case trace.Conflict:
		return fmt.Sprintf("keep %s away from %s, or write %s at %s", against, other, axes, to)
	case trace.Different:
		return fmt.Sprintf("cut %s along %s first, where it is cut along %s now", to, axes, against)
	case trace.SubAxes:
		return fmt.Sprintf("cut %s and %s along the same parts of the axis", to, other)
	case trace.NotDivisible:
		return fmt.Sprintf("make the size of %s a multiple of %d", to, subaxis.Product(e.trace.Axes(r.Axes)))
	case trace.BlockedFactor:
		return fmt.Sprintf("write %s at %s: this operation carries nothing along the dimension", axes, to)
	case trace.Barrier:
		return fmt.Sprintf("let the barrier pass this direction, or write %s at %s", axes, to)
	case trace.Veto:
		return fmt.Sprintf("let %s be cut along %s too, which it is not now", other, axes)
	case trace.MeshMismatch:
		return fmt.Sprintf("write %s and %s over one mesh", from, to)
	case trace.WholeAxes:
		return "let parts of axes move: this propagation is conservative"
	case trace.Strided:
		return fmt.Sprintf("cut the earlier part of %s fully first, or write %s at %s", to, axes, to)
	}
	return ""
}

// other names the place that decided about a refusal: of a conflict where the axes are.
func (e *Explainer) other(r *trace.Event) string {
	if r.Other.Value == 0 {
		return e.names.Place(trace.Place{Value: r.To.Value, Dim: -1})
	}
	return e.names.Place(r.Other)
}

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"autoshard/explain"
)

// Explanation returns an explanation: what each dimension is cut along, and by which steps it came to that.
func Explanation(x *explain.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", x.Value, x.Type, x.Op)
	for i := range x.Dims {
		writeDim(&b, &x.Dims[i], x.Value)
	}
	return b.String()
}

func writeDim(b *strings.Builder, d *explain.DimReason, value string) {
	place := fmt.Sprintf("%s[%d]", value, d.Dim)
	if d.Axes == "" {
		fmt.Fprintf(b, "\n%s is not sharded\n", place)
	} else {
		fmt.Fprintf(b, "\n%s is sharded along %s\n", place, d.Axes)
	}
	writeLinks(b, "  ", d.Links)
	if x := d.Export; x != nil {
		fmt.Fprintf(b, "  the propagated program keeps %s there: %s\n", cmp.Or(x.Axes, "none of it"), x.Reason)
	}
	if d.WhyNot != nil {
		writeAbsence(b, d.WhyNot, place)
	}
}

func writeLinks(b *strings.Builder, indent string, links []explain.Link) {
	for i := range links {
		b.WriteString(indent + links[i].String() + "\n")
	}
}

func writeAbsence(b *strings.Builder, a *explain.Absence, place string) {
	switch {
	case a.Present:
		fmt.Fprintf(b, "%s is there\n", a.Axis)
		return
	case len(a.Refused) == 0:
		fmt.Fprintf(b, "why not %s: no dimension that operations tie to %s is sharded along it\n", a.Axis, place)
		return
	}
	fmt.Fprintf(b, "why not %s:\n", a.Axis)
	for i := range a.Refused {
		r := &a.Refused[i]
		b.WriteString("  " + r.Link.String() + "\n")
		if r.By != "" {
			b.WriteString("    " + r.To + " is given " + r.By)
			if r.Source != "" {
				b.WriteString(" (" + r.Source + ")")
			}
			b.WriteString("\n")
		}
		if len(r.Way) > 0 {
			way := slices.Clone(r.Way)
			slices.Reverse(way)
			b.WriteString("    from there it would have come by " + strings.Join(way, ", ") + "\n")
		}
		writeLinks(b, "    ", r.Sources)
	}
	if a.More > 0 {
		fmt.Fprintf(b, "  and %d more\n", a.More)
	}
}

package explain

import (
	"cmp"
	"fmt"
	"strings"
)

// Text returns the explanation for a person.
func (x *Explanation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", x.Value, x.Type, x.Op)
	for i := range x.Dims {
		x.Dims[i].write(&b, x.Value)
	}
	return b.String()
}

func (d *DimReason) write(b *strings.Builder, value string) {
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
		d.WhyNot.write(b, place)
	}
}

func writeLinks(b *strings.Builder, indent string, links []Link) {
	for i := range links {
		b.WriteString(indent + links[i].String() + "\n")
	}
}

// String returns the link as one line.
func (l *Link) String() string {
	at := ""
	if l.Source != "" {
		at = " (" + l.Source + ")"
	}
	switch l.Kind {
	case "given":
		return l.Axes + " is given at " + l.To + ", " + l.Reason + at
	case "activate":
		return fmt.Sprintf("%s is given at %s from user priority %d on, %s%s", l.Axes, l.To, l.UserPriority, l.Reason, at)
	}
	return fmt.Sprintf("%s [user priority %d, op priority %d]", l.Step.String(), l.UserPriority, l.OpPriority)
}

func (a *Absence) write(b *strings.Builder, place string) {
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
			b.WriteString("    from there it would have come by " + strings.Join(reversed(r.Way), ", ") + "\n")
		}
		writeLinks(b, "    ", r.Sources)
	}
	if a.More > 0 {
		fmt.Fprintf(b, "  and %d more\n", a.More)
	}
}

func reversed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[len(list)-1-i] = s
	}
	return out
}

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
	writeTree(b, "  ", d.Links)
	if x := d.Export; x != nil {
		fmt.Fprintf(b, "  the propagated program keeps %s there: %s\n", cmp.Or(x.Axes, "none of it"), x.Reason)
	}
	if d.WhyNot != nil {
		writeAbsence(b, d.WhyNot, place)
	}
}

// writeTree draws how axes came to a dimension: from each place where the user wrote them, step by step, a branch for each way that they
// took. Ways that meet go on below the first of them.
func writeTree(b *strings.Builder, indent string, links []explain.Link) {
	t := tree{b: b, next: map[string][]*explain.Link{}, drawn: map[*explain.Link]bool{}}
	for i := range links {
		if l := &links[i]; !isGiven(l) {
			t.next[l.From] = append(t.next[l.From], l)
		}
	}
	for i := range links {
		if l := &links[i]; isGiven(l) {
			b.WriteString(indent + l.String() + "\n")
			t.draw(indent, l.To)
		}
	}
}

// isGiven says whether a link is no step but what the user wrote.
func isGiven(l *explain.Link) bool { return l.Kind == "given" || l.Kind == "activate" }

type tree struct {
	b     *strings.Builder
	next  map[string][]*explain.Link // steps by where they come from
	drawn map[*explain.Link]bool
}

// draw writes the steps that go on from a place: one after the other below each other, several as branches.
func (t *tree) draw(indent, place string) {
	for {
		var steps []*explain.Link
		for _, l := range t.next[place] {
			if !t.drawn[l] {
				steps = append(steps, l)
				t.drawn[l] = true
			}
		}
		if len(steps) == 1 {
			t.b.WriteString(indent + "└ " + steps[0].String() + "\n")
			place = steps[0].To
			continue
		}
		for i, l := range steps {
			sign, below := "├ ", "│ "
			if i == len(steps)-1 {
				sign, below = "└ ", "  "
			}
			t.b.WriteString(indent + sign + l.String() + "\n")
			t.draw(indent+below, l.To)
		}
		return
	}
}

func writeAbsence(b *strings.Builder, a *explain.Absence, place string) {
	switch {
	case a.Present:
		fmt.Fprintf(b, "%s is there\n", a.Axis)
		return
	case len(a.Refused) == 0:
		fmt.Fprintf(b, "why not %s: no dimension that operations tie to %s is sharded along it\n", a.Axis, place)
		fmt.Fprintf(b, "  change: write %s at %s, or at a dimension that operations tie to it\n", a.Axis, place)
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
		writeTree(b, "    ", r.Sources)
		b.WriteString("    change: " + r.Change + "\n")
	}
	if a.More > 0 {
		fmt.Fprintf(b, "  and %d more\n", a.More)
	}
}

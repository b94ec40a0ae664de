package explain

import (
	"fmt"
	"slices"
	"strings"
)

// DOT returns the explanation as a graph for Graphviz: a node for each dimension of a value, and an edge for each step of axes from
// one to another, named by the axes and the operation. The dimensions that were asked about have a double line, what the user wrote
// is a box, and steps that were refused are dashed.
func (x *Explanation) DOT() string {
	d := &dot{lines: []string{"digraph explanation {\n"}}
	for i := range x.Dims {
		dim := &x.Dims[i]
		d.add("  %q [peripheries=2]\n", fmt.Sprintf("%s[%d]", x.Value, dim.Dim))
		d.addLinks(dim.Links)
		if dim.WhyNot == nil {
			continue
		}
		for i := range dim.WhyNot.Refused {
			r := &dim.WhyNot.Refused[i]
			d.addLinks(r.Sources)
			d.addRefused(r)
		}
	}
	return strings.Join(d.lines, "") + "}\n"
}

// dot collects the lines of a graph. Several dimensions may have steps in common.
type dot struct{ lines []string }

func (d *dot) add(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(d.lines, line) {
		d.lines = append(d.lines, line)
	}
}

func (d *dot) addLinks(links []Link) {
	for i := range links {
		switch l := &links[i]; l.Kind {
		case "given", "activate":
			from := strings.TrimSpace(l.Reason + "\n" + l.Source)
			d.add("  %q [shape=box]\n", from)
			d.add("  %q -> %q [label=%q]\n", from, l.To, l.Axes)
		default:
			d.add("  %q -> %q [label=%q]\n", l.From, l.To, l.Axes+"\n"+l.Op)
		}
	}
}

// addRefused adds the step that was refused, and the way that the axis would have gone from there.
func (d *dot) addRefused(r *Refused) {
	d.add("  %q -> %q [style=dashed, color=red, label=%q]\n", r.From, r.To, r.Axes+"\n"+r.Op+"\n"+r.Step.Reason)
	for i := len(r.Way) - 1; i > 0; i-- {
		d.add("  %q -> %q [style=dotted]\n", r.Way[i], r.Way[i-1])
	}
}

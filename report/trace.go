package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/trace"
)

// What a page of a trace shows; the rest is counted.
const (
	traceSteps  = 40 // a trace of no more steps is shown step by step
	traceGroups = 5  // of an op priority
	traceKinds  = 6  // of operations of a group
	tracePlaces = 3  // where a group starts, or what was given
)

// Trace returns a trace for a person: of every user priority what was given, what followed and what was refused, and then its steps by op
// priority, those that are alike in one line. A priority that is not negative selects one round. Short traces are shown step by step.
func Trace(d *trace.Document, priority int32) string {
	rounds := lists.Filter(d.Rounds, func(r trace.Round) bool { return priority < 0 || r.UserPriority == priority })
	steps := 0
	for i := range rounds {
		steps += roundSteps(&rounds[i])
	}
	if steps <= traceSteps {
		return d.Text(priority)
	}
	p := tracePage{file: mainFile(rounds)}
	fmt.Fprintf(&p.b, "%d steps, those that are alike in one line; `--full` lists them, `--value`, `--op`, `--axis` and `--refusals` choose\n",
		steps)
	if p.file != "" {
		fmt.Fprintf(&p.b, ":12 is line 12 of %s\n", p.file)
	}
	for i := range rounds {
		p.round(&rounds[i])
	}
	return p.b.String()
}

func roundSteps(r *trace.Round) (n int) {
	for i := range r.Levels {
		n += len(r.Levels[i].Steps)
	}
	return n
}

// mainFile returns the file that most groups come from, "" where none is known.
func mainFile(rounds []trace.Round) string {
	count := map[string]int{}
	for i := range rounds {
		for _, l := range rounds[i].Levels {
			for _, g := range l.Groups {
				for _, s := range g.Starts {
					file, _ := cutLine(s.Source)
					count[file]++
				}
			}
		}
	}
	best := ""
	for file, n := range count {
		if file != "" && (n > count[best] || best == "" || n == count[best] && file < best) {
			best = file
		}
	}
	return best
}

// cutLine cuts train.py:12 into file and line.
func cutLine(source string) (file, line string) {
	if i := strings.LastIndexByte(source, ':'); i >= 0 {
		return source[:i], source[i+1:]
	}
	return source, ""
}

// tracePage writes a trace whose sources are mostly lines of one file.
type tracePage struct {
	b    strings.Builder
	file string
}

func (p *tracePage) round(r *trace.Round) {
	fmt.Fprintf(&p.b, "user priority %d: %s\n", r.UserPriority, diag.Count(roundSteps(r), "step", "steps"))
	p.tallies("given", r.Summary.Given)
	p.tallies("followed", r.Summary.Gained)
	p.tallies("refused", r.Summary.Refused)
	for i := range r.Levels {
		p.level(&r.Levels[i])
	}
}

// tallies writes one line of what a round came to.
func (p *tracePage) tallies(title string, list []trace.Tally) {
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b trace.Tally) int { return cmp.Compare(b.Dims, a.Dims) })
	rest := 0
	var parts []string
	for i := range list {
		t := &list[i]
		if i >= tracePlaces {
			rest += t.Dims
			continue
		}
		text := fmt.Sprintf("%s at %s", t.Axes, diag.Count(t.Dims, "dimension", "dimensions"))
		if len(t.Places) > 0 {
			text += " (" + places(t.Places, nil) + ")"
		}
		if t.Reason != "" {
			text += ": " + t.Reason
		}
		parts = append(parts, text)
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("others at %d", rest))
	}
	fmt.Fprintf(&p.b, "  %-8s  %s\n", title, strings.Join(parts, "; "))
}

// level writes groups of an op priority in the order of their first steps, refusals and the largest others, and counts the rest.
func (p *tracePage) level(l *trace.Level) {
	fmt.Fprintf(&p.b, "  op priority %d: %s\n", l.OpPriority, diag.Count(len(l.Steps), "step", "steps"))
	order := lists.Range[int](len(l.Groups))
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &l.Groups[a], &l.Groups[b]
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(len(y.Steps), len(x.Steps)))
	})
	most := min(traceGroups, len(order))
	shown, others := order[:most], order[most:]
	slices.Sort(shown)
	for _, i := range shown {
		fmt.Fprintf(&p.b, "    %5d  %s\n", len(l.Groups[i].Steps), p.group(&l.Groups[i]))
	}
	var axes []string
	steps := 0
	for _, i := range others {
		g := &l.Groups[i]
		steps += len(g.Steps)
		if !slices.Contains(axes, g.Axes) {
			axes = append(axes, g.Axes)
		}
	}
	if len(others) > 0 {
		few := axes[:min(tracePlaces, len(axes))]
		fmt.Fprintf(&p.b, "    %5d  in %s, of %s\n", steps, diag.Count(len(others), "smaller group", "smaller groups"),
			strings.Join(few, " and of "))
	}
}

// rank is 0 for groups that are shown first.
func rank(g *trace.Group) int {
	if g.Kind == "refusal" {
		return 0
	}
	return 1
}

func (p *tracePage) group(g *trace.Group) string {
	names := lists.Map(g.Starts, func(s trace.Start) string { return s.Place })
	at := places(names, lists.Map(g.Starts, func(s trace.Start) string { return p.short(s.Source) }))
	kinds := kindList(g.Kinds)
	switch g.Kind {
	case "activate":
		return g.Axes + " starts at " + at + ", as annotated"
	case "refusal":
		text := g.Axes + " is kept from " + at + " in " + kinds + ": " + g.Reason
		if g.Against != "" {
			text += " (" + g.Against + ")"
		}
		return text
	case "replace":
		return g.Axes + " replaces what was there, from " + at + " through " + kinds
	}
	return g.Axes + " from " + at + " through " + kinds
}

// kindList names kinds of operations without their dialect.
func kindList(list []string) string {
	few := lists.Joined(list[:min(traceKinds, len(list))], func(k string) string { return k[strings.LastIndexByte(k, '.')+1:] })
	if more := len(list) - traceKinds; more > 0 {
		few += fmt.Sprintf(" and %d more", more)
	}
	return few
}

// short returns a source as a line of the main file, or as file and line.
func (p *tracePage) short(source string) string {
	file, line := cutLine(source)
	switch file {
	case "":
		return ""
	case p.file:
		return ":" + line
	}
	return path.Base(file) + ":" + line
}

// places names a few of many dimensions of values, those of equal layers as one, with the line of each that stands alone.
func places(names, sources []string) string {
	type key struct{ shape, dim string }
	index := map[key]int{}
	var members [][]int
	templates := make([]template, len(names))
	dims := make([]string, len(names))
	for i, name := range names {
		base := name
		if at := strings.LastIndexByte(name, '['); at > 0 {
			base, dims[i] = name[:at], name[at:]
		}
		templates[i] = templateOf(base)
		k := key{strings.Join(templates[i].pieces, "*"), dims[i]}
		if _, ok := index[k]; !ok {
			index[k] = len(members)
			members = append(members, nil)
		}
		members[index[k]] = append(members[index[k]], i)
	}
	var parts []string
	rest := 0
	for i, m := range members {
		if i >= tracePlaces {
			rest += len(m)
			continue
		}
		name, _ := foldedName(templates, m, false)
		base, count, _ := strings.Cut(name, " x ")
		text := base + dims[m[0]]
		if count != "" {
			text += " x " + count
		} else if sources != nil && sources[m[0]] != "" {
			text += " " + sources[m[0]]
		}
		parts = append(parts, text)
	}
	if rest > 0 {
		return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", rest)
	}
	return strings.Join(parts, ", ")
}

package plan

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// Budget is the most bytes that a step may send by collectives of a kind over some axes.
type Budget struct {
	Kind  string   `json:"kind"`  // all_gather, … as collectives of plans have it; sent for all of them
	Axes  []string `json:"axes"`  // collectives count that run along one of these, or a part of it; all if empty
	Bytes int64    `json:"bytes"` // in one step
	Each  bool     `json:"each"`  // of each device, on average; of all devices together else
}

// ofAll is what a budget has in place of a kind where collectives of all kinds count.
const ofAll = "sent"

// kinds are those of collectives that send.
var kinds = lists.Map([]collectives.Kind{collectives.AllGather, collectives.ReduceScatter, collectives.AllReduce, collectives.AllToAll,
	collectives.Permute, collectives.Broadcast, collectives.Reduce}, collectives.Kind.String)

// ParseBudget reads a budget: all_gather<=64MiB, all_reduce: data,model<=1GiB, sent<=100MB/device. Errors are of class diag.ErrInvalid.
func ParseBudget(text string) (b Budget, err error) {
	what, limit, found := strings.Cut(text, "<=")
	what, axes, along := strings.Cut(what, ":")
	if b.Kind = strings.TrimSpace(what); !found || b.Kind != ofAll && !slices.Contains(kinds, b.Kind) {
		return Budget{}, diag.Invalid(diag.BadOption, diag.Position{},
			"%q is no budget, such as `all_gather<=64MiB` or `sent: data<=1GiB/device`; kinds are %s, and %s for all%s", text,
			strings.Join(kinds, ", "), ofAll, diag.DidYouMean(b.Kind, append([]string{ofAll}, kinds...)))
	}
	if b.Axes = []string{}; along {
		for axis := range strings.SplitSeq(axes, ",") {
			b.Axes = append(b.Axes, strings.TrimSpace(axis))
		}
	}
	limit, b.Each = strings.CutSuffix(strings.TrimSpace(limit), "/device")
	if limit = strings.TrimSpace(limit); limit == "0" {
		return b, nil
	}
	if b.Bytes, err = diag.ParseSize(limit); err != nil {
		return Budget{}, diag.Invalid(diag.BadOption, diag.Position{}, "%q is no budget: %v", text, err)
	}
	return b, nil
}

// String returns a budget as ParseBudget reads it.
func (b *Budget) String() string {
	text := b.Kind
	if len(b.Axes) > 0 {
		text += ": " + strings.Join(b.Axes, ",")
	}
	n, unit := b.Bytes, "B"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, larger
	}
	text += fmt.Sprintf("<=%d", n)
	if n > 0 {
		text += unit
	}
	if b.Each {
		text += "/device"
	}
	return text
}

// counts says whether a collective counts.
func (b *Budget) counts(c *Collective) bool {
	along := func(axis string) bool {
		name, _, _ := strings.Cut(axis, ":(")
		return slices.Contains(b.Axes, name)
	}
	return (b.Kind == ofAll || b.Kind == c.Kind) && (len(b.Axes) == 0 || slices.ContainsFunc(c.Axes, along))
}

// concerns says whether a collective of a kind along some axes counts.
func (b *Budget) concerns(kind collectives.Kind, mesh *subaxis.Mesh, axes []subaxis.Ref) bool {
	return b.counts(&Collective{Kind: kind.String(), Axes: lists.Map(axes, func(r subaxis.Ref) string { return mesh.Axes[r.Axis].Name })})
}

// sends returns the bytes of the collectives that count, and the place of the one that sends most, -1 for none.
func (b *Budget) sends(list []Collective, devices int64) (bytes int64, most int) {
	most = -1
	for i := range list {
		if c := &list[i]; b.counts(c) {
			if bytes += c.Bytes; c.Bytes > 0 && (most < 0 || c.Bytes > list[most].Bytes) {
				most = i
			}
		}
	}
	if b.Each {
		bytes /= devices
	}
	return bytes, most
}

// checkBudgets returns an error of class diag.ErrInvalid where a budget makes no sense, or names an axis that the mesh lacks.
func (p *planner) checkBudgets() error {
	mesh := &p.module.Mesh(p.mesh).Mesh
	names := lists.Map(mesh.Axes, func(a subaxis.Axis) string { return a.Name })
	for i := range p.Budgets {
		if b := &p.Budgets[i]; b.Kind != ofAll && !slices.Contains(kinds, b.Kind) || b.Bytes < 0 {
			return diag.Invalid(diag.BadOption, diag.Position{}, "`%s` is no budget: kinds are %s, and %s for all%s", b,
				strings.Join(kinds, ", "), ofAll, diag.DidYouMean(b.Kind, append([]string{ofAll}, kinds...)))
		}
		for _, axis := range p.Budgets[i].Axes {
			if !slices.Contains(names, axis) {
				return diag.Invalid(diag.UnknownAxis, diag.Position{}, "the budget `%s` is for the axis %q, which the mesh %s lacks%s", &p.Budgets[i],
					axis, answer.FormatAxes(mesh.Axes), diag.DidYouMean(axis, names))
			}
		}
	}
	return nil
}

// within says whether a program keeps all budgets.
func (p *planner) within(l *lowered) bool { return p.overBudget(l) == 0 }

// overBudget returns by what part of its bytes a program exceeds the budget that it exceeds most; 0 where it keeps all.
func (p *planner) overBudget(l *lowered) (part float64) {
	if len(p.Budgets) == 0 {
		return 0
	}
	list := describeCollectives(l)
	for i := range p.Budgets {
		b := &p.Budgets[i]
		if sent, _ := b.sends(list, l.program.Mesh.Devices()); sent > b.Bytes {
			part = max(part, float64(sent-b.Bytes)/float64(max(b.Bytes, 1)))
		}
	}
	return part
}

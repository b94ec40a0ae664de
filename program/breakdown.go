package program

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
)

// BreakdownSchema identifies the JSON form of a Breakdown.
const BreakdownSchema = "autoshard.breakdown/v1"

// Breakdown says what a step of a program takes its time for. Times are in seconds, sizes in bytes.
type Breakdown struct {
	Schema   string            `json:"schema"`
	Program  string            `json:"program"`
	Mesh     []answer.MeshAxis `json:"mesh"`
	Hardware string            `json:"hardware"`
	Estimate Estimate          `json:"estimate"`
	Overlap  Overlap           `json:"overlap"` // the same step with collectives beside local ops
	Shares   []Share           `json:"shares"`  // of resources, the largest first
	Groups   []OpGroup         `json:"groups"`  // of ops, the longest first
}

// Share is what a step waits for a resource, and what it would gain from more of it.
type Share struct {
	Resource cost.Resource `json:"resource"`
	Seconds  float64       `json:"seconds"` // of the ops that wait for it
	Doubled  float64       `json:"doubled"` // seconds of a step with the resource twice as fast
}

// OpGroup are ops of one kind that make one type and wait for one resource.
type OpGroup struct {
	Kind     string        `json:"kind"`
	Axes     string        `json:"axes,omitempty"` // of collectives, or groups where these run along none
	Type     string        `json:"type"`           // of a device's result
	Places   int           `json:"places"`         // in the program
	Runs     int64         `json:"runs"`           // in a step
	Seconds  float64       `json:"seconds"`
	Resource cost.Resource `json:"resource"`
	Sources  []string      `json:"sources"` // places in the user's program, the longest op first
}

// onDevice returns what a device runs, over axes.
func (p *Program) onDevice() *shardmap.Program {
	if p.device == nil {
		return p.typed.LowerOverAxes()
	}
	return p.device
}

// Breakdown predicts what each op of a step takes, what a step would gain from each resource, and how long it takes where collectives run
// beside local ops and start up to so many places before their own. Errors are like those of Estimate.
func (p *Program) Breakdown(ctx context.Context, hardware cost.Hardware, ahead int) (b *Breakdown, err error) {
	defer diag.Recover("estimate", &err)
	hardware = hardware.OrDefault()
	device := p.onDevice()
	model, err := estimate.New(hardware, device.Mesh)
	if err != nil {
		return nil, err
	}
	step, err := model.Program(ctx, device)
	if err != nil {
		return nil, err
	}
	items, err := model.Breakdown(ctx, device)
	if err != nil {
		return nil, err
	}
	b = &Breakdown{Schema: BreakdownSchema, Program: p.Name, Mesh: p.Mesh, Hardware: hardware.Name, Estimate: EstimateOf(device, &step),
		Groups: groupItems(device, items)}
	line, err := model.Simulate(ctx, device, ahead)
	if err != nil {
		return nil, err
	}
	b.Overlap = OverlapOf(device, line, ahead, b.Estimate.Seconds)
	for _, r := range cost.Resources() {
		s := Share{Resource: r}
		for _, item := range items {
			if item.Bound == r {
				s.Seconds += float64(item.Picoseconds) / Picoseconds
			}
		}
		faster, err := p.Estimate(ctx, hardware.Faster(r, 2))
		if err != nil {
			return nil, err
		}
		s.Doubled = faster.Seconds
		b.Shares = append(b.Shares, s)
	}
	slices.SortStableFunc(b.Shares, func(x, y Share) int { return cmp.Compare(y.Seconds, x.Seconds) })
	return b, nil
}

// groupItems adds up ops that are alike.
func groupItems(p *shardmap.Program, items []estimate.Item) []OpGroup {
	slices.SortStableFunc(items, func(x, y estimate.Item) int { return cmp.Compare(y.Picoseconds, x.Picoseconds) })
	type key struct {
		kind, axes, result string
		resource           cost.Resource
	}
	groups, at := []OpGroup{}, map[key]int{}
	for i := range items {
		if items[i].Picoseconds == 0 {
			continue
		}
		one := describeItem(p, &items[i])
		k := key{one.Kind, one.Axes, one.Type, one.Resource}
		n, ok := at[k]
		if !ok {
			at[k] = len(groups)
			groups = append(groups, one)
			continue
		}
		g := &groups[n]
		g.Places, g.Runs, g.Seconds = g.Places+1, g.Runs+one.Runs, g.Seconds+one.Seconds
		if source := one.Sources[0]; !slices.Contains(g.Sources, source) {
			g.Sources = append(g.Sources, source)
		}
	}
	slices.SortStableFunc(groups, func(x, y OpGroup) int { return cmp.Compare(y.Seconds, x.Seconds) })
	return groups
}

// describeItem returns an op as a group of its own.
func describeItem(p *shardmap.Program, item *estimate.Item) OpGroup {
	m := p.Module
	t := m.ValueType(m.Result(item.Op, 0))
	g := OpGroup{Kind: plainKind(m.Kind(item.Op)), Type: answer.FormatType(t, t.Dims), Places: 1, Runs: item.Runs,
		Seconds: float64(item.Picoseconds) / Picoseconds, Resource: item.Bound, Sources: []string{answer.Scoped(m, m.OpLoc(item.Op))}}
	if more := m.NumResults(item.Op) - 1; more > 0 {
		g.Type += fmt.Sprintf(" and %d more", more)
	}
	if item.Collective >= 0 {
		c := &p.Collectives[item.Collective]
		g.Kind = c.Kind.String()
		g.Axes = among(p, c)
	}
	return g
}

// among says between whom a collective communicates.
func among(p *shardmap.Program, c *shardmap.Collective) string {
	return answer.FormatAmong(answer.FormatRefs(&p.Mesh, c.Axes), answer.FormatGroups(&p.Mesh, c.Members))
}

// plainKind returns the name of an op without its dialect.
func plainKind(k ir.Kind) string {
	_, name, found := strings.Cut(k.String(), ".")
	if !found {
		return k.String()
	}
	return name
}

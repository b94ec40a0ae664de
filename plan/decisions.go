package plan

import (
	"cmp"
	"context"
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/specfmt"
)

// DecisionsSchema identifies the JSON form of Decisions.
const DecisionsSchema = "autoshard.decisions/v1"

// Decisions are those of a plan that matter most.
type Decisions struct {
	Schema  string     `json:"schema"`
	Model   string     `json:"model"`
	List    []Decision `json:"decisions"`         // those that matter most first
	Untried int        `json:"untried,omitempty"` // decisions about fewer bytes, that were left out
}

// Decision is how inputs of a plan that are alike are cut, and what a step would take if they were whole.
type Decision struct {
	Values []string `json:"values"`
	Type   string   `json:"type"`
	Spec   string   `json:"spec"`
	Bytes  int64    `json:"bytes"` // of all of them on a device
	Whole  Choice   `json:"whole"`

	inputs []answer.Tensor
}

// mostDecisions are tried, those about the most bytes first.
const mostDecisions = 10

// Decisions returns the decisions of a plan, the session's latest, that matter most: those without which nothing fits, and then those
// without which a step takes longest, and the ones of which it is not known in time. Inputs that differ in the numbers of their names alone
// are one decision. The first few are planned from scratch, as many as are asked for. Deadlines count as in [Session.Weigh]. The session
// stays as it is. Errors are those of a context that is canceled.
func (s *Session) Decisions(ctx context.Context, now *Plan, most int) (out *Decisions, err error) {
	defer diag.Recover("weigh", &err)
	groups := alikeInputs(now)
	out = &Decisions{Schema: DecisionsSchema, Model: now.Model, List: []Decision{}, Untried: max(0, len(groups)-mostDecisions)}
	groups = groups[:len(groups)-out.Untried]
	for i, g := range groups {
		d := Decision{Type: g[0].Type, Spec: g[0].Spec, inputs: g, Values: lists.Map(g, func(t answer.Tensor) string { return t.Name })}
		for i := range g {
			d.Bytes += g[i].Bytes
		}
		if d.Whole, err = s.try(ctx, now, g, s.planner.whole(&g[0]), len(groups)-i+settling); err != nil {
			return nil, err
		}
		out.List = append(out.List, d)
	}
	for {
		slices.SortStableFunc(out.List, func(a, b Decision) int { return cmp.Compare(b.Whole.weight(), a.Whole.weight()) })
		first := out.List[:min(most, len(out.List))]
		at := slices.IndexFunc(first, func(d Decision) bool { return !d.Whole.Anew })
		if at < 0 {
			return out, nil
		}
		d := &first[at]
		if err = s.anew(ctx, now, d.inputs, &d.Whole); err != nil || !d.Whole.Anew {
			return out, err
		}
	}
}

// weight is how much a decision matters of which this is the opposite: by the time of a step, nothing where that is not known.
func (c *Choice) weight() float64 {
	if c.Late {
		return 0
	}
	return c.rank()
}

// whole is the sharding of a value that every device holds.
func (p *planner) whole(t *answer.Tensor) string {
	_, shape, _ := t.Shape()
	s := ir.Sharding{Mesh: p.mesh, Dims: make([]ir.DimSharding, len(shape))}
	for d := range s.Dims {
		s.Dims[d] = ir.DimSharding{Closed: true, Priority: ir.NoPriority}
	}
	return specfmt.Notation(p.module, p.module.InternSharding(s))
}

// alikeInputs groups the inputs that are cut by name without numbers, type and sharding, the groups of most bytes first.
func alikeInputs(p *Plan) [][]answer.Tensor {
	at := map[string]int{}
	var groups [][]answer.Tensor
	for _, t := range p.Inputs {
		if len(t.Axes) == 0 {
			continue
		}
		key := withoutNumbers(t.Name) + t.Type + t.Spec
		n, ok := at[key]
		if !ok {
			n = len(groups)
			at[key] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], t)
	}
	bytes := func(g []answer.Tensor) int64 { return int64(len(g)) * g[0].WholeBytes }
	slices.SortStableFunc(groups, func(a, b []answer.Tensor) int { return cmp.Compare(bytes(b), bytes(a)) })
	return groups
}

package plan

import (
	"context"
	"strings"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/rewrites"
)

// resume offers the program that Options.From leads to, and suggests it to the search: its inputs and outputs are cut as those of that plan
// are, where the user wants nothing else, and so are values and ops that both programs have; the rest follows by propagation. Where that is
// not as fast as that plan was, as pins have changed, it offers what follows from inputs and outputs alone, too. What does not fit this
// program is left out.
func (c *choice) resume() error {
	if c.From == nil || c.prior != nil { // a session goes on from its latest plan
		return nil
	}
	e, err := c.earlierProgram(c.late)
	if err != nil {
		return err
	}
	ways := []*earlier{e, nil}
	if e == nil {
		ways = ways[1:]
	}
	for _, inside := range ways {
		b, err := c.likeEarlier(inside)
		switch {
		case c.late.Err() != nil:
			return context.Cause(c.late)
		case err != nil:
			continue // a plan of another program may ask for what this one cannot have
		}
		c.space.Suggest(b.settled, b.assignment)
		if b.lowered.step.Total() <= c.From.Certificate.Cost {
			break
		}
	}
	return nil
}

// likeEarlier lowers and offers this program with the inputs and outputs of the earlier plan, cut inside as its program is unless that is
// nil, and with values made again where that holds too much.
func (c *choice) likeEarlier(inside *earlier) (*baseline, error) {
	b := c.asEarlier()
	if inside != nil {
		inside.cut(b.settled, c.mesh, c.space)
	}
	if err := c.derive(c.late, &b, true); err != nil {
		return nil, err
	}
	if inside != nil {
		inside.adopt(b.assignment)
	}
	var crowded []*lowered
	for _, reach := range reaches {
		l, err := c.lower(c.late, b.settled, b.assignment, c.space.Planner(), reach)
		if err != nil {
			return nil, err
		}
		b.lowered = c.planner.improve(c.late, l)
		if c.space.Respects(b.settled) {
			c.offer(b.lowered)
		}
		if b.lowered.step.Peak <= c.Memory {
			break
		}
		crowded = append(crowded, b.lowered)
	}
	if c.Without.Has(rewrites.RecomputeActivations) || !c.space.Respects(b.settled) {
		return &b, nil
	}
	_, err := c.squeezeAll(c.patience(), crowded)
	return &b, err
}

// asEarlier is a baseline whose inputs and outputs are cut as those of the earlier plan where that keeps what the user wrote.
func (c *choice) asEarlier() baseline {
	m := c.module
	f := m.MainFunc()
	main, _ := m.Main()
	args := m.BlockArgs(f.Body)
	inputs := c.earlierShardings(c.From.Inputs, names.Args(m, main).Names, func(i int) *ir.Type { return m.ValueType(args[i]) })
	outputs := c.earlierShardings(c.From.Outputs, names.Results(m, main).Names, func(i int) *ir.Type { return m.TypeOf(f.ResultTypes[i]) })
	b := c.annotationsOnly() // a copy that has these shardings, too
	b.name, b.kept = "from", false
	m = b.settled
	f, args = m.MainFunc(), m.BlockArgs(m.MainFunc().Body)
	layout := func(id ir.ShardingID) *collectives.Layout {
		l := collectives.LayoutOf(c.module.ShardingOf(id))
		return &l
	}
	for i, v := range args {
		if id := inputs[i]; id != 0 && c.space.Allows(v, layout(id)) {
			m.SetSharding(v, id)
		}
	}
	for i, id := range outputs {
		if id != 0 && c.state[i] < 0 && c.space.AllowsResult(i, layout(id)) {
			f.ResultShardings[i] = id
		}
	}
	return b
}

// earlierShardings returns what tensors of an earlier plan say of the inputs or outputs of this program, 0 where they say nothing. A tensor
// counts for the ones of its name, then for those of equal layers. Where the tensors are as many, and of the same types, the program may
// have other names.
func (p *planner) earlierShardings(tensors []answer.Tensor, called []string, typeOf func(int) *ir.Type) []ir.ShardingID {
	byName, byFamily := map[string]*answer.Tensor{}, map[string]*answer.Tensor{}
	same := len(tensors) == len(called)
	for i := range tensors {
		t := &tensors[i]
		byName[t.Name] = t
		if family := withoutNumbers(t.Name); byFamily[family] == nil {
			byFamily[family] = t
		}
		same = same && t.Type == answer.FormatType(typeOf(i), typeOf(i).Dims)
	}
	out := make([]ir.ShardingID, len(called))
	for i, name := range called {
		t := byName[name]
		if t == nil {
			t = byFamily[withoutNumbers(name)]
		}
		if t == nil && same {
			t = &tensors[i]
		}
		if t != nil {
			out[i] = p.earlierSharding(name, t, typeOf(i))
		}
	}
	return out
}

// earlierSharding reads the sharding of a tensor of another plan, whose mesh may have another name; 0 where it is none of this mesh or
// type.
func (p *planner) earlierSharding(name string, t *answer.Tensor, typ *ir.Type) ir.ShardingID {
	_, text, found := strings.Cut(strings.TrimSuffix(t.Sharding, ">"), ", ")
	if !found || typ.Kind != ir.TensorKind {
		return 0
	}
	id, err := p.parse(name, text, typ)
	if err != nil {
		return 0
	}
	return id
}

package plan

import (
	"context"
	"strings"

	"autoshard/answer"
	"autoshard/ir"
	"autoshard/ir/names"
)

// resume offers the program that Options.From leads to, and suggests it to the search: its inputs and outputs are cut as those of that plan
// are, where the user wants nothing else, and what follows from that by propagation. What does not fit this program is left out.
func (c *choice) resume() error {
	if c.From == nil {
		return nil
	}
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
	for i, v := range args {
		if m.Sharding(v) == 0 {
			m.SetSharding(v, inputs[i])
		}
	}
	for i := range outputs {
		if f.ResultShardings[i] == 0 && c.state[i] < 0 {
			f.ResultShardings[i] = outputs[i]
		}
	}
	if err := c.lowerBaseline(c.late, &b, c.space.Planner()); err != nil {
		return context.Cause(c.late) // a plan of another program may ask for what this one cannot have
	}
	if c.space.Respects(b.settled) {
		c.offer(b.lowered)
	}
	c.space.Suggest(b.settled, b.assignment)
	return nil
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

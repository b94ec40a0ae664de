package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// share builds a collective of processes that run together.
func (c *compiler) share(op ir.OpID, d *Collective, body *reducer, i *instr) error {
	if d.Root {
		return ErrApart
	}
	s := &Shared{Collective: d, Index: c.in.shared}
	c.in.shared++
	for k, v := range c.m.ResultValues(op) {
		p := c.passed(d, c.joint.spreads[c.m.Operand(op, k)])
		p.Shape = stacked(p.Result, d.Results[k].Shape)
		p.Elements, p.Width = lists.Product(c.m.Shape(c.m.Operand(op, k))), int64(c.m.ValueType(c.m.Operand(op, k)).DType.Bytes())
		if body != nil {
			p.Width = int64(body.types[0].Bytes())
		}
		s.Values = append(s.Values, p)
		c.joint.spreads[v] = p.Result
	}
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		combine := tensor.Combiner{Monoid: tensor.MonoidAdd}
		if body != nil {
			combine = body.combiner(f)
			in = body.promote(in)
		}
		return f.p.company.Exchange(s, in, combine)
	}
	return nil
}

// passed finds out which processes get the same of an operand that is spread in some way: those for which the same blocks come together,
// and that stand at the same place of their groups where that counts.
func (c *compiler) passed(d *Collective, operand Spread) Passed {
	parts := lists.Of(c.in.Processes(), func(process int) Part { return d.part(process, operand) })
	type together struct {
		from     string
		position int
	}
	p := Passed{Operand: operand}
	p.Result = NewSpread(lists.Map(parts, func(p Part) together { return together{key(p.From), p.Position} }))
	p.Same = d.Kind != ir.OpCollectivePermute && !slices.ContainsFunc(parts, func(p Part) bool { return len(p.From) != 1 })
	p.Parts = make([]Part, p.Result.Blocks())
	for process, part := range parts {
		p.Parts[p.Result.Of(process)] = part
	}
	return p
}

// part returns what the result of a process is made of.
func (d *Collective) part(process int, operand Spread) Part {
	if d.Kind == ir.OpCollectivePermute {
		for _, pair := range d.Pairs {
			if pair[1] == process {
				return Part{From: []int32{operand.Of(pair[0])}}
			}
		}
		return Part{}
	}
	members, position := d.Group(process)
	p := Part{From: lists.Map(members, func(member int) int32 { return operand.Of(member) })}
	if d.Kind == ir.OpReduceScatter || d.Kind == ir.OpAllToAll {
		p.Position = position
	}
	return p
}

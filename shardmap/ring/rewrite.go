package ring

import (
	"context"
	"fmt"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Trial writes rings beside the products that they could replace, without replacing them, so that they can be priced:
// for each candidate of Find, one ring for each way. The program's module is one that can be thrown away.
type Trial struct{ w *writer }

// NewTrial returns a trial on a program.
func NewTrial(p *shardmap.Program) *Trial { return &Trial{newWriter(p)} }

// Write adds the ring of a candidate. The candidate allows the way.
func (t *Trial) Write(c *Candidate, w Way) *Chunked { return t.w.write(c, w) }

func (w *writer) write(c *Candidate, way Way) *Chunked {
	r := w.ring(c)
	if c.scatter {
		r.reduceScatter(way)
	} else {
		r.gather(way)
	}
	return &r.out
}

// Rewrite replaces the products whose collectives have the attribute [Attr] by rings, in place. The error is of class
// diag.ErrInvalid where a collective asks for a ring that there cannot be, or the context's.
func Rewrite(ctx context.Context, p *shardmap.Program) error {
	var w *writer
	found := Find(p)
	taken := map[ir.OpID]bool{}
	for i := range p.Collectives {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := p.Module.Attr(p.Collectives[i].Op, Attr)
		if a == nil {
			continue
		}
		name, _ := a.(ir.StringAttr)
		way := slices.Index(wayNames[:], string(name))
		if way < 0 {
			return refuse(p, i, "ways are `"+wayNames[OneWay]+"` and `"+wayNames[BothWays]+"`")
		}
		group := slices.DeleteFunc(slices.Clone(found), func(c Candidate) bool { return c.Collective != i })
		if err := check(p, i, group, Way(way), taken); err != nil {
			return err
		}
		if w == nil {
			w = newWriter(p)
		}
		w.replace(p, i, Way(way))
	}
	if w != nil {
		inOrder(p)
	}
	return nil
}

// check refuses a collective whose candidates cannot become rings, and takes their products.
func check(p *shardmap.Program, i int, group []Candidate, way Way, taken map[ir.OpID]bool) error {
	if len(group) == 0 {
		return refuse(p, i, fmt.Sprintf("something else than products uses or makes what the collective moves, or it moves between more than "+
			"%d devices", MostSteps))
	}
	if !group[0].Allows(way) {
		return refuse(p, i, "two ways need more than two devices in a group, and chunks of an even extent")
	}
	for _, op := range Products(group) {
		if taken[op] {
			return refuse(p, i, "its product is part of another ring")
		}
		taken[op] = true
	}
	return nil
}

func refuse(p *shardmap.Program, i int, why string) error {
	op := p.Collectives[i].From
	return diag.Invalid(diag.BadAttribute, p.Module.OpPos(op), "attribute `%s` of a collective cannot be met: %s", Attr, why)
}

// replace puts rings in the place of the products of a collective, and of the collective. Ops move for that: after each ring it is seen
// anew which of the products that are left can be in one.
func (w *writer) replace(p *shardmap.Program, i int, way Way) {
	for left := true; left; {
		group := candidates(p, i, w.rings)
		w.put(p, &group[0], way)
		left = len(group) > 1
	}
	if op := p.Collectives[i].Op; w.m.OpBlock(op) != 0 {
		w.m.Erase(op)
	}
}

// put replaces the products of a candidate, and what reduces and scatters one.
func (w *writer) put(p *shardmap.Program, c *Candidate, way Way) {
	m := w.m
	out := w.write(c, way)
	next := m.NextOp(c.last())
	for i, product := range c.Products() {
		old := m.Result(product, 0)
		if c.scatter {
			old = m.Result(c.op, 0)
		}
		m.ReplaceUses(old, out.Results[i])
		p.Move(old, out.Results[i])
	}
	for _, op := range c.off {
		m.MoveBefore(op, next)
	}
	if c.scatter {
		m.Erase(c.op)
	}
	for _, product := range c.Products() {
		m.Erase(product)
	}
	for _, op := range out.Ops {
		w.rings[op] = true
	}
	w.record(p, c, out)
}

// record lists the permutes of a ring among the program's collectives.
func (w *writer) record(p *shardmap.Program, c *Candidate, out *Chunked) {
	x := p.Collectives[c.Collective]
	x.Kind = collectives.Permute
	for _, s := range out.Steps {
		for _, op := range s.Permutes {
			x.Op, x.Bytes, x.Pairs = op, w.m.ValueType(w.m.Operand(op, 0)).Bytes(), x.Groups*x.Size
			p.Collectives = append(p.Collectives, x)
		}
	}
	p.Rings = append(p.Rings, out.Ring)
}

// inOrder drops the collectives that are gone and puts the others in the order of the program.
func inOrder(p *shardmap.Program) {
	m := p.Module
	order := make([]int, m.NumOps())
	next := 0
	m.Walk(m.Func(p.Main).Body, func(op ir.OpID) {
		order[op] = next
		next++
	})
	p.Collectives = slices.DeleteFunc(p.Collectives, func(c shardmap.Collective) bool { return m.OpBlock(c.Op) == 0 })
	slices.SortFunc(p.Collectives, func(a, b shardmap.Collective) int { return order[a.Op] - order[b.Op] })
}

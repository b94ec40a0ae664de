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
	candidates := Find(p)
	taken := map[ir.OpID]bool{}
	for i := range p.Collectives {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := p.Module.Attr(p.Collectives[i].Op, Attr)
		if a == nil {
			continue
		}
		at := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Collective == i })
		if at < 0 {
			return refuse(p, i, fmt.Sprintf("no product alone uses or makes what the collective moves between at most %d devices", MostSteps))
		}
		c := &candidates[at]
		name, _ := a.(ir.StringAttr)
		way := slices.Index(wayNames[:], string(name))
		switch {
		case way < 0:
			return refuse(p, i, "ways are `"+wayNames[OneWay]+"` and `"+wayNames[BothWays]+"`")
		case !c.Allows(Way(way)):
			return refuse(p, i, "two ways need more than two devices in a group, and chunks of an even extent")
		case taken[c.Product]:
			return refuse(p, i, "its product is part of another ring")
		}
		taken[c.Product] = true
		if w == nil {
			w = newWriter(p)
		}
		w.replace(p, c, Way(way))
	}
	if w != nil {
		inOrder(p)
	}
	return nil
}

func refuse(p *shardmap.Program, i int, why string) error {
	op := p.Collectives[i].From
	return diag.Invalid(diag.BadAttribute, p.Module.OpPos(op), "attribute `%s` of a collective cannot be met: %s", Attr, why)
}

// replace puts a ring in the place of a product and its collective.
func (w *writer) replace(p *shardmap.Program, c *Candidate, way Way) {
	m := w.m
	out := w.write(c, way)
	old := m.Result(c.Product, 0)
	if c.scatter {
		old = m.Result(c.op, 0)
	}
	m.ReplaceUses(old, out.Result)
	p.Move(old, out.Result)
	if c.scatter {
		m.Erase(c.op)
		m.Erase(c.Product)
	} else {
		m.Erase(c.Product)
		m.Erase(c.op)
	}
	x := p.Collectives[c.Collective]
	x.Kind = collectives.Permute
	for _, s := range out.Steps {
		for _, op := range s.Permutes {
			x.Op, x.Bytes, x.Pairs = op, m.ValueType(m.Operand(op, 0)).Bytes(), x.Groups*x.Size
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

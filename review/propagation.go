package review

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"autoshard/explain"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// Propagation returns the document of a propagation. Errors are the context's.
func Propagation(ctx context.Context, x *explain.Explainer, about *explain.Propagation) (d *Document, err error) {
	defer diag.Recover("review", &err)
	rec := x.Recording()
	t := newTables(rec.Module, rec.Mesh)
	t.d.Model, t.d.Inputs, t.d.Outputs, t.d.Findings = about.Model, about.Inputs, about.Outputs, about.Findings
	g, err := t.write(ctx, rec.Label, rec.Results())
	if err != nil {
		return nil, err
	}
	p := &player{graph: g, rec: rec, events: rec.Trace.Events(), state: map[trace.Place][]subaxis.Ref{}, out: &Steps{}}
	p.owners()
	p.given()
	if err := p.levels(ctx, about.Trace); err != nil {
		return nil, err
	}
	p.out.Causes = rec.Causes()
	t.d.Propagation = p.out
	complete(reflect.ValueOf(t.d))
	return t.d, ctx.Err()
}

// player plays the steps of a propagation.
type player struct {
	*graph
	rec    *explain.Recording
	events []trace.Event
	state  map[trace.Place][]subaxis.Ref
	out    *Steps
}

// owners notes under whose name the trace has each value.
func (p *player) owners() {
	p.out.Owner = make([]int32, len(p.d.Values.Op))
	for i := range p.out.Owner {
		p.out.Owner[i] = int32(i)
	}
	for v, i := range p.valAt {
		if place, ok := p.rec.Place(v, 0); ok {
			if owner := p.placed(place.Value); owner >= 0 {
				p.out.Owner[i] = owner
			}
		}
	}
}

// placed returns the number of the value of a trace.
func (p *player) placed(value int32) int32 {
	if value < 0 {
		return p.result + ^value
	}
	return p.number(ir.ValueID(value))
}

// given writes what dimensions had before, and by whom.
func (p *player) given() {
	list := slices.Clone(p.rec.Given)
	slices.SortFunc(list, func(a, b trace.Given) int {
		return cmp.Or(cmp.Compare(p.placed(a.At.Value), p.placed(b.At.Value)), cmp.Compare(a.At.Dim, b.At.Dim))
	})
	p.out.Given = []Given{}
	for i := range list {
		p.state[list[i].At] = list[i].Axes
		if len(list[i].Axes) > 0 {
			p.giver(list[i].At, p.list(list[i].Axes))
		}
	}
	for i := range p.events {
		if e := &p.events[i]; e.Kind == trace.Activate {
			p.giver(e.To, p.list(p.rec.Trace.Axes(e.Axes)))
		}
	}
}

func (p *player) giver(at trace.Place, axes int32) {
	if value := p.placed(at.Value); value >= 0 {
		by, source := p.rec.Giver(at)
		p.out.Given = append(p.out.Given, Given{value, at.Dim, axes, p.text(by), p.text(p.short(source))})
	}
}

// levels writes the steps level by level. The document of the trace has the same levels, in words.
func (p *player) levels(ctx context.Context, words trace.Document) error {
	p.out.Levels, p.out.Rounds = []Level{}, []Round{}
	at := 0
	for i := range words.Rounds {
		round := &words.Rounds[i]
		p.out.Rounds = append(p.out.Rounds, Round{round.UserPriority, round.Summary})
		for k := range round.Levels {
			l := &round.Levels[k]
			level := Level{UserPriority: round.UserPriority, OpPriority: int32(l.OpPriority), First: int32(at), Steps: int32(len(l.Steps)),
				Groups: l.Groups}
			for n := range l.Steps {
				p.step(&p.events[at+n], int32(len(p.out.Levels)))
			}
			at += len(l.Steps)
			if err := p.gather(ctx, &level); err != nil {
				return err
			}
			for g := range level.Groups {
				for s := range level.Groups[g].Starts {
					level.Groups[g].Starts[s].Source = p.short(level.Groups[g].Starts[s].Source)
				}
			}
			p.out.Levels = append(p.out.Levels, level)
		}
	}
	return nil
}

// step writes a step, and makes it.
func (p *player) step(e *trace.Event, level int32) {
	s := p.out
	axes := p.rec.Trace.Axes(e.Axes)
	switch e.Kind {
	case trace.Move:
		p.state[e.To] = trace.Extend(slices.Clone(p.state[e.To]), axes, e.Apart)
	case trace.Activate, trace.Replace:
		p.state[e.To] = slices.Clone(axes)
	}
	op := none
	if e.Kind != trace.Activate && e.Op != 0 {
		op = p.opNumber(ir.OpID(e.Op))
	}
	from, other := none, none
	if e.Kind != trace.Activate {
		from = p.placed(e.From.Value)
	}
	if e.Kind == trace.Refusal && e.Other.Value != 0 {
		other = p.placed(e.Other.Value)
	}
	s.Kind, s.Level, s.Op, s.Axes = append(s.Kind, int32(e.Kind)), append(s.Level, level), append(s.Op, op), append(s.Axes, p.list(axes))
	s.From, s.FromDim = append(s.From, from), append(s.FromDim, e.From.Dim)
	s.To, s.ToDim = append(s.To, p.placed(e.To.Value)), append(s.ToDim, e.To.Dim)
	s.Now, s.Reason = append(s.Now, p.list(p.state[e.To])), append(s.Reason, p.text(e.Reason.String()))
	s.Against, s.Other = append(s.Against, p.list(p.rec.Trace.Axes(e.Against))), append(s.Other, other)
	s.OtherDim, s.Change = append(s.OtherDim, e.Other.Dim), append(s.Change, p.text(p.rec.Change(e)))
}

// opNumber returns the number of an operation; that of a data-flow edge, which is in no program, is that of what makes its value.
func (p *player) opNumber(op ir.OpID) int32 {
	if i, ok := p.opAt[op]; ok {
		return i
	}
	if p.m.Kind(op) == ir.OpSdyDataFlowEdge {
		if i, ok := p.opAt[p.m.OpOf(p.m.Operand(op, 0))]; ok {
			return i
		}
	}
	return none
}

// gather finds what devices would gather if propagation ended here. That the program cannot be made explicit is said, and no error.
func (p *player) gather(ctx context.Context, l *Level) error {
	list, err := p.rec.Gathered(ctx, func(at trace.Place) []subaxis.Ref { return p.state[at] })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.Gathered = &Gathered{Values: []int32{}, Each: []int64{}}
	if err != nil {
		l.Gathered.Note = diag.Diagnostics(err)[0].Message
		return nil
	}
	for _, g := range list {
		if v := p.number(g.Value); v >= 0 {
			l.Gathered.Values, l.Gathered.Each = append(l.Gathered.Values, v), append(l.Gathered.Each, g.Bytes)
			l.Gathered.Bytes += g.Bytes
		}
	}
	return nil
}

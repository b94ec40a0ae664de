package typed

import (
	"maps"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
)

// Moment says when a probe looks at a value.
type Moment uint8

// The moments.
const (
	Made   Moment = iota // when the value is made, or comes in
	Before               // as the operand of a collective
	After                // as the result of a collective
	Called               // as the operands of a call into Python, such as jax.debug.print makes
)

// String returns made, before, after or called.
func (m Moment) String() string { return [...]string{"made", "before", "after", "called"}[m] }

// Probe is a place in a program where what a device holds can be seen.
type Probe struct {
	Moment Moment
	Values []string      // their names in the text of the program: one, but for calls
	Op     string        // the collective or the call, as the text has it; empty for Made
	At     diag.Position // where the collective or the call stands in the source that it comes from, if that is known
}

// probeAttr marks the op whose operand a probe sees, with the number of the probe.
const probeAttr = "autoshard.probe"

// ProbeOf returns the number of the probe that an op of a program of LowerProbed is, false if it is none.
func ProbeOf(m *ir.Module, op ir.OpID) (int, bool) {
	if m.Kind(op) != ir.OpOptimizationBarrier {
		return 0, false
	}
	k, ok := m.Attr(op, probeAttr).(ir.IntAttr)
	return int(k.Value), ok
}

// LowerProbed is Lower with probes, which change nothing: of the values of these names, or, where no names are given, of what each
// collective reads and makes and of what calls into Python read. It fails with diag.ErrInvalid for an unknown name.
func (p *Program) LowerProbed(names []string) (*shardmap.Program, []Probe, error) {
	printed := p.printNames()
	r := &prober{m: p.Module, all: len(names) == 0, wanted: map[ir.ValueID]bool{}, names: printed}
	for _, name := range names {
		found := false
		for v, called := range printed {
			if called == name {
				r.wanted[v], found = true, true
			}
		}
		if !found {
			return nil, nil, diag.Invalid(diag.BadOption, diag.Position{}, "no value is named %q%s: names are those of `emit --format shardmap`",
				name, diag.DidYouMean(name, slices.Sorted(maps.Values(printed))))
		}
	}
	r.text = p.OpText
	return p.lower(r), r.probes, nil
}

// prober adds probes while a program is lowered.
type prober struct {
	m      *ir.Module // of the program with types, whose ids lowering keeps
	all    bool       // every collective and call, not single values
	wanted map[ir.ValueID]bool
	names  map[ir.ValueID]string
	text   func(ir.OpID) string
	probes []Probe
}

// add makes a probe of a value, which is called v in the program with types and is another one after lowering.
func (r *prober) add(l *lowering, b *ir.Builder, v, lowered ir.ValueID, moment Moment, op ir.OpID) {
	r.probe(l, b, []ir.ValueID{v}, []ir.ValueID{lowered}, moment, op)
}

// probe makes a probe of values at an op, 0 for none.
func (r *prober) probe(l *lowering, b *ir.Builder, values, lowered []ir.ValueID, moment Moment, op ir.OpID) {
	p := Probe{Moment: moment}
	var shown []ir.ValueID
	for i, v := range lowered {
		if l.m.ValueType(v).IsStatic() {
			p.Values, shown = append(p.Values, r.names[values[i]]), append(shown, v)
		}
	}
	if len(shown) == 0 {
		return
	}
	if op != 0 {
		at := r.m.FileLoc(r.m.OpLoc(op))
		p.Op, p.At = r.text(op), diag.Position{File: at.File, Line: at.Line, Col: at.Col}
	}
	number := ir.MakeAttrs(ir.Named(probeAttr, l.m.I64(int64(len(r.probes)))))
	probe := b.Op(ir.OpOptimizationBarrier, l.m.TypesOf(shown), number, shown...)
	l.m.SetPos(probe, diag.Position{})
	r.probes = append(r.probes, p)
}

// argument looks at an argument of a block.
func (r *prober) argument(l *lowering, b *ir.Builder, v ir.ValueID) {
	if r.wanted[v] {
		r.add(l, b, v, v, Made, 0)
	}
}

// before looks at the operands of an op that is about to be lowered.
func (r *prober) before(l *lowering, op ir.OpID) {
	if !r.all {
		return
	}
	if r.m.Kind(op) == ir.OpCustomCall && r.m.NumResults(op) == 0 {
		r.probe(l, l.m.BuilderBefore(op), r.m.Operands(op), l.m.Operands(op), Called, op)
		return
	}
	if !r.m.Kind(op).Communicates() {
		return
	}
	for i := range r.m.NumOperands(op) {
		r.add(l, l.m.BuilderBefore(op), r.m.Operand(op, i), l.m.Operand(op, i), Before, op)
	}
}

// after looks at a result of an op, which is another value after lowering.
func (r *prober) after(l *lowering, b *ir.Builder, op ir.OpID, v, lowered ir.ValueID) {
	switch {
	case r.wanted[v]:
		r.add(l, b, v, lowered, Made, 0)
	case r.all && r.m.Kind(op).Communicates():
		r.add(l, b, v, lowered, After, op)
	}
}

// enter does nothing: a device that does not come to a probe is not seen there.
func (r *prober) enter(ir.OpID) func() { return func() {} }

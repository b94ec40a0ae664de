package modelexplorer

import (
	"fmt"

	"autoshard/answer"
	"autoshard/diag"
	"autoshard/ir"
)

// origins are the operations of the model that those of a program which was made of it come from: one as a rule, several where they have
// one place and nothing tells which.
type origins map[ir.OpID][]ir.OpID

// byText finds origins of a program that is still the one that was read, by where its operations stand in the text.
func byText(model, m *ir.Module) origins {
	places := map[diag.Position][]ir.OpID{}
	eachOp(model, func(op ir.OpID) {
		if at := model.OpPos(op); at.Line > 0 || at.Binary {
			places[at] = append(places[at], op)
		}
	})
	out := origins{}
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		for _, at := range places[m.OpPos(op)] {
			if isOf(model, at, m, op) {
				out[op] = append(out[op], at)
			}
		}
	})
	return out
}

// through finds origins of what a device runs by those of the program that it was made of: each operation stands where that stands which it
// was made for.
func (from origins) through(m, device *ir.Module) origins {
	at := map[diag.Position][]ir.OpID{}
	m.Walk(m.MainFunc().Body, func(op ir.OpID) { at[m.OpPos(op)] = from[op] })
	out := origins{}
	device.Walk(device.MainFunc().Body, func(op ir.OpID) { out[op] = at[device.OpPos(op)] })
	return out
}

// eachOp visits the operations of all functions in the order of the text.
func eachOp(m *ir.Module, visit func(ir.OpID)) {
	for f := range m.Definitions() {
		m.Walk(m.Func(f).Body, visit)
	}
}

// place is where operations of a kind and a type are: at a location in a function. Of no function, kind or type, it has those of all.
type place struct {
	in   ir.FuncID
	at   int
	kind ir.Kind
	typ  string // of the first result
}

// places are the operations of a model by place. Programs of plans are read from another text: what is left of the model in them are
// locations, which those models have that say none themselves, too (ir.Module.LocateByText).
type places struct {
	main    ir.FuncID
	numbers map[string]int // of what locations say
	ops     map[place][]ir.OpID
	calls   map[place][]ir.FuncID // functions that are called there
}

func placesOf(model *ir.Module) *places {
	main, _ := model.Main()
	p := &places{main, map[string]int{}, map[place][]ir.OpID{}, map[place][]ir.FuncID{}}
	l := p.reader(model)
	for f := range model.Definitions() {
		model.Walk(model.Func(f).Body, func(op ir.OpID) {
			if model.OpLoc(op) == 0 {
				return
			}
			at := l.number(model.OpLoc(op))
			kind, typ := model.Kind(op), typeOf(model, op)
			for _, in := range []ir.FuncID{f, 0} {
				for _, k := range []place{{in: in, at: at}, {in: in, at: at, kind: kind}, {in, at, kind, typ}} {
					p.ops[k] = append(p.ops[k], op)
				}
			}
			if called := callee(model, op); called != 0 {
				k := place{in: f, at: at}
				p.calls[k] = append(p.calls[k], called)
			}
		})
	}
	return p
}

// origins finds the origins of the operations of a program, among those of their kind and type at their place.
func (p *places) origins(m *ir.Module) origins {
	l := p.reader(m)
	groups := map[place][]ir.OpID{}
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if loc := m.OpLoc(op); loc != 0 && !m.Kind(op).IsTerminator() {
			k := place{at: l.number(loc), kind: m.Kind(op), typ: typeOf(m, op)}
			groups[k] = append(groups[k], op)
		}
	})
	out := origins{}
	for k, group := range groups {
		at := p.find(l, p.main, m.OpLoc(group[0]))
		from := p.ops[place{at.in, at.at, k.kind, k.typ}]
		if from == nil { // of another size, as in a part of a batch
			from = p.ops[place{in: at.in, at: at.at, kind: k.kind}]
		}
		for i, op := range group {
			out[op] = originOf(from, i, len(group), at.in == p.main)
		}
	}
	return out
}

// originOf returns which of the operations of one place in the model the i-th of n of a program comes from. They are in the order of the
// model. If there are more of them, each as often as the others, equal ones follow each other, as constants that each use has for itself
// do; of a function they come once for each call.
func originOf(from []ir.OpID, i, n int, main bool) []ir.OpID {
	k := len(from)
	switch {
	case k == 0 || n%k != 0:
		return from
	case main:
		i = i * k / n
	}
	return from[i%k : i%k+1]
}

// typeOf returns the type of the first result of an operation. It is never empty, which stands for all types.
func typeOf(m *ir.Module, op ir.OpID) string {
	if m.NumResults(op) == 0 {
		return "none"
	}
	t := m.ValueType(m.Result(op, 0))
	return answer.FormatType(t, t.Dims)
}

// find returns where in the model, in a function or in what it calls, a location is. What was inlined has the location that it has in its
// function and that of the call, if calls are named (ir.InlineCalls).
func (p *places) find(l *locations, in ir.FuncID, loc ir.LocID) place {
	at := place{in: in, at: l.number(loc)}
	if p.ops[at] != nil {
		return at
	}
	if of := l.m.LocOf(loc); of.Kind == ir.LocCallSite {
		for _, f := range p.calls[place{in: in, at: l.number(of.Children[1])}] {
			if found := p.find(l, f, of.Children[0]); p.ops[found] != nil {
				return found
			}
		}
		return p.find(l, 0, of.Children[0])
	}
	at.in = 0
	return at
}

// locations numbers the locations of a module by what they say.
type locations struct {
	m    *ir.Module
	all  map[string]int
	seen map[ir.LocID]int
}

func (p *places) reader(m *ir.Module) *locations { return &locations{m, p.numbers, map[ir.LocID]int{}} }

func (l *locations) number(id ir.LocID) int {
	if n, ok := l.seen[id]; ok {
		return n
	}
	of := l.m.LocOf(id)
	key := fmt.Sprintf("%d %q %d %d %d %d %q", of.Kind, of.File, of.Line, of.Col, of.EndLine, of.EndCol, of.Name)
	for _, c := range of.Children {
		key += fmt.Sprintf(" %d", l.number(c))
	}
	n, ok := l.all[key]
	if !ok {
		n = len(l.all)
		l.all[key] = n
	}
	l.seen[id] = n
	return n
}

package transpose

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// linearPart says which carries, rows and stacked results of a scan are linear, by their places among operands and
// results, and which values its body takes from outside are.
type linearPart struct {
	carries, xs, outs []int
	outer             []ir.ValueID
	reached           map[ir.ValueID]bool // arguments and outer values that have a cotangent in the body
}

func (t *transposer) linearPart(op ir.OpID) (l linearPart, ok bool) {
	body, info := t.m.RegionBlock(op, 0), t.p.ScanOf(op)
	l.reached = map[ir.ValueID]bool{}
	for i, v := range t.m.BlockArgs(body) {
		switch {
		case !t.linear[v]:
		case i >= info.Carries:
			l.xs = append(l.xs, i)
		case !t.homogeneous(op, i, i+1) || !t.homogeneous(t.m.LastOp(body), i, i+1):
			return l, false
		default:
			l.carries = append(l.carries, i)
		}
	}
	for i := info.Carries; i < t.m.NumResults(op); i++ {
		if t.linear[t.m.Result(op, i)] {
			l.outs = append(l.outs, i)
		}
	}
	l.outer = t.outer(op)
	return l, true
}

// scan transposes a scan: it runs the other way round, from the cotangents of the last carries, and returns those of
// the first ones, of the rows, and sums of those of the values that the body takes from outside. What the body does not
// pass on has none, and costs no communication before the loop.
func (t *transposer) scan(op ir.OpID) {
	l, ok := t.linearPart(op)
	if !ok {
		return
	}
	ofResult := func(k int) ir.ValueID { return t.cotangent(t.m.Result(op, k)) }
	init := append(lists.Map(l.carries, ofResult), lists.Map(l.outer, t.zeros)...)
	rows := lists.Map(l.outs, ofResult)
	arrays, bind := t.again(op)
	info := t.p.ScanOf(op)
	last, stacked := t.b.Scan(init, append(rows, arrays...), info.Length, !info.Reverse,
		func(carry, row []ir.ValueID) (next, out []ir.ValueID) {
			defer t.inside()()
			bind(row[len(rows):])
			return t.scanBody(op, &l, carry, row)
		})
	if t.b.Err() != nil {
		return
	}
	args := t.m.BlockArgs(t.m.RegionBlock(op, 0))
	for n, k := range l.carries {
		if l.reached[args[k]] || info.Length == 0 {
			t.add(t.m.Operand(op, k), last[n])
		}
	}
	for n, v := range l.outer {
		if l.reached[v] {
			t.add(v, last[len(l.carries)+n])
		}
	}
	for n, i := range l.xs {
		if l.reached[args[i]] {
			t.add(t.m.Operand(op, i), stacked[n])
		}
	}
}

// scanBody writes one step backwards, from the cotangents of what the body returns to those of what it takes.
func (t *transposer) scanBody(op ir.OpID, l *linearPart, carry, row []ir.ValueID) (next, out []ir.ValueID) {
	body := t.m.RegionBlock(op, 0)
	args, ret := t.m.BlockArgs(body), t.m.LastOp(body)
	for n, k := range l.carries {
		t.add(t.m.Operand(ret, k), carry[n])
	}
	for n, i := range l.outs {
		t.add(t.m.Operand(ret, i), row[n])
	}
	t.sweep(body)
	for _, v := range slices.Concat(args, l.outer) {
		_, ok := t.ct[v]
		l.reached[v] = ok
	}
	next = append(next, lists.Map(l.carries, func(k int) ir.ValueID { return t.cotangent(args[k]) })...)
	for n, v := range l.outer {
		t.add(v, carry[len(l.carries)+n])
		next = append(next, t.cotangent(v))
	}
	return next, lists.Map(l.xs, func(i int) ir.ValueID { return t.cotangent(args[i]) })
}

// cotangent returns the cotangent of a value, zeros if there is none.
func (t *transposer) cotangent(v ir.ValueID) ir.ValueID {
	if g, ok := t.ct[v]; ok {
		return g
	}
	return t.zeros(v)
}

// branches transposes a branch op: one that returns the cotangents of the values that the branches take from outside.
// What is not linear in a branch is computed again.
func (t *transposer) branches(op ir.OpID) {
	if !t.only(op) {
		return
	}
	var given []ir.ValueID
	for i, v := range t.m.ResultValues(op) {
		for _, body := range t.regions(op) {
			if ret := t.m.LastOp(body); t.linear[v] && !t.homogeneous(ret, i, i+1) {
				return
			}
		}
		given = append(given, t.ct[v])
	}
	outer := slices.Clone(t.outer(op))
	reached := map[ir.ValueID]bool{}
	sums := t.conditional(op, func(body ir.BlockID) (out []ir.ValueID) {
		defer t.inside()()
		for i, v := range t.m.Operands(t.m.LastOp(body)) {
			t.add(v, given[i])
		}
		t.sweep(body)
		for _, v := range outer {
			_, ok := t.ct[v]
			reached[v] = reached[v] || ok
			out = append(out, t.cotangent(v))
		}
		return out
	})
	if t.b.Err() != nil {
		return
	}
	for i, v := range outer {
		if reached[v] {
			t.add(v, sums[i])
		}
	}
}

// inside begins a body with cotangents and copies of its own; the function that it returns ends it.
func (t *transposer) inside() func() {
	ct, end := t.ct, t.rewrite.inside()
	t.ct = map[ir.ValueID]ir.ValueID{}
	return func() {
		end()
		t.ct = ct
	}
}

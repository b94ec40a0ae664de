package transpose

import (
	"maps"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// stack is what a scan that runs before keeps of every step: a value of the body, or entry k of what a scan inside the
// body keeps.
type stack struct {
	v    ir.ValueID
	scan ir.OpID // 0 for a value
	k    int
	rows ir.ValueID // in the new program
}

// residualScan runs the part of a scan that can be copied and stacks the values of each step that are needed to run
// the other part later.
func (w *rewrite) residualScan(op ir.OpID) {
	body, carries := w.m.RegionBlock(op, 0), w.p.ScanOf(op).Carries
	args, ret, info := w.m.BlockArgs(body), w.m.LastOp(body), w.p.ScanOf(op)
	var carry, xs, ins, next []ir.ValueID
	var results, outs []ir.ValueID
	for i, v := range w.m.Operands(op) {
		if !w.copied(args[i]) {
			continue
		}
		ins = append(ins, args[i])
		if i < carries {
			carry, next, results = append(carry, w.value(v)), append(next, w.m.Operand(ret, i)), append(results, w.m.Result(op, i))
		} else {
			xs = append(xs, w.value(v))
		}
	}
	for i := carries; i < w.m.NumResults(op); i++ {
		if v := w.m.Operand(ret, i); w.copied(v) {
			outs, results = append(outs, v), append(results, w.m.Result(op, i))
		}
	}
	keep := w.needed(body, carries)
	var kept []stack
	last, rows := w.b.Scan(carry, xs, info.Length, info.Reverse, func(carry, row []ir.ValueID) (_, out []ir.ValueID) {
		defer w.inside()()
		for i, v := range slices.Concat(carry, row) {
			w.env[ins[i]] = v
		}
		w.residuals(body)
		for _, v := range keep {
			kept, out = append(kept, stack{v: v}), append(out, w.value(v))
		}
		for inner := range w.m.Ops(body) {
			for k, s := range w.stacked[inner] {
				kept, out = append(kept, stack{scan: inner, k: k}), append(out, s.rows)
			}
		}
		return lists.Map(next, w.value), append(lists.Map(outs, w.value), out...)
	})
	if w.b.Err() != nil || w.err != nil {
		return
	}
	for i, v := range append(last, rows[:len(outs)]...) {
		w.env[results[i]] = v
		w.name(results[i])
	}
	for i := range kept {
		kept[i].rows = rows[len(outs)+i]
	}
	w.stacked[op] = kept
}

// needed returns the values of a scan's body that must be kept for a later run: those that ops which are on need and
// that carries, communication or inner bodies make. What only rows make is computed again.
func (w *rewrite) needed(body ir.BlockID, carries int) (values []ir.ValueID) {
	local, kept := map[ir.ValueID]bool{}, map[ir.ValueID]bool{}
	for i, v := range w.m.BlockArgs(body) {
		local[v], kept[v] = true, i < carries
	}
	for op := range w.m.Ops(body) {
		operands := w.p.Captures(op)
		depends := slices.ContainsFunc(operands, func(v ir.ValueID) bool { return local[v] })
		keep := slices.ContainsFunc(operands, func(v ir.ValueID) bool { return kept[v] })
		kind := w.m.Kind(op)
		keep = keep || depends && (w.active(op) || kind.HasBodies() || kind == ir.OpShardMapScan || kind.Communicates())
		for _, v := range w.m.ResultValues(op) {
			local[v], kept[v] = depends, keep
		}
	}
	seen := map[ir.ValueID]bool{}
	for op := range w.m.Ops(body) {
		if w.m.Kind(op).IsTerminator() || !w.active(op) {
			continue
		}
		operands := w.p.Captures(op)
		if w.primal {
			operands = append(operands, w.m.ResultValues(op)...)
		}
		for _, v := range operands {
			values = append(values, w.causes(v, body, kept, seen)...)
		}
	}
	return values
}

// causes returns the values that are kept among a value and what is computed again for it, without those seen before.
func (w *rewrite) causes(v ir.ValueID, body ir.BlockID, kept, seen map[ir.ValueID]bool) (out []ir.ValueID) {
	if seen[v] || !w.copied(v) {
		return nil
	}
	seen[v] = true
	if kept[v] {
		return []ir.ValueID{v}
	}
	if def := w.m.DefiningOp(v); def != 0 && w.m.OpBlock(def) == body {
		for _, x := range w.p.Captures(def) {
			out = append(out, w.causes(x, body, kept, seen)...)
		}
	}
	return out
}

// again returns the arrays that a later run of a scan takes besides, and what makes their rows the copies of values of
// the body.
func (w *rewrite) again(op ir.OpID) (arrays []ir.ValueID, bind func(rows []ir.ValueID)) {
	body, carries := w.m.RegionBlock(op, 0), w.p.ScanOf(op).Carries
	args := w.m.BlockArgs(body)
	var used []ir.ValueID
	for i, v := range args[carries:] {
		if w.copied(v) {
			used, arrays = append(used, v), append(arrays, w.value(w.m.Operand(op, carries+i)))
		}
	}
	kept := w.stacked[op]
	arrays = append(arrays, lists.Map(kept, func(s stack) ir.ValueID { return s.rows })...)
	return arrays, func(rows []ir.ValueID) {
		for i, v := range used {
			w.env[v] = rows[i]
		}
		for i, s := range kept {
			if s.scan == 0 {
				w.env[s.v] = rows[len(used)+i]
			} else {
				w.stacked[s.scan][s.k].rows = rows[len(used)+i]
			}
		}
	}
}

// outer returns the values that are on and that the regions of an op use of the program around it.
func (w *rewrite) outer(op ir.OpID) []ir.ValueID {
	var out []ir.ValueID
	for _, v := range w.p.Captures(op)[w.m.NumOperands(op):] {
		if w.on[v] && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// regions returns the branches in the order in which a builder takes them.
func (w *rewrite) regions(op ir.OpID) []ir.BlockID {
	out := lists.Of(w.m.NumRegions(op), func(r int) ir.BlockID { return w.m.RegionBlock(op, r) })
	if w.m.Kind(op) == ir.OpIf {
		slices.Reverse(out)
	}
	return out
}

// conditional writes a branch op whose branches have what f writes, with copies of their own.
func (w *rewrite) conditional(op ir.OpID, f func(body ir.BlockID) []ir.ValueID) []ir.ValueID {
	var list []func() []ir.ValueID
	for _, body := range w.regions(op) {
		list = append(list, func() []ir.ValueID {
			defer w.inside()()
			w.residuals(body)
			return f(body)
		})
	}
	return w.b.Cond(w.value(w.m.Operand(op, 0)), list...)
}

// inside begins a body with copies of its own; the function that it returns ends it.
func (w *rewrite) inside() func() {
	env := w.env
	w.env = maps.Clone(env)
	return func() { w.env = env }
}

// residualBranches computes the results of a branch op that can be copied.
func (w *rewrite) residualBranches(op ir.OpID) {
	results := lists.Filter(w.m.ResultValues(op), w.copied)
	if len(results) == 0 {
		return
	}
	copies := w.conditional(op, func(body ir.BlockID) (out []ir.ValueID) {
		for _, v := range results {
			out = append(out, w.value(w.m.Operand(w.m.LastOp(body), w.m.Index(v))))
		}
		return out
	})
	if w.b.Err() != nil || w.err != nil {
		return
	}
	for i, v := range results {
		w.env[v] = copies[i]
		w.name(v)
	}
}

// scans makes scans of the loops of a program whose number of rounds is known.
func scans(p *typed.Program) (changed bool, err error) {
	for {
		counted := func(op ir.OpID) bool {
			n, ok := ir.TripCount(p.Module, op)
			return ok && n < 1<<31
		}
		loops := p.Module.OpsOf(p.Body(), ir.OpWhile)
		i := slices.IndexFunc(loops, counted)
		if i < 0 {
			return changed, nil
		}
		changed = true
		rounds, _ := ir.TripCount(p.Module, loops[i])
		if err := toScan(p, loops[i], rounds); err != nil {
			return changed, err
		}
	}
}

// toScan puts a scan in the place of a loop.
func toScan(p *typed.Program, loop ir.OpID, rounds int64) error {
	m, b := p.Module, typed.Edit(p, loop)
	body := m.RegionBlock(loop, 1)
	args, ret := m.BlockArgs(body), m.LastOp(body)
	last, _ := b.Scan(m.Operands(loop), nil, rounds, false, func(carry, _ []ir.ValueID) (next, _ []ir.ValueID) {
		env := map[ir.ValueID]ir.ValueID{}
		for i, v := range args {
			env[v] = carry[i]
		}
		for op := range m.Ops(body) {
			if !m.Kind(op).IsTerminator() {
				b.Copy(op, env)
			}
		}
		for _, v := range m.Operands(ret) {
			if w, ok := env[v]; ok {
				v = w
			}
			next = append(next, v)
		}
		rename(p, env)
		return next, nil
	})
	if b.Err() != nil {
		return b.Err()
	}
	for i, v := range m.ResultValues(loop) {
		p.Replace(v, last[i])
	}
	p.Erase(loop)
	return nil
}

package transpose

import (
	"slices"

	"autoshard/ir"
)

// mark finds the values of a block that depend on the inputs. Derivatives pass through numbers only, and not through
// steps.
func (w *rewrite) mark(b ir.BlockID) {
	for op := range w.m.Ops(b) {
		switch kind := w.m.Kind(op); {
		case kind.IsTerminator():
		case w.m.Kind(op) == ir.OpShardMapScan:
			w.markScan(op)
		case kind == ir.OpIf || kind == ir.OpCase:
			w.markBranches(op)
		case kind == ir.OpWhile && w.primal: // a transpose refuses those that depend on its inputs
			w.markWhile(op)
		case kind == ir.OpOptimizationBarrier && w.primal: // of which a transpose copies all or nothing
			for i, v := range w.m.ResultValues(op) {
				if w.on[w.m.Operand(op, i)] {
					w.turnOn(v)
				}
			}
		case slices.ContainsFunc(w.p.Captures(op), w.isOn) && !(w.primal && flat[kind]):
			for _, v := range w.m.ResultValues(op) {
				w.turnOn(v)
			}
		}
	}
}

// flat are the ops whose derivative is zero where there is one.
var flat = map[ir.Kind]bool{ir.OpFloor: true, ir.OpCeil: true, ir.OpRoundNearestEven: true, ir.OpRoundNearestAfz: true, ir.OpSign: true}

func (w *rewrite) isOn(v ir.ValueID) bool { return w.on[v] }

func (w *rewrite) turnOn(v ir.ValueID) {
	if !w.primal || isFloat(w.m, v) {
		w.on[v] = true
	}
}

// markScan marks the carries of a scan up to the least fixpoint.
func (w *rewrite) markScan(op ir.OpID) {
	body, carries := w.m.RegionBlock(op, 0), w.p.ScanOf(op).Carries
	args, ret := w.m.BlockArgs(body), w.m.LastOp(body)
	for i, v := range w.m.Operands(op) {
		if w.on[v] {
			w.on[args[i]] = true
		}
	}
	for again := true; again; {
		w.mark(body)
		again = false
		for k := range carries {
			if w.on[w.m.Operand(ret, k)] && !w.on[args[k]] {
				w.turnOn(args[k])
				again = again || w.on[args[k]]
			}
		}
	}
	for i, v := range w.m.ResultValues(op) {
		if i < carries && w.on[args[i]] || i >= carries && w.on[w.m.Operand(ret, i)] {
			w.turnOn(v)
		}
	}
}

// markWhile marks the carries of a loop whose rounds only the run counts, up to the least fixpoint.
func (w *rewrite) markWhile(op ir.OpID) {
	body := w.m.RegionBlock(op, 1)
	args, ret := w.m.BlockArgs(body), w.m.LastOp(body)
	for i, v := range w.m.Operands(op) {
		if w.on[v] {
			w.turnOn(args[i])
		}
	}
	for again := true; again; {
		w.mark(body)
		again = false
		for k, v := range w.m.Operands(ret) {
			if w.on[v] && !w.on[args[k]] {
				w.turnOn(args[k])
				again = again || w.on[args[k]]
			}
		}
	}
	for i, v := range w.m.ResultValues(op) {
		if w.on[args[i]] {
			w.turnOn(v)
		}
	}
}

// leads says whether an output depends on a result of an op through values that depend on the inputs.
func (w *rewrite) leads(op ir.OpID) bool {
	seen := map[ir.OpID]bool{}
	var from func(op ir.OpID) bool
	used := func(v ir.ValueID) bool {
		for u := range w.m.Uses(v) {
			user := w.m.AncestorIn(u.Op, w.m.BlockOf(v))
			if w.m.Kind(user).IsTerminator() {
				if w.m.OpBlock(user) == w.p.Body() {
					return true
				}
				user = w.m.ParentOp(user)
			}
			if from(user) {
				return true
			}
		}
		return false
	}
	from = func(op ir.OpID) bool {
		if seen[op] {
			return false
		}
		seen[op] = true
		return slices.ContainsFunc(w.m.ResultValues(op), func(v ir.ValueID) bool { return w.on[v] && used(v) })
	}
	return from(op)
}

func (w *rewrite) markBranches(op ir.OpID) {
	for r := range w.m.NumRegions(op) {
		body := w.m.RegionBlock(op, r)
		w.mark(body)
		for i, v := range w.m.ResultValues(op) {
			if w.on[w.m.Operand(w.m.LastOp(body), i)] {
				w.turnOn(v)
			}
		}
	}
}

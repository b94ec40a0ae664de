package transpose

import (
	"cmp"
	"maps"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// rewrite writes a program next to another one. Ids of values and ops without another word are those of the other
// one, whose values fall into those that depend on some inputs, which are said to be on, and those that can be copied.
type rewrite struct {
	p       *typed.Program
	m       *ir.Module // holds both programs
	b       *typed.Builder
	on      map[ir.ValueID]bool
	primal  bool                      // also values that are on are copied: derivatives stand beside them
	env     map[ir.ValueID]ir.ValueID // copies
	stacked map[ir.OpID][]stack       // by scan with results that are on
	pairs   []pair
	taken   map[string]bool // names of values of the new program
	err     error
}

// pair is a value and a derivative by or of it.
type pair struct{ v, derivative ir.ValueID }

// newRewrite begins a program that depends on those inputs of a prepared program.
func newRewrite(p *typed.Program, inputs []int, primal bool) (*rewrite, error) {
	b := typed.Rebuild(p)
	w := &rewrite{p: p, m: b.Program().Module, b: b, primal: primal, on: map[ir.ValueID]bool{}, env: map[ir.ValueID]ir.ValueID{},
		stacked: map[ir.OpID][]stack{}}
	args := w.m.BlockArgs(p.Body())
	for n, k := range inputs {
		if k < 0 || k >= len(args) || slices.Contains(inputs[:n], k) {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "input %d is given twice or is not one of the %d inputs", k, len(args))
		}
		w.on[args[k]] = true
	}
	w.mark(p.Body())
	return w, nil
}

// prepared returns a program that is elaborated and whose loops are scans.
func prepared(p *typed.Program) (*typed.Program, error) {
	p = p.Clone()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	values := p.Module.NumValues()
	sweepDead(p, p.Body())
	pruned := p.Module.NumValues() > values
	changed, err := scans(p)
	if err != nil {
		return nil, err
	}
	if changed || pruned || p.Variance == nil || p.Typecheck(typed.Options{}) != nil && p.Typecheck(typed.Options{Unsound: true}) != nil {
		if err := elaborate(p); err != nil {
			return nil, err
		}
	}
	return hoisted(p), nil
}

// elaborate finds types; programs that only JAX takes stay such programs.
func elaborate(p *typed.Program) error {
	_, err := p.Elaborate(typed.Options{})
	if err != nil {
		if _, loose := p.Elaborate(typed.Options{Unsound: true}); loose == nil {
			return nil
		}
	}
	return err
}

// fresh returns a name that no input has which both programs share.
func (w *rewrite) fresh(name string) string {
	used := map[string]bool{}
	for k, v := range w.m.BlockArgs(w.p.Body()) {
		if w.copied(v) {
			used[w.p.Params[k].Name] = true
		}
	}
	for used[name] {
		name += "_"
	}
	return name
}

// finish drops what nothing uses, finds the types and compares those of the derivatives with what they must be.
func (w *rewrite) finish(expected func(typed.Variance) typed.Variance) (*typed.Program, error) {
	if w.err != nil {
		return nil, w.err
	}
	q, err := finish(w.b)
	if err != nil || !w.p.Check {
		return q, err
	}
	for _, pair := range w.pairs {
		have, want := q.VarianceOf(pair.derivative), expected(w.p.VarianceOf(pair.v))
		if have != want && attached(q, pair.derivative) {
			return nil, diag.Invalid(diag.Bug, diag.Position{}, "expected a derivative for %s that varies as %s, but got %s",
				w.p.FormatValue(pair.v), w.p.FormatVariance(want), q.FormatValue(pair.derivative))
		}
	}
	return q, nil
}

func finish(b *typed.Builder) (*typed.Program, error) {
	q, err := b.Finish()
	if err != nil {
		return nil, err
	}
	sweepDead(q, q.Body())
	maps.DeleteFunc(q.Names, func(v ir.ValueID, _ string) bool { return !attached(q, v) })
	return q, elaborate(q)
}

// attached says whether a value is still in the body.
func attached(p *typed.Program, v ir.ValueID) bool {
	m := p.Module
	b := m.BlockOf(v)
	for b != 0 && b != p.Body() {
		op := m.BlockOp(b)
		if op == 0 || m.OpBlock(op) == 0 {
			return false
		}
		b = m.OpBlock(op)
	}
	return b != 0
}

// zeros returns zeros of a type.
func zeros(b *typed.Builder, typ ir.TypeID, as typed.Variance) ir.ValueID {
	tensor := b.Program().Module.TypeOf(typ)
	zero := b.Constant(tensor.DType, nil, 0)
	for _, cast := range []struct {
		kind ir.Kind
		axes typed.AxisSet
	}{{ir.OpShardMapPvary, as.V | as.U}, {ir.OpShardMapVaryUnreducedCast, as.U}, {ir.OpShardMapPreduced, as.R}} {
		if cast.axes != 0 {
			zero = b.Emit(typed.Collective{Kind: cast.kind, Axes: cast.axes.Axes()}, zero)
		}
	}
	if len(tensor.Dims) == 0 {
		return zero
	}
	return b.Broadcast(zero, tensor.Dims)
}

// value returns the copy of a value that is not linear. What is not copied yet, as constants in the body of a scan, is
// copied here.
func (w *rewrite) value(v ir.ValueID) ir.ValueID {
	if w, ok := w.env[v]; ok {
		return w
	}
	if w.b.Err() != nil || w.err != nil {
		return 0
	}
	def := w.m.DefiningOp(v)
	if def == 0 || !w.copied(v) {
		panic("transpose: no copy of value " + w.p.FormatValue(v))
	}
	w.copyOp(def)
	return w.env[v]
}

// copyOp copies an op that is not linear, with its names.
func (w *rewrite) copyOp(op ir.OpID) {
	values := map[ir.ValueID]ir.ValueID{} // not env: what is inside is not seen outside
	for _, v := range w.p.Captures(op) {
		values[v] = w.value(v)
	}
	w.b.Copy(op, values)
	for _, v := range w.m.ResultValues(op) {
		if c, ok := values[v]; ok {
			w.env[v] = c
			w.name(v)
		}
	}
}

// name gives the copy of a value its name, unless another copy has it.
func (w *rewrite) name(v ir.ValueID) {
	if w.taken == nil {
		w.taken = map[string]bool{}
		for _, n := range w.b.Program().Names {
			w.taken[n] = true
		}
	}
	if n, ok := w.p.Names[v]; ok && !w.taken[n] {
		w.taken[n] = true
		w.b.Name(w.env[v], n)
	}
}

// copied says whether a value has a copy.
func (w *rewrite) copied(v ir.ValueID) bool { return w.primal || !w.on[v] }

// active says whether a result of the op is on.
func (w *rewrite) active(op ir.OpID) bool {
	return slices.ContainsFunc(w.m.ResultValues(op), func(v ir.ValueID) bool { return w.on[v] })
}

// residuals copies what can be copied of the ops of a block, in order.
func (w *rewrite) residuals(b ir.BlockID) {
	for op := range w.m.Ops(b) {
		branches := w.m.Kind(op) == ir.OpIf || w.m.Kind(op) == ir.OpCase
		switch {
		case w.m.Kind(op).IsTerminator() || w.err != nil || w.b.Err() != nil:
		case w.active(op) && w.m.Kind(op) == ir.OpShardMapScan:
			w.residualScan(op)
		case !w.active(op) || w.primal:
			w.copyOp(op)
		case branches:
			w.residualBranches(op)
		}
	}
}

func (w *rewrite) fail(err error) {
	w.err = cmp.Or(w.err, err)
}

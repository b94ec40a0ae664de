package typed

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// Casts says where Elaborate may insert casts.
type Casts uint8

const (
	// CastEverywhere inserts them wherever types differ, also on carries of loops and results of branches.
	CastEverywhere Casts = iota
	// CastOperands inserts them on operands of ops and on outputs only, as JAX does.
	CastOperands
	// CastOutputs inserts them on outputs only, as JAX does when automatic casts are switched off.
	CastOutputs
)

// Options says how Elaborate reads a body without casts.
type Options struct {
	Casts Casts
	// Unsound takes what JAX takes although types then promise too much: the results of loops and branches do not
	// vary over what their predicates vary over, a maximum inside groups counts as equal along the whole axis, and
	// collectives may stand where not all members come.
	Unsound bool
	// Mixed casts the operand of a reduction over axes along some of which it varies to the others, as JAX before 0.8.2
	// did, where it is an error otherwise.
	Mixed bool
	// Fresh makes a cast before every use instead of one per value and set of axes. Each has a psum for a transpose.
	Fresh bool
}

// Report is what Elaborate did.
type Report struct {
	Casts    int               // how many were inserted
	Warnings []diag.Diagnostic // what is legal but probably not meant; the codes are names of rules
}

// elaborator walks a body whose variance is inferred, checks every op against its rule and inserts what is missing.
type elaborator struct {
	*inference
	report    Report
	casts     map[castKey]ir.ValueID
	divergent AxisSet         // axes along which devices may not all come to the op at hand
	frozen    bool            // nothing may be inserted
	numbered  int             // of the last inserted cast
	taken     map[string]bool // names of values; nil until a cast is inserted
	sunk      []ir.OpID
}

type castKey struct {
	v    ir.ValueID
	axes AxisSet
	kind ir.Kind
}

// Elaborate finds the types of all values and makes every cast explicit, in place: an op whose operands vary over
// different axes gets casts to their union, a collective over axes along which its operand does not vary gets a cast,
// carries of loops are raised to the least fixpoint, results of branches to their union, and outputs to the axes of
// their specs (specification: shardmap.md sections 3.3 to 3.8). Every cast stands before the first use, in the block
// of the value that it casts, so that loops hold no casts of what they do not change.
//
// It returns an error of class diag.ErrInvalid for a program that no cast can repair, and leaves it as it was: an
// output that varies over an axis that its spec leaves out (E_REP), a reduction over axes of which the operand varies
// along some only (E_MIXED), a cast that does not fit (E_CAST), an op without a rule for terms (E_UNREDUCED), and a
// collective that not all members come to (E_DIVERGENT_COLLECTIVE); with fewer casts allowed also carries and
// branches that differ (E_CARRY, E_BRANCH).
func (p *Program) Elaborate(opts Options) (Report, error) {
	if err := p.Validate(); err != nil {
		return Report{}, err
	}
	e, err := elaborate(p.Clone(), opts, false)
	if err != nil {
		return Report{}, err
	}
	*p = *e.p
	return e.report, nil
}

// Typecheck checks a program whose casts are explicit: it infers the types anew and compares them with the recorded
// ones. It returns an error of class diag.ErrInvalid for the first op that does not fit its operands, and for a type
// that is recorded otherwise.
func (p *Program) Typecheck(opts Options) error {
	if err := p.Validate(); err != nil {
		return err
	}
	opts.Casts = CastOutputs
	e, err := elaborate(p, opts, true)
	if err != nil || !p.Check {
		return err
	}
	for v := range ir.ValueID(len(p.Variance)) {
		if op := p.Module.DefiningOp(v); e.met[v] && (op == 0 || p.Module.OpBlock(op) != 0) && e.vars[v] != p.Variance[v] {
			return p.inDefinition(v, p.bad(diag.BadVariance,
				"E_TYPE", "value `%s` is given as %s and varies as %s", p.NameOf(v), p.FormatTypeOf(v), p.FormatVariance(e.vars[v])))
		}
	}
	return nil
}

// Runnable returns nil for a program that may run: a valid one that is elaborated where its check is on. Types that JAX
// takes are enough, since the run finds out whether they hold. The error is of class diag.ErrInvalid, or those of Validate.
func (p *Program) Runnable() error {
	switch {
	case !p.Check:
		return p.Validate()
	case p.Variance == nil:
		return p.bad(diag.BadVariance, "E_TYPE", "the program has no types yet; elaborate it first")
	case p.Typecheck(Options{}) == nil:
		return nil
	}
	return p.Typecheck(Options{Unsound: true})
}

func elaborate(p *Program, opts Options, frozen bool) (*elaborator, error) {
	e := &elaborator{inference: infer(p, opts), casts: map[castKey]ir.ValueID{}, frozen: frozen}
	if err := e.walk(p.Body()); err != nil {
		return nil, p.showBlocks(err)
	}
	if err := e.outputs(); err != nil {
		return nil, p.showBlocks(err)
	}
	if frozen {
		return e, nil
	}
	for _, op := range e.sunk {
		if !e.m.HasUses(e.m.Result(op, 0)) {
			p.Erase(op)
		}
	}
	p.Variance = e.vars
	return e, nil
}

func (e *elaborator) walk(b ir.BlockID) error {
	for op := range e.m.Ops(b) {
		if err := e.check(op); err != nil {
			return err
		}
	}
	return nil
}

func (e *elaborator) check(op ir.OpID) error {
	switch kind := e.m.Kind(op); {
	case kind.IsTerminator():
		return nil
	case e.m.Kind(op) == ir.OpShardMapScan:
		return e.checkScan(op)
	case kind == ir.OpWhile:
		return e.checkWhile(op)
	case kind == ir.OpIf || kind == ir.OpCase:
		return e.checkBranches(op)
	case e.m.Kind(op).IsShardMap():
		return e.checkCollective(op)
	}
	if !e.p.Check {
		return nil
	}
	return e.checkLocal(op)
}

// bring makes operand i of an op vary as it should, if casts at such uses are allowed; it says whether it does now.
func (e *elaborator) bring(op ir.OpID, i int, to Variance, at Casts) bool {
	v := e.m.Operand(op, i)
	if e.vars[v] == to {
		return true
	}
	if !e.may(at) {
		return false
	}
	w, ok := e.want(v, to, op)
	if ok {
		e.m.SetOperand(op, i, w)
	}
	return ok
}

// want makes a value vary as it should at a use, by a cast if the value varies less.
func (e *elaborator) want(v ir.ValueID, to Variance, user ir.OpID) (ir.ValueID, bool) {
	have := e.vars[v]
	missing := to.V &^ have.V
	switch {
	case have == to:
		return v, true
	case have.U != to.U || have.Kind != to.Kind || missing == 0 || have.V&^to.V != 0:
		return v, false
	case have.R == to.R:
		return e.cast(v, missing, ir.OpShardMapPvary, user), true
	case have.R == missing && to.R == 0:
		return e.cast(v, missing, ir.OpShardMapReducedVaryCast, user), true
	}
	return v, false
}

// cast returns a value cast over axes, for use by an op. A cast of a scalar that was broadcast comes before the
// broadcast, where its transpose sums one number.
func (e *elaborator) cast(v ir.ValueID, axes AxisSet, kind ir.Kind, user ir.OpID) ir.ValueID {
	key := castKey{v, axes, kind}
	if w, ok := e.casts[key]; ok && !e.opts.Fresh {
		return w
	}
	at := user
	if !e.opts.Fresh {
		at = e.m.AncestorIn(user, e.m.BlockOf(v))
	}
	c := Collective{Kind: kind, Axes: axes.Axes()}
	var w ir.ValueID
	if def := e.m.DefiningOp(v); def != 0 && e.m.Kind(def) == ir.OpBroadcastInDim && len(e.m.Shape(e.m.Operand(def, 0))) == 0 {
		scalar := e.cast(e.m.Operand(def, 0), axes, kind, at)
		w = e.m.BuilderBefore(at).Op1(ir.OpBroadcastInDim, e.m.Type(v), e.m.OpAttrs(def), scalar)
		if n, ok := e.p.Names[v]; ok {
			e.p.Names[w] = n
		}
		e.sunk = append(e.sunk, def)
	} else {
		w = Edit(e.p, at).Emit(c, v)
		e.numbered++
		e.p.Names[w] = e.freshName()
		e.report.Casts++
	}
	e.grow()
	e.set(w, applied(&c, e.vars[v]))
	e.casts[key] = w
	return w
}

// grow makes room for the variance of new values.
func (e *elaborator) grow() {
	for len(e.vars) < e.m.NumValues() {
		e.vars, e.first, e.met = append(e.vars, Variance{}), append(e.first, Variance{}), append(e.met, false)
	}
}

// freshName returns a name for a cast that no value has: c and the next number.
func (e *elaborator) freshName() string {
	if e.taken == nil {
		e.taken = map[string]bool{}
		for _, name := range e.p.Names {
			e.taken[name] = true
		}
	}
	for {
		name := "c" + itoa(int64(e.numbered))
		if !e.taken[name] {
			e.taken[name] = true
			return name
		}
		e.numbered++
	}
}

// may says whether casts may be inserted at uses of a kind.
func (e *elaborator) may(c Casts) bool { return !e.frozen && e.opts.Casts <= c }

// outputs casts the results to the axes of their specs and refuses those that vary over more
// (specification: shardmap.md sections 1.5 and 3.7).
func (e *elaborator) outputs() error {
	if !e.p.Check {
		return nil
	}
	ret := e.p.Return()
	for i, r := range e.p.Results {
		v := e.m.Operand(ret, i)
		to := e.p.SpecVariance(r.Spec)
		have := e.vars[v]
		if have.U != 0 {
			to.Kind = have.Kind
		}
		if have == to {
			continue
		}
		if err := e.checkOutput(i, v, to); err != nil {
			return err
		}
		if !e.may(CastOutputs) {
			return e.p.badAt(ret, diag.BadVariance, "E_CAST", "output %d is %s and its spec %s makes it vary over %s; insert pvary over %s",
				i, e.describe(v), r.Spec, e.p.FormatAxes(to.V), e.p.tuple((to.V &^ have.V).Axes()))
		}
		if !e.bring(ret, i, to, CastOutputs) {
			return e.p.badAt(ret, diag.BadVariance, "E_UNREDUCED", "output %d is %s, which does not fit its spec %s", i, e.describe(v), r.Spec)
		}
	}
	return nil
}

// checkOutput refuses an output that varies over an axis that its spec leaves out, or whose terms the spec does not
// tell.
func (e *elaborator) checkOutput(i int, v ir.ValueID, to Variance) error {
	p, have := e.p, e.vars[v]
	spec := p.Results[i].Spec
	extra := have.V &^ to.V
	switch {
	case have.U != to.U || have.R != to.R && have.R != to.V&^have.V:
		return p.badAt(p.Return(), diag.BadVariance,
			"E_UNREDUCED", "output %d is %s, but its spec %s says it is %s; spell unreduced and reduced axes in the spec or reduce them",
			i, e.describe(v), spec, p.FormatVariance(to))
	case extra == 0:
		return nil
	case extra.Len() == 1:
		a := extra.Axes()
		return p.badAt(p.Return(), diag.BadVariance, "E_REP",
			"output %d has spec %s, which says that it is replicated across mesh axis '%s', but that can't be statically inferred: it is %s; "+
				"reduce it over %s (psum, all_gather_invariant) or mention '%s' in the spec",
			i, spec, p.axisNames(a, ""), e.describe(v), p.tuple(a), p.axisNames(a, ""))
	}
	return p.badAt(p.Return(), diag.BadVariance, "E_REP",
		"output %d has spec %s, which says that it is only varying across %s and not %s, but it is inferred varying over %s: %s; reduce it "+
			"over %s or mention those axes in the spec",
		i, spec, p.FormatAxes(to.V), p.FormatAxes(extra), p.FormatAxes(have.V), e.describe(v), p.tuple(extra.Axes()))
}

// describe returns a value with the type that has been found.
func (e *elaborator) describe(v ir.ValueID) string {
	return e.p.NameOf(v) + ":" + formatType(e.m.ValueType(v)) + e.p.FormatVariance(e.vars[v])
}

package typed

import (
	"autoshard/ir"
)

// inference finds the variance of every value of a body without changing it. It supposes that all casts will be
// inserted: an op over operands that differ gets their join, and the carries of a loop get the least fixpoint
// (specification: shardmap.md sections 3.3 to 3.6). Whether the ops allow that is for the elaborator to check.
type inference struct {
	p     *Program
	m     *ir.Module
	opts  Options
	vars  []Variance
	first []Variance // when a value was met first: before the carries of loops around it were raised
	met   []bool
}

func infer(p *Program, opts Options) *inference {
	n := p.Module.NumValues()
	t := &inference{p: p, m: p.Module, opts: opts, vars: make([]Variance, n), first: make([]Variance, n), met: make([]bool, n)}
	for i, v := range t.m.BlockArgs(p.Body()) {
		t.set(v, p.SpecVariance(p.Params[i].Spec))
	}
	t.block(p.Body())
	return t
}

func (t *inference) set(v ir.ValueID, x Variance) {
	if !t.met[v] {
		t.met[v], t.first[v] = true, x
	}
	t.vars[v] = x
}

func (t *inference) block(b ir.BlockID) {
	for op := range t.m.Ops(b) {
		t.op(op)
	}
}

func (t *inference) op(op ir.OpID) {
	switch kind := t.m.Kind(op); {
	case t.m.Kind(op) == ir.OpShardMapScan:
		t.scan(op)
	case kind == ir.OpWhile:
		t.while(op)
	case kind == ir.OpIf || kind == ir.OpCase:
		t.branches(op)
	case t.m.Kind(op).IsShardMap():
		t.collective(op)
	default:
		t.local(op)
	}
}

// local types an op that communicates nothing. A barrier hands on every operand as it is.
func (t *inference) local(op ir.OpID) {
	if t.m.Kind(op) == ir.OpOptimizationBarrier {
		for i, v := range t.m.Results(op) {
			t.set(v, t.vars[t.m.Operand(op, i)])
		}
		return
	}
	joined := joinLocal(t.operands(op))
	for _, v := range t.m.Results(op) {
		t.set(v, joined)
	}
}

// operands returns the variances of the operands of an op and of the outer values that its regions use.
func (t *inference) operands(op ir.OpID) []Variance {
	var out []Variance
	for i, v := range operandsOf(t.m, op) {
		x := t.vars[v]
		if isInit(t.m, op, i) && i < t.m.NumOperands(op) && x.R == 0 {
			x.R = out[0].R
		}
		out = append(out, x)
	}
	return out
}

// operandsOf returns the operands of an op and the outer values that its regions use.
func operandsOf(m *ir.Module, op ir.OpID) []ir.ValueID {
	out, inside := m.Operands(op), map[ir.BlockID]bool{}
	enter := func(op ir.OpID) {
		for b := range m.InnerBlocks(op) {
			inside[b] = true
		}
	}
	enter(op)
	for b := range m.InnerBlocks(op) {
		m.Walk(b, func(o ir.OpID) {
			enter(o)
			for _, v := range m.Operands(o) {
				if !inside[m.BlockOf(v)] {
					out = append(out, v)
				}
			}
		})
	}
	return out
}

// joinLocal returns the variance of the result of a local op: it varies where an operand does, is reduced where all
// operands are, and is a term where an operand is one.
func joinLocal(operands []Variance) Variance {
	var out Variance
	for i, x := range operands {
		out.V |= x.V
		out.U |= x.U
		if i == 0 {
			out.R = x.R
		}
		out.R &= x.R
		if x.U != 0 {
			out.Kind = x.Kind
		}
	}
	out.V &^= out.U
	out.R &^= out.V
	return out
}

// collective types an op of this package.
func (t *inference) collective(op ir.OpID) {
	c, err := t.p.Collective(op)
	if err != nil || !t.p.Check {
		return // the elaborator reports it
	}
	var x Variance
	for _, o := range t.operands(op) {
		x.V, x.U, x.R, x.Kind = x.V|o.V, x.U|o.U, x.R|o.R, o.Kind
	}
	t.set(t.m.Result(op, 0), applied(&c, x))
}

// applied returns the variance of the result of a collective on an operand that has been cast as far as it needs.
func applied(c *Collective, x Variance) Variance {
	info, axes := opInfos[c.Kind], c.Set()
	x.V, x.U, x.R = x.V&^axes, x.U&^axes, x.R&^axes
	switch info.to {
	case varying:
		x.V |= axes
	case unreduced:
		x.U |= axes
		x.Kind = c.Reduction
	case reduced:
		x.R |= axes
	}
	if x.U == 0 {
		x.Kind = ir.ReduceSum
	}
	return x
}

// raise joins the variance of a carry with what comes back to it, and says whether that changed it.
func (t *inference) raise(v ir.ValueID, x Variance) bool {
	old := t.vars[v]
	if t.opts.Casts != CastEverywhere {
		return false
	}
	next := old
	next.V |= x.V &^ old.U
	next.R &^= next.V
	t.vars[v] = next
	return next != old
}

func (t *inference) scan(op ir.OpID) {
	m, info := t.m, t.p.ScanOf(op)
	body := m.RegionBlock(op, 0)
	args := m.BlockArgs(body)
	for i, v := range args {
		t.set(v, t.vars[m.Operand(op, i)])
	}
	for again := true; again; {
		again = false
		t.block(body)
		ret := m.LastOp(body)
		for k := range info.Carries {
			again = t.raise(args[k], t.vars[m.Operand(ret, k)]) || again
		}
	}
	ret := m.LastOp(body)
	for i, v := range m.Results(op) {
		if i < info.Carries {
			t.set(v, t.vars[args[i]])
		} else {
			t.set(v, t.vars[m.Operand(ret, i)])
		}
	}
}

// while raises the carries to what the body returns and, unless JAX's rule is asked for, to what the condition varies
// over: devices leave the loop after different numbers of rounds.
func (t *inference) while(op ir.OpID) {
	m := t.m
	cond, body := m.RegionBlock(op, 0), m.RegionBlock(op, 1)
	inner, tests := m.BlockArgs(body), m.BlockArgs(cond)
	for i, v := range inner {
		t.set(v, t.vars[m.Operand(op, i)])
	}
	for again := true; again; {
		again = false
		for i, v := range inner {
			t.set(tests[i], t.vars[v])
		}
		t.block(cond)
		t.block(body)
		predicate, ret := t.predicate(m.Operand(m.LastOp(cond), 0)), m.LastOp(body)
		for k, v := range inner {
			x := t.vars[m.Operand(ret, k)]
			x.V |= predicate
			again = t.raise(v, x) || again
		}
	}
	for i, v := range m.Results(op) {
		t.set(v, t.vars[inner[i]])
	}
}

// predicate returns the axes over which a predicate makes results vary.
func (t *inference) predicate(v ir.ValueID) AxisSet {
	if t.opts.Unsound {
		return 0
	}
	return t.vars[v].V
}

// branches joins the results of the branches, and what the predicate varies over.
func (t *inference) branches(op ir.OpID) {
	m := t.m
	results := make([][]Variance, m.NumResults(op))
	for r := range m.NumRegions(op) {
		b := m.RegionBlock(op, r)
		t.block(b)
		ret := m.LastOp(b)
		for i := range results {
			results[i] = append(results[i], t.vars[m.Operand(ret, i)])
		}
	}
	for i, v := range m.Results(op) {
		x := joinLocal(results[i])
		x.V |= t.predicate(m.Operand(op, 0)) &^ x.U
		x.R &^= x.V
		t.set(v, x)
	}
}

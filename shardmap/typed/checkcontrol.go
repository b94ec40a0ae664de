package typed

import (
	"autoshard/internal/diag"
	"autoshard/ir"
)

// checkScan brings initial and returned carries to the types of the body's arguments.
func (e *elaborator) checkScan(op ir.OpID) error {
	body := e.m.RegionBlock(op, 0)
	args := e.m.BlockArgs(body)[:e.p.ScanOf(op).Carries]
	if err := e.carries(op, op, args); err != nil {
		return err
	}
	if err := e.walk(body); err != nil {
		return err
	}
	return e.carries(op, e.m.LastOp(body), args)
}

func (e *elaborator) checkWhile(op ir.OpID) error {
	cond, body := e.m.RegionBlock(op, 0), e.m.RegionBlock(op, 1)
	args := e.m.BlockArgs(body)
	predicate := e.predicate(e.m.Operand(e.m.LastOp(cond), 0))
	for i, v := range args {
		if missing := predicate &^ e.vars[v].V; missing != 0 && e.p.Check {
			return e.p.badAt(op, diag.BadVariance,
				"E_CARRY", "the condition varies over %s, so that carry %d leaves the loop varying over it too; insert pvary over %s on %s",
				e.p.FormatAxes(predicate), i, e.p.tuple(missing.Axes()), e.describe(e.m.Operand(op, i)))
		}
	}
	if err := e.carries(op, op, args); err != nil {
		return err
	}
	outer := e.divergent
	defer func() { e.divergent = outer }()
	e.divergent |= predicate
	for _, b := range []ir.BlockID{cond, body} {
		if err := e.walk(b); err != nil {
			return err
		}
	}
	return e.carries(op, e.m.LastOp(body), args)
}

// carries casts what a loop, or the return of its body, hands to the body's arguments.
func (e *elaborator) carries(loop, op ir.OpID, args []ir.ValueID) error {
	if !e.p.Check {
		return nil
	}
	for k, arg := range args {
		if to := e.vars[arg]; !e.bring(op, k, to, CastEverywhere) {
			return e.badCarry(loop, k, e.m.Operand(op, k), to)
		}
	}
	return nil
}

func (e *elaborator) badCarry(loop ir.OpID, k int, v ir.ValueID, to Variance) error {
	init := e.m.Operand(loop, k)
	hint := "both must be unreduced and reduced along the same axes"
	switch more, less := e.vars[v].V&^to.V, to.V&^e.vars[v].V; {
	case e.vars[v].U != to.U || e.vars[v].R != to.R:
	case more != 0:
		hint = "insert pvary over " + e.p.tuple(more.Axes()) + " on the initial value " + e.describe(init)
	case less != 0:
		hint = "insert pvary over " + e.p.tuple(less.Axes()) + " on it"
	}
	return e.p.badAt(loop, diag.BadVariance,
		"E_CARRY", "carry input and carry output must have equal types: carry %d begins as %s and the body returns %s; %s",
		k, e.p.FormatVariance(to), e.describe(v), hint)
}

// checkBranches brings the results of the branches to one type.
func (e *elaborator) checkBranches(op ir.OpID) error {
	outer := e.divergent
	defer func() { e.divergent = outer }()
	if e.p.Check {
		e.divergent |= e.predicate(e.m.Operand(op, 0))
	}
	for r := range e.m.NumRegions(op) {
		if err := e.walk(e.m.RegionBlock(op, r)); err != nil {
			return err
		}
	}
	if !e.p.Check {
		return nil
	}
	for r := range e.m.NumRegions(op) {
		if err := e.branch(op, r); err != nil {
			return err
		}
	}
	return nil
}

func (e *elaborator) branch(op ir.OpID, r int) error {
	ret := e.m.LastOp(e.m.RegionBlock(op, r))
	for i, result := range e.m.Results(op) {
		v, to := e.m.Operand(ret, i), e.vars[result]
		if !e.bring(ret, i, to, CastEverywhere) {
			return e.p.badAt(op, diag.BadVariance, "E_BRANCH",
				"branches must have equal output types: output %d is %s over all branches and the predicate, branch %d returns %s; insert pvary "+
					"over %s in that branch",
				i, e.p.FormatVariance(to), r, e.describe(v), e.p.tuple((to.V &^ e.vars[v].V).Axes()))
		}
	}
	return nil
}

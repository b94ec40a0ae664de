// Package advice finds what shard_map programs send although they need not, and rewrites it:
//
//	for _, a := range advice.Find(p) {
//		better, err := a.Apply() // p with psum_scatter in the place of a psum and a slice
//	}
//
// A rewrite leaves the whole outputs as they are, but for the rounding of sums; whether it saves something is for package cost/estimate to
// say.
package advice

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// Advice is one rewrite of a program.
type Advice struct {
	Rule    diag.Code // of internal/lint
	Op      ir.OpID   // the collective that it is about
	Message string    // what stands there and what could
	// Overlaps says that it is for steps in which collectives run beside other ops: one op after the other, it saves nothing.
	Overlaps bool

	program *typed.Program
	rewrite func(e *editor)
	apply   func() (*typed.Program, error) // nil: rewrite changes a copy
}

// finders look at one op of a program.
var finders = []func(p *typed.Program, op ir.OpID) *Advice{psumThenSlice, gatherOfOutput, gatherInLoop}

// Find returns the rewrites that a program allows, in the order of its text; a product may become a ring in several ways. The program is
// valid, and elaborated where its check is on.
func Find(p *typed.Program) (found []*Advice) {
	p.Module.Walk(p.Body(), func(op ir.OpID) {
		if !p.Module.Kind(op).Communicates() {
			return
		}
		for _, find := range finders {
			if a := find(p, op); a != nil {
				a.Op, a.program = op, p
				found = append(found, a)
				return
			}
		}
		for _, a := range rings(p, op) {
			a.Op, a.program = op, p
			found = append(found, a)
		}
	})
	return found
}

// Apply returns the program with the rewrite made. The program that it was found in stays as it is.
func (a *Advice) Apply() (*typed.Program, error) {
	if a.apply != nil {
		return a.apply()
	}
	q := a.program.Clone()
	e := &editor{p: q, m: q.Module}
	a.rewrite(e)
	q.Variance = nil
	_, err := q.Elaborate(typed.Options{})
	return q, err
}

// editor changes a copy of a program, whose ops have the numbers that they have in the original.
type editor struct {
	p *typed.Program
	m *ir.Module
}

// drop erases an op that nothing uses any more, and then those that it alone used.
func (e *editor) drop(op ir.OpID) {
	if op == 0 || e.m.NumRegions(op) > 0 || e.m.Kind(op) == ir.OpCustomCall || slices.ContainsFunc(e.m.ResultValues(op), e.m.HasUses) {
		return
	}
	operands := e.m.Operands(op)
	e.p.Erase(op)
	for _, v := range operands {
		e.drop(e.m.DefiningOp(v))
	}
}

// plain returns the content of a collective without subgroups, of these kinds.
func plain(p *typed.Program, op ir.OpID, kinds ...ir.Kind) (c typed.Collective, ok bool) {
	if !slices.Contains(kinds, p.Module.Kind(op)) {
		return c, false
	}
	c, err := p.Collective(op)
	return c, err == nil && c.Groups == nil
}

// onlyUse returns the op that alone uses a value, and no values that casts make of it, and the place of the operand; 0 if there is none.
func onlyUse(p *typed.Program, v ir.ValueID) (user ir.OpID, operand int) {
	m := p.Module
	use, ok := m.OnlyUse(v)
	if !ok {
		return 0, 0
	}
	if c, err := p.Collective(use.Op); err == nil && c.IsCast() {
		return onlyUse(p, m.Result(use.Op, 0))
	}
	return use.Op, use.Index
}

// gatherOfOutput finds an output that is gathered and only returned.
func gatherOfOutput(p *typed.Program, op ir.OpID) *Advice {
	c, ok := plain(p, op, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllGather)
	if !ok || p.Module.Kind(op) == ir.OpShardMapAllGather && p.Check {
		return nil // a value that varies is returned along the axes already
	}
	user, i := onlyUse(p, p.Module.Result(op, 0))
	if user != p.Return() {
		return nil
	}
	before := p.Results[i].Spec
	after := before.Cut(int(c.Dim), lists.Map(c.Axes, func(a int) string { return p.Mesh.Axes[a].Name }))
	return &Advice{
		Rule: lint.GatherOfOutput,
		Message: p.Describe(op) + " is only returned: with the spec " + after.String() + " in the place of " + before.String() +
			" nothing is gathered",
		rewrite: func(e *editor) {
			v, whole := e.m.Operand(op, 0), e.m.Operand(e.p.Return(), i)
			e.m.SetOperand(e.p.Return(), i, v)
			e.m.Func(e.p.Func).ResultTypes[i] = e.m.Type(v)
			e.p.Results[i].Spec = after
			e.drop(e.m.DefiningOp(whole))
		},
	}
}

// Package propagate spreads shardings that a user gave for some tensors over a whole program, as Shardy does.
//
// Every op has a rule (package ir/rule) that says which dimensions of its tensors are the same factor. Propagation
// restates the shardings of an op's tensors in terms of factors, moves axes from tensors that have them to those
// that can take them, and goes on until nothing changes. With
//
//	%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]   ([i, k], [k, j])->([i, j])
//
// and %x sharded [{"data"}, {}], factor i moves "data" to dimension 0 of %0. A dimension takes axes if it is open;
// an axis shards at most one dimension of a tensor, so that factors can conflict, and who comes first wins: user
// priorities, then op priorities (package priority), then the order of the program.
//
// The main path is
//
//	err := propagate.Import(ctx, m)  // make the module ready: constants split, edges for region data flow, constraints
//	trace, err := propagate.Run(ctx, m, Options{}) // to the fixed point, with a trace of what moved and what did not
//	err = propagate.Close(ctx, m)    // drop what only propagation needs; dimensions closed
//
// Specification: shardy.md sections 3 and 4.
package propagate

import (
	"context"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/priority"
	"autoshard/trace"
)

// Strategy says how conflicts between the tensors of one op are resolved.
type Strategy uint8

// The strategies.
const (
	Aggressive          Strategy = iota // a conflict stops an axis only at the tensor that has it
	Basic                               // a conflict stops an axis at all tensors
	BasicThenAggressive                 // one after the other
)

var strategyNames = [...]string{"aggressive", "basic", "basic-then-aggressive"}

// String returns the name of the strategy as Shardy's option has it.
func (s Strategy) String() string { return strategyNames[s] }

// ParseStrategy reads what String returns.
func ParseStrategy(name string) (Strategy, bool) {
	for s, n := range strategyNames {
		if n == name {
			return Strategy(s), true
		}
	}
	return 0, false
}

// Options of propagation. The zero value is Shardy's default: -sdy-user-priority-propagate.
type Options struct {
	Strategy       Strategy
	Conservative   bool // rules keep apart what windows and slices relate; no sub-axes arise
	NoOpPriority   bool // all ops move both ways from the start
	NoUserPriority bool // all dimensions take part from the start
	// MaxPriority is the last user priority that gets its round, where Limited is set. Dimensions of later ones
	// stay without axes.
	MaxPriority int
	Limited     bool
	Debug       Debug
	// CompleteRules looks at programs as XLA does when it propagates: ops of CHLO, for which Shardy has no rules, have those of what
	// they become, broadcasts that only add dimensions of one element are reshapes, and what loops carry round unchanged is what
	// entered them. Not with Conservative.
	CompleteRules bool
	KeepRules     bool // leave the rules of ops attached
}

// Run propagates the shardings of the module until nothing changes, and removes ops without uses or effects that
// it meets. Dimensions stay open or closed. Results need static shapes (ErrUnsupported otherwise), and shardings have to
// settle (ErrInvalid otherwise). Where it fails, also with the context's error, the module is half
// propagated and of no use.
// Shardy: -sdy-user-priority-propagate, or by options -sdy-op-priority-propagate, -sdy-aggressive-propagate and
// -sdy-basic-propagate.
func Run(ctx context.Context, m *ir.Module, o Options) (*trace.Trace, error) {
	if err := checkStatic(m); err != nil {
		return nil, err
	}
	observer := newObserver(m, o.Debug)
	copies := syncGroups(m)
	e := newEngine(ctx, m, o)
	e.observer, e.observed = observer, observer != nil
	e.recordGroupCopies(copies, o.NoUserPriority)
	if err := e.run(); err != nil {
		return nil, err
	}
	return e.trace, nil
}

// run propagates and writes what came of it into the module.
func (e *engine) run() error {
	if e.options.NoUserPriority {
		e.opPriorities(0)
	} else {
		e.userPriorities()
	}
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if e.settling.restless != 0 {
		return e.unsettled()
	}
	e.store()
	e.observer.save()
	if e.options.KeepRules {
		e.attachRules()
	} else {
		DropRules(e.m)
	}
	return nil
}

// unsettled reports the value whose sharding changes for ever.
func (e *engine) unsettled() error {
	var at diag.Position
	if int(e.settling.restless) < len(e.home) {
		if op := e.m.DefiningOp(ir.ValueID(e.settling.restless)); op != 0 {
			at = opPosition(e.m, op)
		}
	}
	return diag.Invalid(diag.BadSharding, at, "the sharding of a value never settles: axes come to it in an order that the manual axes of a "+
		"computation take away again; let manual axes stand first in all dimensions that the value reaches")
}

// checkStatic fails at the first result that is a tensor of unknown shape or a tuple.
func checkStatic(m *ir.Module) error {
	for op := range m.Within(m.Body()) {
		for _, v := range m.Results(op) {
			if t := m.ValueType(v); t.Kind == ir.TensorKind && !t.IsStatic() || t.Kind == ir.TupleKind {
				return diag.Unsupported(diag.NotSupported, opPosition(m, op),
					"`%s` has a result of dynamic shape or a tuple; propagation needs static tensors", m.OpName(op))
			}
		}
	}
	return nil
}

// opPriorities runs the op priorities in order, each to its fixed point.
func (e *engine) opPriorities(round int32) {
	if e.options.NoOpPriority {
		e.begin(round, 0)
		e.strategies()
		return
	}
	for level := range priority.Levels {
		e.level = level
		e.begin(round, level)
		e.strategies()
	}
	e.level = allLevels
}

// begin starts an op priority of a round of user priorities.
func (e *engine) begin(round int32, level int) {
	e.round = round
	e.trace.Begin(round, level)
}

func (e *engine) strategies() {
	if e.options.Strategy != Aggressive {
		e.aggressive = false
		e.fixpoint()
	}
	if e.options.Strategy != Basic {
		e.aggressive = true
		e.fixpoint()
	}
}

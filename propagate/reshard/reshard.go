// Package reshard makes communication explicit that shardings only imply: where a value is sharded otherwise than an op
// needs it, an sdy.reshard goes between them, and where an op leaves partial sums behind, an sdy.all_reduce.
//
//	%2 = stablehlo.dot_general %0, %1 [...]        %0 <@mesh, [{}, {"x"}]>, %1 <@mesh, [{"x"}, {"y"}]>, %2 <@mesh, [{}, {"x"}]>
//
// multiplies along "x", but its result is to be cut along "x", too. The product is better cut along "y", as its second
// operand is, and brought to "x" afterwards:
//
//	%2 = stablehlo.dot_general %0, %1 [...]        <@mesh, [{}, {"y"}]>
//	%3 = sdy.reshard %2 <@mesh, [{}, {"x"}]>
//
// That is what [Insert] does by default: products like this one, calls, concatenations, and whatever has unreduced
// axes. A partitioner that comes after it does the rest. With [Options.Full] nothing is left to do: every op gets its
// operands and results sharded alike along each factor of its sharding rule. [VerifyUnreduced] checks before that
// unreduced axes appear and vanish only where they may.
//
// Specification: shardy.md sections 5.2, 5.3 and 5.6.
package reshard

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/propagate"
)

// Options of Insert. The zero value is Shardy's default.
type Options struct {
	Full bool // make all ops compatible with their rules, not only some
}

// Insert makes communication explicit in all functions of a module. Edges of data flow must have been sunk. It fails
// (ErrInvalid) where an argument or result of a function lives on a single device, or the results of one op on several,
// and (ErrUnsupported) where results of one op have different unreduced axes.
// Shardy: -sdy-insert-explicit-reshards.
func Insert(m *ir.Module, o Options) error {
	r := &inserter{m: m, full: o.Full, plain: isPlain(m), rules: rule.NewCache(false)}
	for f := range m.Definitions() {
		if err := r.function(f); err != nil {
			return err
		}
	}
	return nil
}

// inserter inserts reshards into a module.
type inserter struct {
	m     *ir.Module
	full  bool
	plain bool // no sharding has unreduced axes or a single device
	rules *rule.Cache
	table *calls.Table // made when the first call is met

	factors   propagate.Projection
	shardings []ir.ShardingID // of the op at hand, operands first
}

// isPlain says whether no sharding of the module has unreduced axes or lies on a single device.
func isPlain(m *ir.Module) bool {
	for id := ir.ShardingID(1); int(id) < m.NumShardings(); id++ {
		if s := m.ShardingOf(id); len(s.Unreduced) > 0 || m.Mesh(s.Mesh).IsMaximal() {
			return false
		}
	}
	return true
}

func (r *inserter) function(f ir.FuncID) error {
	m := r.m
	if err := r.signature(f); err != nil {
		return err
	}
	for _, b := range m.Blocks(m.Region(m.Func(f).Op, 0)) {
		if err := r.block(b); err != nil {
			return err
		}
	}
	last := m.LastOp(m.Func(f).Body)
	if last == 0 || m.Kind(last) != ir.OpReturn {
		return nil
	}
	for i, target := range m.Func(f).ResultShardings {
		if i < m.NumOperands(last) {
			r.toTarget(ir.Use{Op: last, Index: i}, target, m.BuilderBefore(last), r.full)
		}
	}
	return nil
}

// signature refuses functions with an argument or a result on a single device.
func (r *inserter) signature(f ir.FuncID) error {
	m := r.m
	refuse := func(what string, list []ir.ShardingID) error {
		i := slices.IndexFunc(list, func(id ir.ShardingID) bool { return r.isSingle(id) })
		if i < 0 {
			return nil
		}
		return diag.Invalid(diag.BadSharding, m.Position(m.Func(f).Op),
			"%s %d of function %q is on a single device: move it there inside the function", what, i, m.Func(f).Name)
	}
	args := lists.Map(m.BlockArgs(m.Func(f).Body), m.Sharding)
	if err := refuse("argument", args); err != nil {
		return err
	}
	return refuse("result", m.Func(f).ResultShardings)
}

// block visits the ops of a block, inner ones first. Ops that are inserted on the way are not visited.
func (r *inserter) block(b ir.BlockID) error {
	m := r.m
	for op := range m.Ops(b) {
		for inner := range m.InnerBlocks(op) {
			if err := r.block(inner); err != nil {
				return err
			}
		}
		if kind := m.Kind(op); !kind.IsTerminator() && !r.needsNothing(op, kind) {
			if err := r.op(op); err != nil {
				return err
			}
		}
	}
	return nil
}

// needsNothing says quickly that an op stays as it is: most do.
func (r *inserter) needsNothing(op ir.OpID, kind ir.Kind) bool {
	switch {
	case !r.plain || r.full || kind == ir.OpCall:
		return false
	case kind == ir.OpConcatenate:
		return !r.isDiverse(op)
	}
	return kind != ir.OpDot && kind != ir.OpDotGeneral || r.m.Sharding(r.m.Result(op, 0)) == 0
}

// isDiverse says whether some operand of an op has another sharding than the result.
func (r *inserter) isDiverse(op ir.OpID) bool {
	m := r.m
	out := m.Sharding(m.Result(op, 0))
	for i := range m.NumOperands(op) {
		if r.sharding(m.Operand(op, i)) != out {
			return true
		}
	}
	return false
}

func (r *inserter) op(op ir.OpID) error {
	m := r.m
	switch kind := m.Kind(op); {
	case dataflow.Has(kind):
		r.dataFlow(op)
		return nil
	case kind == ir.OpCall:
		r.call(op)
		return nil
	case kind == ir.OpSdyReshard && r.spreads(op):
		r.expandReshard(op)
		return nil
	}
	if err := r.reduceOperands(op); err != nil {
		return err
	}
	r.collect(op)
	if r.hasSingle(op) {
		return r.singleDevice(op)
	}
	if rule := r.rules.Of(m, op); rule != nil && !rule.Custom {
		r.ruled(op, rule)
	}
	return nil
}

// dataFlow brings what flows into the edges of an op to the shardings of the edges, each value right where it is made.
func (r *inserter) dataFlow(op ir.OpID) {
	for _, edge := range dataflow.Inflows(r.m, op) {
		for _, use := range edge.Sources {
			r.toTarget(use, edge.Sharding, r.after(r.m.Operand(use.Op, use.Index)), r.full)
		}
	}
}

// call brings the operands of a call to the shardings of the function's arguments. What the call returns is another
// pass's matter: -sdy-insert-func-call-reshards.
func (r *inserter) call(op ir.OpID) {
	m := r.m
	if r.table == nil {
		r.table = calls.NewTable(m)
	}
	f := r.table.Callee(op)
	if f == 0 {
		return
	}
	targets := calls.ArgShardings(m, f)
	if targets == nil {
		if targets = r.replicatedOperands(op); targets == nil {
			return
		}
	}
	for i := range min(m.NumOperands(op), len(targets)) {
		r.toTarget(ir.Use{Op: op, Index: i}, targets[i], r.after(m.Operand(op, i)), true)
	}
}

// replicatedOperands returns replicated shardings for the operands of a call, on the first mesh that one of them has.
func (r *inserter) replicatedOperands(op ir.OpID) []ir.ShardingID {
	m := r.m
	var targets []ir.ShardingID
	mesh := ir.MeshID(0)
	for i := range m.NumOperands(op) {
		if id := r.sharding(m.Operand(op, i)); id != 0 && mesh == 0 {
			mesh = m.ShardingOf(id).Mesh
		}
	}
	if mesh == 0 {
		return nil
	}
	for i := range m.NumOperands(op) {
		targets = append(targets, m.Replicated(mesh, len(m.Shape(m.Operand(op, i))), true))
	}
	return targets
}

// after returns a builder that inserts right after a value is made.
func (r *inserter) after(v ir.ValueID) *ir.Builder {
	m := r.m
	if op := m.DefiningOp(v); op != 0 {
		return m.BuilderAfter(op)
	}
	return m.BuilderBefore(m.FirstOp(m.ArgBlock(v)))
}

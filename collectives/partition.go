package collectives

import (
	"context"
	"math"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/padding"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// Assignment says how every op of a module is cut: the factors of each op by its id, nil for ops without a rule,
// which read and make whole tensors. The shardings of the values themselves are in the module.
type Assignment []Factors

// Anywhere is the reach of copies that all uses of a value in a block share.
const Anywhere = math.MaxInt

// Partition makes the communications of a module explicit, in four steps: [Insert] says where values are resharded, rewrites change that so
// that less is sent, [padding.Pad] pads what is not cut into equal blocks, and [Expand] says by which collectives, the planner's cheapest.
// It says what rewrites changed. Errors are those of the steps.
func Partition(ctx context.Context, m *ir.Module, mesh ir.MeshID, assignment Assignment, planner *Planner,
	how Rewriting) (Rewritten, error) {
	shared, err := Insert(ctx, m, mesh, assignment, how.Reach)
	if err != nil {
		return Rewritten{}, err
	}
	r := &rewriter{m: m, mesh: mesh, planner: planner, how: how, hoisted: map[hoistKey]ir.ValueID{}}
	if shared {
		r.done.Changed = rewrites.Of(rewrites.ShareReshards)
	}
	if err := r.rewrite(ctx); err != nil || how.Needed != 0 && r.done.Changed&how.Needed == 0 {
		return r.done, err
	}
	if err := padding.Pad(ctx, m, mesh); err != nil {
		return Rewritten{}, err
	}
	return r.done, Expand(ctx, m, Expansion{Order: planner.Cheapest, KeepManual: true})
}

// Insert makes the reshards of a module explicit. On entry every tensor value has a closed sharding on
// one mesh without unreduced axes, and every op its factors. Insert puts an sdy.reshard where a value is not as an op needs
// it, so that each op reads its operands and makes its results exactly as its factors say, and every result goes on in the
// sharding of its value; partial results are resharded to whole ones. Sharding constraints become reshards. Reshards of one
// value to one sharding are shared within a block where at most reach ops lie between two reads: a copy that is shared is made
// once, and held from its first read to its last. Insert says whether any is. Errors are the context's,
// and of class diag.ErrInvalid or diag.ErrInternal.
func Insert(ctx context.Context, m *ir.Module, mesh ir.MeshID, assignment Assignment, reach int) (shared bool, err error) {
	main, ok := m.Main()
	if !ok {
		return false, diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	body := m.Func(main).Body
	out := map[ir.Use]ir.ShardingID{}
	for i, id := range m.Func(main).ResultShardings {
		out[ir.Use{Op: m.LastOp(body), Index: i}] = id
	}
	p := &inserter{ctx: ctx, m: m, mesh: mesh, assignment: assignment, rules: rule.NewComputingCache(), reach: reach}
	err = p.block(body, out)
	return p.shared, err
}

type inserter struct {
	ctx        context.Context
	m          *ir.Module
	mesh       ir.MeshID
	assignment Assignment
	rules      *rule.Cache
	reach      int
	now        int  // ops seen
	shared     bool // reads of several ops share a copy
}

// moved remembers the copies of values of one block in other shardings.
type moved map[copyKey]copied

// copied is a copy, and when it was read last.
type copied struct {
	value ir.ValueID
	read  int
}

type copyKey struct {
	value    ir.ValueID
	sharding ir.ShardingID
}

// block makes one block explicit. Operands of its terminator go out in the given shardings, whole where none is given.
func (p *inserter) block(b ir.BlockID, out map[ir.Use]ir.ShardingID) error {
	copies := moved{}
	for op := range p.m.Ops(b) {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		p.now++
		if p.m.Kind(op).IsTerminator() {
			for i := range p.m.NumOperands(op) {
				if want, ok := out[ir.Use{Op: op, Index: i}]; ok {
					p.operand(op, i, want, copies)
				} else {
					p.whole(op, i, copies)
				}
			}
			return nil
		}
		if err := p.op(op, copies); err != nil {
			return err
		}
	}
	return nil
}

func (p *inserter) op(op ir.OpID, copies moved) error {
	m := p.m
	switch kind := m.Kind(op); kind {
	case ir.OpSdyShardingConstraint, ir.OpSdyReshard, ir.OpSdyPropagationBarrier:
		m.ReplaceUses(m.Result(op, 0), p.copyOf(op, m.Operand(op, 0), m.Sharding(m.Result(op, 0)), copies))
		m.Erase(op)
		return nil
	case ir.OpSdyShardingGroup:
		m.Erase(op)
		return nil
	case ir.OpConstant, ir.OpSdyConstant, ir.OpIota:
		return nil // every device makes its own block
	default:
		if dataflow.Has(kind) {
			return p.flow(op, copies)
		}
	}
	return p.compute(op, copies)
}

// flow brings what flows into the edges of an op to their shardings. The selector of branches and the condition of a loop
// are no edges: every device needs them whole. The body of a manual computation is the business of its devices.
func (p *inserter) flow(op ir.OpID, copies moved) error {
	m := p.m
	if kind := m.Kind(op); kind == ir.OpCase || kind == ir.OpIf {
		p.whole(op, 0, copies)
	}
	inside := map[ir.Use]ir.ShardingID{}
	for _, edge := range dataflow.Inflows(m, op) {
		for _, use := range edge.Sources {
			inside[use] = edge.Sharding
			if use.Op == op {
				p.operand(op, use.Index, edge.Sharding, copies)
			}
		}
	}
	if m.Kind(op) == ir.OpSdyManualComputation {
		return nil
	}
	for _, v := range m.Results(op) {
		for _, target := range dataflow.OtherTargets(m, v) {
			m.SetSharding(target, m.Sharding(v))
		}
	}
	for i := range m.NumRegions(op) {
		if err := p.block(m.RegionBlock(op, i), inside); err != nil {
			return err
		}
	}
	return nil
}

// compute makes an op with a rule explicit; one without reads and makes whole tensors.
func (p *inserter) compute(op ir.OpID, copies moved) error {
	m := p.m
	operands, results, err := p.layouts(op)
	if err != nil {
		return err
	}
	for i := range operands {
		p.operand(op, i, m.InternSharding(operands[i].Sharding(p.mesh)), copies)
	}
	after := m.BuilderAfter(op)
	for i, v := range m.Results(op) {
		if !isTensor(m, v) {
			continue
		}
		final := m.Sharding(v)
		m.SetSharding(v, m.InternSharding(results[i].Sharding(p.mesh)))
		if sent := p.reshard(after, v, final); sent != v {
			m.Divert(v, sent)
		}
	}
	return nil
}

func (p *inserter) layouts(op ir.OpID) (operands, results []Layout, err error) {
	m := p.m
	r := p.rules.Of(m, op)
	if r == nil || int(op) >= len(p.assignment) || p.assignment[op] == nil {
		return wholes(m, m.Operands(op)), wholes(m, m.ResultValues(op)), nil
	}
	operands, results, ok := p.assignment.project(m, op, r)
	if !ok {
		return nil, nil, diag.Internal(diag.Bug, diag.Position{}, "the assignment of %s cannot be projected to its tensors", m.OpName(op))
	}
	return operands, results, nil
}

func wholes(m *ir.Module, values []ir.ValueID) []Layout {
	out := make([]Layout, len(values))
	for i, v := range values {
		out[i].Dims = make([][]subaxis.Ref, len(m.Shape(v)))
	}
	return out
}

func isTensor(m *ir.Module, v ir.ValueID) bool { return m.ValueType(v).Kind == ir.TensorKind }

// whole brings an operand to every device as a whole.
func (p *inserter) whole(op ir.OpID, i int, copies moved) {
	p.operand(op, i, p.m.Replicated(p.mesh, len(p.m.Shape(p.m.Operand(op, i))), true), copies)
}

// operand brings an operand to a sharding. Tokens have none.
func (p *inserter) operand(op ir.OpID, i int, want ir.ShardingID, copies moved) {
	v := p.m.Operand(op, i)
	if !isTensor(p.m, v) {
		return
	}
	if c := p.copyOf(op, v, want, copies); c != v {
		p.m.SetOperand(op, i, c)
	}
}

// copyOf returns a value in another sharding, making it before op unless the block has it within reach.
func (p *inserter) copyOf(op ir.OpID, v ir.ValueID, want ir.ShardingID, copies moved) ir.ValueID {
	key := copyKey{v, want}
	c, ok := copies[key]
	if !ok || p.now-c.read > p.reach {
		c.value = p.reshard(p.m.BuilderBefore(op), v, want)
	} else if c.read < p.now && c.value != v {
		p.shared = true
	}
	c.read = p.now
	copies[key] = c
	return c.value
}

// reshard inserts an sdy.reshard of a value, unless the value already lies as is wanted.
func (p *inserter) reshard(b *ir.Builder, v ir.ValueID, want ir.ShardingID) ir.ValueID {
	m := p.m
	have, to := LayoutOf(m.ShardingOf(m.Sharding(v))), LayoutOf(m.ShardingOf(want))
	if have.Equal(&to) {
		return v
	}
	return b.Reshard(v, want)
}

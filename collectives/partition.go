package collectives

import (
	"context"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// Assignment says how every op of a module is cut: the factors of each op by its id, nil for ops without a rule,
// which read and make whole tensors. The shardings of the values themselves are in the module.
type Assignment []Factors

// Partition makes the communications of a module explicit. On entry every tensor value has a closed, evenly
// dividing sharding on one mesh without unreduced axes, and every op its factors. Partition inserts sdy collectives
// so that each op reads its operands and makes its results exactly as its factors say, sends every result on to the
// sharding of its value, and removes sharding constraints. Reshards of one value to one sharding are shared within
// a block. Errors are the context's, and of class diag.ErrInvalid or diag.ErrInternal.
func Partition(ctx context.Context, m *ir.Module, mesh ir.MeshID, assignment Assignment, planner *Planner) error {
	main, ok := m.Main()
	if !ok {
		return diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function `main`")
	}
	p := &partitioner{ctx: ctx, m: m, mesh: mesh, assignment: assignment, planner: planner}
	return p.block(m.Func(main).Body, m.Func(main).ResultShardings)
}

type partitioner struct {
	ctx        context.Context
	m          *ir.Module
	mesh       ir.MeshID
	assignment Assignment
	planner    *Planner
}

// moved remembers the copies of values of one block in other shardings.
type moved map[copyKey]ir.ValueID

type copyKey struct {
	value    ir.ValueID
	sharding ir.ShardingID
}

// block makes one block explicit; its terminator's operands go out in the given shardings.
func (p *partitioner) block(b ir.BlockID, out []ir.ShardingID) error {
	copies := moved{}
	for op := range p.m.Ops(b) {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if p.m.Kind(op).IsTerminator() {
			for i, s := range out {
				p.operand(op, i, s, copies)
			}
			return nil
		}
		if err := p.op(op, copies); err != nil {
			return err
		}
	}
	return nil
}

func (p *partitioner) op(op ir.OpID, copies moved) error {
	m := p.m
	switch m.Kind(op) {
	case ir.OpWhile:
		return p.while(op, copies)
	case ir.OpCase, ir.OpIf:
		return p.branches(op, copies)
	case ir.OpOptimizationBarrier:
		p.alike(op, copies)
		return nil
	case ir.OpSdyManualComputation:
		for i, arg := range m.BlockArgs(m.RegionBlock(op, 0)) {
			p.operand(op, i, m.Sharding(arg), copies)
		}
		return nil
	case ir.OpSdyShardingConstraint, ir.OpSdyReshard, ir.OpSdyPropagationBarrier:
		v := p.copyOf(op, m.Operand(op, 0), m.Sharding(m.Result(op, 0)), copies)
		m.ReplaceUses(m.Result(op, 0), v)
		m.Erase(op)
		return nil
	case ir.OpSdyShardingGroup:
		m.Erase(op)
		return nil
	case ir.OpConstant, ir.OpSdyConstant, ir.OpIota:
		return nil // every device makes its own block
	}
	return p.compute(op, copies)
}

// compute makes an op with a rule explicit; one without reads and makes whole tensors.
func (p *partitioner) compute(op ir.OpID, copies moved) error {
	m := p.m
	operands, results, err := p.layouts(op)
	if err != nil {
		return err
	}
	for i := range operands {
		if isTensor(m, m.Operand(op, i)) {
			p.operand(op, i, m.InternSharding(operands[i].Sharding(p.mesh)), copies)
		}
	}
	after := m.BuilderAfter(op)
	for i, v := range m.Results(op) {
		if !isTensor(m, v) {
			continue
		}
		final := m.Sharding(v)
		m.SetSharding(v, m.InternSharding(results[i].Sharding(p.mesh)))
		if sent := p.send(after, v, results[i], final); sent != v {
			first := m.DefiningOp(v)
			m.ReplaceUsesIf(v, sent, func(u ir.Use) bool { return !p.isStep(u.Op, first, sent) })
		}
	}
	return nil
}

// isStep says whether an op belongs to the chain of communications between a value's op and its last copy.
func (p *partitioner) isStep(op, first ir.OpID, last ir.ValueID) bool {
	for step := p.m.DefiningOp(last); step != first; step = p.m.DefiningOp(p.m.Operand(step, 0)) {
		if step == op {
			return true
		}
	}
	return false
}

func (p *partitioner) layouts(op ir.OpID) (operands, results []Layout, err error) {
	m := p.m
	r := rule.Complete(m, op)
	if r == nil || int(op) >= len(p.assignment) || p.assignment[op] == nil {
		return wholes(m, m.Operands(op)), wholes(m, m.ResultValues(op)), nil
	}
	_, reduction := Shardable(m, op, r)
	operands, results, ok := Project(r, p.assignment[op], reduction)
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

// while gives the operands, the arguments of both regions and what the body returns the shardings of the results.
func (p *partitioner) while(op ir.OpID, copies moved) error {
	m := p.m
	carried := p.alike(op, copies)
	for i := range m.NumRegions(op) {
		body := m.RegionBlock(op, i)
		for j, arg := range m.BlockArgs(body) {
			m.SetSharding(arg, carried[j])
		}
	}
	if err := p.block(m.RegionBlock(op, 0), p.wholeOut(m.RegionBlock(op, 0))); err != nil {
		return err
	}
	return p.block(m.RegionBlock(op, 1), carried)
}

// wholeOut returns replicated shardings for what a block returns.
func (p *partitioner) wholeOut(b ir.BlockID) []ir.ShardingID {
	ret := p.m.LastOp(b)
	out := make([]ir.ShardingID, p.m.NumOperands(ret))
	for i := range out {
		out[i] = p.m.Replicated(p.mesh, len(p.m.Shape(p.m.Operand(ret, i))), true)
	}
	return out
}

// branches makes every branch return the shardings of the op's results; the selector is needed whole.
func (p *partitioner) branches(op ir.OpID, copies moved) error {
	m := p.m
	p.operand(op, 0, m.Replicated(p.mesh, len(m.Shape(m.Operand(op, 0))), true), copies)
	out := make([]ir.ShardingID, m.NumResults(op))
	for i, v := range m.Results(op) {
		out[i] = m.Sharding(v)
	}
	for i := range m.NumRegions(op) {
		if err := p.block(m.RegionBlock(op, i), out); err != nil {
			return err
		}
	}
	return nil
}

// alike brings operand i to the sharding of result i and returns those shardings.
func (p *partitioner) alike(op ir.OpID, copies moved) []ir.ShardingID {
	out := make([]ir.ShardingID, p.m.NumResults(op))
	for i, v := range p.m.Results(op) {
		out[i] = p.m.Sharding(v)
		p.operand(op, i, out[i], copies)
	}
	return out
}

func (p *partitioner) operand(op ir.OpID, i int, want ir.ShardingID, copies moved) {
	v := p.m.Operand(op, i)
	if !isTensor(p.m, v) {
		return
	}
	if c := p.copyOf(op, v, want, copies); c != v {
		p.m.SetOperand(op, i, c)
	}
}

// copyOf returns a value in another sharding, making it before op unless the block already has it.
func (p *partitioner) copyOf(op ir.OpID, v ir.ValueID, want ir.ShardingID, copies moved) ir.ValueID {
	key := copyKey{v, want}
	if c, ok := copies[key]; ok {
		return c
	}
	have := LayoutOf(p.m.ShardingOf(p.m.Sharding(v)))
	c := p.send(p.m.BuilderBefore(op), v, have, want)
	copies[key] = c
	return c
}

// send emits the steps from a layout of a value to a sharding and returns the last result.
func (p *partitioner) send(b *ir.Builder, v ir.ValueID, have Layout, want ir.ShardingID) ir.ValueID {
	m := p.m
	steps, _ := p.planner.Plan(have, LayoutOf(m.ShardingOf(want)), m.ValueType(v).Bytes())
	for i := 0; i < len(steps); i++ {
		dims := make([]ir.ShardAxes, len(m.Shape(v)))
		if len(dims) > 0 {
			dims[steps[i].Dim] = steps[i].Axes
		}
		for steps[i].Kind == AllSlice && i+1 < len(steps) && steps[i+1].Kind == AllSlice && dims[steps[i+1].Dim] == nil {
			i++
			dims[steps[i].Dim] = steps[i].Axes
		}
		v = p.emit(b, v, steps[i], dims)
		m.SetSharding(v, m.InternSharding(steps[i].After.Sharding(p.mesh)))
	}
	return v
}

// emit inserts the sdy op of one step.
func (p *partitioner) emit(b *ir.Builder, v ir.ValueID, step Step, dims []ir.ShardAxes) ir.ValueID {
	perDim := &ir.AxesPerDimAttr{Mesh: p.mesh, Dims: dims}
	axes := &ir.AxesAttr{Mesh: p.mesh, Axes: subaxis.SortMerge(append([]subaxis.Ref(nil), step.Axes...))}
	op := map[Kind]struct {
		kind ir.Kind
		name string
		attr ir.Attr
	}{
		AllSlice:      {ir.OpSdyAllSlice, "slicing_axes", perDim},
		AllGather:     {ir.OpSdyAllGather, "gathering_axes", perDim},
		ReduceScatter: {ir.OpSdyReduceScatter, "reduce_scatter_axes", perDim},
		AllReduce:     {ir.OpSdyAllReduce, "reduction_axes", axes},
		AllToAll: {ir.OpSdyAllToAll, "params", &ir.AllToAllAttr{Mesh: p.mesh, Moves: []ir.AllToAllMove{
			{Axes: step.Axes, Src: int64(step.Dim), Dst: int64(step.To)}}}},
		Permute: {kind: ir.OpSdyCollectivePermute},
	}[step.Kind]
	var attrs ir.Attrs
	if op.name != "" {
		attrs = ir.MakeAttrs(ir.NamedAttr{Name: op.name, Value: op.attr})
	}
	if step.Kind == AllReduce || step.Kind == ReduceScatter {
		if r := p.m.ShardingOf(p.m.Sharding(v)).Reduction; r != ir.ReduceSum {
			attrs = attrs.With("reduction_op", ir.EnumAttr{Dialect: "sdy", Enum: "reduction_op", Value: r.String()})
		}
	}
	return b.Op1(op.kind, p.m.Type(v), attrs, v)
}

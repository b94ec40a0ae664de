package reshard

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// VerifyUnreduced checks that unreduced axes appear and vanish only where that means something: a reshard, a constraint
// or an all-reduce may reduce them, a product may leave partial sums, a reduction partial results of its own kind,
// other ops any but reduce none; calls and returns have to agree with what is expected of them. It fails (ErrInvalid) at the
// first op that does otherwise. The rules of single collectives are those of ir.Verify.
// Shardy: -sdy-verify-unreduced-axes.
func VerifyUnreduced(m *ir.Module) error {
	if isPlain(m) {
		return nil
	}
	c := &checker{m: m, table: calls.NewTable(m)}
	for f := range m.Definitions() {
		for _, b := range m.Blocks(m.Region(m.Func(f).Op, 0)) {
			if err := c.block(b, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// checker checks the unreduced axes of a module.
type checker struct {
	m     *ir.Module
	table *calls.Table
}

func (c *checker) block(b ir.BlockID, f ir.FuncID) error {
	m := c.m
	for op := range m.Ops(b) {
		for inner := range m.InnerBlocks(op) {
			if err := c.block(inner, f); err != nil {
				return err
			}
		}
		if err := c.op(op, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) op(op ir.OpID, f ir.FuncID) error {
	m := c.m
	switch m.Kind(op) {
	case ir.OpReturn:
		return c.returned(op, m.Func(f).ResultShardings)
	case ir.OpSdyReturn:
		return c.returned(op, c.parentResults(op))
	case ir.OpCall:
		return c.call(op)
	case ir.OpReduce:
		return c.change(op, change{introduced: combiner(m, op)})
	case ir.OpAllReduce, ir.OpReduceScatter:
		return c.change(op, change{removed: combiner(m, op)})
	case ir.OpSdyReshard, ir.OpSdyShardingConstraint:
		return c.change(op, change{introducesAny: true, removesAny: true})
	case ir.OpDot, ir.OpDotGeneral:
		sum := ir.ReduceSum
		return c.change(op, change{introduced: &sum})
	case ir.OpSdyAllReduce, ir.OpSdyReduceScatter:
		if c.sharding(m.Operand(op, 0)) == 0 {
			return c.refuse(op, "needs an operand with a sharding")
		}
		return nil
	}
	if m.Kind(op).IsTerminator() {
		return nil
	}
	return c.change(op, change{introducesAny: true})
}

// change says what an op may do with unreduced axes: introduce or remove those whose values combine in one way, nil for
// none, or any.
type change struct {
	introduced, removed       *ir.Reduction
	introducesAny, removesAny bool
}

// change checks what an op does with unreduced axes. Shardings on different meshes are not compared.
func (c *checker) change(op ir.OpID, allowed change) error {
	before, after := c.shardings(op)
	if !onOneMesh(c.m, slices.Concat(before, after)) {
		return nil
	}
	had, has := c.axesOf(before), c.axesOf(after)
	if err := c.introduces(op, after, subaxis.Difference(has, had), allowed); err != nil {
		return err
	}
	if err := c.removes(op, before, subaxis.Difference(had, has), allowed); err != nil {
		return err
	}
	return c.kept(op, before, after)
}

// introduces checks unreduced axes that the results of an op have, but no operand. They combine in one way.
func (c *checker) introduces(op ir.OpID, after []ir.ShardingID, axes []subaxis.Ref, allowed change) error {
	if len(axes) == 0 {
		return nil
	}
	kind := allowed.introduced
	for _, id := range after {
		if s := c.m.ShardingOf(id); allowed.introducesAny && kind == nil && subaxis.Intersect(s.Unreduced, axes) {
			kind = &s.Reduction
		}
	}
	if kind == nil {
		return c.refuse(op, "cannot introduce unreduced axes %s", c.format(after, axes))
	}
	if other, ok := c.otherKind(after, axes, *kind); ok {
		return c.refuse(op, "cannot introduce `%s` unreduced axes, expected `%s`", other, *kind)
	}
	return nil
}

// removes checks unreduced axes that operands of an op have, but no result.
func (c *checker) removes(op ir.OpID, before []ir.ShardingID, axes []subaxis.Ref, allowed change) error {
	if len(axes) == 0 || allowed.removesAny {
		return nil
	}
	if allowed.removed == nil {
		return c.refuse(op, "drops unreduced axes %s: reduce them before, with an sdy.reshard", c.format(before, axes))
	}
	if other, ok := c.otherKind(before, axes, *allowed.removed); ok {
		return c.refuse(op, "cannot reduce `%s` unreduced axes by `%s`", other, *allowed.removed)
	}
	return nil
}

// format returns the text of axes of the mesh that shardings have.
func (c *checker) format(shardings []ir.ShardingID, axes []subaxis.Ref) string {
	return c.m.Mesh(c.m.ShardingOf(shardings[0]).Mesh).FormatList(axes)
}

// kept checks that axes that stay unreduced keep their reduction.
func (c *checker) kept(op ir.OpID, before, after []ir.ShardingID) error {
	m := c.m
	for _, b := range before {
		for _, a := range after {
			s, t := m.ShardingOf(b), m.ShardingOf(a)
			if s.Reduction != t.Reduction && subaxis.Intersect(s.Unreduced, t.Unreduced) {
				return c.refuse(op, "cannot change the reduction of kept unreduced axes from `%s` to `%s`", s.Reduction, t.Reduction)
			}
		}
	}
	return nil
}

// otherKind returns the reduction of a sharding that has some of the axes unreduced by another one than kind.
func (c *checker) otherKind(shardings []ir.ShardingID, axes []subaxis.Ref, kind ir.Reduction) (ir.Reduction, bool) {
	for _, id := range shardings {
		if s := c.m.ShardingOf(id); s.Reduction != kind && subaxis.Intersect(s.Unreduced, axes) {
			return s.Reduction, true
		}
	}
	return kind, false
}

// shardings returns those of the operands and of the results. Operands that a reshard or constraint made have none:
// they are what their users want.
func (c *checker) shardings(op ir.OpID) (before, after []ir.ShardingID) {
	m := c.m
	operands := m.NumOperands(op)
	if m.Kind(op) == ir.OpReduce {
		operands /= 2 // not the initial values
	}
	for i := range operands {
		if id := c.operandSharding(m.Operand(op, i)); id != 0 {
			before = append(before, id)
		}
	}
	for _, v := range m.Results(op) {
		if id := c.sharding(v); id != 0 {
			after = append(after, id)
		}
	}
	return before, after
}

func (c *checker) sharding(v ir.ValueID) ir.ShardingID { return throughBarriers(c.m, v) }

func (c *checker) operandSharding(v ir.ValueID) ir.ShardingID {
	if c.isResharded(v) {
		return 0
	}
	return c.sharding(v)
}

func (c *checker) isResharded(v ir.ValueID) bool {
	m := c.m
	op := m.DefiningOp(dataflow.BehindBarriers(m, v))
	return op != 0 && (m.Kind(op) == ir.OpSdyReshard || m.Kind(op) == ir.OpSdyShardingConstraint)
}

// axesOf returns the unreduced axes of shardings.
func (c *checker) axesOf(shardings []ir.ShardingID) []subaxis.Ref {
	var axes []subaxis.Ref
	for _, id := range shardings {
		axes = append(axes, subaxis.Difference(c.m.ShardingOf(id).Unreduced, axes)...)
	}
	return axes
}

// onOneMesh says whether shardings do not differ in the mesh.
func onOneMesh(m *ir.Module, list []ir.ShardingID) bool {
	return !slices.ContainsFunc(list, func(id ir.ShardingID) bool {
		a, b := m.ShardingOf(id).Mesh, m.ShardingOf(list[0]).Mesh
		return a != b && !m.Mesh(a).Equal(&m.Mesh(b).Mesh)
	})
}

func (c *checker) refuse(op ir.OpID, format string, args ...any) error {
	return diag.Invalid(diag.BadSharding, c.m.Position(op), "`"+c.m.OpName(op)+"` "+format, args...)
}

// call checks that operands and results of a call have the unreduced axes that its function expects.
func (c *checker) call(op ir.OpID) error {
	m := c.m
	f := c.table.Callee(op)
	if f == 0 {
		return nil
	}
	args := m.BlockArgs(m.Func(f).Body)
	for i := range min(len(args), m.NumOperands(op)) {
		if v := m.Operand(op, i); !c.isResharded(v) {
			if err := c.agree(op, "argument", i, c.sharding(v), m.Sharding(args[i])); err != nil {
				return err
			}
		}
	}
	for i, id := range m.Func(f).ResultShardings {
		if i < m.NumResults(op) {
			if err := c.agree(op, "result", i, c.sharding(m.Result(op, i)), id); err != nil {
				return err
			}
		}
	}
	return nil
}

// returned checks that what is returned has the unreduced axes of the results, where those have shardings.
func (c *checker) returned(op ir.OpID, results []ir.ShardingID) error {
	m := c.m
	for i, id := range results {
		if id == 0 || i >= m.NumOperands(op) || c.isResharded(m.Operand(op, i)) {
			continue
		}
		if err := c.agree(op, "result", i, c.sharding(m.Operand(op, i)), id); err != nil {
			return err
		}
	}
	return nil
}

// parentResults returns the shardings of the results that a terminator returns, as the region sees them.
func (c *checker) parentResults(op ir.OpID) []ir.ShardingID {
	m := c.m
	parent := m.ParentOp(op)
	if parent == 0 || !dataflow.Has(m.Kind(parent)) {
		return nil
	}
	var list []ir.ShardingID
	for i, edge := range dataflow.Inflows(m, parent) {
		if i < m.NumResults(parent) {
			list = append(list, edge.Sharding)
		}
	}
	return list
}

// agree checks that two shardings have the same unreduced axes.
func (c *checker) agree(op ir.OpID, what string, i int, a, b ir.ShardingID) error {
	var have, want []subaxis.Ref
	mesh := ir.MeshID(0)
	if a != 0 {
		have, mesh = c.m.ShardingOf(a).Unreduced, c.m.ShardingOf(a).Mesh
	}
	if b != 0 {
		want, mesh = c.m.ShardingOf(b).Unreduced, c.m.ShardingOf(b).Mesh
	}
	differ := slices.Concat(subaxis.Difference(have, want), subaxis.Difference(want, have))
	if len(differ) == 0 {
		return nil
	}
	return c.refuse(op, "has other unreduced axes at %s %d than expected: %s", what, i, c.m.Mesh(mesh).FormatList(differ))
}

package plan

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/program"
	"autoshard/search/space"
	"autoshard/shardmap"
)

// earlier is the program of an earlier plan beside this one.
type earlier struct {
	m       *ir.Module
	factors collectives.Assignment // nil where ops are cut as their values ask for
	twins   map[ir.OpID]ir.OpID    // ops of this program, and the same ones of that
}

// earlierProgram reads the program of the plan that the search begins with; nil where it runs on another mesh, or computes its batch in
// other parts. Errors are the context's.
func (p *planner) earlierProgram(ctx context.Context) (*earlier, error) {
	if p.partsBefore() != p.parts {
		return nil, nil
	}
	m, mesh, err := program.Parse(ctx, p.From.Program)
	if err != nil {
		return nil, context.Cause(ctx) // what is no program says nothing
	}
	if !slices.Equal(m.Mesh(mesh).Axes, p.module.Mesh(p.mesh).Axes) {
		return nil, nil
	}
	e := &earlier{m: m, twins: map[ir.OpID]ir.OpID{}}
	if e.factors, err = collectives.Derive(ctx, m); err != nil {
		return nil, err
	}
	e.pair(p.module, place)
	e.pair(p.module, types)
	return e, nil
}

// opKey is by what an op is found in another program.
type opKey struct {
	kind      ir.Kind
	line, col int
	types     string
}

// place finds an op by its line, which stays where others were put between; it is no key without one.
func place(m *ir.Module, op ir.OpID) (opKey, bool) {
	at := m.FileLoc(m.OpLoc(op))
	return opKey{kind: kindOf(m, op), line: at.Line, col: at.Col}, at.Line > 0
}

// types finds an op by what it reads and makes, which stays where lines moved.
func types(m *ir.Module, op ir.OpID) (opKey, bool) {
	k := opKey{kind: kindOf(m, op)}
	for _, v := range slices.Concat(m.Operands(op), m.ResultValues(op)) {
		k.types += m.FormatType(m.Type(v)) + " "
	}
	return k, true
}

// kindOf returns the kind of an op, one for all constants.
func kindOf(m *ir.Module, op ir.OpID) ir.Kind {
	if k := m.Kind(op); !k.IsConstant() {
		return k
	}
	return ir.OpConstant
}

// pair finds twins among the ops that have none: of those with one key the first is the first one's, and so on. What makes a value again
// is none.
func (e *earlier) pair(m *ir.Module, key func(*ir.Module, ir.OpID) (opKey, bool)) {
	taken := map[ir.OpID]bool{}
	for _, twin := range e.twins {
		taken[twin] = true
	}
	found := map[opKey][]ir.OpID{}
	for op := range e.m.Within(e.m.MainFunc().Body) {
		if k, ok := key(e.m, op); ok && !taken[op] && e.m.Attr(op, shardmap.RecomputedAttr) == nil {
			found[k] = append(found[k], op)
		}
	}
	for op := range m.Within(m.MainFunc().Body) {
		k, ok := key(m, op)
		if list := found[k]; ok && e.twins[op] == 0 && len(list) > 0 {
			found[k] = list[1:]
			if e.alike(m, op, list[0]) {
				e.twins[op] = list[0]
			}
		}
	}
}

// alike says whether an op of another module has as many results, of as many dimensions; those here may be padded.
func (e *earlier) alike(m *ir.Module, op, twin ir.OpID) bool {
	return slices.EqualFunc(m.ResultValues(op), e.m.ResultValues(twin), func(v, w ir.ValueID) bool {
		return slices.EqualFunc(m.Shape(v), e.m.Shape(w), func(size, padded int64) bool { return size <= padded })
	})
}

// cut gives the values of a copy of this module the shardings that the earlier program keeps them in, where that keeps what is pinned.
func (e *earlier) cut(to *ir.Module, mesh ir.MeshID, s *space.Space) {
	for op := range to.Within(to.MainFunc().Body) {
		twin := e.twins[op]
		if twin == 0 || to.ManualAround(to.ParentOp(op)) != 0 {
			continue
		}
		for i, v := range to.ResultValues(op) {
			id := e.kept(e.m.Result(twin, i))
			if id == 0 {
				continue
			}
			l := collectives.LayoutOf(e.m.ShardingOf(id))
			if l.Unreduced = nil; s.Allows(v, &l) && (e.factors != nil || l.Divides(to.Shape(v))) {
				to.SetSharding(v, to.InternSharding(l.Sharding(mesh)))
			}
		}
	}
}

// kept returns the sharding in which a value is kept: what is partial is reduced at once.
func (e *earlier) kept(v ir.ValueID) ir.ShardingID {
	id := dataflow.ShardingOf(e.m, v)
	if id == 0 || len(e.m.ShardingOf(id).Unreduced) == 0 {
		return id
	}
	for use := range e.m.Uses(v) {
		if k := e.m.Kind(use.Op); k.Communicates() && k.Dialect() == "sdy" {
			return e.m.Sharding(e.m.Result(use.Op, 0))
		}
	}
	return id
}

// adopt cuts the ops of an assignment as their twins are.
func (e *earlier) adopt(assignment collectives.Assignment) {
	for op, twin := range e.twins {
		if len(assignment[op]) == len(e.factors[twin]) {
			assignment[op] = e.factors[twin]
		}
	}
}

// beginAlike suggests the batch in parts cut as another program that computes it, whole or in other parts. Errors are the context's.
func (c *choice) beginAlike() error {
	if c.alike == nil || c.ctx.Err() != nil {
		return nil
	}
	b := c.asAlike()
	if err := c.derive(c.late, &b, true); err != nil {
		return context.Cause(c.late) // else one program asks for what the other one cannot have
	}
	c.space.Suggest(b.settled, b.assignment)
	return nil
}

// asAlike is a baseline that is cut as the other program as far as that divides the parts, and keeps what the user wrote.
func (c *choice) asAlike() baseline {
	e := &earlier{m: c.alike.annotated, twins: map[ir.OpID]ir.OpID{}}
	e.pair(c.module, place)
	e.pair(c.module, types)
	b := c.annotationsOnly()
	m, args := b.settled, e.m.BlockArgs(e.m.MainFunc().Body)
	for i, v := range m.BlockArgs(m.MainFunc().Body) {
		id := e.m.Sharding(args[i])
		if id == 0 {
			continue
		}
		l := collectives.LayoutOf(e.m.ShardingOf(id))
		if c.space.Allows(v, &l) && l.Divides(m.Shape(v)) {
			m.SetSharding(v, m.InternSharding(l.Sharding(c.mesh)))
		}
	}
	e.cut(m, c.mesh, c.space)
	return b
}

package propagate

import (
	"autoshard/ir"
	"autoshard/priority"
)

// SplitConstants gives every user of a constant, or of a computation on constants alone, a copy of its own, so
// that a shared constant carries no sharding from one user to another; likewise broadcasts of scalars.
// Shardy: -sdy-constant-or-scalar-splitter, after NameConstants.
func SplitConstants(m *ir.Module) {
	for op := range m.Ops(m.Body()) {
		if f := m.FuncOf(op); f != 0 && !m.IsDeclaration(f) {
			walkPost(m, m.Func(f).Body, func(inner ir.OpID) {
				if m.Kind(inner) == ir.OpSdyNamedComputation {
					splitIn(m, m.RegionBlock(inner, 0))
				}
			})
			splitIn(m, m.Func(f).Body)
		}
	}
}

// splitter holds the ops of one body that are computed from constants alone, and the broadcasts of scalars.
type splitter struct {
	m          *ir.Module
	constant   map[ir.OpID]bool
	expansion  map[ir.OpID]bool
	order      []ir.OpID // of constants
	expansions []ir.OpID
}

func splitIn(m *ir.Module, body ir.BlockID) {
	s := &splitter{m: m, constant: map[ir.OpID]bool{}, expansion: map[ir.OpID]bool{}}
	s.block(body)
	s.eraseUnused(s.expansions)
	s.eraseUnused(s.order)
}

func (s *splitter) block(b ir.BlockID) {
	for op := range s.m.Ops(b) {
		s.visit(op)
		if s.m.Kind(op) == ir.OpSdyNamedComputation {
			continue
		}
		for _, r := range s.m.Regions(op) {
			for _, inner := range s.m.Blocks(r) {
				s.block(inner)
			}
		}
	}
}

func (s *splitter) visit(op ir.OpID) {
	switch {
	case s.isConstant(op):
		s.constant[op] = true
		s.order = append(s.order, op)
	case s.m.Kind(op) == ir.OpBroadcastInDim && len(s.m.Shape(s.m.Operand(op, 0))) == 0:
		s.expansion[op] = true
		s.expansions = append(s.expansions, op)
	case s.m.Kind(op) != ir.OpSdyShardingGroup: // copies join the groups of their originals
		s.splitOperands(op)
	}
}

// isConstant says whether an op is a constant or keeps constants constant.
func (s *splitter) isConstant(op ir.OpID) bool {
	m := s.m
	switch m.Kind(op) {
	case ir.OpConstant, ir.OpSdyConstant, ir.OpIota:
		return true
	case ir.OpBroadcastInDim, ir.OpReshape, ir.OpSlice:
	default:
		if !priority.IsElementwise(m, op) || !hasNoEffects(m, op) || m.NumOperands(op) == 0 {
			return false
		}
	}
	for i := range m.NumOperands(op) {
		if def := m.DefiningOp(m.Operand(op, i)); def == 0 || !s.constant[def] {
			return false
		}
	}
	return true
}

// splitOperands gives an op its own copy of every operand that is to be split.
func (s *splitter) splitOperands(op ir.OpID) {
	for i := range s.m.NumOperands(op) {
		v := s.m.Operand(op, i)
		def := s.m.DefiningOp(v)
		if def == 0 || !s.constant[def] && !s.expansion[def] {
			continue
		}
		s.m.SetOperand(op, i, s.copyOf(v, map[ir.ValueID]ir.ValueID{}))
	}
}

// copyOf copies the computation of a value in place. Scalars are shared.
func (s *splitter) copyOf(v ir.ValueID, copies map[ir.ValueID]ir.ValueID) ir.ValueID {
	m := s.m
	def := m.DefiningOp(v)
	if len(m.Shape(v)) == 0 || def == 0 || !s.constant[def] && !s.expansion[def] {
		return v
	}
	if c, ok := copies[v]; ok {
		return c
	}
	for i := range m.NumOperands(def) {
		operand := m.Operand(def, i)
		copies[operand] = s.copyOf(operand, copies)
	}
	m.CloneOp(m.BuilderBefore(def), def, copies)
	s.copyGroups(v, copies[v])
	return copies[v]
}

// copyGroups puts the copy of a value into the value's sharding groups.
func (s *splitter) copyGroups(v, copied ir.ValueID) {
	m := s.m
	var users []ir.OpID
	for use := range m.Uses(v) {
		if m.Kind(use.Op) == ir.OpSdyShardingGroup {
			users = append(users, use.Op)
		}
	}
	b := m.BuilderAfter(m.DefiningOp(copied))
	for _, g := range users {
		m.CloneOp(b, g, map[ir.ValueID]ir.ValueID{v: copied})
	}
}

// eraseUnused removes ops, the last first, whose results only sharding groups use.
func (s *splitter) eraseUnused(ops []ir.OpID) {
	m := s.m
	for i := len(ops) - 1; i >= 0; i-- {
		var groups []ir.OpID
		used := false
		for _, v := range m.Results(ops[i]) {
			for use := range m.Uses(v) {
				if m.Kind(use.Op) == ir.OpSdyShardingGroup {
					groups = append(groups, use.Op)
				} else {
					used = true
				}
			}
		}
		if used {
			continue
		}
		for _, g := range groups {
			m.Erase(g)
		}
		m.Erase(ops[i])
	}
}

// MergeConstants undoes SplitConstants where copies ended up with equal shardings: equal constants, and equal
// broadcasts of a scalar, become one in each region. Shardy: -sdy-constant-or-scalar-merger.
func MergeConstants(m *ir.Module) {
	first := map[constantKey][]ir.OpID{}
	m.Walk(m.Body(), func(op ir.OpID) {
		kind := m.Kind(op)
		scalar := kind == ir.OpBroadcastInDim && len(m.Shape(m.Operand(op, 0))) == 0
		if kind != ir.OpSdyConstant && kind != ir.OpConstant && !scalar {
			return
		}
		v := m.Result(op, 0)
		key := constantKey{kind: kind, region: m.BlockRegion(m.OpBlock(op)), t: m.Type(v), sharding: m.Sharding(v)}
		if scalar {
			key.operand = m.Operand(op, 0)
		}
		for _, other := range first[key] {
			if sameAttrs(m.OpAttrs(op), m.OpAttrs(other)) {
				m.ReplaceUses(v, m.Result(other, 0))
				m.Erase(op)
				return
			}
		}
		first[key] = append(first[key], op)
	})
}

type constantKey struct {
	kind     ir.Kind
	region   ir.RegionID
	t        ir.TypeID
	sharding ir.ShardingID
	operand  ir.ValueID
}

// NameConstants turns stablehlo.constant into sdy.constant, which no other pass folds or merges: the first step of
// -sdy-constant-or-scalar-splitter. Programs that only this package works on can do without.
func NameConstants(m *ir.Module) {
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) == ir.OpConstant {
			replaceKind(m, op, ir.OpSdyConstant)
		}
	})
}

// replaceKind replaces an op by one of another kind with the same attributes, operands and results.
func replaceKind(m *ir.Module, op ir.OpID, kind ir.Kind) {
	v := m.Result(op, 0)
	clone := m.BuilderBefore(op).Op1(kind, m.Type(v), m.OpAttrs(op), m.Operands(op)...)
	m.SetSharding(clone, m.Sharding(v))
	m.ReplaceUses(v, clone)
	m.Erase(op)
}

package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/priority"
)

// SplitConstants gives every user of a constant, or of a computation on constants alone, a copy of its own, so
// that a shared constant carries no sharding from one user to another; likewise broadcasts of scalars. A call of a
// function that computes on constants alone is such a computation, and its copies call copies of the function. It
// fails where those would make the module larger than calls.MaxOps (ErrTooLarge).
// Shardy: -sdy-constant-or-scalar-splitter, after NameConstants.
func SplitConstants(m *ir.Module) error {
	m.OrderUses()
	s := &splitter{m: m, table: calls.NewTable(m), impure: map[string]bool{}, class: make([]constancy, m.NumOps()),
		copies: map[ir.ValueID]ir.ValueID{}}
	order, err := s.table.Acyclic()
	if s.recursive = err != nil; s.recursive {
		order = s.table.PostOrder()
	}
	for _, f := range order {
		if m.MayHave(ir.OpSdyNamedComputation) {
			walkPost(m, m.Func(f).Body, func(inner ir.OpID) {
				if m.Kind(inner) == ir.OpSdyNamedComputation {
					s.split(m.RegionBlock(inner, 0))
				}
			})
		}
		s.split(m.Func(f).Body)
	}
	return s.err
}

// splitter holds the ops of one body that are computed from constants alone, and the broadcasts of scalars.
type splitter struct {
	m          *ir.Module
	table      *calls.Table
	recursive  bool
	impure     map[string]bool // original names of functions and computations that are more than constants
	class      []constancy     // by op; copies have none
	order      []ir.OpID       // of constants
	expansions []ir.OpID
	marked     ir.OpID                   // the op whose surroundings markImpure has marked last
	copies     map[ir.ValueID]ir.ValueID // of the operand at hand
	err        error
}

// constancy says why every user of an op gets a copy.
type constancy uint8

const (
	varying   constancy = iota // users share it
	constant                   // it is computed from constants alone
	expansion                  // it is a broadcast of a scalar
)

func (s *splitter) classOf(op ir.OpID) constancy {
	if int(op) >= len(s.class) {
		return varying
	}
	return s.class[op]
}

func (s *splitter) split(body ir.BlockID) {
	s.order, s.expansions = s.order[:0], s.expansions[:0]
	s.block(body)
	slices.Reverse(s.expansions) // first to last: one that another one expands stays
	s.eraseUnused(s.expansions)
	s.eraseUnused(s.order)
}

func (s *splitter) block(b ir.BlockID) {
	for op := range s.m.Ops(b) {
		s.visit(op)
		if s.m.Kind(op) == ir.OpSdyNamedComputation {
			continue
		}
		for inner := range s.m.InnerBlocks(op) {
			s.block(inner)
		}
	}
}

func (s *splitter) visit(op ir.OpID) {
	preserving := s.keepsConstant(op)
	switch {
	case isConstant(s.m.Kind(op)) || preserving && s.onConstants(op):
		s.class[op] = constant
		s.order = append(s.order, op)
		return
	case !preserving && !s.m.Kind(op).IsTerminator() && s.m.Kind(op) != ir.OpSdyShardingGroup:
		s.markImpure(op)
	}
	switch {
	case s.m.Kind(op) == ir.OpBroadcastInDim && len(s.m.Shape(s.m.Operand(op, 0))) == 0:
		s.class[op] = expansion
		s.expansions = append(s.expansions, op)
	case s.m.Kind(op) != ir.OpSdyShardingGroup: // copies join the groups of their originals
		s.splitOperands(op)
	}
}

func isConstant(k ir.Kind) bool { return k.IsConstant() || k == ir.OpIota }

// keepsConstant says whether an op computes a constant from constants, if that is what its operands are.
func (s *splitter) keepsConstant(op ir.OpID) bool {
	m := s.m
	switch m.Kind(op) {
	case ir.OpBroadcastInDim, ir.OpReshape, ir.OpSlice:
		return true
	case ir.OpCall:
		f := s.table.Callee(op)
		return f != 0 && !s.recursive && !s.impure[s.table.Original(f)]
	case ir.OpSdyNamedComputation:
		return !s.impure[m.OpAttrs(op).Str("name")]
	}
	return priority.IsElementwise(m, op) && ir.HasNoEffects(m, op)
}

// onConstants says whether all operands of an op are computed from constants alone.
func (s *splitter) onConstants(op ir.OpID) bool {
	for i := range s.m.NumOperands(op) {
		if def := s.m.DefiningOp(s.m.Operand(op, i)); def == 0 || s.classOf(def) != constant {
			return false
		}
	}
	return true
}

// markImpure remembers that the innermost computation and the function around an op are more than constants. Computations further
// out find it out where the inner one is looked at as one of their ops.
func (s *splitter) markImpure(op ir.OpID) {
	m := s.m
	if op = m.ParentOp(op); op == s.marked {
		return
	}
	inner := true
	for s.marked = op; op != 0; op = m.ParentOp(op) {
		if m.Kind(op) == ir.OpSdyNamedComputation && inner {
			s.impure[m.OpAttrs(op).Str("name")] = true
			inner = false
		} else if f := m.FuncOf(op); f != 0 {
			s.impure[s.table.Original(f)] = true
		}
	}
}

// splitOperands gives an op its own copy of every operand that is to be split.
func (s *splitter) splitOperands(op ir.OpID) {
	for i := range s.m.NumOperands(op) {
		v := s.m.Operand(op, i)
		def := s.m.DefiningOp(v)
		if def == 0 || s.classOf(def) == varying {
			continue
		}
		clear(s.copies)
		s.m.SetOperand(op, i, s.own(v))
	}
}

// own returns what a user of a value gets: a copy of its computation, or, where nobody else uses the value, the value itself
// with operands that are treated likewise. The program is the same either way, since a copy stands where its original does, and the
// original is removed when nobody uses it.
func (s *splitter) own(v ir.ValueID) ir.ValueID {
	m := s.m
	def := m.DefiningOp(v)
	if s.copies[v] != 0 || !s.isSplit(v) || !m.HasOneUse(v) || m.NumResults(def) > 1 || m.NumRegions(def) > 0 || m.Kind(def) == ir.OpCall {
		return s.copyOf(v)
	}
	for i := range m.NumOperands(def) {
		s.own(m.Operand(def, i))
	}
	for i := range m.NumOperands(def) {
		operand := m.Operand(def, i)
		if c, ok := s.copies[operand]; ok { // scalars, too, that an op has as further results whose copy another operand needed
			operand = c
		}
		m.SetOperand(def, i, operand) // even if it is the same: uses are then in the order in which copies would be
	}
	return v
}

// isSplit says whether users of a value get copies. Scalars are shared.
func (s *splitter) isSplit(v ir.ValueID) bool {
	def := s.m.DefiningOp(v)
	return len(s.m.Shape(v)) > 0 && def != 0 && s.classOf(def) != varying
}

// copyOf copies the computation of a value in place, if it is to be split.
func (s *splitter) copyOf(v ir.ValueID) ir.ValueID {
	m := s.m
	def := m.DefiningOp(v)
	if !s.isSplit(v) {
		return v
	}
	if c, ok := s.copies[v]; ok {
		return c
	}
	for i := range m.NumOperands(def) {
		s.copyOf(m.Operand(def, i))
	}
	clone := m.CloneOp(m.BuilderBefore(def), def, s.copies)
	if m.Kind(def) == ir.OpCall && s.err == nil {
		s.err = s.table.OwnCallee(clone, calls.MaxOps)
	}
	if m.MayHave(ir.OpSdyShardingGroup) {
		s.copyGroups(v, s.copies[v])
	}
	return s.copies[v]
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
	var groups []ir.OpID
	for i := len(ops) - 1; i >= 0; i-- {
		groups = groups[:0]
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
	type kept struct {
		op   ir.OpID
		next int // of those with the same key, 0 for none
	}
	all := make([]kept, 1)
	first := map[constantKey]int{}
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
		for i := first[key]; i != 0; i = all[i].next {
			if other := all[i].op; sameAttrs(m.OpAttrs(op), m.OpAttrs(other)) {
				m.ReplaceUses(v, m.Result(other, 0))
				m.Erase(op)
				return
			}
		}
		all = append(all, kept{op, first[key]})
		first[key] = len(all) - 1
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
	for _, op := range m.OpsOf(m.Body(), ir.OpConstant) {
		m.SetKind(op, ir.OpSdyConstant)
	}
}

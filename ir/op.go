package ir

import (
	"context"
	"iter"
	"slices"
)

// Kind returns the kind of an op.
func (m *Module) Kind(op OpID) Kind { return m.ops[op].kind }

// SetKind makes an op one of another kind with the same attributes, operands and results; the caller keeps the program
// well-formed. Functions and meshes stay what they are.
func (m *Module) SetKind(op OpID, k Kind) {
	m.ops[op].kind = k
	m.kinds[k] = true
}

// MayHave says whether some op is or was of a kind: passes for that kind have nothing to do otherwise.
func (m *Module) MayHave(k Kind) bool { return m.kinds[k] }

// OpName returns the full name of an op, such as stablehlo.add, also for unregistered ops.
func (m *Module) OpName(op OpID) string {
	if k := m.ops[op].kind; k != OpUnregistered {
		return k.String()
	}
	return m.opNames[op]
}

// NumOperands returns how many operands an op has.
func (m *Module) NumOperands(op OpID) int { return int(m.ops[op].operands.n) }

// Operand returns operand i of an op.
func (m *Module) Operand(op OpID, i int) ValueID {
	return m.operands[m.ops[op].operands.first+int32(i)].value
}

// DistinctOperands returns the operands of an op in a new slice, each once: the square of a value reads it twice, and who goes back through
// a chain of squares by all operands visits twice as many ops with each of them.
func (m *Module) DistinctOperands(op OpID) []ValueID {
	all := m.Operands(op)
	out := all[:0]
	for _, v := range all {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Operands returns the operands of an op in a new slice.
func (m *Module) Operands(op OpID) []ValueID {
	s := m.ops[op].operands
	out := make([]ValueID, s.n)
	for i := range out {
		out[i] = m.operands[s.first+int32(i)].value
	}
	return out
}

// SetOperand replaces operand i of an op.
func (m *Module) SetOperand(op OpID, i int, v ValueID) {
	s := slot(m.ops[op].operands.first + int32(i))
	m.unlinkUse(s)
	m.linkUse(s, v)
}

// NumResults returns how many results an op has.
func (m *Module) NumResults(op OpID) int { return int(m.ops[op].results.n) }

// Result returns result i of an op.
func (m *Module) Result(op OpID, i int) ValueID { return ValueID(m.ops[op].results.first + int32(i)) }

// Results yields the results of an op in order.
func (m *Module) Results(op OpID) iter.Seq2[int, ValueID] {
	return func(yield func(int, ValueID) bool) {
		s := m.ops[op].results
		for i := range int(s.n) {
			if !yield(i, ValueID(s.first+int32(i))) {
				return
			}
		}
	}
}

// ResultValues returns the results of an op in a new slice.
func (m *Module) ResultValues(op OpID) []ValueID {
	out := make([]ValueID, m.NumResults(op))
	for i := range out {
		out[i] = m.Result(op, i)
	}
	return out
}

// Regions returns the regions of an op.
func (m *Module) Regions(op OpID) []RegionID {
	s := m.ops[op].regions
	out := make([]RegionID, s.n)
	for i := range out {
		out[i] = RegionID(s.first + int32(i))
	}
	return out
}

// Region returns region i of an op.
func (m *Module) Region(op OpID, i int) RegionID { return RegionID(m.ops[op].regions.first + int32(i)) }

// NumRegions returns how many regions an op has.
func (m *Module) NumRegions(op OpID) int { return int(m.ops[op].regions.n) }

// RegionBlock returns the only or first block of region i of an op, 0 if it has none.
func (m *Module) RegionBlock(op OpID, i int) BlockID {
	blocks := m.regions[m.ops[op].regions.first+int32(i)].blocks
	if len(blocks) == 0 {
		return 0
	}
	return blocks[0]
}

// Blocks returns the blocks of a region. The slice must not be changed.
func (m *Module) Blocks(r RegionID) []BlockID { return m.regions[r].blocks }

// BlockRegion returns the region that holds a block.
func (m *Module) BlockRegion(b BlockID) RegionID { return m.blocks[b].region }

// BlockArgs returns the arguments of a block. The slice must not be changed.
func (m *Module) BlockArgs(b BlockID) []ValueID { return m.blocks[b].args }

// OpBlock returns the block that holds an op, 0 for an erased op.
func (m *Module) OpBlock(op OpID) BlockID { return m.ops[op].block }

// ParentOp returns the op around the block of an op, 0 at module level.
func (m *Module) ParentOp(op OpID) OpID { return m.BlockOp(m.ops[op].block) }

// AncestorIn returns the op of a block that is an op, or has it inside; 0 for none.
func (m *Module) AncestorIn(op OpID, b BlockID) OpID {
	for op != 0 && m.OpBlock(op) != b {
		op = m.ParentOp(op)
	}
	return op
}

// IsSplat says whether an op is a constant of equal elements.
func (m *Module) IsSplat(op OpID) bool {
	value, ok := m.Attr(op, "value").(*Dense)
	return m.Kind(op).IsConstant() && ok && value.Splat
}

// ManualAround returns the innermost manual computation that an op is or lies in, 0 for none.
func (m *Module) ManualAround(op OpID) OpID {
	for op != 0 && m.Kind(op) != OpSdyManualComputation {
		op = m.ParentOp(op)
	}
	return op
}

// BlockOp returns the op that holds a block, 0 for the module's own block.
func (m *Module) BlockOp(b BlockID) OpID { return m.regions[m.blocks[b].region].op }

// Ops yields the ops of a block in order. The op at hand may be erased or moved while iterating.
func (m *Module) Ops(b BlockID) iter.Seq[OpID] {
	return func(yield func(OpID) bool) {
		for op := m.blocks[b].first; op != 0; {
			next := m.ops[op].next
			if !yield(op) {
				return
			}
			op = next
		}
	}
}

// FirstOp returns the first op of a block, LastOp the last one (its terminator in a well-formed region), 0 if empty.
func (m *Module) FirstOp(b BlockID) OpID { return m.blocks[b].first }
func (m *Module) LastOp(b BlockID) OpID  { return m.blocks[b].last }

// NextOp and PrevOp return the neighbours of an op in its block, 0 at the ends.
func (m *Module) NextOp(op OpID) OpID { return m.ops[op].next }
func (m *Module) PrevOp(op OpID) OpID { return m.ops[op].prev }

// Walk visits the ops of a block and everything inside them in pre-order.
func (m *Module) Walk(b BlockID, visit func(OpID)) {
	for op := range m.Within(b) {
		visit(op)
	}
}

// Within yields the ops that Walk visits. The one at hand may be erased.
func (m *Module) Within(b BlockID) iter.Seq[OpID] {
	return func(yield func(OpID) bool) { m.within(b, yield) }
}

func (m *Module) within(b BlockID, yield func(OpID) bool) bool {
	for op := m.blocks[b].first; op != 0; {
		at := op
		op = m.ops[at].next
		if !yield(at) {
			return false
		}
		s := m.ops[at].regions
		for r := s.first; r < s.first+s.n; r++ {
			for _, inner := range m.regions[r].blocks {
				if !m.within(inner, yield) {
					return false
				}
			}
		}
	}
	return true
}

// WalkContext is Walk for visits that take their time: it ends with the context, whose error it returns.
func (m *Module) WalkContext(ctx context.Context, b BlockID, visit func(OpID)) error {
	for op := range m.Within(b) {
		if err := ctx.Err(); err != nil {
			return err
		}
		visit(op)
	}
	return nil
}

// OpAttrs returns the attributes of an op, sorted by name, without those that have a place of their own (shardings).
func (m *Module) OpAttrs(op OpID) Attrs { return m.ops[op].attrs }

// SetAttrs replaces the attributes of an op.
func (m *Module) SetAttrs(op OpID, a Attrs) { m.ops[op].attrs = a }

// Attr returns one attribute of an op, nil if it is absent.
func (m *Module) Attr(op OpID, name string) Attr { return m.ops[op].attrs.Get(name) }

// OpLoc returns the source location of an op.
func (m *Module) OpLoc(op OpID) LocID { return m.ops[op].loc }

// Type returns the type of a value.
func (m *Module) Type(v ValueID) TypeID { return m.values[v].typ }

// SetType changes the type of a value; the caller keeps the program well-formed.
func (m *Module) SetType(v ValueID, t TypeID) { m.values[v].typ = t }

// DefiningOp returns the op whose result the value is, 0 for a block argument.
func (m *Module) DefiningOp(v ValueID) OpID { return m.values[v].op }

// OpOf returns the op that makes a value: the one whose result it is, or around the block whose argument it is.
func (m *Module) OpOf(v ValueID) OpID {
	if op := m.DefiningOp(v); op != 0 {
		return op
	}
	return m.BlockOp(m.ArgBlock(v))
}

// BlockOf returns the block in which a value is made, as an argument or by an op.
func (m *Module) BlockOf(v ValueID) BlockID {
	if op := m.DefiningOp(v); op != 0 {
		return m.OpBlock(op)
	}
	return m.ArgBlock(v)
}

// ArgBlock returns the block whose argument the value is, 0 for a result.
func (m *Module) ArgBlock(v ValueID) BlockID { return m.values[v].block }

// Index returns the position of a value among the results of its op or the arguments of its block.
func (m *Module) Index(v ValueID) int { return int(m.values[v].index) }

// Sharding returns the sharding of a value, 0 if it has none.
func (m *Module) Sharding(v ValueID) ShardingID { return m.values[v].sharding }

// SetSharding replaces the sharding of a value.
func (m *Module) SetSharding(v ValueID, s ShardingID) { m.values[v].sharding = s }

// Use is one operand slot that holds a value.
type Use struct {
	Op    OpID
	Index int
}

// Uses yields the uses of a value, the most recently added first.
func (m *Module) Uses(v ValueID) iter.Seq[Use] {
	return func(yield func(Use) bool) {
		for s := m.values[v].uses; s != 0; {
			row := &m.operands[s]
			s = row.next
			if !yield(Use{row.op, int(row.index)}) {
				return
			}
		}
	}
}

// HasUses says whether a value is used at all.
func (m *Module) HasUses(v ValueID) bool { return m.values[v].uses != 0 }

// HasOneUse says whether a value is used exactly once.
func (m *Module) HasOneUse(v ValueID) bool {
	s := m.values[v].uses
	return s != 0 && m.operands[s].next == 0
}

// OnlyUse returns the use of a value that is used exactly once; the zero value and false for others.
func (m *Module) OnlyUse(v ValueID) (use Use, ok bool) {
	if m.HasOneUse(v) {
		for use := range m.Uses(v) {
			return use, true
		}
	}
	return Use{}, false
}

// OnlyReader returns the op that is the only one to read a value, as one of its operands or, as the square of a value does, as several;
// 0 if there is none.
func (m *Module) OnlyReader(v ValueID) (reader OpID) {
	for use := range m.Uses(v) {
		if reader != 0 && use.Op != reader {
			return 0
		}
		reader = use.Op
	}
	return reader
}

// EdgeOf returns the sdy.data_flow_edge that is the only use of a value, 0 if there is none.
func (m *Module) EdgeOf(v ValueID) OpID {
	if op := m.OnlyReader(v); op != 0 && m.Kind(op) == OpSdyDataFlowEdge {
		return op
	}
	return 0
}

// OrderUses puts the uses of all values into program order, the most recent one last in the program: a reader may have
// met them in another order, the body of a loop before its operands.
func (m *Module) OrderUses() {
	for v := range m.values {
		m.values[v].uses = 0
	}
	m.Walk(m.Body(), func(op OpID) {
		s := m.ops[op].operands
		for i := s.first; i < s.first+s.n; i++ {
			m.linkUse(slot(i), m.operands[i].value)
		}
	})
}

func (m *Module) linkUse(s slot, v ValueID) {
	head := m.values[v].uses
	row := &m.operands[s]
	row.value, row.next, row.prev = v, head, 0
	if head != 0 {
		m.operands[head].prev = s
	}
	m.values[v].uses = s
}

func (m *Module) unlinkUse(s slot) {
	row := &m.operands[s]
	if row.prev != 0 {
		m.operands[row.prev].next = row.next
	} else {
		m.values[row.value].uses = row.next
	}
	if row.next != 0 {
		m.operands[row.next].prev = row.prev
	}
}

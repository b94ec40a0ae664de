package ir

import (
	"fmt"
	"slices"

	"autoshard/ir/dtype"
)

// Builder appends or inserts ops at one place. The zero Builder is not usable.
type Builder struct {
	m      *Module
	block  BlockID
	before OpID // 0 means at the end
	Loc    LocID
}

// BuilderAtEnd returns a builder that appends to a block.
func (m *Module) BuilderAtEnd(b BlockID) *Builder { return &Builder{m: m, block: b} }

// BuilderBefore returns a builder that inserts before an op and takes over its location.
func (m *Module) BuilderBefore(op OpID) *Builder {
	return &Builder{m: m, block: m.ops[op].block, before: op, Loc: m.ops[op].loc}
}

// BuilderAfter returns a builder that inserts after an op, and after what it inserted before.
func (m *Module) BuilderAfter(op OpID) *Builder {
	return &Builder{m: m, block: m.ops[op].block, before: m.ops[op].next, Loc: m.ops[op].loc}
}

// Op inserts an op with any number of results.
func (b *Builder) Op(kind Kind, results []TypeID, attrs Attrs, operands ...ValueID) OpID {
	return b.OpRegions(kind, results, attrs, 0, operands...)
}

// Op1 inserts an op with one result and returns the result.
func (b *Builder) Op1(kind Kind, result TypeID, attrs Attrs, operands ...ValueID) ValueID {
	return b.m.Result(b.Op(kind, []TypeID{result}, attrs, operands...), 0)
}

// Broadcast emits a scalar as a tensor of a type, whose elements all are that scalar.
func (b *Builder) Broadcast(result TypeID, scalar ValueID) ValueID {
	return b.Op1(OpBroadcastInDim, result, MakeAttrs(Named("broadcast_dimensions", Ints{})), scalar)
}

// Reshard inserts an sdy.reshard of a value and returns its result.
func (b *Builder) Reshard(v ValueID, to ShardingID) ValueID {
	out := b.Op1(OpSdyReshard, b.m.Type(v), nil, v)
	b.m.SetSharding(out, to)
	return out
}

// OpRegions inserts an op with empty regions; AddBlock fills them.
func (b *Builder) OpRegions(kind Kind, results []TypeID, attrs Attrs, regions int, operands ...ValueID) OpID {
	op := b.m.newOp(kind, operands, results, attrs, regions, b.Loc)
	if b.before == 0 {
		b.m.appendOp(b.block, op)
	} else {
		b.m.insertAfter(b.block, b.m.ops[b.before].prev, op)
	}
	return op
}

// Unregistered inserts an op of a dialect that this package does not know.
func (b *Builder) Unregistered(name string, results []TypeID, attrs Attrs, regions int, operands ...ValueID) OpID {
	op := b.OpRegions(OpUnregistered, results, attrs, regions, operands...)
	b.m.opNames[op] = name
	return op
}

func (m *Module) newOp(kind Kind, operands []ValueID, results []TypeID, attrs Attrs, regions int, loc LocID) OpID {
	m.ops = append(grown(m.ops), opRow{kind: kind, attrs: attrs, loc: loc})
	m.kinds[kind] = true
	op := OpID(len(m.ops) - 1)
	row := &m.ops[op]
	row.operands = span{int32(len(m.operands)), int32(len(operands))}
	for i, v := range operands {
		m.operands = append(grown(m.operands), operandRow{op: op, index: int32(i)})
		m.linkUse(slot(len(m.operands)-1), v)
	}
	row.results = span{int32(len(m.values)), int32(len(results))}
	for i, t := range results {
		m.newValue(valueRow{typ: t, op: op, index: int32(i)})
	}
	row.regions = span{int32(len(m.regions)), int32(regions)}
	for range regions {
		m.newRegion(op)
	}
	return op
}

// grown returns a table with room for one more row. Small tables double: passes that take programs apart add about as
// many rows as there were, and each growth leaves garbage.
func grown[T any](rows []T) []T {
	const small = 1 << 14
	if n := len(rows); n == cap(rows) && n < small {
		return slices.Grow(rows, n)
	}
	return rows
}

func (m *Module) appendOp(b BlockID, op OpID) { m.insertAfter(b, m.blocks[b].last, op) }

// insertAfter links an op into a block after another one, first if prev is 0.
func (m *Module) insertAfter(b BlockID, prev, op OpID) {
	next := m.blocks[b].first
	if prev != 0 {
		next = m.ops[prev].next
		m.ops[prev].next = op
	} else {
		m.blocks[b].first = op
	}
	if next != 0 {
		m.ops[next].prev = op
	} else {
		m.blocks[b].last = op
	}
	row := &m.ops[op]
	row.block, row.prev, row.next = b, prev, next
}

func (m *Module) unlink(op OpID) {
	row := &m.ops[op]
	if row.prev != 0 {
		m.ops[row.prev].next = row.next
	} else {
		m.blocks[row.block].first = row.next
	}
	if row.next != 0 {
		m.ops[row.next].prev = row.prev
	} else {
		m.blocks[row.block].last = row.prev
	}
	row.block, row.prev, row.next = 0, 0, 0
}

// MoveBefore moves an op, with its regions, before another one.
func (m *Module) MoveBefore(op, before OpID) {
	m.unlink(op)
	m.insertAfter(m.ops[before].block, m.ops[before].prev, op)
}

// MoveToEnd moves an op, with its regions, to the end of a block.
func (m *Module) MoveToEnd(op OpID, b BlockID) {
	m.unlink(op)
	m.appendOp(b, op)
}

// Splice puts the ops of a block inside an op in the op's place. What the block's terminator returns takes the place of the results.
func (m *Module) Splice(op OpID, b BlockID) {
	last := m.LastOp(b)
	for inner := range m.Ops(b) {
		if inner != last {
			m.MoveBefore(inner, op)
		}
	}
	for i, v := range m.Results(op) {
		m.ReplaceUses(v, m.Operand(last, i))
	}
	m.Erase(op)
}

// Erase removes an op and everything inside it. Its results must have no uses outside.
func (m *Module) Erase(op OpID) {
	for _, r := range m.Regions(op) {
		for _, b := range slices.Backward(m.regions[r].blocks) { // later blocks use the results of earlier ones
			for last := m.blocks[b].last; last != 0; last = m.blocks[b].last {
				m.Erase(last)
			}
		}
	}
	for i, v := range m.Results(op) {
		if m.HasUses(v) {
			panic(fmt.Sprintf("ir: erasing %s whose result %d is used", m.OpName(op), i))
		}
	}
	s := m.ops[op].operands
	for i := range s.n {
		m.unlinkUse(slot(s.first + i))
	}
	m.ops[op].operands.n = 0
	if m.ops[op].kind == OpFunc {
		delete(m.funcOf, op)
	}
	if len(m.branches) > 0 {
		delete(m.branches, op)
	}
	m.unlink(op)
}

// EraseFuncArg removes an argument of a function, which must have no uses.
func (m *Module) EraseFuncArg(f FuncID, i int) {
	fn := &m.funcs[f]
	b := &m.blocks[fn.Body]
	b.args = slices.Delete(slices.Clone(b.args), i, i+1)
	for j, v := range b.args {
		m.values[v].index = int32(j)
	}
	fn.ArgAttrs = slices.Delete(slices.Clone(fn.ArgAttrs), i, i+1)
}

// ReplaceUses makes every use of one value a use of another. The order of the moved uses is kept.
func (m *Module) ReplaceUses(from, to ValueID) {
	first := m.values[from].uses
	if first == 0 || from == to {
		return
	}
	last := first
	for s := first; s != 0; s = m.operands[s].next {
		m.operands[s].value, last = to, s
	}
	next := m.values[to].uses
	if m.operands[last].next = next; next != 0 {
		m.operands[next].prev = last
	}
	m.values[to].uses, m.values[from].uses = first, 0
}

// ReplaceUsesIf replaces the uses that pass a test. The order of the moved uses is kept.
func (m *Module) ReplaceUsesIf(from, to ValueID, replace func(Use) bool) {
	var moved []slot
	for s := m.values[from].uses; s != 0; s = m.operands[s].next {
		if replace(Use{m.operands[s].op, int(m.operands[s].index)}) {
			moved = append(moved, s)
		}
	}
	for i := len(moved) - 1; i >= 0; i-- {
		m.unlinkUse(moved[i])
		m.linkUse(moved[i], to)
	}
}

// Divert lets the uses of a value go through another one that is made of it.
func (m *Module) Divert(from, to ValueID) {
	maker := m.DefiningOp(to)
	m.ReplaceUsesIf(from, to, func(u Use) bool { return u.Op != maker })
}

// CloneInto copies the ops of a block, except its terminator, to the builder's place. values maps the block's
// arguments and outer values to their copies and receives the results; values that it lacks stay as they are.
func (m *Module) CloneInto(b *Builder, from BlockID, values map[ValueID]ValueID) {
	last := m.blocks[from].last
	for op := range m.Ops(from) {
		if op == last && m.Kind(op).IsTerminator() {
			return
		}
		m.CloneOp(b, op, values)
	}
}

// CloneOp copies one op with its regions to the builder's place and records its results in values.
func (m *Module) CloneOp(b *Builder, op OpID, values map[ValueID]ValueID) OpID {
	operands := m.Operands(op)
	for i, v := range operands {
		operands[i] = mapped(values, v)
	}
	results := m.TypesOf(m.ResultValues(op))
	loc := b.Loc
	b.Loc = m.ops[op].loc
	clone := b.OpRegions(m.Kind(op), results, m.OpAttrs(op), m.NumRegions(op), operands...)
	b.Loc = loc
	if pos := m.OpPos(op); pos.IsKnown() {
		m.SetPos(clone, pos)
	}
	if name, ok := m.opNames[op]; ok {
		m.opNames[clone] = name
	}
	for i, v := range m.Results(op) {
		values[v] = m.Result(clone, i)
		m.SetSharding(m.Result(clone, i), m.Sharding(v))
	}
	for i, r := range m.Regions(op) {
		m.cloneRegion(r, m.Region(clone, i), values)
	}
	return clone
}

func (m *Module) cloneRegion(from, to RegionID, values map[ValueID]ValueID) {
	copies := map[BlockID]BlockID{}
	for _, b := range m.regions[from].blocks {
		copies[b] = m.newBlock(to)
	}
	for _, b := range m.regions[from].blocks {
		copied := copies[b]
		for _, arg := range m.blocks[b].args {
			v := m.AddBlockArg(copied, m.Type(arg))
			m.SetSharding(v, m.Sharding(arg))
			values[arg] = v
		}
		inner := m.BuilderAtEnd(copied)
		for op := range m.Ops(b) {
			clone := m.CloneOp(inner, op, values)
			if to := m.branches[op]; to != nil {
				m.SetSuccessors(clone, mappedAll(copies, to))
			}
		}
	}
}

func mapped[ID comparable](ids map[ID]ID, id ID) ID {
	if to, ok := ids[id]; ok {
		return to
	}
	return id
}

func mappedAll[ID comparable](ids map[ID]ID, list []ID) []ID {
	out := make([]ID, len(list))
	for i, id := range list {
		out[i] = mapped(ids, id)
	}
	return out
}

// CompareAttrs returns the attributes of a comparison of numbers of an element type: EQ, NE, LT, LE, GT or GE.
func CompareAttrs(direction string, e dtype.Type) Attrs {
	kind := "FLOAT"
	switch e.Kind() {
	case dtype.Signed:
		kind = "SIGNED"
	case dtype.Unsigned, dtype.Bool:
		kind = "UNSIGNED"
	}
	return Attrs{{"compare_type", EnumAttr{Dialect: "stablehlo", Enum: "comparison_type", Value: kind}},
		{"comparison_direction", EnumAttr{Dialect: "stablehlo", Enum: "comparison_direction", Value: direction}}}
}

package canonical

import (
	"autoshard/ir"
)

// rewriter changes a module and notes which ops are to be visited because of that: new ones, users of replaced values,
// and producers of values that lost a use.
type rewriter struct {
	m       *ir.Module
	options Options
	changed bool
	stack   []ir.OpID // 0 where an op was erased
	place   []int32   // by op: its index on the stack plus 1, 0 if it is not there
	order   []int64   // by op: grows in its block; 0 if unknown
}

func grow[T any](list []T, op ir.OpID) []T {
	if n := int(op) + 1 - len(list); n > 0 {
		list = append(list, make([]T, n)...)
	}
	return list
}

// push adds an op that is not on the stack, and then the ops around it.
func (r *rewriter) push(op ir.OpID) {
	for ; op != 0; op = r.m.ParentOp(op) {
		r.place = grow(r.place, op)
		if r.place[op] == 0 {
			r.stack = append(r.stack, op)
			r.place[op] = int32(len(r.stack))
		}
	}
}

func (r *rewriter) pop() ir.OpID {
	for len(r.stack) > 0 {
		op := r.stack[len(r.stack)-1]
		r.stack = r.stack[:len(r.stack)-1]
		if op != 0 {
			r.place[op] = 0
			return op
		}
	}
	return 0
}

// erase removes an op, whose results have no uses, with everything inside it. Producers that lose all or all but one of
// their users are visited.
func (r *rewriter) erase(op ir.OpID) {
	r.changed = true
	for b := range r.m.InnerBlocks(op) {
		for inner := r.m.LastOp(b); inner != 0; inner = r.m.LastOp(b) {
			r.erase(inner)
		}
	}
	for i := range r.m.NumOperands(op) {
		if v := r.m.Operand(op, i); r.m.DefiningOp(v) != 0 && !r.hasTwoUsersBeside(v, op) {
			r.push(r.m.DefiningOp(v))
		}
	}
	if int(op) < len(r.place) && r.place[op] != 0 {
		r.stack[r.place[op]-1] = 0
		r.place[op] = 0
	}
	r.m.Erase(op)
}

// hasTwoUsersBeside says whether a value has at least two users other than an op.
func (r *rewriter) hasTwoUsersBeside(v ir.ValueID, op ir.OpID) bool {
	var first ir.OpID
	for use := range r.m.Uses(v) {
		switch {
		case use.Op == op || use.Op == first:
		case first == 0:
			first = use.Op
		default:
			return true
		}
	}
	return false
}

// replace makes all uses of an op's only result uses of a value, and erases the op.
func (r *rewriter) replace(op ir.OpID, with ir.ValueID) {
	r.redirect(r.m.Result(op, 0), with)
	r.erase(op)
}

// redirect makes uses of one value uses of another and visits the users. The order of the uses is turned around, as it
// is in MLIR.
func (r *rewriter) redirect(from, to ir.ValueID) {
	r.m.TurnUses(from, to, func(use ir.Use) bool {
		r.push(use.Op)
		return true
	})
	r.changed = true
}

// collective inserts a collective with its axes, and a sharding for its result.
func (r *rewriter) collective(b *ir.Builder, kind ir.Kind, axes ir.Attr, s ir.ShardingID, operand ir.ValueID) ir.ValueID {
	name, _ := kind.CollectiveAxes()
	v := b.Op1(kind, r.m.Type(operand), ir.MakeAttrs(ir.NamedAttr{Name: name, Value: axes}), operand)
	r.m.SetSharding(v, s)
	r.push(r.m.DefiningOp(v))
	return v
}

// definedBy returns the op that defines a value if it is of that kind, 0 otherwise.
func (r *rewriter) definedBy(v ir.ValueID, kind ir.Kind) ir.OpID {
	if op := r.m.DefiningOp(v); op != 0 && r.m.Kind(op) == kind {
		return op
	}
	return 0
}

// orderGap is the distance of neighbours, into which later insertions fall.
const orderGap = int64(1) << 20

// isBefore says whether one op stands before another in the same block.
func (r *rewriter) isBefore(a, b ir.OpID) bool {
	if r.m.OpBlock(a) != r.m.OpBlock(b) {
		return false
	}
	return r.orderOf(a) < r.orderOf(b)
}

// orderOf returns the position of an op. Where it has none yet, its block is numbered, or it takes the middle between
// its neighbours.
func (r *rewriter) orderOf(op ir.OpID) int64 {
	r.order = grow(r.order, ir.OpID(r.m.NumOps()-1))
	if r.order[op] != 0 {
		return r.order[op]
	}
	prev, next := r.m.PrevOp(op), r.m.NextOp(op)
	if prev != 0 && next != 0 && r.order[prev] != 0 && r.order[next]-r.order[prev] > 1 {
		r.order[op] = (r.order[prev] + r.order[next]) / 2
		return r.order[op]
	}
	n := int64(0)
	for other := range r.m.Ops(r.m.OpBlock(op)) {
		n += orderGap
		r.order[other] = n
	}
	return r.order[op]
}

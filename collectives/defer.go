package collectives

import (
	"cmp"
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// deferReductions reduces late what the ops of a block add up: summands that are partial alike once, as their sum, and what a loop only
// adds to what it carries after the loop. The only error is the context's.
func (r *rewriter) deferReductions(ctx context.Context, b ir.BlockID) error {
	m, place := r.m, map[ir.OpID]int{}
	for op := range m.Ops(b) {
		place[op] = len(place)
	}
	for op, next := m.FirstOp(b), ir.OpID(0); op != 0; op = next {
		if err := ctx.Err(); err != nil {
			return err
		}
		next = m.NextOp(op)
		if k := m.Kind(op); k.HasBodies() && k != ir.OpSdyManualComputation {
			for i := range m.NumRegions(op) {
				if err := r.deferReductions(ctx, m.RegionBlock(op, i)); err != nil {
					return err
				}
			}
		}
		changed := false
		if m.Kind(op) == ir.OpWhile {
			changed = r.reduceAfter(op)
		} else if addsUp(m, op) && !r.isSummed(op) {
			changed = r.reduceSums(op, place)
		}
		if changed {
			r.done.Changed |= rewrites.Of(rewrites.DeferReductions)
		}
	}
	return nil
}

// summand is an operand of an op that is a reduced partial value, or what linear ops make of one, which nothing else reads.
type summand struct {
	use     ir.Use
	reshard ir.OpID  // of the partial value
	passed  []ir.Use // by the linear ops, from there on
	layouts []Layout // of what they make of the partial value, after its own
}

// layout is that of the summand as a partial value.
func (s *summand) layout() *Layout { return &s.layouts[len(s.layouts)-1] }

// summand returns an operand as such, if it is one.
func (r *rewriter) summand(use ir.Use) (s summand, ok bool) {
	m := r.m
	s.use = use
	for v := m.Operand(use.Op, use.Index); ; v = m.Operand(s.passed[len(s.passed)-1].Op, s.passed[len(s.passed)-1].Index) {
		op := m.DefiningOp(v)
		if op == 0 || m.OpBlock(op) != m.OpBlock(use.Op) || !m.HasOneUse(v) {
			return s, false
		}
		if m.Kind(op) == ir.OpSdyReshard {
			s.reshard = op
			slices.Reverse(s.passed)
			return s, r.follow(&s)
		}
		operand, ok := Linear(m, op)
		if !ok {
			return s, false
		}
		s.passed = append(s.passed, ir.Use{Op: op, Index: operand})
	}
}

// follow finds the layouts that a summand has as a partial value. Any linear op works on the blocks that it works on now, and on the whole,
// and some on any blocks.
func (r *rewriter) follow(s *summand) bool {
	m := r.m
	l, ok := r.layout(m.Operand(s.reshard, 0))
	to, _ := r.layout(m.Result(s.reshard, 0))
	if !ok || len(l.Unreduced) == 0 || l.Reduction != ir.ReduceSum || len(to.Unreduced) > 0 {
		return false
	}
	same := slices.EqualFunc(l.Dims, to.Dims, slices.Equal)
	if !same && r.how.Reach < Anywhere { // what is scattered only later is held in larger blocks
		return false
	}
	s.layouts = append(s.layouts, l)
	for _, p := range s.passed {
		after, _ := r.layout(m.Result(p.Op, 0))
		switch k := m.Kind(p.Op); {
		case len(after.Unreduced) > 0 || same && subaxis.Intersect(slices.Concat(after.Dims...), l.Unreduced):
			return false
		case same:
			l.Dims = after.Dims
		case readsTensorsBeside(m, p): // which are cut as the reduced value is
			return false
		case l.Shards() == 1:
			l.Dims = make([][]subaxis.Ref, len(after.Dims))
		case k == ir.OpTranspose:
			l = permuted(l, m.OpAttrs(p.Op).Ints("permutation"))
		case !keepsBlocks(k):
			return false
		}
		s.layouts = append(s.layouts, l)
	}
	return true
}

// readsTensorsBeside says whether an op reads other tensors beside one, and not just scalars.
func readsTensorsBeside(m *ir.Module, use ir.Use) bool {
	for i, v := range m.Operands(use.Op) {
		if i != use.Index && len(m.Shape(v)) > 0 {
			return true
		}
	}
	return false
}

// swells says whether the sum of summands, each of so many rounds, is not worth reducing as one.
func (r *rewriter) swells(group []summand, rounds int64) bool {
	whole := r.m.ValueType(r.m.Operand(group[0].use.Op, group[0].use.Index)).Elements()
	largest, all := int64(0), int64(0)
	for i := range group {
		part := r.m.ValueType(r.m.Operand(group[i].reshard, 0)).Elements()
		largest, all = max(largest, part), all+part*rounds
	}
	return swells(whole, largest, all)
}

// expose lets an op read a summand as a partial value, and returns that.
func (r *rewriter) expose(s *summand) ir.ValueID {
	m := r.m
	v := m.Operand(s.reshard, 0)
	for i, p := range s.passed {
		m.SetOperand(p.Op, p.Index, v)
		v = m.Result(p.Op, 0)
		m.SetSharding(v, m.InternSharding(s.layouts[i+1].Sharding(r.mesh)))
	}
	m.SetOperand(s.use.Op, s.use.Index, v)
	m.Erase(s.reshard)
	return v
}

// isSummed says whether an op adds the sum of another to something, and nothing else reads it.
func (r *rewriter) isSummed(add ir.OpID) bool {
	use, once := r.m.OnlyUse(r.m.Result(add, 0))
	return once && addsUp(r.m, use.Op) && r.sameSum(add, use.Op)
}

// sameSum says whether two ops that add work on the same blocks of one block of ops.
func (r *rewriter) sameSum(a, b ir.OpID) bool {
	return r.m.OpBlock(a) == r.m.OpBlock(b) && r.m.Sharding(r.m.Result(a, 0)) == r.m.Sharding(r.m.Result(b, 0))
}

// reduceSums reduces summands of a sum that are partial alike once, as their sum. The sum is what an op adds up with those before it.
func (r *rewriter) reduceSums(last ir.OpID, place map[ir.OpID]int) bool {
	adds, uses := r.sum(last)
	slices.SortFunc(adds, func(a, b ir.OpID) int { return cmp.Compare(place[a], place[b]) })
	var groups [][]summand
	for _, use := range uses {
		s, ok := r.summand(use)
		if !ok {
			continue
		}
		i := slices.IndexFunc(groups, func(g []summand) bool { return g[0].layout().Equal(s.layout()) })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	any := false
	for _, g := range groups {
		if len(g) > 1 && !r.swells(g, r.rounds(last)) {
			adds, any = r.join(adds, g), true
		}
	}
	return any
}

// rounds returns how often a loop adds to what it carries the sum that an op completes: once where none does.
func (r *rewriter) rounds(last ir.OpID) int64 {
	m, body := r.m, r.m.OpBlock(last)
	loop := m.BlockOp(body)
	if loop == 0 || m.Kind(loop) != ir.OpWhile || body != m.RegionBlock(loop, 1) {
		return 1
	}
	use, ok := m.OnlyUse(m.Result(last, 0))
	if !ok || use.Op != m.LastOp(body) || accumulator(m, loop, use.Index) != last {
		return 1
	}
	return max(1, ir.Trips(m, loop))
}

// sum returns the ops that add up a sum of which the last is given, and where they read what they add up.
func (r *rewriter) sum(last ir.OpID) (adds []ir.OpID, uses []ir.Use) {
	for i, v := range r.m.Operands(last) {
		if op := r.m.DefiningOp(v); op != 0 && addsUp(r.m, op) && r.m.HasOneUse(v) && r.sameSum(op, last) {
			more, read := r.sum(op)
			adds, uses = append(adds, more...), append(uses, read...)
		} else {
			uses = append(uses, ir.Use{Op: last, Index: i})
		}
	}
	return append(adds, last), uses
}

// join adds up summands of a sum as partial values, and reduces that where the last of them was added. It returns the ops that still add
// up the sum, in order.
func (r *rewriter) join(adds []ir.OpID, group []summand) (left []ir.OpID) {
	m := r.m
	var sum ir.ValueID // so far
	joined := 0
	instead := map[ir.ValueID]ir.ValueID{} // of what an op adds up; 0 for nothing
	for _, add := range adds {
		var rest []ir.ValueID
		for i, v := range m.Operands(add) {
			other, moved := instead[v]
			at := slices.IndexFunc(group, func(s summand) bool { return s.use == ir.Use{Op: add, Index: i} })
			switch {
			case at >= 0:
				whole := m.Sharding(v)
				sum = r.plus(add, sum, r.expose(&group[at]))
				if joined++; joined == len(group) {
					rest = append(rest, m.BuilderBefore(add).Reshard(sum, whole))
				}
			case !moved:
				rest = append(rest, v)
			case other != 0:
				rest = append(rest, other)
			}
		}
		switch len(rest) {
		case 0:
			instead[m.Result(add, 0)] = 0
		case 1:
			instead[m.Result(add, 0)] = rest[0]
		default:
			m.SetOperand(add, 0, rest[0])
			m.SetOperand(add, 1, rest[1])
			left = append(left, add)
		}
	}
	for _, add := range slices.Backward(adds) {
		if v, moved := instead[m.Result(add, 0)]; moved {
			if v != 0 {
				m.ReplaceUses(m.Result(add, 0), v)
			}
			m.Erase(add)
		}
	}
	return left
}

// plus adds a partial value to a sum of others, which is 0 for none, before an op.
func (r *rewriter) plus(before ir.OpID, sum, v ir.ValueID) ir.ValueID {
	if sum == 0 {
		return v
	}
	out := r.m.BuilderBefore(before).Op1(ir.OpAdd, r.m.Type(v), nil, sum, v)
	r.m.SetSharding(out, r.m.Sharding(v))
	return out
}

// reduceAfter reduces what a loop only adds to what it carries after the loop, where that begins with zeros or is as partial.
func (r *rewriter) reduceAfter(loop ir.OpID) (any bool) {
	m := r.m
	args := m.BlockArgs(m.RegionBlock(loop, 1))
	for place := range args {
		add := accumulator(m, loop, place)
		if add == 0 {
			continue
		}
		at := slices.Index(m.Operands(add), args[place])
		if at < 0 {
			continue
		}
		s, ok := r.summand(ir.Use{Op: add, Index: 1 - at})
		if !ok || r.swells([]summand{s}, max(1, ir.Trips(m, loop))) || !r.begin(loop, place, s.layout()) {
			continue
		}
		r.expose(&s)
		r.carryPartial(loop, place, add, m.InternSharding(s.layout().Sharding(r.mesh)))
		any = true
	}
	return any
}

// begin lets a loop begin in a place with a partial value of a layout, if that is known.
func (r *rewriter) begin(loop ir.OpID, place int, l *Layout) bool {
	m := r.m
	if IsZeros(m, m.Operand(loop, place)) {
		b, t := m.BuilderBefore(loop), m.Type(m.Result(loop, place))
		zero := b.Constant(m.Zeros(m.WithDims(t, nil)))
		m.SetSharding(zero, m.Replicated(r.mesh, 0, true))
		zeros := b.Broadcast(t, zero)
		m.SetSharding(zeros, m.InternSharding(l.Sharding(r.mesh)))
		m.SetOperand(loop, place, zeros)
		return true
	}
	s, ok := r.summand(ir.Use{Op: loop, Index: place})
	if ok = ok && s.layout().Equal(l); ok {
		r.expose(&s)
	}
	return ok
}

// carryPartial gives what a loop carries in a place, and adds to there, the sharding of a partial value, and reduces it after the loop.
func (r *rewriter) carryPartial(loop ir.OpID, place int, add ir.OpID, partial ir.ShardingID) {
	m, result := r.m, r.m.Result(loop, place)
	whole := m.Sharding(result)
	m.SetSharding(m.Result(add, 0), partial)
	m.SetSharding(result, partial)
	for _, v := range dataflow.OtherTargets(m, result) {
		m.SetSharding(v, partial)
	}
	m.Divert(result, m.BuilderAfter(loop).Reshard(result, whole))
}

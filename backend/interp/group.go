package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// grouping builds a group.
type grouping struct {
	*compiler
	*group
	i      *instr
	ops    []ir.OpID
	spread Spread // of the result
	read   map[leafKey]int32
}

// leafKey is a way to read a value: as it is, or as an op broadcasts it.
type leafKey struct {
	value ir.ValueID
	by    ir.OpID // 0: as it is
}

// buildGroup has an instruction compute the last of some ops with the others, which are fused with it.
func (c *compiler) buildGroup(ops []ir.OpID, i *instr) error {
	root := ops[len(ops)-1]
	b := &grouping{compiler: c, group: &group{body: &block{}}, i: i, ops: ops, read: map[leafKey]int32{}}
	if err := b.findSpread(); err != nil {
		return err
	}
	b.cut(root)
	for _, op := range ops {
		if err := b.add(op); err != nil {
			return c.located(op, err)
		}
	}
	for k := range b.leaves {
		l := &b.leaves[k]
		others := func(o leaf) bool { return o.operand == l.operand && o.slot != l.slot }
		l.same = l.same && l.wide.sources == nil && !slices.ContainsFunc(b.leaves, others)
		b.spend(l)
	}
	last := &b.body.code[len(b.body.code)-1]
	b.root = last.out[0]
	i.reuses()
	i.monoid, i.kernel = last.monoid, b.compute
	if c.joint != nil {
		c.joint.spreads[c.m.Result(root, 0)] = b.spread
	}
	return nil
}

// spend lets the last instruction that reads a leaf overwrite it, if the group may.
func (b *grouping) spend(l *leaf) {
	for k := range slices.Backward(b.body.code) {
		if i := &b.body.code[k]; slices.Contains(i.in, l.slot) {
			i.dead = append(i.dead, l.slot)
			i.reuses()
			return
		}
	}
}

// findSpread finds out how the result is spread.
func (b *grouping) findSpread() error {
	for _, op := range b.ops {
		for k, v := range b.m.Operands(op) {
			if b.inside(v) {
				continue
			}
			if _, defined := b.slots[v]; !defined {
				return diag.Invalid(diag.Undefined, diag.Position{}, "operand %d is used before it is defined", k)
			}
			b.spread = b.spread.common(b.spreadOf(v))
		}
	}
	return nil
}

// cut cuts what the last op reads, and its result.
func (b *grouping) cut(root ir.OpID) {
	v := b.m.Result(root, 0)
	t := b.m.ValueType(v)
	b.result = paramType{DType: t.DType, Dims: stacked(b.spread, t.Dims)}
	kept := lists.Range[int64](len(b.result.Dims))
	uncut := len(kept)
	space := b.result.Dims
	if b.m.Kind(root) == ir.OpReduce {
		folded := lists.Map(b.m.Attr(root, "dimensions").(ir.Ints), func(d int64) int64 { return b.behind(d) })
		space = stacked(b.spread, b.m.Shape(b.m.Operand(root, 0)))
		kept = slices.DeleteFunc(lists.Range[int64](len(space)), func(d int64) bool { return slices.Contains(folded, d) })
		uncut = int(slices.Min(append(folded, int64(len(space)))))
	}
	b.tiling = newTiling(space, uncut)
	b.part = b.view(b.result.Dims, kept)
}

// behind returns where a dimension is of values whose blocks are the first one, if there are several.
func (b *grouping) behind(d int64) int64 {
	if b.spread != nil {
		return d + 1
	}
	return d
}

func (c *compiler) spreadOf(v ir.ValueID) Spread {
	if c.joint == nil {
		return nil
	}
	return c.joint.spreads[v]
}

// inside says whether a value is made and read by ops of the group.
func (b *grouping) inside(v ir.ValueID) bool {
	by := b.m.DefiningOp(v)
	return by != 0 && b.with[by] == b.ops[len(b.ops)-1]
}

// add adds the instruction of an op to those that compute a tile.
func (b *grouping) add(op ir.OpID) error {
	i := instr{site: siteOf(b.m, op)}
	switch b.m.Kind(op) {
	case ir.OpIota:
		b.iota(op, &i)
	case ir.OpBroadcastInDim:
		b.broadcast(op, &i)
	default:
		if err := b.elementwise(op, &i); err != nil {
			return err
		}
	}
	if op == b.ops[len(b.ops)-1] { // whose result has another slot for all tiles
		i.out = []int32{b.next}
		b.next++
	} else {
		i.out = b.allocate(b.m.Result(op, 0), 1)
	}
	b.body.code = append(b.body.code, i)
	return nil
}

// elementwise has an instruction compute a tile of an op by the op's builder.
func (b *grouping) elementwise(op ir.OpID, i *instr) error {
	operands := b.m.Operands(op)
	for k, v := range operands {
		i.in = append(i.in, b.operand(op, v))
		if b.inside(v) && !slices.Contains(operands[k+1:], v) {
			i.dead = append(i.dead, i.in[k])
		}
	}
	i.reuses()
	if err := b.computable(op); err != nil {
		return err
	}
	if b.m.Kind(op) == ir.OpReduce {
		b.batch = b.spread
	}
	err := builders[b.m.Kind(op)](b.compiler, op, i)
	b.batch = nil
	return err
}

// operand returns the slot in which an op finds a tile of an operand.
func (b *grouping) operand(op ir.OpID, v ir.ValueID) int32 {
	if b.inside(v) {
		return b.slots[v][0]
	}
	return b.leaf(leafKey{value: v}, func(l *leaf) {
		from, shape := b.spreadOf(v), b.lies(v)
		if len(shape) == 0 && from == nil {
			return // the same for all tiles
		}
		l.wide = widen(from, b.spread, shape, b.m.Shape(b.m.Result(op, 0)))
		l.view, l.same = b.view(b.space, lists.Range[int64](len(b.space))), true
	})
}

// leaf returns the slot of what is read of a value in some way.
func (b *grouping) leaf(key leafKey, fill func(l *leaf)) int32 {
	if slot, known := b.read[key]; known {
		return slot
	}
	from := b.slots[key.value][0]
	l := leaf{slot: b.next, operand: slices.Index(b.i.in, from)}
	b.next++
	if l.operand < 0 {
		l.operand = len(b.i.in)
		b.i.in = append(b.i.in, from)
	}
	fill(&l)
	b.read[key] = l.slot
	b.leaves = append(b.leaves, l)
	return l.slot
}

// broadcast has an instruction make a tile of what an op broadcasts.
func (b *grouping) broadcast(op ir.OpID, i *instr) {
	v, at := b.m.Operand(op, 0), []int64(nil)
	if b.spread != nil {
		at = append(at, 0)
	}
	for _, d := range b.m.Attr(op, "broadcast_dimensions").(ir.Ints) {
		at = append(at, b.behind(d))
	}
	shape := b.m.Shape(v)
	i.in = []int32{b.leaf(leafKey{v, op}, func(l *leaf) {
		l.wide = widen(b.spreadOf(v), b.spread, shape, shape)
		l.view = b.view(stacked(b.spread, shape), at)
	})}
	i.reuses()
	i.kernel = spreadOut(at)
}

// iota has an instruction make a tile of an iota: numbers that are broadcast along one dimension.
func (b *grouping) iota(op ir.OpID, i *instr) {
	t := b.m.ValueType(b.m.Result(op, 0))
	d := b.m.OpAttrs(op).Int("iota_dimension", 0)
	numbers := tensor.Iota(t.DType, t.Dims[d:d+1], 0)
	at := []int64{b.behind(d)}
	v, run := b.view(numbers.Shape, at), spreadOut(at)
	i.kernel = func(f *frame, i *instr, _ []tensor.Tensor) ([]tensor.Tensor, error) {
		return run(f, i, []tensor.Tensor{v.of(numbers, &f.p.tile)})
	}
}

// spreadOut returns the kernel that broadcasts to the tile at hand.
func spreadOut(at []int64) kernel {
	return func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		return f.p.only(tensor.BroadcastInDim(in[0], at, f.p.tile.shape)), nil
	}
}

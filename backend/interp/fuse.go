package interp

import (
	"cmp"
	"slices"
	"unsafe"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/fusion"
)

// What one op alone reads is computed there, as compilers fuse it ([fusion.Values]): tile by tile, so that of a chain of ops only the last
// result is ever whole. What is held of the others is at most a tile each, and does not count.

// findFused finds the ops of the main function that are computed by the only op that reads them, or with that by the one that reads it.
func (c *compiler) findFused(body ir.BlockID) {
	flows, follows := fusion.Of(c.m).OnTheFly(), map[ir.ValueID]bool{}
	c.with, c.foreseen = map[ir.OpID]ir.OpID{}, map[ir.OpID]bool{}
	var flowing []ir.OpID
	c.m.Walk(body, func(op ir.OpID) {
		if c.m.NumResults(op) != 1 {
			return
		}
		v := c.m.Result(op, 0)
		if follows[v] = c.mayForesee(op, follows); follows[v] {
			c.foreseen[op] = flows[v]
		} else if flows[v] && c.computesTiles(op) {
			flowing = append(flowing, op)
		}
	})
	for _, op := range slices.Backward(flowing) {
		v := c.m.Result(op, 0)
		if reader := c.m.OnlyReader(v); c.readsTiles(reader, v) || c.spreadsTile(reader) {
			c.with[op] = c.runsWith(reader)
		}
	}
}

// mayForesee says whether what an op makes follows from constants and the numbers of processes, which the compiler may compute.
func (c *compiler) mayForesee(op ir.OpID, follows map[ir.ValueID]bool) bool {
	t := c.m.ValueType(c.m.Result(op, 0))
	if t.Kind != ir.TensorKind || !t.IsStatic() || t.Bytes() > mostForeseen {
		return false
	}
	switch c.m.Kind(op) {
	case ir.OpConstant, ir.OpSdyConstant, ir.OpPartitionId, ir.OpReplicaId:
		return true
	}
	return c.m.NumOperands(op) > 0 && !slices.ContainsFunc(c.m.Operands(op), func(v ir.ValueID) bool { return !follows[v] })
}

// computesTiles says whether a tile of what an op makes can be made of tiles of what it reads.
func (c *compiler) computesTiles(op ir.OpID) bool {
	v := c.m.Result(op, 0)
	if !inline(c.m, op) || !c.staticResults(op) || c.anyQuantized(op) || c.m.ValueType(v).Bytes() == 0 || c.staysScalar(v) {
		return false
	}
	shape := c.m.Shape(v)
	switch c.m.Kind(op) {
	case ir.OpIota:
		return true
	case ir.OpBroadcastInDim:
		at, ok := c.m.Attr(op, "broadcast_dimensions").(ir.Ints)
		return ok && c.m.ValueType(c.m.Operand(op, 0)).IsStatic() && slices.IsSorted(at)
	}
	if manners[c.m.Kind(op)] != pointwise || len(shape) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.m.Operands(op), func(v ir.ValueID) bool {
		return len(c.m.Shape(v)) > 0 && !slices.Equal(c.m.Shape(v), shape)
	})
}

// readsTiles says whether an op works tile by tile on what it reads of a value: an elementwise one, or one that folds. Of several tiles it
// folds whole rows, in a way that is known.
func (c *compiler) readsTiles(op ir.OpID, v ir.ValueID) bool {
	if c.m.Kind(op) != ir.OpReduce {
		return manners[c.m.Kind(op)] == pointwise && c.computesTiles(op)
	}
	values := c.m.Operands(op)[:c.m.NumOperands(op)/2]
	if !slices.Contains(values, v) || !inline(c.m, op) || !c.staticResults(op) || c.anyQuantized(op) {
		return false
	}
	dims, ok := c.m.Attr(op, "dimensions").(ir.Ints)
	initial := c.m.DefiningOp(c.m.Operand(op, len(values)))
	return c.isOneTile(op) || ok && len(values) == 1 && c.m.Kind(initial) == ir.OpConstant && c.monoid(op, 0) != tensor.MonoidNone &&
		!slices.Contains(dims, 0)
}

// spreadsTile says whether an op spreads a value out where it is read, and that is no more than a tile.
func (c *compiler) spreadsTile(op ir.OpID) bool {
	with := c.with[op]
	return c.m.Kind(op) == ir.OpBroadcastInDim && with != 0 && c.isOneTile(with)
}

// runsBefore says whether an op is run before another one of its block.
func (c *compiler) runsBefore(x, y ir.OpID) bool {
	with, other := c.runsWith(x), c.runsWith(y)
	return c.order[with] < c.order[other] || with == other && c.order[x] < c.order[y]
}

// runsWith returns the op with which an op is run: itself, or the last of a chain of readers.
func (c *compiler) runsWith(op ir.OpID) ir.OpID { return cmp.Or(c.with[op], op) }

// fused returns the ops that are computed with an op, in the order of the program, itself last; it is the only one for most.
func (c *compiler) fused(op ir.OpID) (ops []ir.OpID) {
	ops = []ir.OpID{op}
	for k := 0; k < len(ops); k++ {
		for _, v := range c.m.DistinctOperands(ops[k]) {
			if by := c.m.DefiningOp(v); by != 0 && c.with[by] == op {
				ops = append(ops, by)
			}
		}
	}
	slices.SortFunc(ops, func(a, b ir.OpID) int { return cmp.Compare(c.order[a], c.order[b]) })
	return ops
}

// isOneTile says whether ops that are fused with another one need no tiles, which is faster: a whole value is no more than one.
func (c *compiler) isOneTile(op ir.OpID) bool {
	v := c.m.Result(op, 0)
	if c.m.Kind(op) == ir.OpReduce {
		v = c.m.Operand(op, 0)
	}
	return lists.Product(c.m.Shape(v)) <= mostTile
}

// group computes an op with those that are fused with it, tile by tile.
type group struct {
	tiling
	leaves []leaf
	body   *block // that computes a tile of the result
	root   int32  // the slot of that
	result paramType
	part   view // of the result
}

// leaf is what the ops of a group read of a value that none of them makes.
type leaf struct {
	operand int   // of the instruction
	slot    int32 // of a tile
	wide    widening
	view         // with no steps where all tiles read it whole
	same    bool // its tiles are of the shape of those of the group, and nothing else is read of the operand
}

// place returns where the result goes: in the place of the operand of a leaf that nobody needs any more, and each tile of which is read
// before that of the result is written; -1 for no leaf.
func (g *group) place(f *frame, i *instr, own []tensor.Tensor) (out tensor.Tensor, leaf int) {
	out = tensor.Tensor{DType: g.result.DType, Shape: g.result.Dims}
	bytes := lists.Product(out.Shape) * int64(out.DType.Bytes())
	for k := range g.leaves {
		if l := &g.leaves[k]; l.same && int64(len(own[k].Data)) == bytes && f.spends(i, l.operand, own[k]) {
			out.Data = own[k].Data
			return out, k
		}
	}
	out.Data = memory.Take(bytes)
	return out, -1
}

// compute is the kernel of a group.
func (g *group) compute(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
	own := make([]tensor.Tensor, len(g.leaves)) // since the operands of ops may move the stack that these lie on
	for k := range g.leaves {
		l := &g.leaves[k]
		if own[k] = in[l.operand]; l.wide.sources != nil {
			own[k] = l.wide.of(own[k])
			defer memory.Give(own[k].Data)
		}
	}
	out, spent := g.place(f, i, own)
	f.p.tiling = true
	defer func() { f.p.tiling = false }()
	for n := range g.tiles {
		g.at(n, &f.p.tile)
		if err := g.step(f, own, spent, out); err != nil {
			return nil, err
		}
	}
	for k := range g.leaves {
		f.drop(g.leaves[k].slot)
	}
	return f.p.only(out), nil
}

// step computes the tile at hand. One of the leaves may be spent.
func (g *group) step(f *frame, own []tensor.Tensor, spent int, out tensor.Tensor) error {
	for k := range g.leaves {
		l, v := &g.leaves[k], value{own[k], foreign}
		if l.step != nil {
			v.t = l.of(v.t, &f.p.tile)
		}
		if k == spent {
			v.buf = f.p.newBuffer(v.t.Data, 0, false)
		}
		f.put(l.slot, v)
	}
	if err := f.runCode(g.body); err != nil {
		return err
	}
	place, made := g.part.of(out, &f.p.tile).Data, f.slots[g.root].t.Data
	if unsafe.SliceData(place) != unsafe.SliceData(made) {
		copy(place, made)
	}
	f.drop(g.root)
	return nil
}

package interp

import (
	"context"
	"maps"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// joint is what the compiler knows of processes that run together.
type joint struct {
	args    []Spread                     // of the function
	spreads map[ir.ValueID]Spread        // of values; what is not there is spread as nil
	known   map[ir.ValueID]tensor.Tensor // values that follow from the numbers of the processes, and constants beside them
}

// manner is how an op is run for several processes at once, where their operands are not all the same.
type manner uint8

const (
	apart     manner = iota // it is not
	itself                  // by its builder
	passing                 // results are operands
	pointwise               // at once, on what lies in the slots
	batched                 // at once: its builder takes blocks as the first dimension
	blockwise               // block by block
)

// manners are those of ops that can be run for several processes at once. The tables of the op families are joined here.
var manners = map[ir.Kind]manner{}

func init() {
	for _, family := range []map[ir.Kind]manner{
		shapeManners, linearManners, indexManners, reductionManners, controlManners, collectiveManners, sdyManners,
		chloManners,
	} {
		maps.Copy(manners, family)
	}
	for _, kind := range elementwiseOps() {
		manners[kind] = pointwise
	}
	for kind := range ir.NumKinds {
		if kind.IsBroadcasting() {
			manners[kind] = blockwise
		}
	}
}

// arrangement is how one op is run for all processes.
type arrangement struct {
	manner manner
	spread Spread // of results
}

// arrange decides how an op is run, before it is built. It fails with ErrApart where it cannot be.
func (c *compiler) arrange(op ir.OpID) (arrangement, error) {
	a := arrangement{manner: manners[c.m.Kind(op)]}
	if c.joint == nil {
		return a, nil
	}
	for _, v := range c.m.Operands(op) {
		a.spread = a.spread.common(c.joint.spreads[v])
	}
	inside := !inline(c.m, op) // where one block is at work
	if a.manner == apart || inside && (a.manner == itself || a.spread != nil) || !c.staticResults(op) {
		return a, ErrApart
	}
	if a.spread == nil || a.manner == itself || a.manner == passing {
		return a, nil
	}
	if c.anyQuantized(op) || a.manner == batched && !c.batches(op) {
		a.manner = blockwise
	}
	if a.manner == batched {
		c.batch = a.spread
	}
	return a, nil
}

// staticResults says whether all results are tensors of known shapes.
func (c *compiler) staticResults(op ir.OpID) bool {
	return !slices.ContainsFunc(c.m.ResultValues(op), func(v ir.ValueID) bool {
		t := c.m.ValueType(v)
		return t.Kind != ir.TensorKind || !t.IsStatic()
	})
}

func (c *compiler) anyQuantized(op ir.OpID) bool {
	quantized := func(v ir.ValueID) bool { return c.m.ValueType(v).Quant != 0 }
	return slices.ContainsFunc(c.m.Operands(op), quantized) || slices.ContainsFunc(c.m.ResultValues(op), quantized)
}

// batches says whether a batched op takes these operands: starts, initial values and kernels have to be those of all blocks, and what
// windows are folded with has to be known.
func (c *compiler) batches(op ir.OpID) bool {
	if c.m.Kind(op) == ir.OpConvolution && !c.convolvesBlocks(op) || !c.foldsBlocks(op) {
		return false
	}
	for k, v := range c.m.Operands(op) {
		if c.shares(op, k) && c.joint.spreads[v] != nil {
			return false
		}
	}
	return true
}

// shares says whether a batched op takes one operand for all blocks.
func (c *compiler) shares(op ir.OpID, k int) bool {
	switch c.m.Kind(op) {
	case ir.OpPad, ir.OpDynamicSlice, ir.OpConvolution:
		return k >= 1
	case ir.OpDynamicUpdateSlice:
		return k >= 2
	}
	return c.isInitial(op, k)
}

// lies returns the local shape that a value has in its slot.
func (c *compiler) lies(v ir.ValueID) []int64 {
	if c.staysScalar(v) {
		return nil
	}
	return c.m.Shape(v)
}

// join has a built op compute results of all processes.
func (c *compiler) join(op ir.OpID, i *instr, a arrangement) {
	if c.joint == nil || a.manner == itself {
		return
	}
	for k, v := range c.m.ResultValues(op) {
		c.joint.spreads[v] = a.spread
		if a.manner == passing {
			c.joint.spreads[v] = c.joint.spreads[c.m.Operand(op, k)]
		}
	}
	if a.spread == nil || a.manner == passing {
		return
	}
	if a.manner == blockwise {
		i.kernel = c.blockwise(op, i, a.spread)
	} else if w := c.widenings(op, a); w != nil {
		i.kernel = widened(i.kernel, w)
	}
	c.foresee(op, i, a.spread)
}

// spreads returns how values are spread.
func (c *compiler) spreads(values []ir.ValueID) []Spread {
	if c.joint == nil {
		return nil
	}
	return lists.Map(values, func(v ir.ValueID) Spread { return c.joint.spreads[v] })
}

// setSpreads notes how values are spread, as far as they are.
func (c *compiler) setSpreads(values []ir.ValueID, spreads []Spread) {
	for k := range spreads {
		c.joint.spreads[values[k]] = spreads[k]
	}
}

// refine makes spreads those that they have in common with others, and says whether they change.
func (c *compiler) refine(spreads, others []Spread) (changed bool) {
	for k, s := range spreads {
		spreads[k] = s.common(others[k])
		changed = changed || !spreads[k].equal(s)
	}
	return changed
}

// widenAll returns what becomes of values that are to be spread in a finer way, nil for nothing.
func (c *compiler) widenAll(values []ir.ValueID, to []Spread) []widening {
	some := false
	out := lists.Of(len(values), func(k int) widening {
		shape := c.m.Shape(values[k])
		w := widen(c.joint.spreads[values[k]], to[k], shape, shape)
		some = some || w.sources != nil
		return w
	})
	if !some {
		return nil
	}
	return out
}

// widenings returns what becomes of the operands of an op that computes all blocks at once, nil for nothing.
func (c *compiler) widenings(op ir.OpID, a arrangement) []widening {
	some, out := false, make([]widening, c.m.NumOperands(op))
	kind := c.m.Kind(op)
	for k, v := range c.m.Operands(op) {
		from, shape := c.joint.spreads[v], c.lies(v)
		switch {
		case a.manner == pointwise:
			result := c.m.Shape(c.m.Result(op, 0))
			repeats := len(result) > 0 && (scalarable(kind) || kind == ir.OpClamp && k != 1)
			if from != nil || len(shape) > 0 || !repeats {
				out[k] = widen(from, a.spread, shape, result)
			}
		case c.shares(op, k), kind == ir.OpDotGeneral, kind == ir.OpGather && k == 0 && from == nil:
		default:
			out[k] = widen(from, a.spread, shape, shape)
		}
		some = some || out[k].sources != nil
	}
	if !some {
		return nil
	}
	return out
}

// mostForeseen is the size in bytes up to which values that follow from the numbers of processes are computed by the compiler.
const mostForeseen = 4096

// foresee computes the result of an op whose operands are known. Often fewer blocks differ than processes do: places along an axis.
func (c *compiler) foresee(op ir.OpID, i *instr, s Spread) {
	in := make([]tensor.Tensor, c.m.NumOperands(op))
	for k, v := range c.m.Operands(op) {
		x, known := c.joint.known[v]
		if !known || len(x.Data) > mostForeseen {
			return
		}
		in[k] = x
	}
	v := c.m.Result(op, 0)
	if c.m.NumRegions(op) > 0 || c.m.NumResults(op) != 1 || c.m.ValueType(v).Bytes() > mostForeseen || i.kernel == nil {
		return
	}
	f := &frame{p: c.in.process(context.Background()), slots: make([]value, c.next)}
	for _, slot := range i.in {
		f.slots[slot].buf = foreign
	}
	out, err := i.kernel(f, i, in)
	if err != nil {
		return
	}
	c.settle(v, i, out[0], s)
}

// settle makes a known tensor, whose blocks are spread in some way, what an instruction puts in its slot.
func (c *compiler) settle(v ir.ValueID, i *instr, x tensor.Tensor, s Spread) {
	like := tensor.Tensor{DType: x.DType, Shape: x.Shape[1:]}
	contents := make([]string, c.in.Processes())
	for process := range contents {
		contents[process] = string(blockOf(x.Data, like, s.Blocks(), s.Of(process)).Data)
	}
	few := NewSpread(contents)
	known := tensor.Tensor{DType: x.DType, Shape: stacked(few, like.Shape)}
	for block := range few.Blocks() {
		process := max(0, slices.Index(few, int32(block)))
		known.Data = append(known.Data, contents[process]...)
	}
	known, err := tensor.FromBytes(known.DType, known.Shape, known.Data)
	if err != nil {
		return
	}
	c.joint.spreads[v], c.joint.known[v] = few, known
	bytes := int64(len(known.Data)) / few.Blocks()
	kind := c.m.Kind(c.m.DefiningOp(v))
	_, overwrites := binaryOps[kind]
	shares := kind == ir.OpReshape || kind == ir.OpBroadcastInDim && c.staysScalar(v)
	i.kernel, i.control = nil, func(f *frame, i *instr) error {
		f.put(i.out[0], f.settled(i, known, bytes, shares, overwrites))
		return nil
	}
}

// settled returns a known result in memory that ops may overwrite. It counts as it would for a process by itself: nothing where it shares
// or takes the place of an operand.
func (f *frame) settled(i *instr, known tensor.Tensor, bytes int64, shares, overwrites bool) value {
	if shares {
		operand := &f.slots[i.in[0]]
		own := known
		own.Data = operand.t.Data
		return value{own, operand.share()}
	}
	if overwrites {
		for k, slot := range i.in {
			if f.owns(i, k) {
				f.drop(slot)
				break
			}
		}
	}
	own := copyOf(known)
	if i.fleeting {
		return value{own, f.p.newFleeting(own.Data)}
	}
	return value{own, f.p.newBuffer(own.Data, bytes, true)}
}

// numbers settles what tells processes apart.
func (c *compiler) numbers(v ir.ValueID, i *instr, of func(process int) uint32) {
	ids := lists.Of(c.in.Processes(), of)
	all := NewSpread(lists.Range[int](len(ids)))
	c.settle(v, i, tensor.Of(dtype.UI32, []int64{int64(len(ids))}, ids...), all)
}

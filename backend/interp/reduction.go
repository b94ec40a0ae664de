package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var reductions = map[ir.Kind]builder{
	ir.OpReduce:           buildReduce,
	ir.OpReduceWindow:     buildReduceWindow,
	ir.OpSelectAndScatter: buildSelectAndScatter,
	ir.OpMap:              buildMap,
}

var reductionManners = map[ir.Kind]manner{
	ir.OpReduce:           batched,
	ir.OpReduceWindow:     batched,
	ir.OpSelectAndScatter: blockwise,
	ir.OpMap:              blockwise,
}

// isInitial says whether an operand of a reduction is a value that it begins with.
func (c *compiler) isInitial(op ir.OpID, k int) bool {
	kind := c.m.Kind(op)
	return (kind == ir.OpReduce || kind == ir.OpReduceWindow) && k >= c.m.NumOperands(op)/2
}

// foldsBlocks says whether an op folds several blocks at once, if it folds: windows by what is known.
func (c *compiler) foldsBlocks(op ir.OpID) bool {
	return c.m.Kind(op) != ir.OpReduceWindow || c.monoid(op, 0) != tensor.MonoidNone
}

// reducer is the compiled region of a reduction over n tensors: accumulators first, then elements.
type reducer struct {
	body        *block
	monoid      tensor.Monoid
	elementwise bool
	types       []dtype.Type // of the results
}

// reducer compiles region k of an op as a reduction over n tensors.
func (c *compiler) reducer(op ir.OpID, k, n int) (*reducer, error) {
	b := c.m.RegionBlock(op, k)
	body, err := c.block(b, op, true)
	if err != nil {
		return nil, err
	}
	if len(body.args) != 2*n || len(body.returns) != n {
		return nil, diag.Invalid(diag.BadOp, diag.Position{}, "a region over %d tensors takes %d arguments and returns %d values",
			n, len(body.args), len(body.returns))
	}
	types := lists.Map(c.m.BlockArgs(b)[:n], func(arg ir.ValueID) dtype.Type { return c.m.ValueType(arg).DType })
	return &reducer{body: body, monoid: c.monoid(op, k), elementwise: c.isElementwise(b), types: types}, nil
}

// combiner binds the region to a frame.
func (r *reducer) combiner(f *frame) tensor.Combiner {
	if r.monoid != tensor.MonoidNone {
		return tensor.Combiner{Monoid: r.monoid}
	}
	return tensor.Combiner{Monoid: r.monoid, Elementwise: r.elementwise, Body: f.region(r.body)}
}

// promote returns tensors in the types that the region computes in.
func (r *reducer) promote(xs []tensor.Tensor) []tensor.Tensor {
	fits := true
	for k, x := range xs {
		fits = fits && x.DType == r.types[k%len(r.types)]
	}
	if fits {
		return xs
	}
	out := make([]tensor.Tensor, len(xs))
	for k, x := range xs {
		out[k] = tensor.Convert(x, r.types[k%len(r.types)])
	}
	return out
}

var monoids = map[ir.Kind]tensor.Monoid{
	ir.OpUnregistered: tensor.MonoidSecond,
	ir.OpAdd:          tensor.MonoidAdd, ir.OpMultiply: tensor.MonoidMultiply,
	ir.OpMaximum: tensor.MonoidMaximum, ir.OpMinimum: tensor.MonoidMinimum,
	ir.OpAnd: tensor.MonoidAnd, ir.OpOr: tensor.MonoidOr, ir.OpXor: tensor.MonoidXor,
}

// monoid recognises a region that applies one known op to each pair, or returns the second of each.
func (c *compiler) monoid(op ir.OpID, region int) tensor.Monoid {
	if kind, ok := ir.ReducerOf(c.m, op, region, ir.Computed); ok {
		return monoids[kind]
	}
	return tensor.MonoidNone
}

// isElementwise says whether a region consists of elementwise ops and scalars only, so that it may run on whole
// vectors.
func (c *compiler) isElementwise(b ir.BlockID) bool {
	for op := range c.m.Ops(b) {
		k := c.m.Kind(op)
		if !k.IsTerminator() && !scalarable(k) && !k.IsUnary() && k != ir.OpConstant {
			return false
		}
		for j := range c.m.NumOperands(op) {
			if len(c.m.Shape(c.m.Operand(op, j))) != 0 {
				return false
			}
		}
	}
	return true
}

func buildReduce(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	dims := r.ints("dimensions")
	for _, d := range dims {
		if d < 0 || d >= int64(r.rank(0)) {
			r.missing("dimensions")
		}
	}
	if r.err != nil {
		return r.err
	}
	dims = r.shift(dims)
	return c.fold(op, i, r.batch.Blocks(), func(in, initial []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor, error) {
		return tensor.Reduce(in, initial, dims, body)
	})
}

// fold builds an op whose region combines elements of the first half of the operands, beginning with those of the second half, of so many
// blocks at once.
func (c *compiler) fold(op ir.OpID, i *instr, blocks int64,
	run func(in, initial []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor, error)) error {
	n := c.m.NumOperands(op) / 2
	body, err := c.reducer(op, 0, n)
	if err != nil {
		return err
	}
	i.monoid = body.monoid
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		if body.monoid == tensor.MonoidNone {
			in = slices.Clone(in) // operands of the region may move the stack that they lie on
		}
		combine := body.combiner(f)
		combine.Blocks = blocks
		f.p.atOnce = blocks
		out, err := run(in[:n], body.promote(in[n:]), combine)
		f.p.atOnce = 1
		return out, err
	}
	return nil
}

func window(r *attrReader) tensor.Window {
	return tensor.Window{
		Size:           r.list("window_dimensions", r.rank(0)),
		Stride:         r.ints("window_strides"),
		BaseDilation:   r.ints("base_dilations"),
		WindowDilation: r.ints("window_dilations"),
		Padding:        r.pairs("padding"),
	}
}

func buildReduceWindow(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	w := window(r)
	if r.err != nil {
		return r.err
	}
	if r.batch != nil {
		w = w.Each()
	}
	return c.fold(op, i, r.batch.Blocks(), func(in, initial []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor, error) {
		return tensor.ReduceWindow(in, initial, w, body)
	})
}

func buildSelectAndScatter(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	w := window(r)
	if r.err != nil {
		return r.err
	}
	chooser := c.m.RegionBlock(op, 0)
	selector, err := c.block(chooser, op, true)
	if err != nil {
		return err
	}
	body, err := c.reducer(op, 1, 1)
	if err != nil {
		return err
	}
	i.monoid = body.monoid
	args := c.m.BlockArgs(chooser)
	if len(args) != 2 || len(selector.returns) != 1 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "the select region takes two scalars and returns one")
	}
	known := tensor.Selector{}
	if cmp := c.m.DefiningOp(c.m.Operand(c.m.LastOp(chooser), 0)); cmp != 0 && c.m.Kind(cmp) == ir.OpCompare &&
		c.m.Operand(cmp, 0) == args[0] && c.m.Operand(cmp, 1) == args[1] && c.m.OpAttrs(cmp).Str("compare_type") != "TOTALORDER" {
		known = tensor.Selector{Known: true, Direction: direction(c.attrs(cmp))}
	}
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		s := known
		s.Body = f.region(selector)
		x, err := tensor.SelectAndScatter(in[0], tensor.Convert(in[1], body.types[0]), tensor.Convert(in[2], body.types[0]), w, s,
			body.combiner(f))
		return f.p.only(x), err
	}
	return nil
}

func buildMap(c *compiler, op ir.OpID, i *instr) error {
	b := c.m.RegionBlock(op, 0)
	body, err := c.block(b, op, true)
	if err != nil {
		return err
	}
	types := []dtype.Type{c.element(op)}
	elementwise := c.isElementwise(b)
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		return tensor.Map(slices.Clone(in), tensor.Combiner{Elementwise: elementwise, Body: f.region(body)}, types)
	}
	return nil
}

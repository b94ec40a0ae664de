package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var chloOps = map[ir.Kind]builder{
	ir.OpChloTopK:              func(c *compiler, op ir.OpID, i *instr) error { return topK(c, op, i, c.attrs(op).int("k", -1)) },
	ir.OpChloRaggedDot:         buildRaggedDot,
	ir.OpChloScan:              buildScan,
	ir.OpChloConstant:          buildConstant,
	ir.OpChloConstantLike:      buildConstantLike,
	ir.OpChloConstantWithShape: buildConstantLike,
	ir.OpChloBroadcastCompare:  buildBroadcastCompare,
	ir.OpChloBroadcastSelect:   broadcasting(3, func(in []tensor.Tensor) tensor.Tensor { return tensor.Select(in[0], in[1], in[2]) }),
}

var chloManners = map[ir.Kind]manner{ir.OpChloTopK: batched}

// broadcasting makes an op of n operands repeat dimensions of size one and those that are missing: leading ones, unless
// broadcast_dimensions says at which dimensions of the others those of an operand of lower rank are.
func broadcasting(n int, compute func(in []tensor.Tensor) tensor.Tensor) builder {
	return func(c *compiler, op ir.OpID, i *instr) error {
		if len(i.in) != n {
			return diag.Invalid(diag.BadOp, diag.Position{}, "%d operands are needed, %d are given", n, len(i.in))
		}
		at, named := c.m.Attr(op, "broadcast_dimensions").(ir.Ints)
		plan := func(in []tensor.Tensor) ([]int64, error) {
			if named {
				in = lists.Map(in, func(x tensor.Tensor) tensor.Tensor { return atDimensions(x, at, in) })
			}
			return commonShape(in)
		}
		// No element is wider than a complex number of C128.
		i.kernel = sized(dtype.C128, plan, func(in []tensor.Tensor, shape []int64) tensor.Tensor {
			return compute(lists.Map(in, func(x tensor.Tensor) tensor.Tensor {
				if named {
					x = atDimensions(x, at, in)
				}
				return expandTo(x, shape)
			}))
		})
		return nil
	}
}

// atDimensions gives an operand that has the dimensions of some others and no more the rank of the largest, with size one elsewhere.
func atDimensions(x tensor.Tensor, at []int64, in []tensor.Tensor) tensor.Tensor {
	rank := 0
	for _, y := range in {
		rank = max(rank, y.Rank())
	}
	if x.Rank() == rank || x.Rank() != len(at) {
		return x
	}
	shape := slices.Repeat([]int64{1}, rank)
	for k, d := range at {
		shape[d] = x.Shape[k]
	}
	return tensor.BroadcastInDim(x, at, shape)
}

// commonShape returns the shape to which operands are broadcast together.
func commonShape(in []tensor.Tensor) ([]int64, error) {
	rank := 0
	for _, x := range in {
		rank = max(rank, x.Rank())
	}
	shape := slices.Repeat([]int64{1}, rank)
	for _, x := range in {
		for d, n := range x.Shape {
			at := &shape[rank-x.Rank()+d]
			if n != 1 && *at != 1 && n != *at {
				return nil, badShape("operands of shapes %v and %v cannot be broadcast together", in[0].Shape, x.Shape)
			}
			if n != 1 {
				*at = n
			}
		}
	}
	return shape, nil
}

func expandTo(x tensor.Tensor, shape []int64) tensor.Tensor {
	if slices.Equal(x.Shape, shape) {
		return x
	}
	dims := make([]int64, x.Rank())
	for k := range dims {
		dims[k] = int64(len(shape) - len(dims) + k)
	}
	return tensor.BroadcastInDim(x, dims, shape)
}

func buildBroadcastCompare(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	d, total := direction(r), r.str("compare_type") == "TOTALORDER"
	if r.err != nil {
		return r.err
	}
	return broadcasting(2, func(in []tensor.Tensor) tensor.Tensor { return tensor.Compare(in[0], in[1], d, total) })(c, op, i)
}

// topK finds the k largest elements along the last dimension.
func topK(c *compiler, op ir.OpID, i *instr, k int64) error {
	dims := c.m.Shape(c.m.Operand(op, 0))
	if len(dims) == 0 || k < 0 || k > dims[len(dims)-1] {
		return diag.Invalid(diag.BadAttribute, diag.Position{}, "%d elements cannot be chosen from shape %v", k, dims)
	}
	i.kernel = many(func(in []tensor.Tensor) []tensor.Tensor { return results(tensor.TopK(in[0], k)) })
	return nil
}

func buildRaggedDot(c *compiler, op ir.OpID, i *instr) error {
	a, ok := c.m.Attr(op, "ragged_dot_dimension_numbers").(*ir.RaggedDims)
	if !ok || len(a.Ragged) != 1 {
		return diag.Invalid(diag.BadAttribute, diag.Position{}, "attribute `ragged_dot_dimension_numbers` needs one ragged dimension")
	}
	dims := tensor.RaggedDims{DotDims: dotDims(&a.Dot), Ragged: a.Ragged[0], Group: -1}
	if len(a.Group) == 1 {
		dims.Group = a.Group[0]
	}
	out := c.element(op)
	i.kernel = func(_ *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		sizes := in[2].Shape[:in[2].Rank()-1]
		if prefix := lists.Pick(in[0].Shape, dims.Prefix(in[0].Rank())); len(sizes) > 0 && !slices.Equal(sizes, prefix) {
			return nil, badShape("group sizes along dimensions of sizes %v are not those of lhs, %v", sizes, prefix)
		}
		return results(tensor.RaggedDot(in[0], in[1], in[2], dims, out)), nil
	}
	return nil
}

// buildConstantLike spreads a scalar over the shape of an operand, or over the shape that an operand holds.
func buildConstantLike(c *compiler, op ir.OpID, i *instr) error {
	e := c.element(op)
	scalar := tensor.Tensor{}
	switch a := c.m.Attr(op, "value").(type) {
	case ir.FloatAttr:
		scalar = tensor.Convert(tensor.FromFloats(dtype.F64, nil, c.attrs(op).float("value", 0)), e)
	case ir.IntAttr:
		scalar = tensor.FromInts(e, nil, a.Value)
	default:
		x, err := c.constant(a)
		if err != nil {
			return err
		}
		scalar = x
	}
	plan := func(in []tensor.Tensor) ([]int64, error) { return in[0].Shape, nil }
	if c.m.Kind(op) == ir.OpChloConstantWithShape {
		plan = shapeOperand(0)
	}
	i.kernel = sized(e, plan, func(_ []tensor.Tensor, shape []int64) tensor.Tensor { return tensor.BroadcastInDim(scalar, nil, shape) })
	return nil
}

// buildScan runs a body over the slices of the inputs along one dimension: it takes slices and carries and returns
// slices of the outputs and carries (stablehlo.md section 2.13).
func buildScan(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	d, reverse := r.int("dimension", 0), r.bool("is_reverse")
	body, err := c.block(c.m.RegionBlock(op, 0), op, true)
	if err != nil {
		return err
	}
	s := &scan{body: body, dim: d, reverse: reverse}
	for k, arg := range c.m.BlockArgs(c.m.RegionBlock(op, 0)) {
		if k < len(i.in) && len(c.m.Shape(arg)) == r.rank(k)-1 && s.inputs == k {
			s.inputs++
		}
	}
	s.outputs = len(body.returns) - (len(i.in) - s.inputs)
	if len(body.args) != len(i.in) || s.inputs == 0 || s.outputs < 0 || len(body.returns) != c.m.NumResults(op) {
		return diag.Invalid(diag.BadOp, diag.Position{}, "the body of the scan does not fit its operands")
	}
	for k := range s.inputs {
		if d < 0 || d >= int64(r.rank(k)) {
			r.missing("dimension")
		}
	}
	for k := range s.outputs {
		s.results = append(s.results, ResultType{c.m.ValueType(c.m.Result(op, k)).DType, r.static(c.m.Result(op, k))})
	}
	i.kernel = s.kernel
	return r.err
}

type scan struct {
	body            *block
	dim             int64
	reverse         bool
	inputs, outputs int
	results         []ResultType // of the stacked outputs
}

func (s *scan) kernel(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
	body := f.region(s.body)
	n := in[0].Shape[s.dim]
	carries := slices.Clone(in[s.inputs:])
	outs := make([]tensor.Tensor, s.outputs)
	for k, t := range s.results {
		outs[k] = tensor.New(t.DType, t.Shape)
	}
	for step := range n {
		at := step
		if s.reverse {
			at = n - 1 - step
		}
		args := lists.Map(in[:s.inputs], func(x tensor.Tensor) tensor.Tensor { return sliceAt(x, s.dim, at) })
		values, err := body(append(args, carries...))
		if err != nil {
			return nil, err
		}
		for k, y := range values[:s.outputs] {
			starts := lists.Of(outs[k].Rank(), func(int) tensor.Tensor { return tensor.FromInts(dtype.I64, nil, 0) })
			starts[s.dim] = tensor.FromInts(dtype.I64, nil, at)
			tensor.DynamicUpdateSliceInPlace(outs[k], tensor.Reshape(y, slices.Insert(slices.Clone(y.Shape), int(s.dim), 1)), starts)
		}
		carries = values[s.outputs:]
	}
	return append(outs, carries...), nil
}

// sliceAt returns the elements with one index along a dimension, without that dimension.
func sliceAt(x tensor.Tensor, dim, at int64) tensor.Tensor {
	start, limit, ones := make([]int64, x.Rank()), slices.Clone(x.Shape), slices.Repeat([]int64{1}, x.Rank())
	start[dim], limit[dim] = at, at+1
	s := tensor.Slice(x, start, limit, ones)
	return tensor.Reshape(s, slices.Delete(slices.Clone(x.Shape), int(dim), int(dim)+1))
}

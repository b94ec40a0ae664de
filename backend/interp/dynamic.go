package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// dynamicOps are the ops whose result shape is an operand.
var dynamicOps = map[ir.Kind]builder{
	ir.OpDynamicBroadcastInDim: reading(buildDynamicBroadcastInDim),
	ir.OpDynamicGather:         reading(buildDynamicGather),
	ir.OpDynamicIota:           reading(buildDynamicIota),
	ir.OpDynamicPad:            buildDynamicPad,
	ir.OpDynamicReshape:        buildDynamicReshape,
	ir.OpChloDynamicReshape:    buildDynamicReshape,
	ir.OpChloReshapeDynamic:    buildDynamicReshape,
	ir.OpRealDynamicSlice:      buildRealDynamicSlice,
	ir.OpGetDimensionSize:      reading(buildGetDimensionSize),
	ir.OpSetDimensionSize:      reading(buildSetDimensionSize),
}

// sized makes a kernel with one result whose type is known at run time: plan says the shape, or what is wrong with
// it, and the result must fit the limit of bytes before compute makes it.
func sized(element dtype.Type, plan func(in []tensor.Tensor) ([]int64, error),
	compute func(in []tensor.Tensor, shape []int64) tensor.Tensor) kernel {
	return func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		shape, err := plan(in)
		if err != nil {
			return nil, err
		}
		_, bytes, err := dtype.Size(element, shape)
		if err != nil {
			return nil, err
		}
		if f.p.live+bytes > f.p.in.opts.MaxBytes {
			return nil, f.tooLarge(bytes)
		}
		return f.p.only(compute(in, shape)), nil
	}
}

// shapeOperand reads operand k as the shape of the result.
func shapeOperand(k int) func(in []tensor.Tensor) ([]int64, error) {
	return func(in []tensor.Tensor) ([]int64, error) { return in[k].Ints(), nil }
}

func (c *compiler) element(op ir.OpID) dtype.Type {
	t := c.m.ValueType(c.m.Result(op, 0))
	if expressed, ok := c.expressed(t); ok {
		return expressed
	}
	return t.DType
}

func badShape(format string, args ...any) error {
	return diag.Invalid(diag.TypeMismatch, diag.Position{}, format, args...)
}

func buildDynamicBroadcastInDim(r *attrReader) kernel {
	dims := r.list("broadcast_dimensions", r.rank(0))
	plan := func(in []tensor.Tensor) ([]int64, error) {
		shape := in[1].Ints()
		for k, d := range dims {
			if d < 0 || d >= int64(len(shape)) || in[0].Shape[k] != 1 && in[0].Shape[k] != shape[d] {
				return nil, badShape("operand of shape %v cannot be broadcast to %v along %v", in[0].Shape, shape, dims)
			}
		}
		return shape, nil
	}
	return sized(r.element(r.op), plan, func(in []tensor.Tensor, shape []int64) tensor.Tensor {
		return tensor.BroadcastInDim(in[0], dims, shape)
	})
}

func buildDynamicIota(r *attrReader) kernel {
	d := r.dimension("iota_dimension", len(r.m.Shape(r.m.Result(r.op, 0))))
	e := r.element(r.op)
	return sized(e, shapeOperand(0), func(_ []tensor.Tensor, shape []int64) tensor.Tensor { return tensor.Iota(e, shape, d) })
}

func buildDynamicReshape(c *compiler, op ir.OpID, i *instr) error {
	e := c.element(op)
	plan := func(in []tensor.Tensor) ([]int64, error) {
		shape := in[1].Ints()
		n, _, err := dtype.Size(e, shape)
		if err == nil && n != int64(in[0].Len()) {
			err = badShape("operand of shape %v cannot be reshaped to %v", in[0].Shape, shape)
		}
		return shape, err
	}
	i.kernel = sized(e, plan, func(in []tensor.Tensor, shape []int64) tensor.Tensor { return tensor.Reshape(in[0], shape) })
	return nil
}

func buildDynamicPad(c *compiler, op ir.OpID, i *instr) error {
	plan := func(in []tensor.Tensor) ([]int64, error) {
		low, high, interior := in[2].Ints(), in[3].Ints(), in[4].Ints()
		shape := make([]int64, in[0].Rank())
		for d, n := range in[0].Shape {
			if interior[d] < 0 || interior[d] > dtype.MaxBytes/max(n, 1) {
				return nil, badShape("interior padding %d is negative or too large", interior[d])
			}
			if max(low[d], high[d]) > dtype.MaxBytes || min(low[d], high[d]) < -dtype.MaxBytes {
				return nil, badShape("padding %d and %d is too large", low[d], high[d])
			}
			shape[d] = low[d] + n + max(n-1, 0)*interior[d] + high[d]
			if shape[d] < 0 {
				return nil, badShape("padding %d and %d leave dimension %d with a negative size", low[d], high[d], d)
			}
		}
		return shape, nil
	}
	i.kernel = sized(c.element(op), plan, func(in []tensor.Tensor, _ []int64) tensor.Tensor {
		return tensor.Pad(in[0], in[1], in[2].Ints(), in[3].Ints(), in[4].Ints())
	})
	return nil
}

func buildRealDynamicSlice(c *compiler, op ir.OpID, i *instr) error {
	plan := func(in []tensor.Tensor) ([]int64, error) {
		start, limit, strides := in[1].Ints(), in[2].Ints(), in[3].Ints()
		shape := make([]int64, in[0].Rank())
		for d, n := range in[0].Shape {
			if start[d] < 0 || limit[d] < start[d] || limit[d] > n || strides[d] < 1 {
				return nil, badShape("slice [%d:%d:%d] does not fit dimension %d of size %d", start[d], limit[d], strides[d], d, n)
			}
			shape[d] = (limit[d] - start[d] + strides[d] - 1) / strides[d]
		}
		return shape, nil
	}
	i.kernel = sized(c.element(op), plan, func(in []tensor.Tensor, _ []int64) tensor.Tensor {
		return tensor.Slice(in[0], in[1].Ints(), in[2].Ints(), in[3].Ints())
	})
	return nil
}

func buildDynamicGather(r *attrReader) kernel {
	dims := gatherDims(r)
	plan := func(in []tensor.Tensor) ([]int64, error) {
		sizes := in[2].Ints()
		for d, n := range in[0].Shape {
			if sizes[d] < 0 || sizes[d] > n {
				return nil, badShape("slice size %d does not fit dimension %d of size %d", sizes[d], d, n)
			}
		}
		return gatherShape(in[1].Shape, sizes, dims), nil
	}
	return sized(r.element(r.op), plan, func(in []tensor.Tensor, _ []int64) tensor.Tensor {
		return tensor.Gather(in[0], in[1], dims, in[2].Ints())
	})
}

// gatherShape returns the shape of a gather's result (stablehlo.md section 2.7).
func gatherShape(indices, sizes []int64, dims tensor.GatherDims) []int64 {
	batch := slices.Clone(indices)
	if k := int(dims.IndexVectorDim); k < len(batch) {
		batch = slices.Delete(batch, k, k+1)
	}
	offsets := lists.Pick(sizes, lists.Others(len(sizes), dims.CollapsedSliceDims, dims.OperandBatchingDims))
	var shape []int64
	for d := range int64(len(batch) + len(offsets)) {
		if slices.Contains(dims.OffsetDims, d) {
			shape, offsets = append(shape, offsets[0]), offsets[1:]
		} else {
			shape, batch = append(shape, batch[0]), batch[1:]
		}
	}
	return shape
}

func buildGetDimensionSize(r *attrReader) kernel {
	d := r.dimension("dimension", r.rank(0))
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.FromInts(dtype.I32, nil, in[0].Shape[d]) })
}

// buildSetDimensionSize accepts the size that the dimension has: there are no bounded dimensions here.
func buildSetDimensionSize(r *attrReader) kernel {
	d := r.dimension("dimension", r.rank(0))
	return func(_ *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		if want, have := in[1].Ints()[0], in[0].Shape[d]; want != have {
			return nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "dimension %d of size %d cannot be given size %d", d, have, want)
		}
		return in[:1], nil
	}
}

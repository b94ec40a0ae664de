package interp

import (
	"slices"
	"sync"
	"sync/atomic"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var shapeOps = map[ir.Kind]builder{
	ir.OpConstant:           buildConstant,
	ir.OpIota:               reading(buildIota),
	ir.OpBroadcast:          reading(buildBroadcast),
	ir.OpBroadcastInDim:     buildBroadcastInDim,
	ir.OpReshape:            reading(buildReshape),
	ir.OpBitcastConvert:     reading(buildBitcastConvert),
	ir.OpTranspose:          reading(buildTranspose),
	ir.OpSlice:              reading(buildSlice),
	ir.OpDynamicSlice:       reading(buildDynamicSlice),
	ir.OpDynamicUpdateSlice: buildDynamicUpdateSlice,
	ir.OpConcatenate:        reading(buildConcatenate),
	ir.OpReverse:            reading(buildReverse),
	ir.OpPad:                reading(buildPad),
	ir.OpTuple:              identity,
	ir.OpGetTupleElement:    buildGetTupleElement,
}

var shapeManners = map[ir.Kind]manner{
	ir.OpConstant:           blockwise,
	ir.OpIota:               blockwise,
	ir.OpBroadcast:          blockwise,
	ir.OpBroadcastInDim:     batched,
	ir.OpReshape:            batched,
	ir.OpBitcastConvert:     blockwise,
	ir.OpTranspose:          batched,
	ir.OpSlice:              batched,
	ir.OpDynamicSlice:       batched,
	ir.OpDynamicUpdateSlice: batched,
	ir.OpConcatenate:        batched,
	ir.OpReverse:            batched,
	ir.OpPad:                batched,
}

// smallSplat is the size in bytes up to which a splat is spread out once, at compile time, and an iota is made.
const smallSplat = 4096

// constant returns the content of an attribute; a splat is one scalar.
func (c *compiler) constant(a ir.Attr) (tensor.Tensor, error) {
	d, ok := a.(*ir.Dense)
	if !ok {
		return tensor.Tensor{}, diag.Unsupported(diag.NotSupported, diag.Position{}, "a constant of this kind cannot be run")
	}
	t := c.m.TypeOf(d.Type)
	dims := t.Dims
	if d.Splat {
		dims = nil
	}
	if !t.IsStatic() {
		return tensor.Tensor{}, diag.Invalid(diag.BadConstant, diag.Position{}, "a constant needs known dimensions")
	}
	data := d.Data
	if t.DType.Kind() != dtype.Float && t.DType.Bits() > 1 && t.DType.Bits() < 8 {
		data = make([]byte, len(d.Data))
		for k, b := range d.Data {
			data[k] = byte(dtype.Wrap(t.DType, int64(b))) // tensors hold short integers sign-extended
		}
	}
	return tensor.FromBytes(t.DType, dims, data)
}

// largeConstant is the size in bytes from which on a constant becomes a tensor only when it is needed: its elements may
// have to be copied.
const largeConstant = 1 << 20

// buildLargeConstant is buildConstant for what is large and no splat.
func buildLargeConstant(d *ir.Dense, t *ir.Type, i *instr) error {
	dims, data := t.Dims, d.Data
	if _, bytes, err := dtype.Size(t.DType, dims); err != nil || bytes != int64(len(data)) {
		_, err := tensor.FromBytes(t.DType, dims, data)
		return err
	}
	content := sync.OnceValues(func() (tensor.Tensor, error) { return tensor.FromBytes(t.DType, dims, data) })
	i.control = func(f *frame, i *instr) error {
		x, err := content()
		f.put(i.out[0], value{x, foreign})
		return err
	}
	return nil
}

func buildConstant(c *compiler, op ir.OpID, i *instr) error {
	a := c.m.Attr(op, "value")
	if d, ok := a.(*ir.Dense); ok && len(d.Data) >= largeConstant {
		if t := c.m.TypeOf(d.Type); t.IsStatic() && t.DType.Bits() >= 8 {
			return buildLargeConstant(d, t, i)
		}
	}
	x, err := c.constant(a)
	if err != nil {
		return err
	}
	dims := c.m.TypeOf(a.(*ir.Dense).Type).Dims
	v := c.m.Result(op, 0)
	_, bytes, err := dtype.Size(x.DType, dims)
	if err != nil {
		return err
	}
	if a.(*ir.Dense).Splat && len(dims) > 0 && !c.staysScalar(v) {
		if bytes > smallSplat {
			i.kernel = one(func([]tensor.Tensor) tensor.Tensor { return tensor.BroadcastInDim(x, nil, dims) })
			return nil
		}
		x = tensor.BroadcastInDim(x, nil, dims)
	}
	if c.joint != nil {
		c.joint.known[v] = x
	}
	i.control = func(f *frame, i *instr) error {
		f.put(i.out[0], value{x, foreign})
		return nil
	}
	return nil
}

func buildIota(r *attrReader) kernel {
	t := r.result()
	d := r.dimension("iota_dimension", len(t.Dims))
	if r.err != nil {
		return nil
	}
	if _, bytes, err := dtype.Size(t.DType, t.Dims); err != nil || bytes > smallSplat {
		return one(func([]tensor.Tensor) tensor.Tensor { return tensor.Iota(t.DType, t.Dims, d) })
	}
	x := tensor.Iota(t.DType, t.Dims, d)
	return one(func([]tensor.Tensor) tensor.Tensor { return copyOf(x) })
}

// copyOf returns a tensor in memory of its own, with the shape of another one and its elements.
func copyOf(x tensor.Tensor) tensor.Tensor {
	data := memory.Take(int64(len(x.Data)))
	copy(data, x.Data)
	x.Data = data
	return x
}

func buildBroadcast(r *attrReader) kernel {
	t := r.result()
	dims := make([]int64, r.rank(0))
	for k := range dims {
		dims[k] = int64(len(t.Dims) - len(dims) + k)
	}
	return rearranging(func(from []int64) *tensor.Rearrangement { return tensor.NewBroadcast(from, dims, t.Dims) })
}

// rearranging makes a kernel of what prepares one for operands of a shape, which seldom changes.
func rearranging(prepare func(from []int64) *tensor.Rearrangement) kernel {
	var last atomic.Pointer[tensor.Rearrangement]
	return one(func(in []tensor.Tensor) tensor.Tensor {
		r := last.Load()
		if r == nil || !r.Fits(in[0].Shape) {
			r = prepare(in[0].Shape)
			last.Store(r)
		}
		return r.Of(in[0])
	})
}

func buildBroadcastInDim(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	t := r.result()
	dims := r.list("broadcast_dimensions", r.rank(0))
	for _, d := range dims {
		if d < 0 || d >= int64(len(t.Dims)) {
			r.missing("broadcast_dimensions")
		}
	}
	dims = r.before(0, r.shift(dims))
	if c.staysScalar(c.m.Result(op, 0)) {
		return identity(c, op, i)
	}
	i.kernel = rearranging(func(from []int64) *tensor.Rearrangement { return tensor.NewBroadcast(from, dims, t.Dims) })
	return r.err
}

func buildReshape(r *attrReader) kernel {
	dims := r.result().Dims
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Reshape(in[0], dims) })
}

func buildBitcastConvert(r *attrReader) kernel {
	t := r.result()
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.BitcastConvert(in[0], t.DType, t.Dims) })
}

func buildTranspose(r *attrReader) kernel {
	perm := r.before(0, r.shift(r.list("permutation", r.rank(0))))
	return rearranging(func(from []int64) *tensor.Rearrangement { return tensor.NewTranspose(from, perm) })
}

func buildSlice(r *attrReader) kernel {
	n := r.rank(0)
	start, limit, strides := r.list("start_indices", n), r.list("limit_indices", n), r.list("strides", n)
	start, limit, strides = r.before(0, start), r.before(r.batch.Blocks(), limit), r.before(1, strides)
	return rearranging(func(from []int64) *tensor.Rearrangement { return tensor.NewSlice(from, start, limit, strides) })
}

func buildDynamicSlice(r *attrReader) kernel {
	sizes := r.before(r.batch.Blocks(), r.list("slice_sizes", r.rank(0)))
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.DynamicSlice(in[0], in[1:], sizes) })
}

// buildDynamicUpdateSlice updates in place where nobody else holds the operand.
func buildDynamicUpdateSlice(_ *compiler, _ ir.OpID, i *instr) error {
	i.kernel = func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		if f.owns(i, 0) {
			tensor.DynamicUpdateSliceInPlace(in[0], in[1], in[2:])
			return in[:1], nil
		}
		return f.p.only(tensor.DynamicUpdateSlice(in[0], in[1], in[2:])), nil
	}
	return nil
}

func buildConcatenate(r *attrReader) kernel {
	d := r.behind(r.dimension("dimension", r.rank(0)))
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Concatenate(in, d) })
}

func buildReverse(r *attrReader) kernel {
	dims := r.shift(r.ints("dimensions"))
	return rearranging(func(from []int64) *tensor.Rearrangement { return tensor.NewReverse(from, dims) })
}

func buildPad(r *attrReader) kernel {
	n := r.rank(0)
	low, high, interior := r.list("edge_padding_low", n), r.list("edge_padding_high", n), r.list("interior_padding", n)
	low, high, interior = r.before(0, low), r.before(0, high), r.before(0, interior)
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Pad(in[0], in[1], low, high, interior) })
}

// buildGetTupleElement takes the slots of one element.
func buildGetTupleElement(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	t := c.m.ValueType(c.m.Operand(op, 0))
	index := r.dimension("index", len(t.Elems))
	first, count := 0, 0
	for k, e := range t.Elems {
		types, err := c.flatten(e)
		if err != nil {
			return err
		}
		if int64(k) == index {
			count = len(types)
			break
		}
		first += len(types)
	}
	i.in = slices.Clone(i.in[first : first+count])
	i.reuse = i.reuse[first : first+count]
	if r.err != nil {
		return r.err
	}
	return identity(c, op, i)
}

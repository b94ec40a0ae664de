package specialize

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// dynamics are the ops that take sizes as operands, with what puts the static op in their place and returns it.
var dynamics map[ir.Kind]func(*refiner, ir.OpID) (ir.OpID, error)

func init() {
	dynamics = map[ir.Kind]func(*refiner, ir.OpID) (ir.OpID, error){
		ir.OpDynamicReshape:        (*refiner).dynamicReshape,
		ir.OpDynamicBroadcastInDim: (*refiner).dynamicBroadcast,
		ir.OpDynamicIota:           (*refiner).dynamicIota,
		ir.OpDynamicPad:            (*refiner).dynamicPad,
		ir.OpRealDynamicSlice:      (*refiner).realDynamicSlice,
		ir.OpDynamicGather:         (*refiner).dynamicGather,
		ir.OpDynamicConv:           (*refiner).dynamicConv,
		ir.OpCustomCall:            (*refiner).customCall,
	}
}

// replace puts a static op in the place of another one, with its shardings, and returns it.
func (r *refiner) replace(op ir.OpID, kind ir.Kind, attrs ir.Attrs, operands ...ir.ValueID) ir.OpID {
	m := r.m
	return r.instead(op, m.BuilderBefore(op).OpRegions(kind, r.m.TypesOf(r.m.ResultValues(op)), attrs, 0, operands...))
}

// instead gives the uses, shardings and place of an op to the one that replaces it.
func (r *refiner) instead(op, by ir.OpID) ir.OpID {
	m := r.m
	for i, v := range m.Results(op) {
		m.SetSharding(m.Result(by, i), m.Sharding(v))
		m.ReplaceUses(v, m.Result(by, i))
	}
	if pos := m.OpPos(op); pos.IsKnown() {
		m.SetPos(by, pos)
	}
	m.Erase(op)
	return by
}

// sized is replace for an op whose only result has the sizes that an operand says.
func (r *refiner) sized(op ir.OpID, sizes int, kind ir.Kind, attrs ir.Attrs, operands ...ir.ValueID) (ir.OpID, error) {
	m := r.m
	shape, err := r.shape(op, sizes)
	if err != nil {
		return 0, err
	}
	v := m.Result(op, 0)
	if slices.ContainsFunc(shape, func(n int64) bool { return n < 0 }) || len(shape) != len(m.Shape(v)) {
		return 0, diag.Invalid(diag.TypeMismatch, m.OpPos(op), "`%s` makes a tensor of shape %v", m.OpName(op), shape)
	}
	m.SetType(v, m.WithDims(m.Type(v), shape))
	return r.replace(op, kind, attrs, operands...), nil
}

// shape reads an operand that says sizes.
func (r *refiner) shape(op ir.OpID, operand int) ([]int64, error) {
	if list, ok := r.ints(r.m.Operand(op, operand)); ok {
		return list, nil
	}
	return nil, diag.Unsupported(diag.NotSupported, r.m.OpPos(op), "operand %d of `%s` says a size that depends on data",
		operand, r.m.OpName(op))
}

func (r *refiner) dynamicReshape(op ir.OpID) (ir.OpID, error) {
	return r.sized(op, 1, ir.OpReshape, r.m.OpAttrs(op), r.m.Operand(op, 0))
}

func (r *refiner) dynamicBroadcast(op ir.OpID) (ir.OpID, error) {
	attrs := r.m.OpAttrs(op).Without("known_expanding_dimensions", "known_nonexpanding_dimensions")
	return r.sized(op, 1, ir.OpBroadcastInDim, attrs, r.m.Operand(op, 0))
}

func (r *refiner) dynamicIota(op ir.OpID) (ir.OpID, error) {
	return r.sized(op, 0, ir.OpIota, r.m.OpAttrs(op))
}

func (r *refiner) dynamicPad(op ir.OpID) (ir.OpID, error) {
	attrs := r.m.OpAttrs(op)
	for i, name := range []string{"edge_padding_low", "edge_padding_high", "interior_padding"} {
		list, err := r.shape(op, i+2)
		if err != nil {
			return 0, err
		}
		attrs = attrs.With(name, ir.Ints(list))
	}
	return r.replace(op, ir.OpPad, attrs, r.m.Operand(op, 0), r.m.Operand(op, 1)), nil
}

func (r *refiner) dynamicGather(op ir.OpID) (ir.OpID, error) {
	sizes, err := r.shape(op, 2)
	if err != nil {
		return 0, err
	}
	return r.replace(op, ir.OpGather, r.m.OpAttrs(op).With("slice_sizes", ir.Ints(sizes)), r.m.Operand(op, 0), r.m.Operand(op, 1)), nil
}

func (r *refiner) dynamicConv(op ir.OpID) (ir.OpID, error) {
	padding, err := r.pairs(op, 2)
	if err != nil {
		return 0, err
	}
	return r.replace(op, ir.OpConvolution, r.m.OpAttrs(op).With("padding", padding), r.m.Operand(op, 0), r.m.Operand(op, 1)), nil
}

// pairs reads an operand that says paddings, low and high for each dimension.
func (r *refiner) pairs(op ir.OpID, operand int) (*ir.Dense, error) {
	list, err := r.shape(op, operand)
	return r.m.DenseInts(list, int64(len(list)/2), 2), err
}

// realDynamicSlice becomes a slice where it starts at a known place. Where the place depends on data, as in the body of a
// loop, the limit is the start plus known sizes.
func (r *refiner) realDynamicSlice(op ir.OpID) (ir.OpID, error) {
	m := r.m
	x, start, limit := m.Operand(op, 0), m.Operand(op, 1), m.Operand(op, 2)
	strides, err := r.shape(op, 3)
	if err != nil {
		return 0, err
	}
	from, ok1 := r.ints(start)
	to, ok2 := r.ints(limit)
	if ok1 && ok2 {
		return r.replace(op, ir.OpSlice, m.OpAttrs(op).With("start_indices", ir.Ints(from)).With("limit_indices", ir.Ints(to)).
			With("strides", ir.Ints(strides)), x), nil
	}
	sizes, ok := r.distance(start, limit)
	if !ok || slices.ContainsFunc(strides, func(n int64) bool { return n != 1 }) {
		return 0, r.unknownSize(op)
	}
	operands := append([]ir.ValueID{x}, r.scalars(op, r.unclamped(start, m.Shape(x), sizes))...)
	return r.replace(op, ir.OpDynamicSlice, m.OpAttrs(op).With("slice_sizes", ir.Ints(sizes)), operands...), nil
}

// distance returns what is added to one value to make another.
func (r *refiner) distance(from, to ir.ValueID) ([]int64, bool) {
	m := r.m
	add := m.DefiningOp(to)
	if add == 0 || m.Kind(add) != ir.OpAdd {
		return nil, false
	}
	switch from {
	case m.Operand(add, 0):
		return r.ints(m.Operand(add, 1))
	case m.Operand(add, 1):
		return r.ints(m.Operand(add, 0))
	}
	return nil, false
}

// unclamped looks through a clamp to where slices of those sizes fit, which dynamic_slice makes itself.
func (r *refiner) unclamped(start ir.ValueID, dims, sizes []int64) ir.ValueID {
	m := r.m
	clamp := m.DefiningOp(start)
	if clamp == 0 || m.Kind(clamp) != ir.OpClamp {
		return start
	}
	low, ok1 := r.ints(m.Operand(clamp, 0))
	high, ok2 := r.ints(m.Operand(clamp, 2))
	if !ok1 || !ok2 || len(low) != len(dims) || len(high) != len(dims) {
		return start
	}
	for d := range dims {
		if low[d] != 0 || high[d] != dims[d]-sizes[d] {
			return start
		}
	}
	return m.Operand(clamp, 1)
}

// scalars returns the elements of a vector.
func (r *refiner) scalars(before ir.OpID, v ir.ValueID) []ir.ValueID {
	m := r.m
	n := m.Shape(v)[0]
	scalar := m.WithDims(m.Type(v), nil)
	if parts := m.DefiningOp(v); parts != 0 && m.Kind(parts) == ir.OpConcatenate && int64(m.NumOperands(parts)) == n {
		var out []ir.ValueID
		for _, e := range m.Operands(parts) {
			if d := m.DefiningOp(e); d != 0 && m.Kind(d) == ir.OpReshape && m.Type(m.Operand(d, 0)) == scalar {
				out = append(out, m.Operand(d, 0))
			}
		}
		if int64(len(out)) == n {
			return out
		}
	}
	b := m.BuilderBefore(before)
	out := make([]ir.ValueID, n)
	for i := range out {
		at := int64(i)
		e := b.Op1(ir.OpSlice, m.WithDims(m.Type(v), []int64{1}), ir.MakeAttrs(
			ir.NamedAttr{Name: "start_indices", Value: ir.Ints{at}}, ir.NamedAttr{Name: "limit_indices", Value: ir.Ints{at + 1}},
			ir.NamedAttr{Name: "strides", Value: ir.Ints{1}}), v)
		out[i] = b.Op1(ir.OpReshape, scalar, nil, e)
	}
	return out
}

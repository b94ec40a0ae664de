package ring

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// gather multiplies chunks of the gathered operand as they come by. Those that walk one way go from each device to
// the one before it, so that after t steps a device has the chunk t places after its own; first halves of those that
// walk both ways go the other way round.
func (r *ring) gather(w Way) {
	m := r.m
	own := m.Operand(r.op, 0)
	acc := r.accumulator()
	if w == OneWay {
		for t := range r.Steps {
			r.begin()
			from, next := len(r.out.Ops), own
			if t < r.Steps-1 {
				next = r.permute(own, -1)
			}
			acc = r.take(acc, own, at{ahead: t})
			r.computed(from)
			own = next
		}
		r.finish(acc)
		return
	}
	d := r.dims[r.operand]
	halves := [2]ir.ValueID{r.half(own, d, 0), r.half(own, d, 1)}
	for t := range r.Steps {
		r.begin()
		from, next := len(r.out.Ops), halves
		if t < r.Steps-1 {
			next = [2]ir.ValueID{r.permute(halves[0], 1), r.permute(halves[1], -1)}
		}
		if t == 0 {
			acc = r.take(acc, own, at{})
		} else {
			acc = r.take(acc, halves[0], at{ahead: -t})
			acc = r.take(acc, halves[1], at{ahead: t, inside: r.Extent / 2})
		}
		r.computed(from)
		halves = next
	}
	r.finish(acc)
}

// accumulator returns what the parts are written into, 0 where they are added up.
func (r *ring) accumulator() ir.ValueID {
	if r.dims[2] < 0 {
		return 0
	}
	return r.zeros()
}

// take multiplies a chunk that lies somewhere along the gathered dimension with what belongs to it, and writes the
// product where it belongs, or adds it to the others.
func (r *ring) take(acc, chunk ir.ValueID, where at) ir.ValueID {
	m := r.m
	other, e := m.Operand(r.Product, 1-r.operand), m.ValueType(m.Result(r.Product, 0)).DType
	var index ir.ValueID
	if r.dims[1-r.operand] >= 0 || r.dims[2] >= 0 {
		index = r.index(where)
	}
	if d := r.dims[1-r.operand]; d >= 0 {
		other = r.cut(other, d, m.Shape(chunk)[r.dims[r.operand]], index)
	}
	parts := [2]ir.ValueID{other, other}
	parts[r.operand] = chunk
	if r.dims[2] >= 0 {
		return r.write(acc, r.product(parts, e), r.dims[2], index)
	}
	part := r.product(parts, SumType(e))
	if acc == 0 {
		return part
	}
	return r.op1(ir.OpAdd, m.Type(part), nil, acc, part)
}

// SumType is the type in which partial products are added up: floats narrower than f32 would lose digits that one
// product keeps.
func SumType(e dtype.Type) dtype.Type {
	if e.Kind() == dtype.Float && e.Bits() < 32 {
		return dtype.F32
	}
	return e
}

// finish gives the result its type back.
func (r *ring) finish(acc ir.ValueID) {
	if t := r.m.Type(r.m.Result(r.Product, 0)); r.m.Type(acc) != t {
		acc = r.op1(ir.OpConvert, t, nil, acc)
	}
	r.out.Result = acc
}

// reduceScatter sends partial sums round. Each device first computes its part of the chunk of the device whose chunk
// has the longest way to go, and its own chunk's part last. Chunks that walk one way go from each device to the one
// before it; first halves of those that walk both ways go the other way round.
func (r *ring) reduceScatter(w Way) {
	d := r.dims[2]
	if w == OneWay {
		r.out.Result = r.sums([]walk{{shift: -1}}, r.Extent)[0]
		return
	}
	half := r.Extent / 2
	sums := r.sums([]walk{{shift: 1}, {shift: -1, inside: half}}, half)
	dims := append([]int64(nil), r.m.Shape(sums[0])...)
	dims[d] = r.Extent
	r.out.Result = r.op1(ir.OpConcatenate, r.m.WithDims(r.m.Type(sums[0]), dims),
		ir.MakeAttrs(ir.Named("dimension", r.m.I64(int64(d)))), sums...)
}

// walk is a partial sum that goes round: by how many places a step, and where in the chunks it lies.
type walk struct{ shift, inside int64 }

// sums sends a partial sum round for each walk and returns them when every device has added its part. The sum of a walk is that of
// parts with the given extent along the dimension that is scattered.
func (r *ring) sums(walks []walk, extent int64) []ir.ValueID {
	sums := make([]ir.ValueID, len(walks))
	for t := range r.Steps {
		r.begin()
		from := len(r.out.Ops)
		if t > 0 {
			for i, x := range walks {
				sums[i] = r.permute(sums[i], x.shift)
			}
		}
		parts := lists.Map(walks, func(x walk) ir.ValueID { return r.part(at{ahead: -x.shift * (t + 1), inside: x.inside}, extent) })
		r.computed(from)
		for i, part := range parts {
			if t > 0 {
				part = r.op1(ir.OpAdd, r.m.Type(part), nil, sums[i], part)
			}
			sums[i] = part
		}
	}
	return sums
}

// part computes this device's summand of a part of the result.
func (r *ring) part(where at, extent int64) ir.ValueID {
	m := r.m
	index := r.index(where)
	var parts [2]ir.ValueID
	for side := range parts {
		parts[side] = m.Operand(r.Product, side)
		if d := r.dims[side]; d >= 0 {
			parts[side] = r.cut(parts[side], d, extent, index)
		}
	}
	return r.product(parts, m.ValueType(m.Result(r.Product, 0)).DType)
}

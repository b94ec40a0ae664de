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
	own, results := r.m.Operand(r.op, 0), r.accumulators()
	if w == OneWay {
		for t := range r.Steps {
			r.begin()
			from, next := len(r.out.Ops), own
			if t < r.Steps-1 {
				next = r.permute(own, -1)
			}
			r.take(results, own, at{ahead: t})
			r.computed(from)
			own = next
		}
		r.finish(results)
		return
	}
	d := r.forms[0].dims[r.forms[0].operand]
	halves := [2]ir.ValueID{r.half(own, d, 0), r.half(own, d, 1)}
	for t := range r.Steps {
		r.begin()
		from, next := len(r.out.Ops), halves
		if t < r.Steps-1 {
			next = [2]ir.ValueID{r.permute(halves[0], 1), r.permute(halves[1], -1)}
		}
		if t == 0 {
			r.take(results, own, at{})
		} else {
			r.take(results, halves[0], at{ahead: -t})
			r.take(results, halves[1], at{ahead: t, inside: r.Extent / 2})
		}
		r.computed(from)
		halves = next
	}
	r.finish(results)
}

// accumulators returns for each product what its parts are written into, 0 where they are added up.
func (r *ring) accumulators() []ir.ValueID {
	out := make([]ir.ValueID, len(r.forms))
	for i := range r.forms {
		if f := &r.forms[i]; f.dims[2] >= 0 {
			out[i] = r.zeros(f)
		}
	}
	return out
}

// take multiplies a chunk that lies somewhere along the gathered dimension with what belongs to it in each product, and writes the
// parts where they belong in the results, or adds them to the others.
func (r *ring) take(results []ir.ValueID, chunk ir.ValueID, where at) {
	m, index := r.m, r.index(where)
	for i := range r.forms {
		f := &r.forms[i]
		other, e := m.Operand(f.product, 1-f.operand), m.ValueType(m.Result(f.product, 0)).DType
		if d := f.dims[1-f.operand]; d >= 0 {
			other = r.cut(other, d, m.Shape(chunk)[f.dims[f.operand]], index)
		}
		parts := [2]ir.ValueID{other, other}
		parts[f.operand] = chunk
		if f.dims[2] >= 0 {
			results[i] = r.write(results[i], r.multiply(f, parts, e), f.dims[2], index)
			continue
		}
		part := r.multiply(f, parts, SumType(e))
		if results[i] != 0 {
			part = r.op1(ir.OpAdd, m.Type(part), nil, results[i], part)
		}
		results[i] = part
	}
}

// SumType is the type in which partial products are added up: floats narrower than f32 would lose digits that one
// product keeps.
func SumType(e dtype.Type) dtype.Type {
	if e.Kind() == dtype.Float && e.Bits() < 32 {
		return dtype.F32
	}
	return e
}

// finish gives the results their types back.
func (r *ring) finish(results []ir.ValueID) {
	for i, v := range results {
		if t := r.m.Type(r.m.Result(r.forms[i].product, 0)); r.m.Type(v) != t {
			results[i] = r.op1(ir.OpConvert, t, nil, v)
		}
	}
	r.out.Results = results
}

// reduceScatter sends partial sums round. Each device first computes its part of the chunk of the device whose chunk
// has the longest way to go, and its own chunk's part last. Chunks that walk one way go from each device to the one
// before it; first halves of those that walk both ways go the other way round.
func (r *ring) reduceScatter(w Way) {
	if w == OneWay {
		r.out.Results = r.sums([]walk{{shift: -1}}, r.Extent)
		return
	}
	d := r.forms[0].dims[2]
	half := r.Extent / 2
	sums := r.sums([]walk{{shift: 1}, {shift: -1, inside: half}}, half)
	dims := append([]int64(nil), r.m.Shape(sums[0])...)
	dims[d] = r.Extent
	r.out.Results = []ir.ValueID{r.op1(ir.OpConcatenate, r.m.WithDims(r.m.Type(sums[0]), dims),
		ir.MakeAttrs(ir.Named("dimension", r.m.I64(int64(d)))), sums...)}
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
	m, f := r.m, &r.forms[0]
	index := r.index(where)
	var parts [2]ir.ValueID
	for side := range parts {
		parts[side] = m.Operand(f.product, side)
		if d := f.dims[side]; d >= 0 {
			parts[side] = r.cut(parts[side], d, extent, index)
		}
	}
	return r.multiply(f, parts, m.ValueType(m.Result(f.product, 0)).DType)
}

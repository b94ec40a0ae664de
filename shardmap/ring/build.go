package ring

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
)

// writer adds rings to a program and knows what they share.
type writer struct {
	m      *ir.Module
	places *shardmap.Places
	rings  map[ir.OpID]bool // the ops of those that took the place of products
}

func newWriter(p *shardmap.Program) *writer {
	return &writer{m: p.Module, places: shardmap.NewPlaces(p), rings: map[ir.OpID]bool{}}
}

// Chunked is a ring as it was written, and what takes the place of the old results: of what is scattered, or of the products.
type Chunked struct {
	shardmap.Ring
	Results []ir.ValueID
}

// ring is one ring that is being written before the last of the products that it replaces.
type ring struct {
	*writer
	*Candidate
	b    *ir.Builder
	mine ir.ValueID           // this device's place along the axes
	ints map[int64]ir.ValueID // i32 scalars that were made
	from map[int64]ir.ValueID // where chunks begin, by how many places they are ahead
	out  Chunked
}

func (w *writer) ring(c *Candidate) *ring {
	return &ring{writer: w, Candidate: c, mine: w.places.Along(c.axes), b: w.m.BuilderBefore(c.last()),
		ints: map[int64]ir.ValueID{}, from: map[int64]ir.ValueID{}}
}

// op1 adds an op.
func (r *ring) op1(kind ir.Kind, t ir.TypeID, a ir.Attrs, operands ...ir.ValueID) ir.ValueID {
	v := r.b.Op1(kind, t, a, operands...)
	r.out.Ops = append(r.out.Ops, r.m.DefiningOp(v))
	return v
}

// begin starts a step.
func (r *ring) begin() { r.out.Steps = append(r.out.Steps, shardmap.RingStep{}) }

func (r *ring) step() *shardmap.RingStep { return &r.out.Steps[len(r.out.Steps)-1] }

// computed notes that the ops from a number on run while the permutes of this step send.
func (r *ring) computed(from int) {
	s := r.step()
	for _, op := range r.out.Ops[from:] {
		if r.m.Kind(op) != ir.OpShardMapPpermute {
			s.Compute = append(s.Compute, op)
		}
	}
}

// permute sends a value from every place j to place j+shift.
func (r *ring) permute(v ir.ValueID, shift int64) ir.ValueID {
	a := ir.MakeAttrs(ir.Named("axes", r.axes)).With("perm", shardmap.Perm(shifted(r.Steps, shift)))
	loc := r.b.Loc
	r.b.Loc = r.m.OpLoc(r.Candidate.op)
	out := r.op1(ir.OpShardMapPpermute, r.m.Type(v), a, v)
	r.b.Loc = loc
	s := r.step()
	s.Permutes = append(s.Permutes, r.m.DefiningOp(out))
	return out
}

// constant returns an i32 scalar.
func (r *ring) constant(x int64) ir.ValueID {
	if v, ok := r.ints[x]; ok {
		return v
	}
	v := r.b.Integer(dtype.I32, x)
	r.out.Ops = append(r.out.Ops, r.m.DefiningOp(v))
	r.ints[x] = v
	return v
}

// at says where something begins along the dimension of the ring: at the chunk so many places after this device's
// own, and so many elements into it.
type at struct{ ahead, inside int64 }

// index computes it, as an i32 scalar.
func (r *ring) index(p at) ir.ValueID {
	v := r.chunk((p.ahead%r.Steps + r.Steps) % r.Steps)
	if p.inside > 0 {
		v = r.op1(ir.OpAdd, r.m.Type(v), nil, v, r.constant(p.inside))
	}
	return v
}

// chunk returns where the chunk so many places ahead begins, less than once round.
func (r *ring) chunk(ahead int64) ir.ValueID {
	if v, ok := r.from[ahead]; ok {
		return v
	}
	v, t := r.mine, r.m.TensorType(dtype.I32)
	if ahead > 0 {
		v = r.op1(ir.OpAdd, t, nil, v, r.constant(ahead))
		v = r.op1(ir.OpRemainder, t, nil, v, r.constant(r.Steps))
	}
	if r.Extent != 1 {
		v = r.op1(ir.OpMultiply, t, nil, v, r.constant(r.Extent))
	}
	r.from[ahead] = v
	return v
}

// starts returns start indices that are zero but for dimension d.
func (r *ring) starts(rank, d int, index ir.ValueID) []ir.ValueID {
	out := slices.Repeat([]ir.ValueID{index}, rank)
	for i := range out {
		if i != d {
			out[i] = r.constant(0)
		}
	}
	return out
}

// cut takes a part of an operand along dimension d.
func (r *ring) cut(v ir.ValueID, d int, extent int64, index ir.ValueID) ir.ValueID {
	dims := slices.Clone(r.m.Shape(v))
	dims[d] = extent
	return r.op1(ir.OpDynamicSlice, r.m.WithDims(r.m.Type(v), dims), ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(dims))),
		append([]ir.ValueID{v}, r.starts(len(dims), d, index)...)...)
}

// half takes a half of a value along dimension d: the first, or the second.
func (r *ring) half(v ir.ValueID, d int, which int64) ir.ValueID {
	dims := slices.Clone(r.m.Shape(v))
	start, limit := make([]int64, len(dims)), slices.Clone(dims)
	dims[d] /= 2
	start[d], limit[d] = which*dims[d], (which+1)*dims[d]
	a := ir.MakeAttrs(ir.Named("start_indices", ir.Ints(start))).With("limit_indices", ir.Ints(limit)).With("strides",
		ir.Ints(slices.Repeat([]int64{1}, len(dims))))
	return r.op1(ir.OpSlice, r.m.WithDims(r.m.Type(v), dims), a, v)
}

// write puts a part into a result along dimension d.
func (r *ring) write(into, part ir.ValueID, d int, index ir.ValueID) ir.ValueID {
	return r.op1(ir.OpDynamicUpdateSlice, r.m.Type(into), nil, append([]ir.ValueID{into, part},
		r.starts(len(r.m.Shape(into)), d, index)...)...)
}

// multiply multiplies two parts of what a product multiplies. The result has the element type given.
func (r *ring) multiply(f *form, parts [2]ir.ValueID, e dtype.Type) ir.ValueID {
	m := r.m
	whole := m.Result(f.product, 0)
	dims := slices.Clone(m.Shape(whole))
	for side, v := range parts {
		if d := f.dims[2]; d >= 0 && f.dims[side] >= 0 {
			dims[d] = m.Shape(v)[f.dims[side]]
		}
	}
	return r.op1(ir.OpDotGeneral, m.TensorType(e, dims...), m.OpAttrs(f.product), parts[0], parts[1])
}

// zeros adds a tensor of a product's type with zeros.
func (r *ring) zeros(f *form) ir.ValueID {
	zeros := r.m.Zeros(r.m.Type(r.m.Result(f.product, 0)))
	return r.op1(ir.OpConstant, zeros.Type, ir.MakeAttrs(ir.Named("value", zeros)))
}

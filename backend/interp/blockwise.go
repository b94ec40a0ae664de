package interp

import (
	"slices"
	"unsafe"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/ir"
)

// widened has a kernel work on widened operands.
func widened(run kernel, ws []widening) kernel {
	return func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		var own [4]tensor.Tensor // that no slot holds
		spare := own[:0]
		for k := range ws {
			if ws[k].sources == nil {
				continue
			}
			wide := ws[k].of(in[k])
			if f.owns(i, k) {
				f.replace(i.in[k], wide)
			} else {
				spare = append(spare, wide)
			}
			in[k] = wide
		}
		out, err := run(f, i, in)
		for _, t := range spare {
			if !slices.ContainsFunc(out, func(o tensor.Tensor) bool { return memory.Within(o.Data, t.Data) }) {
				memory.Give(t.Data)
			}
		}
		return out, err
	}
}

// replace puts the widened form of a value in the slot that alone holds it: to its process it is the same value.
func (f *frame) replace(slot int32, wide tensor.Tensor) {
	v := &f.slots[slot]
	v.t = wide
	v.buf.hold(wide.Data)
}

// hold has a buffer that only one slot holds own other data.
func (b *buffer) hold(data []byte) {
	memory.Give(b.owned)
	b.owned = data
}

// conform widens the values that were taken last.
func (f *frame) conform(ws []widening) {
	p := f.p
	base := len(p.taken) - len(ws)
	for k := range ws {
		if ws[k].sources == nil {
			continue
		}
		v := &p.taken[base+k]
		v.t = ws[k].of(v.t)
		switch b := v.buf; {
		case b == foreign || b.refs == 1 && b.fixed:
		case b.refs == 1:
			b.hold(v.t.Data)
		default:
			b.refs--
			v.buf = p.newBuffer(v.t.Data, b.bytes, true)
		}
	}
}

// agreed says whether all processes have the same in a slot that decides where they go.
func (f *frame) agreed(slot int32) bool {
	if f.fn == nil || f.fn.blocks == nil {
		return true
	}
	data := f.slots[slot].t.Data
	size := len(data) / int(f.fn.blocks[slot])
	for block := data[size:]; len(block) > 0; block = block[size:] {
		if string(block[:size]) != string(data[:size]) {
			return false
		}
	}
	return true
}

// blocks are how an op is run block by block.
type blocks struct {
	sources [][]int32 // by operand: the block that each block of the result is made of
	of      []int64   // by operand: blocks that there are
	count   int64     // of each result
	results int
}

// blockwise returns a kernel that runs that of an instruction for each block. What the op may overwrite is widened first.
func (c *compiler) blockwise(op ir.OpID, i *instr, s Spread) kernel {
	b := &blocks{count: s.Blocks(), results: c.m.NumResults(op)}
	ws, some := make([]widening, c.m.NumOperands(op)), false
	for k, v := range c.m.Operands(op) {
		from, shape := c.joint.spreads[v], c.lies(v)
		if !from.equal(s) {
			if overwrites(c.m, op, k) {
				ws[k], some = widen(from, s, shape, shape), true
				from = s
			} else {
				i.reuse[k] = false
			}
		}
		b.sources, b.of = append(b.sources, from.sources(s)), append(b.of, from.Blocks())
	}
	kernel := b.each(i.kernel)
	if some {
		return widened(kernel, ws)
	}
	return kernel
}

// overwrites says whether an op may put its result in the place of an operand.
func overwrites(m *ir.Module, op ir.OpID, k int) bool {
	switch m.Kind(op) {
	case ir.OpScatter:
		return k < m.NumResults(op)
	case ir.OpDynamicUpdateSlice:
		return k == 0
	}
	return false
}

// each returns the kernel of all blocks of that of one.
func (b *blocks) each(run kernel) kernel {
	return func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		whole := slices.Clone(in) // operands of regions may move the stack that they lie on
		one, results := make([]tensor.Tensor, len(in)), make([]tensor.Tensor, b.results)
		for block := range b.count {
			for k, t := range whole {
				if b.of[k] > 1 {
					t.Shape = t.Shape[1:]
				}
				one[k] = blockOf(t.Data, t, b.of[k], b.sources[k][block])
			}
			out, err := run(f, i, one)
			if err != nil {
				return nil, err
			}
			for k := range results {
				b.put(f, i, &results[k], out[k], block, whole)
			}
		}
		return results, nil
	}
}

// put puts one block of a result in its place. That is where it is already if the op has overwritten an operand.
func (b *blocks) put(f *frame, i *instr, result *tensor.Tensor, t tensor.Tensor, block int64, operands []tensor.Tensor) {
	size := int64(len(t.Data))
	if block == 0 {
		*result = tensor.Tensor{DType: t.DType, Shape: slices.Concat([]int64{b.count}, t.Shape)}
		for k, o := range operands {
			if unsafe.SliceData(o.Data) == unsafe.SliceData(t.Data) && f.owns(i, k) && int64(len(o.Data)) == size*b.count {
				result.Data = o.Data
			}
		}
		if result.Data == nil {
			result.Data = memory.Take(size * b.count)
		}
	}
	place := result.Data[block*size:][:size]
	if unsafe.SliceData(place) == unsafe.SliceData(t.Data) {
		return
	}
	copy(place, t.Data)
	if !slices.ContainsFunc(operands, func(o tensor.Tensor) bool { return memory.Within(t.Data, o.Data) }) {
		memory.Give(t.Data)
	}
}

package interp

import (
	"unsafe"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
)

// buffer counts the slots that hold the same data. A fixed one belongs to the caller, to the program or to a kernel
// and is never written to. What a kernel has made belongs to the process, which gives it back when the last slot is emptied, but for what
// others may still read: values that an observer has seen, and those of regions, which the kernel holds that runs them.
type buffer struct {
	refs     int32
	fixed    bool
	bytes    int64
	owned    []byte // to give back; nil where it does not belong to the process
	fleeting bool   // it does not count: nothing would be held if readers computed what they read
	depth    int    // how many kernels waited for regions when it was made
}

// foreign is the buffer of constants and of what kernels hand to a region: not counted, never written to.
var foreign = &buffer{fixed: true}

// value is the content of a slot; an empty slot has no buffer.
type value struct {
	t   tensor.Tensor
	buf *buffer
}

// newBuffer returns the buffer of data that one slot holds. The process owns it if a kernel has made it for this slot alone.
// So many bytes count: those of one block.
func (p *process) newBuffer(data []byte, bytes int64, made bool) *buffer {
	p.count(bytes)
	var b *buffer
	if n := len(p.spare); n > 0 {
		b, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		b = new(buffer)
	}
	*b = buffer{refs: 1, bytes: bytes, depth: p.regions}
	if made && len(data) > 0 && p.observe == nil && p.regions == 0 { // of what is empty nobody knows who shares it
		b.owned = data
	}
	return b
}

// newFleeting returns the buffer of data that does not count.
func (p *process) newFleeting(data []byte) *buffer {
	b := p.newBuffer(data, 0, true)
	b.fleeting = true
	return b
}

// release ends the life of a buffer that no slot holds any more.
func (p *process) release(b *buffer) {
	p.live -= b.bytes
	if !b.fixed {
		memory.Give(b.owned)
	}
	b.owned = nil
	p.spare = append(p.spare, b)
}

func (p *process) count(bytes int64) {
	p.live += bytes
	p.peak = max(p.peak, p.live)
}

// owns says whether operand k of an instruction may be overwritten: the instruction is the last to see its data.
func (f *frame) owns(i *instr, k int) bool {
	buf := f.slots[i.in[k]].buf
	return i.reuse[k] && buf.refs == 1 && !buf.fixed
}

// spends says whether the operand, which is that of the slot, may be overwritten by a result of its type that takes its place.
func (f *frame) spends(i *instr, k int, operand tensor.Tensor) bool {
	return f.p.observe == nil && f.owns(i, k) && unsafe.SliceData(operand.Data) == unsafe.SliceData(f.slots[i.in[k]].t.Data)
}

// holds says whether operand k of an instruction counts as memory that is held.
func (f *frame) holds(i *instr, k int) bool { return !f.p.tiling && !f.slots[i.in[k]].buf.fleeting }

// adopt makes a value of result k of a kernel, which may share the data of an operand or of a result before it.
func (f *frame) adopt(t tensor.Tensor, i *instr, k int) value {
	fleeting := f.p.tiling || i.fleeting
	if v := f.sharer(t.Data, i.in); v != nil {
		if v.buf.fleeting && !fleeting {
			v.buf.fleeting, v.buf.bytes = false, f.bytesOf(t, i, k)
			f.p.count(v.buf.bytes)
		}
		return value{t, v.share()}
	}
	if v := f.sharer(t.Data, i.out[:k]); v != nil {
		return value{t, v.share()}
	}
	if fleeting {
		return value{t, f.p.newFleeting(t.Data)}
	}
	return value{t, f.p.newBuffer(t.Data, f.bytesOf(t, i, k), true)}
}

// bytesOf returns how many bytes of result k of an instruction count: those of one block.
func (f *frame) bytesOf(t tensor.Tensor, i *instr, k int) int64 {
	bytes := int64(len(t.Data))
	if f.p.regions > 0 && len(t.Shape) > 0 {
		bytes /= f.p.atOnce
	}
	if f.fn != nil && f.fn.blocks != nil {
		bytes /= f.fn.blocks[i.out[k]]
	}
	return bytes
}

// sharer returns the first of some slots whose data has that inside, nil for none.
func (f *frame) sharer(data []byte, slots []int32) *value {
	for _, s := range slots {
		if v := &f.slots[s]; v.buf != nil && memory.Within(data, v.t.Data) {
			return v
		}
	}
	return nil
}

// share returns the value's buffer for one more slot.
func (v *value) share() *buffer {
	if v.buf != foreign {
		v.buf.refs++
	}
	return v.buf
}

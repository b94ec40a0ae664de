package interp

import (
	"context"
	"errors"
	"slices"
	"unsafe"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// buffer counts the slots that hold the same data. A fixed one belongs to the caller, to the program or to a kernel
// and is never written to. What a kernel has made belongs to the process, which gives it back when the last slot is emptied, but for what
// others may still read: values that an observer has seen, and those of regions, which the kernel holds that runs them.
type buffer struct {
	refs  int32
	fixed bool
	bytes int64
	owned []byte // to give back; nil where it does not belong to the process
	depth int    // how many kernels waited for regions when it was made
}

// foreign is the buffer of constants and of what kernels hand to a region: not counted, never written to.
var foreign = &buffer{fixed: true}

// value is the content of a slot; an empty slot has no buffer.
type value struct {
	t   tensor.Tensor
	buf *buffer
}

// process is the state of one run.
type process struct {
	locator
	in         *Interpreter
	ctx        context.Context
	done       <-chan struct{}
	id         int
	peers      Peers
	company    Company // of processes that run together
	observe    func(*Step) error
	meter      Meter
	live, peak int64
	checks     int
	single     [1]tensor.Tensor // result of the kernel that ran last
	probes     map[string][]tensor.Tensor
	atOnce     int64 // blocks that a region works on
	regions    int   // how many kernels wait for regions that they run, and hold what these return
	*scratch
}

// scratch is memory that a process needs again and again. The next run of the interpreter takes it over.
type scratch struct {
	operands []tensor.Tensor        // stack of operands of the instructions at hand
	taken    []value                // stack of values on their way between slots
	spare    []*buffer              // that count nothing any more
	frames   map[*function][]*frame // of calls that have ended
}

func newScratch() *scratch { return &scratch{frames: map[*function][]*frame{}} }

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

// release ends the life of a buffer that no slot holds any more.
func (p *process) release(b *buffer) {
	p.live -= b.bytes
	if !b.fixed {
		memory.Give(b.owned)
	}
	b.owned = nil
	p.spare = append(p.spare, b)
}

// only lists the one result of a kernel.
func (p *process) only(t tensor.Tensor) []tensor.Tensor {
	p.single[0] = t
	return p.single[:]
}

// frame holds the values of one call of a function.
type frame struct {
	p     *process
	fn    *function
	slots []value
}

// kernel computes the results of an op from its operands.
type kernel func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error)

// instr is a compiled op.
type instr struct {
	in, out []int32
	dead    []int32 // slots to empty afterwards
	reuse   []bool  // per operand: its slot is emptied afterwards and no other operand is in it
	bytes   int64   // of results that the kernel allocates, 0 where unknown
	site    site
	op      ir.OpID // 0 for ops that are not shown to an observer
	metered ir.OpID // 0 for ops that are part of another one to a meter
	monoid  tensor.Monoid
	kernel  kernel
	control func(f *frame, i *instr) error // instead of a kernel, for ops that work on slots
}

// block is a compiled block: arguments are in their slots when it starts; what it returns is in its slots when it
// ends.
type block struct {
	args    []int32
	unused  []int32 // arguments to empty at the start
	code    []instr
	returns []int32
	dead    []int32 // slots to empty after the returned values are taken
}

// function is a compiled function.
type function struct {
	params []paramType
	values []ir.ValueID // by slot
	body   *block

	// Of processes that run together:
	blocks    []int64   // by slot: that lie in it; nil for one process by itself
	argBlocks []int64   // of the arguments
	argShapes [][]int64 // in their slots
	returns   []Spread
}

// layOut notes how many blocks lie in each slot.
func (f *function) layOut(together *joint) {
	f.blocks = make([]int64, len(f.values))
	for slot, v := range f.values {
		f.blocks[slot] = together.spreads[v].Blocks()
	}
}

// stopped returns the context's error once it has ended.
func (p *process) stopped() error {
	select {
	case <-p.done:
		return p.ctx.Err()
	default:
		return nil
	}
}

func (p *process) count(bytes int64) {
	p.live += bytes
	p.peak = max(p.peak, p.live)
}

func (f *frame) drop(slot int32) {
	v := &f.slots[slot]
	if v.buf != nil && v.buf != foreign {
		if v.buf.refs--; v.buf.refs == 0 {
			f.p.release(v.buf)
		}
	}
	*v = value{}
}

func (f *frame) dropAll(slots []int32) {
	for _, s := range slots {
		f.drop(s)
	}
}

// put fills a slot; it takes over the reference that the value comes with.
func (f *frame) put(slot int32, v value) {
	if f.slots[slot].buf != nil {
		f.drop(slot)
	}
	f.slots[slot] = v
}

// take puts the values of slots on the stack, with references of their own. What takes them off is putAll, in the opposite order.
func (f *frame) take(slots []int32) {
	for _, s := range slots {
		v := &f.slots[s]
		v.share()
		f.p.taken = append(f.p.taken, *v)
	}
}

// putAll fills slots with the values that were taken last.
func (f *frame) putAll(slots []int32) {
	p := f.p
	base := len(p.taken) - len(slots)
	for k, s := range slots {
		f.put(s, p.taken[base+k])
	}
	clear(p.taken[base:])
	p.taken = p.taken[:base]
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

// call runs a function on the values that were taken last, and takes its results.
func (p *process) call(fn *function) error {
	f := p.frame(fn)
	f.putAll(fn.body.args)
	err := f.run(fn.body)
	if err == nil {
		p.frames[fn] = append(p.frames[fn], f)
	}
	return err
}

// frame returns an empty frame for a call, that of an earlier one if there is any.
func (p *process) frame(fn *function) *frame {
	list := p.frames[fn]
	if len(list) == 0 {
		return &frame{p: p, fn: fn, slots: make([]value, len(fn.values))}
	}
	f := list[len(list)-1]
	p.frames[fn] = list[:len(list)-1]
	f.p = p
	return f
}

// run executes a block and takes its values.
func (f *frame) run(b *block) error {
	if err := f.runCode(b); err != nil {
		return err
	}
	f.take(b.returns)
	f.dropAll(b.dead)
	return nil
}

func (f *frame) runCode(b *block) error {
	f.dropAll(b.unused)
	for k := range b.code {
		i := &b.code[k]
		metered := f.p.meter != nil && i.metered != 0
		if metered {
			f.p.meter.Begin(i.metered)
		}
		err := f.p.stopped()
		switch {
		case err != nil:
		case i.control != nil:
			err = i.control(f, i)
		default:
			err = f.step(i)
		}
		if err != nil {
			return f.p.locate(err, &i.site)
		}
		f.dropAll(i.dead)
		if metered {
			f.p.meter.End(i.metered, f.p.live)
		}
	}
	return nil
}

// step runs a kernel.
func (f *frame) step(i *instr) error {
	p := f.p
	if p.live+i.bytes > p.in.opts.MaxBytes {
		return f.tooLarge(i.bytes)
	}
	base := len(p.operands)
	for _, s := range i.in {
		p.operands = append(p.operands, f.slots[s].t)
	}
	in := p.operands[base:]
	out, err := i.kernel(f, i, in)
	shown := p.observe != nil && i.op != 0
	if err == nil && shown {
		s := &Step{Op: i.op, Operands: slices.Clone(in), Results: slices.Clone(out), Monoid: i.monoid, frame: f, instr: i}
		err = p.observe(s)
		out = s.Results
	}
	if err == nil {
		for k, s := range i.out {
			v := f.adopt(out[k], i, k)
			if shown && v.buf != foreign {
				v.buf.fixed = true // the observer may keep it
			}
			f.put(s, v)
		}
		if p.live > p.in.opts.MaxBytes {
			err = f.tooLarge(0)
		}
	}
	p.operands = p.operands[:base] // what is beyond is soon written over, and cleared when the run ends
	return err
}

// adopt makes a value of result k of a kernel, which may share the data of an operand or of a result before it.
func (f *frame) adopt(t tensor.Tensor, i *instr, k int) value {
	if v := f.sharer(t.Data, i.in); v != nil {
		return value{t, v.share()}
	}
	if v := f.sharer(t.Data, i.out[:k]); v != nil {
		return value{t, v.share()}
	}
	bytes := int64(len(t.Data))
	if f.p.regions > 0 && len(t.Shape) > 0 {
		bytes /= f.p.atOnce
	}
	if f.fn != nil && f.fn.blocks != nil {
		bytes /= f.fn.blocks[i.out[k]]
	}
	return value{t, f.p.newBuffer(t.Data, bytes, true)}
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

// region returns a block as a callback for kernels.
func (f *frame) region(b *block) tensor.Body {
	return func(args []tensor.Tensor) ([]tensor.Tensor, error) {
		for k, s := range b.args {
			f.put(s, value{args[k], foreign})
		}
		f.p.regions++ // the kernel holds what the region returns, for as long as it likes
		defer func() { f.p.regions-- }()
		if err := f.runCode(b); err != nil {
			return nil, err
		}
		out := lists.Map(b.returns, func(s int32) tensor.Tensor { return f.returned(&f.slots[s], args) })
		f.dropAll(b.dead)
		return out, nil
	}
}

// returned is what a region gives to its kernel, which may make it a result that the process then owns: a copy where it is a constant or
// belongs to values around the region.
func (f *frame) returned(v *value, args []tensor.Tensor) tensor.Tensor {
	if v.buf != foreign && v.buf.depth == f.p.regions {
		return v.t
	}
	for _, a := range args {
		if memory.Within(v.t.Data, a.Data) {
			return v.t
		}
	}
	return v.t.Clone()
}

// site says where an op stands, for errors.
type site struct {
	name string
	pos  diag.Position
	read bool // pos is a place in the text that the module was read from
}

// locator gives an error the place of the innermost op around it, once. Lines of the source are looked up here and not
// for every site: finding one line reads all lines before it.
type locator struct {
	m    *ir.Module
	done bool
}

func (l *locator) locate(err error, s *site) error {
	var d *diag.Error
	if l.done || !errors.As(err, &d) || len(d.Diagnostics) == 0 {
		return err
	}
	l.done = true
	located := &diag.Error{Class: d.Class, Diagnostics: slices.Clone(d.Diagnostics)}
	first := &located.Diagnostics[0]
	if !first.Pos.IsKnown() {
		first.Pos = s.pos
		if s.read {
			first.Source = l.m.SourceLine(s.pos.Line)
		}
		first.Message = s.name + ": " + first.Message
	}
	return located
}

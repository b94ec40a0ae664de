package interp

import (
	"context"
	"errors"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

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
	tiling     bool  // a group of ops works on a tile, in memory that does not count
	tile       tile
	regions    int // how many kernels wait for regions that they run, and hold what these return
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
	in, out  []int32
	dead     []int32 // slots to empty afterwards
	reuse    []bool  // per operand: its slot is emptied afterwards and no other operand is in it
	bytes    int64   // of results that the kernel allocates, 0 where unknown
	site     site
	op       ir.OpID // 0 for ops that are not shown to an observer
	metered  ir.OpID // 0 for ops that are part of another one to a meter
	monoid   tensor.Monoid
	fleeting bool // what it makes does not count, since whoever reads it would compute it
	kernel   kernel
	control  func(f *frame, i *instr) error // instead of a kernel, for ops that work on slots
}

// reuses finds out which operands an instruction is the last to see.
func (i *instr) reuses() {
	i.reuse = make([]bool, len(i.in))
	for k, s := range i.in {
		i.reuse[k] = slices.Contains(i.dead, s) && slices.Index(i.in, s) == k && !slices.Contains(i.in[k+1:], s)
	}
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

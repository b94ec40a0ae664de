// Package interp executes functions of a module on concrete tensors, for one process.
//
// A function is compiled once into a flat list of instructions whose operands are slots of a frame; loops, branches
// and the regions of reductions become lists of their own that work on the same frame, so that running an op looks
// nothing up. A value is released after its last use, and an update of a value that nobody else holds happens in
// place, which makes a scan over n steps linear; so do elementwise ops on two operands, unless somebody observes.
// Nor are values held that a compiler would compute where they are read: such ops run with the op that reads them, tile by
// tile where values are large ([fusion.Values]).
//
//	in, err := interp.New(m, interp.Options{})
//	results, err := in.Run(ctx, main, []*tensor.Tensor{x})
//
// Shardings change nothing here: a program of global tensors runs as if it had none. The program of one device of
// many runs by RunProcess; its collectives are left to a [Peers], which package mesh implements. RunTogether runs it for all devices at
// once: the blocks that they have of a value lie one behind the other in a slot, and an op computes all of them, by an instruction with one
// dimension more, or block by block. How a value is spread over the devices is found by the compiler.
// Specification: stablehlo.md sections 2 to 4.
package interp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/names"
)

// DefaultMaxBytes is the limit of live bytes where Options names none: 16 GiB.
const DefaultMaxBytes = 16 << 30

// Options says how to run a module.
type Options struct {
	Replicas   int   // of the grid of processes that collectives speak of; 0 means 1
	Partitions int   // of each replica; 0 means 1
	MaxBytes   int64 // bound on the live bytes of one process, constants of the program apart; 0 means DefaultMaxBytes

	// WholeWindows makes a scatter skip an update window that lies partly outside the operand as a whole, as XLA
	// does, rather than element by element.
	WholeWindows bool

	// Manual runs the manual computations of a program of whole tensors, which one device cannot; nil: they are refused.
	Manual Manual
}

// Manual runs a manual computation on whole operands and returns its whole results.
type Manual func(ctx context.Context, op ir.OpID, operands []tensor.Tensor) ([]tensor.Tensor, error)

// Interpreter runs the functions of one module, which must not change meanwhile. It may be used by several
// goroutines at once.
type Interpreter struct {
	m     *ir.Module
	opts  Options
	mutex sync.Mutex
	funcs map[unit]*function
	forms []form // of functions for processes that run together

	shared int // collectives of the forms

	scratch sync.Pool // of processes that have ended
}

// New returns an interpreter of a module. It returns a diag.ErrInvalid for options that make no sense. Functions are
// checked and compiled when they are first run.
func New(m *ir.Module, opts Options) (*Interpreter, error) {
	if opts.Replicas < 0 || opts.Partitions < 0 || opts.MaxBytes < 0 {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "replicas, partitions and the limit of bytes must not be negative")
	}
	opts.Replicas, opts.Partitions = max(opts.Replicas, 1), max(opts.Partitions, 1)
	opts.MaxBytes = cmp.Or(opts.MaxBytes, DefaultMaxBytes)
	in := &Interpreter{m: m, opts: opts, funcs: map[unit]*function{}}
	in.scratch.New = func() any { return newScratch() }
	return in, nil
}

// Processes returns the number of processes of the grid.
func (in *Interpreter) Processes() int { return in.opts.Replicas * in.opts.Partitions }

// Process is one member of the grid. Its ID is replica·partitions + partition.
type Process struct {
	ID      int
	Peers   Peers
	Observe func(*Step) error // sees every op that computes; nil: nobody looks
	Meter   Meter             // is told when ops begin and end; nil: nobody measures
}

// Meter measures a run. Ops inside of loops, branches and functions that are called begin and end between the beginning and the end of
// those around them; those inside the regions of reductions are part of them. An op that fails does not end.
type Meter interface {
	Begin(op ir.OpID)
	End(op ir.OpID, live int64) // live are the bytes of values that the process holds then
}

// Step is an op that a process has executed, for a function that looks on. Ops that only decide which others run, ops
// inside the regions of reductions, and updates in place are not shown. Tensors must not be written to.
type Step struct {
	Op       ir.OpID
	Operands []tensor.Tensor // where every use allows it, a scalar in the place of a value that repeats one element
	Results  []tensor.Tensor // may be replaced by others of the same types, with which the run goes on
	Monoid   tensor.Monoid   // what the region of a reduction does, where it is known

	frame *frame
	instr *instr
}

// Again executes the op on other operands of the same types.
func (s *Step) Again(operands []tensor.Tensor) ([]tensor.Tensor, error) {
	out, err := s.instr.kernel(s.frame, s.instr, operands)
	return slices.Clone(out), err
}

// Peers connects a process with the others. A nil one stands for a process without company.
type Peers interface {
	// Communicate takes part in a collective and returns its results. Body is the reducer of reductions.
	Communicate(ctx context.Context, c *Collective, operands []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor, error)
	// RunParallel runs a grid of other processes (interpreter.run_parallel) and returns their results in order.
	RunParallel(ctx context.Context, p *Parallel, operands []tensor.Tensor) ([]tensor.Tensor, error)
}

// Stats is what a run says about itself.
type Stats struct {
	// PeakBytes are the most bytes of values live at once: intermediate and final ones, and arguments, all the time unless they are donated;
	// no constants.
	PeakBytes int64
	Checks    int // check ops that were executed, of which only the last can have failed
}

// Run executes a function as a process without company. Arguments and results are tensors of the function's types,
// with the elements of tuples one by one and no tokens; arguments are not changed, and results may share their data,
// that of each other and that of constants of the program.
//
// It returns a diag.ErrInvalid for arguments or programs that do not fit, diag.ErrUnsupported for ops without a
// meaning here, diag.ErrTooLarge beyond the limit of bytes, diag.ErrFinding for a check op that failed, and the
// context's error where that ends first.
func (in *Interpreter) Run(ctx context.Context, fn ir.FuncID, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	results, _, err := in.RunProcess(ctx, fn, Process{}, args)
	return results, err
}

// RunProcess is Run for a process of a grid, with statistics.
func (in *Interpreter) RunProcess(ctx context.Context, fn ir.FuncID, proc Process, args []*tensor.Tensor) ([]*tensor.Tensor, Stats, error) {
	f, err := in.compile(unit{fn, proc.Observe == nil})
	if err != nil {
		return nil, Stats{}, err
	}
	if err := in.checkArgs(fn, f, args); err != nil {
		return nil, Stats{}, err
	}
	p := in.process(ctx)
	p.id, p.peers, p.observe, p.meter = proc.ID, proc.Peers, proc.Observe, proc.Meter
	if p.peers == nil {
		p.peers = solo{}
	}
	for k, a := range args {
		p.lend(*a, int64(len(a.Data)), f.params[k].given)
	}
	if err := p.call(f); err != nil {
		return nil, p.stats(), err // what it was doing is still in the scratch, which goes with it
	}
	outs := make([]tensor.Tensor, len(p.taken))
	for i := range outs {
		outs[i] = p.taken[i].t
	}
	p.end()
	return lists.Of(len(outs), func(i int) *tensor.Tensor { return &outs[i] }), p.stats(), nil
}

// process returns a new process with the scratch of one that has ended.
func (in *Interpreter) process(ctx context.Context) *process {
	return &process{locator: locator{m: in.m}, in: in, ctx: ctx, done: ctx.Done(), atOnce: 1, scratch: in.scratch.Get().(*scratch)}
}

// lend takes an argument. So many bytes count, until its last use if the caller has given it away, and otherwise to the end of the run.
func (p *process) lend(t tensor.Tensor, bytes int64, given bool) {
	b := p.newBuffer(t.Data, bytes, false)
	b.fixed = true
	if !given {
		b.refs++
	}
	p.taken = append(p.taken, value{t, b})
}

// end hands on the scratch of a process whose results were taken.
func (p *process) end() {
	for _, v := range p.taken {
		if v.buf == foreign {
			continue
		}
		if v.buf.refs--; v.buf.refs == 0 {
			v.buf.owned = nil // who has the result has its data
			p.spare = append(p.spare, v.buf)
		}
	}
	clear(p.taken)
	clear(p.operands[:cap(p.operands)])
	p.taken = p.taken[:0]
	p.in.scratch.Put(p.scratch)
}

func (p *process) stats() Stats { return Stats{PeakBytes: p.peak, Checks: p.checks} }

// NumArgs returns how many tensors a function takes: the elements of tuples count, tokens do not.
func (in *Interpreter) NumArgs(fn ir.FuncID) (int, error) {
	f, err := in.compile(unit{fn, true})
	if err != nil {
		return 0, err
	}
	return len(f.params), nil
}

func (in *Interpreter) checkArgs(fn ir.FuncID, f *function, args []*tensor.Tensor) error {
	name := in.m.Func(fn).Name
	if len(args) != len(f.params) {
		return diag.Invalid(diag.BadInputs, diag.Position{}, "function @%s takes %d arguments, %d are given", name, len(f.params), len(args))
	}
	for i, a := range args {
		want := f.params[i]
		if a == nil {
			return diag.Invalid(diag.BadInputs, diag.Position{}, "%s of @%s is missing", in.argument(fn, f, i), name)
		}
		fits := a.DType == want.DType && len(a.Shape) == len(want.Dims)
		for d := 0; fits && d < len(a.Shape); d++ {
			fits = a.Shape[d] == want.Dims[d] || want.Dims[d] == ir.Dynamic
		}
		if !fits {
			return diag.Invalid(diag.BadInputs, diag.Position{}, "%s of @%s is %s, the function takes %s",
				in.argument(fn, f, i), name, dtype.Format(a.DType, a.Shape), dtype.Format(want.DType, want.Dims))
		}
		if _, bytes, err := dtype.Size(a.DType, a.Shape); err != nil || bytes != int64(len(a.Data)) {
			return diag.Invalid(diag.BadInputs, diag.Position{}, "%s of @%s has %d bytes of data, its type %d", in.argument(fn, f, i), name,
				len(a.Data), bytes)
		}
	}
	return nil
}

// argument names an argument of a function in a sentence. Elements of tuples and what follows them have no names.
func (in *Interpreter) argument(fn ir.FuncID, f *function, i int) string {
	args := names.Args(in.m, fn)
	if len(args.Names) != len(f.params) {
		return fmt.Sprintf("argument %d", i)
	}
	return args.Describe(i)
}

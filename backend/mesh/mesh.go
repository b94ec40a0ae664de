// Package mesh runs the program of one device on all devices of a mesh, in one process.
//
// Devices run in lockstep: one step of the interpreter computes an op for all of them, a collective is a function on their blocks, and what
// several devices have is computed once. Where somebody looks at devices or measures them, where they go different ways, and where one
// fails, every device is a goroutine with an interpreter state and buffers of its own. A collective is messages between the devices'
// mailboxes then, each member to each other one, and the bytes of every message are counted where it is sent. Both give the same bits, and
// the same counts. These are as many as those of the rings that real links make, without a wait at each of n-1 steps:
//
//	all_gather      the block goes to all others                        n(n-1)·b of the operand's b bytes
//	reduce_scatter  part k goes to member k, which folds                (n-1)·b
//	all_reduce      reduce_scatter of n chunks, then all_gather         2(n-1)·b
//	all_to_all      part k goes to member k                             (n-1)·b
//	permute         each pair of different devices                      b
//
// What a device sends to several others lies in memory that they share, which is not written to and which the last reader gives back.
// (bytes per group of n devices; cost.md section 2.2). A reduction folds in the order of the group and rounds once,
// so every member gets the same bits on any number of cores.
//
//	machine, err := mesh.New(m, main, 8, mesh.Options{})
//	results, traffic, err := machine.Run(ctx, args) // again and again
//
// Messages never block the sender, so that devices which disagree about the collectives end in a state where all
// wait or have finished; that state is found without clocks and is an error that names them.
package mesh

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// Options says how to run a program on many devices.
type Options struct {
	MaxBytes     int64 // bound on the live bytes of all devices together; 0 means interp.DefaultMaxBytes for each
	WholeWindows bool  // see interp.Options

	// Observe, if any, sees the ops that each device executes; devices call it at the same time.
	Observe func(device int, s *interp.Step) error

	// Meter, if any, returns what measures a device. Programs that a device runs on a grid of its own are part of that op.
	Meter func(device int) Meter
}

// Meter measures a device, which alone calls it.
type Meter interface {
	interp.Meter
	Wait(from int) // it waits for what a device sends, -1 for any
	Resume()       // it has that
}

// Traffic is what the collectives of a run moved.
type Traffic struct {
	Collectives []CollectiveTraffic // in the order of op ids
	Sent        []int64             // bytes that each device sent
	PeakBytes   []int64             // most bytes of values that each device held at once
	Checks      int                 // check ops that devices executed, in grids that these ran too
}

// CollectiveTraffic is the share of one op.
type CollectiveTraffic struct {
	Op         ir.OpID
	Kind       ir.Kind
	Executions int64 // by each device that takes part
	Group      int   // devices of the largest group; 0 for a permute
	Bytes      int64 // sent by all devices in all executions
}

// Bytes returns what all devices sent in all executions of an op.
func (t *Traffic) Bytes(op ir.OpID) int64 {
	for i := range t.Collectives {
		if t.Collectives[i].Op == op {
			return t.Collectives[i].Bytes
		}
	}
	return 0
}

// Run is New and Machine.Run, for programs that run once.
func Run(ctx context.Context, m *ir.Module, fn ir.FuncID, devices int, args [][]*tensor.Tensor, opts Options) ([][]*tensor.Tensor, Traffic,
	error) {
	machine, err := New(m, fn, devices, opts)
	if err != nil {
		return nil, Traffic{}, err
	}
	return machine.Run(ctx, args)
}

// Machine is a number of devices with a program for one of them, which is compiled once and may run many times, also at the same time.
type Machine struct {
	m       *ir.Module
	in      *interp.Interpreter
	fn      ir.FuncID
	devices int
	opts    Options

	lockstep *lockstep // nil for devices that have to be goroutines
}

// New returns a machine that runs function fn of m, a program for one device, on the given number of devices: device d is partition d of
// the only replica. It fails with a diag.ErrInvalid for options that make no sense. The module must not change as long as the machine is
// used.
func New(m *ir.Module, fn ir.FuncID, devices int, opts Options) (*Machine, error) {
	if devices < 1 {
		return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "a mesh of %d devices runs nothing", devices)
	}
	in, err := interp.New(m, interp.Options{Partitions: devices, MaxBytes: opts.MaxBytes / int64(devices), WholeWindows: opts.WholeWindows})
	machine := &Machine{m: m, in: in, fn: fn, devices: devices, opts: opts}
	if devices > 1 && opts.Observe == nil && opts.Meter == nil {
		machine.lockstep = &lockstep{}
	}
	return machine, err
}

// Run executes the program once: device d takes args[d]. Results come by device too.
//
// Beyond the errors of interp.Run, with the device's number, it returns a diag.ErrInvalid where the devices do not
// take part in the same collectives. The first device to fail, or the end of the context, stops all others before
// Run returns.
func (m *Machine) Run(ctx context.Context, args [][]*tensor.Tensor) ([][]*tensor.Tensor, Traffic, error) {
	if len(args) != m.devices {
		return nil, Traffic{}, diag.Invalid(diag.BadInputs, diag.Position{}, "arguments for %d devices are given, the mesh has %d", len(args),
			m.devices)
	}
	if m.lockstep != nil {
		if blocks, ok := together(args); ok {
			results, traffic, err := m.RunBlocks(ctx, blocks)
			return results.Devices, traffic, err
		}
	}
	return m.apart(ctx, args)
}

// Results are what devices return.
type Results struct {
	Devices  [][]*tensor.Tensor // by device and result
	Together []interp.Blocks    // by result: the same data, where blocks lie one behind the other; nil where devices ran apart
}

// RunBlocks is Run for arguments whose blocks lie one behind the other, which saves copying them. Results share no data with arguments.
func (m *Machine) RunBlocks(ctx context.Context, args []interp.Blocks) (Results, Traffic, error) {
	if m.lockstep != nil {
		results, traffic, err := m.lockstep.run(ctx, m, args)
		if !errors.Is(err, interp.ErrApart) {
			return Results{separate(results, m.devices), results}, traffic, err
		}
	}
	results, traffic, err := m.apart(ctx, separate(args, m.devices))
	for _, of := range results {
		for k, result := range of {
			if slices.ContainsFunc(args, func(a interp.Blocks) bool { return memory.Within(result.Data, a.Block.Data) }) {
				own := result.Clone()
				of[k] = &own
			}
		}
	}
	return Results{Devices: results}, traffic, err
}

// apart runs every device as a goroutine.
func (m *Machine) apart(ctx context.Context, args [][]*tensor.Tensor) ([][]*tensor.Tensor, Traffic, error) {
	g := &grid{m: m.m, in: m.in, opts: m.opts, programs: slices.Repeat([]ir.FuncID{m.fn}, m.devices), uniform: true}
	results, err := g.run(ctx, args)
	return results, g.traffic(), err
}

// grid is a run of one program per device.
type grid struct {
	m        *ir.Module
	in       *interp.Interpreter
	opts     Options
	programs []ir.FuncID
	uniform  bool // all devices run one function
	infeed   [][]tensor.Tensor
	devices  []*device
}

// run starts the devices and waits for all of them.
func (g *grid) run(ctx context.Context, args [][]*tensor.Tensor) ([][]*tensor.Tensor, error) {
	for _, fn := range g.programs {
		if _, err := g.in.NumArgs(fn); err != nil { // a program that does not compile fails on no device in particular
			return nil, err
		}
	}
	n := len(g.programs)
	net := newNetwork(n)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(inner, net.stop)()
	results, errs, panics := make([][]*tensor.Tensor, n), make([]error, n), make([]any, n)
	var running sync.WaitGroup
	for id := range n {
		g.devices = append(g.devices, &device{id: id, grid: g, net: net, counts: map[ir.OpID]*count{}})
	}
	for id, d := range g.devices {
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics[id] = fmt.Sprintf("%v\n\ndevice %d:\n%s", p, id, debug.Stack())
				}
				if panics[id] != nil || errs[id] != nil {
					cancel()
				}
				net.finish(id)
			}()
			var stats interp.Stats
			p := interp.Process{ID: id, Peers: d}
			if g.opts.Meter != nil {
				d.meter = g.opts.Meter(id)
				p.Meter = d.meter
			}
			if g.opts.Observe != nil {
				p.Observe = func(s *interp.Step) error { return g.opts.Observe(id, s) }
			}
			results[id], stats, errs[id] = g.in.RunProcess(inner, g.programs[id], p, args[id])
			d.peak = stats.PeakBytes
			d.checks += stats.Checks
		})
	}
	running.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p) // a bug of a kernel: it belongs to the caller's goroutine
		}
	}
	if err := g.cause(ctx, net, errs); err != nil {
		return nil, err
	}
	return results, nil
}

// cause returns the error that ended a run: that of the first device with one of its own, or what left all devices
// waiting, or the end of the context.
func (g *grid) cause(ctx context.Context, net *network, errs []error) error {
	for id, err := range errs {
		var d *diag.Error
		if errors.As(err, &d) && len(g.programs) > 1 {
			return onDevice(d, id)
		}
		if err != nil && !errors.Is(err, errStopped) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return net.verdict()
}

// onDevice says on which device an error happened.
func onDevice(err *diag.Error, id int) error {
	named := &diag.Error{Class: err.Class, Diagnostics: slices.Clone(err.Diagnostics)}
	if len(named.Diagnostics) > 0 {
		named.Diagnostics[0].Message = fmt.Sprintf("device %d: %s", id, named.Diagnostics[0].Message)
	}
	return named
}

// traffic adds up the counts of all devices.
func (g *grid) traffic() Traffic {
	t := Traffic{}
	index := map[ir.OpID]int{}
	for _, d := range g.devices {
		sent := int64(0)
		for op, c := range d.counts {
			k, seen := index[op]
			if !seen {
				k = len(t.Collectives)
				index[op] = k
				t.Collectives = append(t.Collectives, CollectiveTraffic{Op: op, Kind: g.m.Kind(op)})
			}
			total := &t.Collectives[k]
			total.Executions = max(total.Executions, c.executions)
			total.Group = max(total.Group, c.group)
			total.Bytes += c.bytes
			sent += c.bytes
		}
		t.Sent = append(t.Sent, sent)
		t.PeakBytes = append(t.PeakBytes, d.peak)
		t.Checks += d.checks
	}
	slices.SortFunc(t.Collectives, func(a, b CollectiveTraffic) int { return int(a.Op - b.Op) })
	return t
}

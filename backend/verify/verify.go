// Package verify runs the program of one device on all devices of a mesh and proves, value by value, that it computes
// what the partitioned program of whole tensors says.
//
// Every value of the partitioned program has a block on every device. While the devices run, their blocks are put
// together, and each op of the partitioned program is executed once more, on one device, on the very operands that the
// devices had. Nothing is carried on from op to op, so an error neither grows nor hides:
//
//	whole values x, w as the devices had them ──dot_general──▶ y' ─┐
//	blocks of y, as the devices computed them ──────join────▶ y  ─┴─ equal, or as far apart as a sum's rounding allows
//
// An op that sums may round in another order, and the bound is that of its own terms: a sum of a million values that
// cancel may be as wrong as a millionth of their magnitudes, whatever it comes to. All other ops have to agree bit for
// bit, comparisons and choices too, because both sides compare and choose from the same operands. docs/verification.md
// has the reasons.
//
//	result, err := verify.Run(ctx, whole, program, inputs, verify.Options{})
//	result.Faults // what is wrong, in the order of the program
package verify

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// Result is what a run gave and how it compares.
type Result struct {
	Outputs []*tensor.Tensor // whole, put together from the devices' blocks
	Traffic mesh.Traffic

	Unproven error   // why the partitioned program could not be executed on one device, nil if it was
	Values   int     // values that were compared, once each time they were computed
	Equal    int     // of these, equal bit for bit
	Nearest  float64 // largest difference that was let pass, as a share of what rounding allows
	Faults   []Fault // at most mostFaults
	Wrong    int     // all faults
	Doubts   []Doubt // what is not judged, and why
}

// Options of a proof.
type Options struct {
	MaxBytes int64 // bound on the live bytes of all devices together, and on those of the run on one; 0 means the defaults
}

// mostFaults bounds the list of faults.
const mostFaults = 16

// Fault is a value that the devices computed wrongly from the operands that they had.
type Fault struct {
	Op       string        // its name
	Pos      diag.Position // in the model, or in the partitioned program where that is not known
	Type     string        // of the value
	Replicas bool          // devices that should hold the same block hold different ones
	Elements int           // how many are wrong
	Index    []int64       // of the first
	Got      float64
	Want     float64
	Allowed  float64 // difference that rounding allows
}

// String describes the fault in a sentence.
func (f *Fault) String() string {
	if f.Replicas {
		return fmt.Sprintf("%s: devices disagree about a block of %s that they should all hold", f.Op, f.Type)
	}
	return fmt.Sprintf("%s: %d elements of %s are wrong: the first, at %v, is %.9g and should be %.9g; rounding allows %.2g",
		f.Op, f.Elements, f.Type, strings.ReplaceAll(fmt.Sprint(f.Index), " ", ","), f.Got, f.Want, f.Allowed)
}

// Run runs a program on whole inputs and proves it against the partitioned program that it was lowered from. That both
// ran is no error, whatever came out; errors are those of package mesh.
func Run(ctx context.Context, whole *ir.Module, p *shardmap.Program, inputs []*tensor.Tensor, o Options) (*Result, error) {
	c := newChecker(whole, p)
	c.most = o.MaxBytes
	return c.verify(ctx, inputs)
}

// verify runs the devices and the comparison side by side.
func (c *checker) verify(ctx context.Context, inputs []*tensor.Tensor) (*Result, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	p := c.p
	result := &c.result
	var ran *run.Result
	var ranErr error
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.trace.end()
		defer func() {
			if v := recover(); v != nil {
				panicked = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
			}
			if panicked != nil || ranErr != nil {
				cancel()
			}
		}()
		ran, ranErr = run.Program(inner, p, inputs, run.Options{WholeWindows: true, MaxBytes: c.most, Observe: func(
			m *ir.Module, device int, s *interp.Step) error {
			c.trace.record(m, device, s)
			return nil
		}})
	}()
	want, err := c.run(inner, inputs)
	c.trace.end()
	<-done
	if panicked != nil {
		panic(panicked)
	}
	if ranErr != nil {
		return nil, ranErr
	}
	result.Outputs, result.Traffic = ran.Outputs, ran.Traffic
	switch {
	case err == nil:
		c.outputs(want, ran.Blocks)
	case errors.Is(err, diag.ErrUnsupported):
		result.Unproven = err
	default:
		return nil, err
	}
	return result, nil
}

// layoutOf returns how a value of the partitioned program is cut. Inside of what is not cut, values have no sharding.
func layoutOf(m *ir.Module, v ir.ValueID) (collectives.Layout, bool) {
	if s := m.Sharding(v); s != 0 {
		l := collectives.LayoutOf(m.ShardingOf(s))
		return l, l.Divides(m.Shape(v))
	}
	l := collectives.Layout{Dims: make([][]subaxis.Ref, len(m.Shape(v)))}
	return l, m.ValueType(v).IsStatic()
}

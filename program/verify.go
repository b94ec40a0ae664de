package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/backend/verify"
	"autoshard/internal/diag"
)

// Verify runs the program on virtual devices in this process and compares the outputs with expected ones, nil for none, which
// may come from other systems and differ by the tolerance and by what rounding explains.
//
// The program of a plan is proved too: each value that the devices compute has to be what the program's op makes of the
// operands that the devices had, bit for bit or, for sums, within their rounding. Its outputs are compared with those of an
// unsharded run, and the bytes that collectives moved with the predicted ones. docs/verification.md has the reasons. A
// shard_map program has no unsharded form: it needs expected outputs.
//
// A Check that did not pass comes with a diag.ErrFinding.
func (p *Program) Verify(ctx context.Context, inputs, expected []*tensor.Tensor, t Tolerance) (check *Check, err error) {
	defer diag.Recover("run", &err)
	if p.typed != nil {
		result, err := p.Run(ctx, inputs)
		if err != nil {
			return nil, err
		}
		return p.Compare(ctx, result, inputs, expected, t)
	}
	if err := checkInputs(p.whole, inputs); err != nil {
		return nil, err
	}
	proved, err := verify.Run(ctx, p.whole, p.grouped, inputs, verify.Options{MaxBytes: p.most})
	if err != nil {
		return nil, atModel(p.whole, err)
	}
	result := &Result{Outputs: proved.Outputs, Collectives: trafficOf(p.grouped, &proved.Traffic)}
	for _, d := range proved.Doubts {
		result.Notes = append(result.Notes, fmt.Sprintf(
			"%s: result %d of the shard_map differs between devices %d and %d: that of device %[3]d is taken", d.Pos, d.Result, d.First, d.Second))
	}
	c := &comparison{p: p, inputs: inputs, result: result, expected: expected, tolerance: t}
	if proved.Unproven == nil {
		c.proof = proofOf(proved)
	}
	return c.check(ctx)
}

func proofOf(r *verify.Result) *Proof {
	proof := &Proof{Values: r.Values, Exact: r.Equal, Nearest: r.Nearest, Wrong: r.Wrong}
	for i := range r.Faults {
		proof.Faults = append(proof.Faults, Fault{Source: r.Faults[i].Pos.String(), Message: r.Faults[i].String(), pos: r.Faults[i].Pos})
	}
	return proof
}

// Compare compares a run that was made before, here or by another system, with an unsharded run, where the program has one,
// and with expected outputs, nil for none. Elements may differ by the tolerance, whose relative part is one of the largest
// magnitude of an output for a shard_map program, and by what rounding explains. A Check that did not pass comes with a
// diag.ErrFinding.
func (p *Program) Compare(ctx context.Context, result *Result, inputs, expected []*tensor.Tensor, t Tolerance) (check *Check, err error) {
	defer diag.Recover("run", &err)
	if p.typed == nil {
		if err := checkInputs(p.whole, inputs); err != nil {
			return nil, err
		}
	}
	return (&comparison{p: p, inputs: inputs, result: result, expected: expected, tolerance: t}).check(ctx)
}

// comparison compares the outputs of a run.
type comparison struct {
	p         *Program
	inputs    []*tensor.Tensor
	result    *Result
	expected  []*tensor.Tensor
	tolerance Tolerance
	proof     *Proof // nil: none was made
	alone     bool   // the result is that of one device: there is no other unsharded run to compare it with

	unsharded []*tensor.Tensor // nil: the program cannot be run on one device
	noise     *verify.Noise    // of the outputs, once something asked for it
}

func (c *comparison) check(ctx context.Context) (*Check, error) {
	check := &Check{Passed: true, Proof: c.proof, Collectives: c.result.Collectives, Result: c.result}
	var err error
	if !c.alone {
		c.unsharded, err = c.p.Unsharded(ctx, c.inputs)
	}
	switch {
	case c.p.typed != nil && c.expected != nil:
		check.Note = noUnsharded
	case errors.Is(err, diag.ErrUnsupported) && c.expected != nil:
		check.Note = "compared with the expected outputs only; no unsharded run: " + err.Error()
	case err != nil:
		return nil, err
	}
	if c.expected != nil && len(c.expected) != len(c.result.Outputs) {
		return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "the program has %d outputs, %d are expected", len(c.result.Outputs),
			len(c.expected))
	}
	for i := range c.result.Outputs {
		o, err := c.output(ctx, i)
		if err != nil {
			return nil, err
		}
		check.Passed = check.Passed && o.Passed
		check.Outputs = append(check.Outputs, o)
	}
	for _, x := range check.Collectives {
		check.Passed = check.Passed && x.Agrees()
	}
	if c.proof != nil && c.proof.Wrong > 0 {
		check.Passed = false
	}
	if !check.Passed {
		return check, check.finding()
	}
	return check, nil
}

// output compares one output. What is proved differs from the unsharded run by nothing but rounding, however much the
// program makes of that.
func (c *comparison) output(ctx context.Context, i int) (OutputCheck, error) {
	o := OutputCheck{Index: i, Name: c.p.Outputs[i].Name, Passed: true}
	got := c.result.Outputs[i]
	var err error
	if c.unsharded != nil {
		o.Exact = bytes.Equal(got.Data, c.unsharded[i].Data)
		if o.UnshardedError, err = c.relative(ctx, i, c.unsharded[i]); err != nil {
			return o, err
		}
	}
	if c.unsharded != nil && (c.proof == nil || c.proof.Wrong > 0) {
		t := c.tolerance
		if c.proof != nil {
			t = Tolerance{}
		}
		if err := c.compare(ctx, &o, i, c.unsharded[i], t, "unsharded run"); err != nil {
			return o, err
		}
	}
	if c.expected != nil {
		if o.ExpectedError, err = c.relative(ctx, i, c.expected[i]); err != nil {
			return o, err
		}
		if err := c.compare(ctx, &o, i, c.expected[i], c.tolerance, "expected outputs"); err != nil {
			return o, err
		}
	}
	return o, nil
}

// An element may differ by noiseShare times the largest noise that was seen: a few runs do not show the largest. Runs are
// added, up to mostNoiseRuns, as long as there are elements that they do not explain.
const (
	noiseShare    = 8
	mostNoiseRuns = 24
)

// compare looks for elements of an output that differ too much. The noise is estimated where the tolerance alone does
// not explain all.
func (c *comparison) compare(ctx context.Context, o *OutputCheck, i int, want *tensor.Tensor, t Tolerance, reference string) error {
	got := c.result.Outputs[i]
	magnitude := math.Abs
	if largest := verify.Largest(want); c.p.typed != nil {
		magnitude = func(float64) float64 { return largest }
	}
	limit := func(want float64, k int) float64 {
		allowed := t.Abs + t.Rel*magnitude(want)
		if c.noise != nil {
			allowed += noiseShare * c.noise.Of[i][k]
		}
		return allowed
	}
	wrong := verify.Over(got, want, limit)
	for wrong != nil && (c.noise == nil || c.noise.Runs < mostNoiseRuns) {
		if err := c.estimate(ctx); err != nil {
			return err
		}
		wrong = verify.Over(got, want, limit)
	}
	o.judge(wrong, reference)
	return nil
}

// judge notes elements that differ too much, nil for none. The first reference that finds some counts.
func (o *OutputCheck) judge(wrong *verify.Fault, reference string) {
	if wrong == nil || !o.Passed {
		return
	}
	o.Passed = false
	o.Wrong = &Wrong{Reference: reference, Elements: wrong.Elements, Index: wrong.Index, Got: fmt.Sprintf("%.9g", wrong.Got),
		Want: fmt.Sprintf("%.9g", wrong.Want), Allowed: fmt.Sprintf("%.3g", wrong.Allowed)}
}

// estimate adds to what is known of the noise: on one device or, if the program cannot be run there, on all.
func (c *comparison) estimate(ctx context.Context) error {
	switch {
	case c.noise != nil:
	case c.p.typed != nil:
		c.noise = verify.NewNoiseOfRuns(c.p.Devices(), c.result.Outputs, func(
			ctx context.Context, observe run.Observer) ([]*tensor.Tensor, error) {
			result, err := c.p.runTyped(ctx, c.inputs, observe)
			if err != nil {
				return nil, err
			}
			return result.Outputs, nil
		})
	case c.alone:
		c.noise = verify.NewNoise(c.p.whole, c.inputs, c.result.Outputs)
	case c.unsharded != nil && !run.HasManual(c.p.whole):
		c.noise = verify.NewNoise(c.p.whole, c.inputs, c.unsharded)
	default:
		c.noise = verify.NewNoiseOfDevices(c.p.grouped, c.inputs, c.result.Outputs)
	}
	return c.noise.More(ctx)
}

// suspect is a relative error that may be large because the output is small, not because it is wrong.
const suspect = 1e-3

// relative returns the error of an output relative to the largest magnitude of the reference, or of the numbers that it
// was summed from, where these are so much larger that their rounding is most of the output.
func (c *comparison) relative(ctx context.Context, i int, want *tensor.Tensor) (*float64, error) {
	e := verify.RelativeError(c.result.Outputs[i], want, 0)
	if e > suspect {
		if c.noise == nil {
			if err := c.estimate(ctx); err != nil {
				return nil, err
			}
		}
		e = verify.RelativeError(c.result.Outputs[i], want, verify.Summed(want.DType, c.noise.Of[i]))
	}
	return &e, nil
}

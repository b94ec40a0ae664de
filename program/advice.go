package program

import (
	"context"
	"fmt"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/diag"
	idiag "autoshard/internal/diag"
	"autoshard/shardmap/advice"
)

// Advice is what a shard_map program sends although it need not: a rewrite that saves something on some hardware.
type Advice struct {
	Finding       diag.Diagnostic
	Before, After Estimate // of a step
	Better        *Program // with the rewrite
}

// Advise returns the rewrites of the program that save bytes and no time, or time, on a hardware, in the order of its text; those of the
// rules that are disabled are left out. A program of a plan is rewritten as the shard_map program that it is; where [Program.From] has told
// the model, it is about the collectives that people wrote there alone. Errors are those of [Program.ShardMap] and [Program.Estimate].
func (p *Program) Advise(ctx context.Context, hardware cost.Hardware, disabled []string) (list []Advice, err error) {
	defer idiag.Recover("check", &err)
	s, err := p.ShardMap(ctx)
	if err != nil {
		return nil, err
	}
	serial, err := s.price(ctx, hardware, false)
	if err != nil {
		return nil, err
	}
	overlapped, err := s.price(ctx, hardware, true)
	if err != nil {
		return nil, err
	}
	for _, found := range advice.Find(s.typed) {
		if slices.Contains(disabled, string(found.Rule)) || !s.written.has(placeOf(s.typed.Module, found.Op)) {
			continue
		}
		a := Advice{Before: serial}
		if found.Overlaps {
			a.Before = overlapped
		}
		if err := s.advised(ctx, hardware, found, &a); err != nil {
			return nil, err
		}
		last := len(list) - 1
		switch {
		case a.Better == nil:
		case last < 0 || list[last].Finding.Pos != a.Finding.Pos || list[last].Finding.Code != a.Finding.Code:
			list = append(list, a)
		case a.After.Seconds < list[last].After.Seconds: // another way of the same
			list[last] = a
		}
	}
	return list, nil
}

// advised fills in what a rewrite makes of the program; nothing where it saves nothing or its types do not fit, such as a value that varies
// where a loop needs an equal one.
func (p *Program) advised(ctx context.Context, hardware cost.Hardware, found *advice.Advice, a *Advice) error {
	better, err := found.Apply()
	if err != nil {
		return nil
	}
	of := describe(better)
	of.Notes, of.refined, of.ports, of.stored, of.written = p.Notes, p.refined, p.ports, p.stored, p.written
	if a.After, err = of.price(ctx, hardware, found.Overlaps); err != nil {
		return err
	}
	if a.After.Seconds > a.Before.Seconds || a.After.Seconds == a.Before.Seconds && a.After.SentBytes >= a.Before.SentBytes {
		return nil
	}
	a.Better = of
	a.Finding = diag.Diagnostic{Severity: diag.SeverityWarning, Code: found.Rule, Pos: p.typed.Module.OpPos(found.Op),
		Message: found.Message + saving(&a.Before, &a.After)}
	p.written.locate(&a.Finding, placeOf(p.typed.Module, found.Op))
	return nil
}

// price returns the estimate of a step, in which collectives may run beside other ops.
func (p *Program) price(ctx context.Context, hardware cost.Hardware, overlap bool) (Estimate, error) {
	e, err := p.Estimate(ctx, hardware)
	if err != nil || !overlap {
		return e, err
	}
	device := p.onDevice()
	model, err := estimate.New(hardware.OrDefault(), device.Mesh)
	if err != nil {
		return e, err
	}
	line, err := model.Simulate(ctx, device, DefaultAhead)
	if err != nil {
		return e, err
	}
	e.Seconds = float64(line.Length) / Picoseconds
	return e, nil
}

// saving says what a step saves.
func saving(before, after *Estimate) string {
	return fmt.Sprintf("; a step takes %s and sends %s, where it is %s and %s now", idiag.Seconds(after.Seconds), idiag.Bytes(after.SentBytes),
		idiag.Seconds(before.Seconds), idiag.Bytes(before.SentBytes))
}

// maxRewrites bounds the rewrites that Improve makes.
const maxRewrites = 1000

// Improve makes the rewrites of [Program.Advise], one after the other until none is left, and returns the program and what was made. The
// program is p where there is none.
func (p *Program) Improve(ctx context.Context, hardware cost.Hardware, disabled []string) (better *Program, made []Advice, err error) {
	better = p
	for range maxRewrites {
		list, err := better.Advise(ctx, hardware, disabled)
		if err != nil || len(list) == 0 {
			return better, made, err
		}
		better, made = list[0].Better, append(made, list[0])
	}
	return better, made, nil
}

// Agrees runs the program and another one that is to compute the same on the same inputs, and returns a diag.ErrFinding where the outputs
// differ by more than the tolerance and rounding.
func (p *Program) Agrees(ctx context.Context, other *Program, inputs []*tensor.Tensor, t Tolerance) error {
	want, err := p.Run(ctx, inputs)
	if err != nil {
		return err
	}
	_, err = other.Verify(ctx, inputs, want.Outputs, t)
	return err
}

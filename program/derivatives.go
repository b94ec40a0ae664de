package program

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
)

// Derivative is a program that is made of another one and some of its inputs.
type Derivative string

// The derivatives.
const (
	Transpose Derivative = "transpose" // of a program that is linear in them: takes the cotangents of the outputs and the other inputs
	JVP       Derivative = "jvp"       // in a direction: takes the inputs and then a tangent for each; returns the tangents of outputs
	VJP       Derivative = "vjp"       // backward: takes the cotangents of the outputs and then the inputs; returns cotangents
	Gradient  Derivative = "gradient"  // of the only output, a scalar: takes the inputs; returns the derivatives
)

// derivations makes them.
var derivations = map[Derivative]func(*typed.Program, []int) (*typed.Program, error){
	Transpose: transpose.Linear, JVP: transpose.JVP, VJP: transpose.VJP, Gradient: transpose.Gradient,
}

// Derive returns a derivative of the program by the inputs of those names, as a shard_map program. Errors are of class diag.ErrInvalid for
// unknown inputs and for a program that is not linear in them, or not a scalar, as the derivative needs it, and diag.ErrUnsupported for
// an op without a derivative; or the context's.
func (p *Program) Derive(ctx context.Context, d Derivative, inputs []string) (out *Program, err error) {
	defer diag.Recover("transpose", &err)
	s, err := p.ShardMap(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.stored.refuse("a derivative"); err != nil {
		return nil, err
	}
	numbers, err := s.numbersOf(inputs)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	derivative, err := derivations[d](s.typed, numbers)
	if err != nil {
		return nil, err
	}
	out = describe(derivative)
	out.refined = s.refined
	return out, ctx.Err()
}

// numbersOf returns the numbers of inputs.
func (p *Program) numbersOf(inputs []string) (numbers []int, err error) {
	for _, name := range inputs {
		i := slices.IndexFunc(p.Inputs, func(t answer.Tensor) bool { return t.Name == name })
		if i < 0 || slices.Contains(numbers, i) {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "no input is named %q, or it is named twice; inputs are %s", name,
				strings.Join(nameList(p.Inputs), ", "))
		}
		numbers = append(numbers, i)
	}
	return numbers, nil
}

// WithoutCheck returns the program as a shard_map program whose check is off, as JAX has it with check_vma=False. Errors are those of
// [Program.ShardMap], and of class diag.ErrInvalid for a program whose specs need the check.
func (p *Program) WithoutCheck(ctx context.Context) (out *Program, err error) {
	defer diag.Recover("emit", &err)
	s, err := p.ShardMap(ctx)
	if err != nil || !s.typed.Check {
		return s, err
	}
	if out, err = uncheckedOf(ctx, s.typed); err != nil {
		return nil, err
	}
	out.refined, out.ports, out.stored = s.refined, s.ports, s.stored
	out.Notes = slices.Concat(s.Notes, out.Notes)
	return out, nil
}

// uncheckedOf describes a program with its check off.
func uncheckedOf(ctx context.Context, p *typed.Program) (*Program, error) {
	unchecked, err := p.Unchecked()
	if err != nil {
		return nil, err
	}
	out := describe(unchecked)
	out.Notes = append(out.Notes, "the check is off, as it was asked for")
	return out, ctx.Err()
}

// Communication says what a program sends, and what a step of it takes.
type Communication struct {
	Name        string   `json:"name"`        // forward, or the derivative
	Checked     bool     `json:"checked"`     // with types that say which values are equal on all devices
	Collectives []string `json:"collectives"` // in program order, each once with how often it stands there: psum(i), 2 ppermute(i)
	Places      int      `json:"places"`      // in the program where something is sent
	Estimate    Estimate `json:"estimate"`
	Problem     string   `json:"problem,omitempty"` // why there is no such program
}

// CompareDerivatives says what the program and a derivative of it send with the check on, where types say which values are equal on all
// devices, and with the check off, where nothing is known: what JEP 17111 is about. Errors are those of Derive with the check that the
// program has; the other one may be a problem of its row.
func (p *Program) CompareDerivatives(ctx context.Context, d Derivative, inputs []string, hw cost.Hardware) (rows []Communication,
	err error) {
	defer diag.Recover("transpose", &err)
	checked, err := p.ShardMap(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := checked.Derive(ctx, d, inputs); err != nil {
		return nil, err
	}
	for _, name := range []string{forward, string(d)} {
		for _, check := range []bool{true, false} {
			row := Communication{Name: name, Checked: check}
			if problem := checked.communication(ctx, &row, d, inputs, hw); problem != nil {
				row.Problem = reasonOf(problem)
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// forward is the name of a program beside its derivative.
const forward = "forward"

// communication adds to a row what its program sends, and what it takes. The program is that of p, with its check off, or its derivative,
// as the row says.
func (p *Program) communication(ctx context.Context, row *Communication, d Derivative, inputs []string, hw cost.Hardware) (err error) {
	switch {
	case !row.Checked:
		p, err = p.WithoutCheck(ctx)
	case !p.typed.Check:
		err = diag.Invalid(diag.BadVariance, diag.Position{}, "the check of the program is off")
	}
	if err == nil && row.Name != forward {
		p, err = p.Derive(ctx, d, inputs)
	}
	if err != nil {
		return err
	}
	row.Collectives, row.Places = p.collectives()
	row.Estimate, err = p.Estimate(ctx, hw)
	return err
}

// collectives returns those of a shard_map program, equal ones once with their number, and how many there are.
func (p *Program) collectives() (texts []string, places int) {
	counts := map[string]int{}
	for _, c := range p.typed.Communications() {
		text := c.Format(p.typed)
		if counts[text]++; counts[text] == 1 {
			texts = append(texts, text)
		}
		places++
	}
	for i, text := range texts {
		if n := counts[text]; n > 1 {
			texts[i] = fmt.Sprintf("%d %s", n, text)
		}
	}
	return texts, places
}

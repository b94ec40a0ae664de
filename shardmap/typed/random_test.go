package typed_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir/mlir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// The blocks of every value of a random program are equal along the axes that its type leaves out. Its text, its
// manual computation, and the same program with a cast before every use and without types compute the same.
func TestTypesHold(t *testing.T) {
	seed := randomSeed(t)
	for k := range 200 {
		r := programOf(seed, k)
		if r.refusal != "" || r.TraceOnly {
			continue
		}
		if err := r.holds(t); err != nil {
			t.Errorf("program %d of seed %d: %v", k, seed, err)
		}
	}
}

func (r *randomProgram) holds(t *testing.T) error {
	p, err := r.elaborated(typed.Options{})
	if err != nil {
		if r.loose {
			return nil // its types promise too much
		}
		return err
	}
	want, err := r.run(t, p, run.Options{Debug: true})
	if err != nil {
		return err
	}
	if r.Unchecked {
		return r.same(t, want, p, run.Options{})
	}
	q, err := typed.Parse(p.String(), "")
	if err != nil {
		return fmt.Errorf("%w in\n%s", err, p)
	}
	if q.String() != p.String() {
		return fmt.Errorf("printed\n%s\nread and printed\n%s", p, q)
	}
	if err := r.same(t, want, q, run.Options{}); err != nil {
		return err
	}
	for _, o := range []typed.Options{{Fresh: true}, {Unsound: true}} {
		f, err := r.elaborated(o)
		if err != nil {
			return err
		}
		err = r.same(t, want, f, run.Options{Debug: !o.Unsound})
		if err != nil && (!r.loose || !strings.Contains(err.Error(), "replication violated")) {
			return err
		}
	}
	return r.holdsElsewhere(t, p, want)
}

// holdsElsewhere runs the program without types, and as a manual computation.
func (r *randomProgram) holdsElsewhere(t *testing.T, p *typed.Program, want []tensor.Tensor) error {
	u, err := r.build(true)
	if err != nil {
		return err
	}
	if err := r.same(t, want, u, run.Options{}); err != nil {
		return err
	}
	i, err := typed.Import(t.Context(), p.Export(), typed.ImportOptions{})
	if err != nil && r.ambiguous(r.Steps) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w in\n%s", err, mlir.Print(p.Export(), mlir.PrintOptions{}))
	}
	return r.same(t, want, i, run.Options{Debug: true})
}

// ambiguous says whether a manual computation may not tell all types: axes of one device do not show in groups, and
// those along which a permutation moves nothing do not show in its pairs; nor does it say which gathers are invariant,
// hold the cast that a broadcast of one member needs, or name groups of manual axes within those of all devices.
func (r *randomProgram) ambiguous(steps []*randomStep) bool {
	one := slices.ContainsFunc(r.axes, func(a subaxis.Axis) bool { return a.Size == 1 })
	return one || slices.ContainsFunc(steps, func(s *randomStep) bool {
		return s.Mode == "all_gather_invariant" || s.Mode == "ppermute" || s.Mode == "pshuffle" || s.Mode == "pbroadcast" || s.Groups != nil ||
			slices.ContainsFunc(s.Bodies, func(b randomBody) bool { return r.ambiguous(b.Steps) })
	})
}

// elaborated returns the program with types.
func (r *randomProgram) elaborated(o typed.Options) (*typed.Program, error) {
	p, err := r.build(r.Unchecked)
	if err != nil {
		return nil, err
	}
	if _, err := p.Elaborate(o); err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, p)
	}
	return p, nil
}

func (r *randomProgram) run(t *testing.T, p *typed.Program, o run.Options) ([]tensor.Tensor, error) {
	outputs, err := execute(t.Context(), p, r.arguments(), o)
	if err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, p)
	}
	return outputs, nil
}

// same checks that a program computes something, bit for bit.
func (r *randomProgram) same(t *testing.T, want []tensor.Tensor, p *typed.Program, o run.Options) error {
	results, err := r.run(t, p, o)
	for k, got := range results {
		if !got.Equal(want[k]) {
			return fmt.Errorf("result %d is %v, want %v in\n%s", k, got.Floats(), want[k].Floats(), p)
		}
	}
	return err
}

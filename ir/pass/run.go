package pass

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// Pipeline is a list of passes with their settings; names of pipelines are expanded.
type Pipeline struct{ Steps []Step }

// Step is one pass of a pipeline.
type Step struct {
	Pass     *Pass
	Settings Settings
}

// String returns the step as a pipeline writes it, without options that have their default.
func (s Step) String() string { return s.Pass.Name + s.Settings.String() }

// String returns the text of the pipeline, which Parse reads.
func (p *Pipeline) String() string {
	return strings.Join(lists.Map(p.Steps, Step.String), ",")
}

// Hooks are what Run calls around passes, and what it leaves out.
type Hooks struct {
	// SkipVerify leaves out the verification after each pass.
	SkipVerify bool
	// After is called after each pass, once the module is verified; index counts from 0. Its error ends the run.
	After func(index int, s Step, m *ir.Module) error
	// Now reads a clock that only goes forward; nil takes no times.
	Now func() time.Duration
}

// Timing is how long a step took.
type Timing struct {
	Step   Step
	Run    time.Duration // of the pass
	Verify time.Duration // of the verification after it
}

// Run runs the passes in order on a module that was verified. The error of a pass comes back as it is; where a pass
// panics or leaves a broken module behind, the error is of class diag.ErrInternal and names the pass. There is a timing for each
// step that was begun, of zeros without a clock. The run ends with the context, whose error comes back.
func (p *Pipeline) Run(ctx context.Context, m *ir.Module, h Hooks) ([]Timing, error) {
	if h.Now == nil {
		h.Now = func() time.Duration { return 0 }
	}
	timings := make([]Timing, 0, len(p.Steps))
	for i, s := range p.Steps {
		start := h.Now()
		err := s.run(ctx, m)
		done := h.Now()
		if err == nil && !h.SkipVerify {
			err = broken(s, ir.Verify(ctx, m))
		}
		timings = append(timings, Timing{s, done - start, h.Now() - done})
		if ended := ctx.Err(); ended != nil {
			err = ended
		}
		if err == nil && h.After != nil {
			err = h.After(i, s, m)
		}
		if err != nil {
			return timings, err
		}
	}
	return timings, nil
}

// run runs the pass of a step. A panic is a bug of that pass, which nobody further up could name.
func (s Step) run(ctx context.Context, m *ir.Module) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = diag.Internal(diag.Bug, diag.Position{}, "pass `%s` failed: %v", s, p).WithNote(diag.Position{}, "%s", debug.Stack())
		}
	}()
	return s.Pass.Run(ctx, m, s.Settings)
}

// broken makes a bug of a pass out of what the verifier found after it.
func broken(s Step, err error) error {
	if err == nil {
		return nil
	}
	bug := diag.Internal(diag.Bug, diag.Position{}, "pass `%s` leaves a broken module behind", s)
	var found *diag.Error
	if !errors.As(err, &found) {
		return bug.WithNote(diag.Position{}, "%v", err)
	}
	for _, d := range found.Diagnostics {
		bug.WithNote(d.Pos, "%s", d.Message)
	}
	return bug
}

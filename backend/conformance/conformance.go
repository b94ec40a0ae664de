// Package conformance is the suite of tests that every backend passes. A backend is a row of a table:
//
//	conformance.Run(t, conformance.Backend{Counts: true, Run: conformance.Each(onMesh)})
//
// The suite hands it programs with inputs. Those of testdata have collectives over axes and in listed groups, operations of every family
// and all element types, and the outputs that XLA gives of them; programs that check themselves and models with recorded outputs follow
// where AUTOSHARD_SHARED names their folder. Then it is held to what a caller relies on: inputs stay as they are and a second run gives the
// same bits; what does not fit is refused before it runs, and what has no form at its line; a run ends with its context.
package conformance

import (
	"context"
	"slices"
	"testing"
	"time"

	"autoshard"
	"autoshard/backend/tensor"
)

// Backend is a row of the suite: what runs programs, and what it cannot do.
type Backend struct {
	Whole   bool     // it is one device that sees whole tensors, so that programs in which devices differ are not for it
	Checks  bool     // it executes check operations
	Counts  bool     // its outcomes say what collectives sent
	Refuses []string // programs of testdata that it has no form for

	Start time.Duration // how long it takes until a program runs

	// Run runs programs and returns an outcome for each. It is given many at once because starting a backend may take seconds.
	Run func(ctx context.Context, jobs []*Job) []Outcome
}

// Job is a program to run.
type Job struct {
	Name    string
	Model   *autoshard.Model
	Program *autoshard.Program // what every device of the model's mesh runs, cut as its shardings say
	Inputs  []*tensor.Tensor   // of whole tensors
}

// Outcome is what came of a program.
type Outcome struct {
	Outputs []*tensor.Tensor // whole; in files' types where the backend goes through files
	Sent    map[string]int64 // bytes by kind of collective, of a backend that counts
	Checks  int              // check operations that were executed, all of which hold
	Err     error
}

// Each returns the Run of a backend that runs one program after the other.
func Each(run func(ctx context.Context, job *Job) Outcome) func(ctx context.Context, jobs []*Job) []Outcome {
	return func(ctx context.Context, jobs []*Job) (outcomes []Outcome) {
		for _, job := range jobs {
			outcomes = append(outcomes, run(ctx, job))
		}
		return outcomes
	}
}

// Run holds a backend to the suite.
func Run(t *testing.T, b Backend) {
	s := &suite{b, sources(t)}
	t.Run("programs", s.programs)
	t.Run("inputs", s.inputs)
	t.Run("refusals", s.refusals)
	t.Run("stop", s.stop)
	t.Run("checks", s.checks)
	t.Run("models", s.models)
}

// suite is a backend under test.
type suite struct {
	Backend
	sources []*source
}

// one runs a program by itself.
func (s *suite) one(ctx context.Context, job *Job) Outcome { return s.Run(ctx, []*Job{job})[0] }

// takes says whether the backend has a form for a program of testdata.
func (s *suite) takes(p *source) bool {
	return !(s.Whole && p.differs || slices.Contains(s.Refuses, p.name))
}

// find returns a program of testdata.
func (s *suite) find(t *testing.T, name string) *source {
	t.Helper()
	i := slices.IndexFunc(s.sources, func(p *source) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("no program %s", name)
	}
	return s.sources[i]
}

// newJob reads a program and lowers it as its shardings say.
func newJob(t testing.TB, name string, text []byte) *Job {
	t.Helper()
	job, err := lowered(t.Context(), name, text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return job
}

func lowered(ctx context.Context, name string, text []byte) (*Job, error) {
	model, err := autoshard.ReadModel(ctx, name+".mlir", text)
	if err != nil {
		return nil, err
	}
	plan, err := autoshard.PlanAsAnnotated(ctx, model, autoshard.PlanOptions{})
	if err != nil {
		return nil, err
	}
	p, err := plan.Lowered(ctx)
	return &Job{Name: name, Model: model, Program: p}, err
}

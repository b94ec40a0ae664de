// Package autoshard propagates, chooses, lowers, runs and proves shardings of large models over device meshes.
//
// It is the façade that the command line and the service share; every step takes values and returns values:
//
//	model, err := autoshard.ReadModel(ctx, "train.mlir", src)
//	plan, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Mesh: axes, Hardware: hw})
//	check, err := autoshard.Verify(ctx, plan, inputs, expected, autoshard.Tolerance{Rel: 1e-4})
//
// A [Model] is what a user hands in, a [Plan] what the user gets: chosen shardings, the explicit program, its
// collectives, predicted times and a certificate. Both are text at rest, so that any step can start from a file.
package autoshard

import (
	"autoshard/answer"
	"autoshard/explain"
	"autoshard/internal/diag"
	"autoshard/plan"
	"context"
)

// Check is the result of running a plan and comparing it.
type Check struct {
	Outputs     []OutputCheck     `json:"outputs"`
	Proof       *Proof            `json:"proof,omitempty"` // nil where none was made
	Collectives []CollectiveCheck `json:"collectives"`
	Passed      bool              `json:"passed"`
	Note        string            `json:"note,omitempty"` // what could not be compared

	Result *RunResult `json:"-"` // what was compared

	uncounted bool // the backend does not count bytes
}

// Proof says how the values that the devices computed compare, one by one, with what the program's ops make of the
// operands that the devices had.
type Proof struct {
	Values  int     `json:"values"`  // that were compared, each time they were computed
	Exact   int     `json:"exact"`   // of these, equal bit for bit
	Nearest float64 `json:"nearest"` // largest difference let pass, as a share of what rounding allows
	Wrong   int     `json:"wrong"`   // values that differ by more
	Faults  []Fault `json:"faults,omitempty"`
}

// Fault is a value that the devices computed wrongly.
type Fault struct {
	Source  string `json:"source"` // line of the model, or of the plan's program
	Message string `json:"message"`

	pos diag.Position
}

// OutputCheck compares one output. Errors are relative to the largest magnitude of the reference, or of the numbers that
// it was summed from, and absent where no comparison was made; math.MaxFloat64 stands for a number on one side that the other has not.
type OutputCheck struct {
	Index          int      `json:"index"`
	Name           string   `json:"name"`
	UnshardedError *float64 `json:"unshardedError,omitempty"` // against the unsharded run
	ExpectedError  *float64 `json:"expectedError,omitempty"`  // against the expected outputs
	Exact          bool     `json:"exact"`                    // bit for bit equal to the unsharded run
	Passed         bool     `json:"passed"`
	Wrong          *Wrong   `json:"wrong,omitempty"` // of an output that did not pass
}

// Wrong says which elements of an output differ by more than they may.
type Wrong struct {
	Reference string  `json:"reference"` // "unsharded run" or "expected outputs"
	Elements  int     `json:"elements"`  // how many
	Index     []int64 `json:"index"`     // of the one that is furthest over what is allowed
	Got       string  `json:"got"`
	Want      string  `json:"want"`
	Allowed   string  `json:"allowed"` // difference
}

// Tolerance is what results of other systems may differ by, beside what rounding explains.
type Tolerance struct {
	Abs float64 // of any element
	Rel float64 // of an element's magnitude
}

// CollectiveCheck compares predicted and counted bytes of one collective.
type CollectiveCheck struct {
	Kind      string `json:"kind"`
	Predicted int64  `json:"predicted"`
	Counted   int64  `json:"counted"`
	Varies    bool   `json:"varies,omitempty"` // the data decides how often it runs

	once int64 // predicted for one run
}

// What plans, propagations and explanations hold.
type (
	// Plan is the answer to a planning request. Its JSON form is plan.json; times are in seconds, sizes in bytes.
	Plan = plan.Plan
	// PlanOptions says what to plan for.
	PlanOptions = plan.Options
	// TripCount says how often a loop is taken to run whose end the data decides.
	TripCount = plan.TripCount
	// Progress is a report of long work.
	Progress = plan.Progress
	// MeshAxis is a named axis of a mesh.
	MeshAxis = answer.MeshAxis
	// Tensor is an input or output, as a plan or propagation cuts it.
	Tensor = answer.Tensor
	// Collective is one communication of a plan's program.
	Collective = plan.Collective
	// Estimate is the predicted cost of one step on one device.
	Estimate = plan.Estimate
	// Baseline is a plan that needs no search, for comparison.
	Baseline = plan.Baseline
	// Certificate says how good a plan is.
	Certificate = plan.Certificate
	// Finding is something that a user should know about an answer.
	Finding = answer.Finding
	// PropagateOptions says how to propagate.
	PropagateOptions = explain.Options
	// Propagation is a model with the shardings that follow from the user's, and how they came about.
	Propagation = explain.Propagation
	// ExplainOptions says what to explain.
	ExplainOptions = explain.Question
	// Explanation says why a value is sharded as it is.
	Explanation = explain.Explanation
	// DimReason explains one dimension.
	DimReason = explain.DimReason
	// Explainer answers many questions about one propagation.
	Explainer = explain.Explainer
)

// PlanSchema identifies the JSON form of a Plan.
const PlanSchema = plan.Schema

// MaxTripCount bounds the trip counts that can be asked for.
const MaxTripCount = plan.MaxTripCount

// ErrEnough, as the cause of a context's cancellation, asks [MakePlan] for the best plan so far, as a deadline does.
var ErrEnough = plan.ErrEnough

// MakePlan chooses shardings for a model. What the user wrote is kept: closed dimensions exactly, open ones at least
// as written. It fails with diag.ErrInfeasible where the memory limit is too small, naming the smallest that works.
//
// Where the context's deadline comes, or it is cancelled with the cause [ErrEnough], the plan is the best so far: never
// worse than the best baseline that fits, for which the baselines are worked out in any case. It fails with the
// context's error where none fits, and at once where the context is cancelled otherwise.
func MakePlan(ctx context.Context, model *Model, o PlanOptions) (p *Plan, err error) {
	defer diag.Recover("plan", &err)
	return plan.Make(ctx, model.source(), o)
}

// Propagate gives every value of a model the sharding that follows from the user's by Shardy's rules. Rounds of user
// priorities above MaxPriority do not run: their dimensions stay without axes. Work ends with the context, whose error is
// the answer then.
func Propagate(ctx context.Context, model *Model, o PropagateOptions) (*Propagation, error) {
	return explain.Propagate(ctx, model.source(), o)
}

// Explain says why a value of a model is sharded as it is after propagation: step by step from what the user wrote.
// Unknown values and axes fail with diag.ErrInvalid.
func Explain(ctx context.Context, model *Model, o ExplainOptions) (*Explanation, error) {
	return explain.Explain(ctx, model.source(), o)
}

// NewExplainer propagates a model and keeps how that went. Work ends with the context, whose error is the answer then.
func NewExplainer(ctx context.Context, model *Model, o PropagateOptions) (*Explainer, error) {
	return explain.NewExplainer(ctx, model.source(), o)
}

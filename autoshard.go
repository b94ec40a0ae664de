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
	"time"

	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// PlanOptions says what to plan for.
type PlanOptions struct {
	Mesh     []subaxis.Axis // empty: the mesh that the model declares
	Hardware cost.Hardware
	Memory   int64  // bytes per device; 0: the hardware's memory
	Steps    int64  // budget of building the space and searching it; 0: search.DefaultSteps for each search
	Seed     uint64 // of the search
	Progress func(Progress)
	Now      func() time.Time // a clock, so that time is left before the context's deadline to write down what was found; may be nil

	TripCounts   []TripCount // of loops that the data ends, which are priced for one iteration otherwise
	WholeAxes    bool        // dimensions are cut along whole axes only, but for what the model says
	SerialMatmul bool        // no collective matmuls; else they are made where they are faster (cost.md section 3.5)
}

// Progress is a report of long work: the stage - read, propagate, baselines, space, search, lower, bound, verify - and, once
// a plan is known, the predicted step time of the best so far and the bound that no plan goes below, in seconds.
type Progress struct {
	Stage   string
	Seconds float64
	Bound   float64
}

// PropagateOptions says how to propagate.
type PropagateOptions struct {
	Mesh        []subaxis.Axis // empty: the mesh that the model declares
	MaxPriority int            // stop after the round of this user priority; negative: all rounds
	Value       string         // the trace has only what touches this value, as ExplainOptions.Value; empty: everything
}

// PlanSchema identifies the JSON form of a Plan.
const PlanSchema = "autoshard.plan/v1"

// Plan is the answer to a planning request. Its JSON form is plan.json; times are in seconds, sizes in bytes.
type Plan struct {
	Schema      string       `json:"schema"`
	Model       string       `json:"model"`
	Mesh        []MeshAxis   `json:"mesh"`
	Hardware    string       `json:"hardware"`
	Memory      int64        `json:"memoryLimit"` // per device
	Inputs      []Tensor     `json:"inputs"`
	Outputs     []Tensor     `json:"outputs"`
	Dropped     []string     `json:"dropped"` // arguments of the exported function that it does not use, where known: no inputs
	Collectives []Collective `json:"collectives"`
	Estimate    Estimate     `json:"estimate"`
	Baselines   []Baseline   `json:"baselines"`
	Certificate Certificate  `json:"certificate"`
	Findings    []Finding    `json:"findings"`
	Program     string       `json:"program"` // the sharded program with explicit collectives, as MLIR text
}

// MeshAxis is a named axis of the plan's mesh.
type MeshAxis struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Tensor is an input or output of the plan.
type Tensor struct {
	Index      int      `json:"index"`
	Name       string   `json:"name"`
	Role       string   `json:"role,omitempty"`     // param, opt_state, batch, … as the model says; batch also where its shape and use tell
	Type       string   `json:"type"`               // of the whole tensor, such as f32[128,512]
	LocalType  string   `json:"localType"`          // of one device's block
	Sharding   string   `json:"sharding"`           // Shardy's text, such as <@mesh, [{"data"}, {}]>
	Spec       string   `json:"spec"`               // PartitionSpec form, such as P('data', None)
	Axes       []string `json:"axes"`               // the mesh axes that cut it, sub-axes as x:(m)k
	WholeBytes int64    `json:"wholeBytes"`         // of the whole tensor
	Bytes      int64    `json:"bytes"`              // of one device's block
	User       bool     `json:"user"`               // the user wrote a sharding for it
	Replaces   *int     `json:"replaces,omitempty"` // of an output: the input whose place it takes in the next step
}

// Collective is one communication of the per-device program.
type Collective struct {
	Kind    string   `json:"kind"`    // all_gather, reduce_scatter, all_reduce, all_to_all, collective_permute
	Axes    []string `json:"axes"`    // the mesh axes it runs over, sub-axes as x:(m)k
	Type    string   `json:"type"`    // of one device's operand
	Count   int64    `json:"count"`   // how often one step executes it
	Bytes   int64    `json:"bytes"`   // that all devices together send in one step
	Seconds float64  `json:"seconds"` // predicted time in one step
	Source  string   `json:"source"`  // the value it moves, with source line where known
}

// Estimate is the predicted cost of one step on one device.
type Estimate struct {
	Seconds           float64 `json:"seconds"`
	ComputeSeconds    float64 `json:"computeSeconds"`
	CollectiveSeconds float64 `json:"collectiveSeconds"`
	PeakBytes         int64   `json:"peakBytes"`
	SentBytes         int64   `json:"sentBytes"` // over all devices
}

// Baseline is a plan that needs no search, for comparison: replicated, data parallel, or the annotations alone.
type Baseline struct {
	Name     string   `json:"name"`
	Note     string   `json:"note,omitempty"` // why it does not apply or does not fit
	Fits     bool     `json:"fits"`           // within the memory limit
	Estimate Estimate `json:"estimate"`
}

// Certificate says how good the plan is: the predicted step time, which is that of the estimate, and a lower bound on it for all
// plans that were searched, in picoseconds. A bound of 0 is none.
type Certificate struct {
	Cost   int64   `json:"cost"`
	Bound  int64   `json:"bound"`
	Gap    float64 `json:"gap"`    // (cost - bound) / cost
	Status string  `json:"status"` // optimal, feasible or early
	Steps  int64   `json:"steps"`
	Seed   uint64  `json:"seed"`
}

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

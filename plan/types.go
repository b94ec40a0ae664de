package plan

import (
	"time"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/program"
	"autoshard/rewrites"
	"autoshard/search"
	"autoshard/subaxis"
)

// Options says what to plan for.
type Options struct {
	Mesh     []subaxis.Axis // empty: the mesh that the model declares
	Devices  int64          // without a mesh: the number of devices for which [Make] chooses one; 0: none is chosen
	Hardware cost.Hardware  // without a name: that of cost.DefaultProfile
	Memory   int64          // bytes per device; 0: the hardware's memory
	Steps    int64          // budget of building the space and searching it; 0: search.DefaultSteps for each search
	Seed     uint64         // of the search
	// SearchMemory is the most bytes that planning may hold, by an account of what models, baselines, problems and searches take; 0:
	// [DefaultSearchMemory]. What would take more is left out, and a finding says so.
	SearchMemory int64
	Progress     func(Progress)
	// Now is a clock, so that time is left before the context's deadline to write down what was found; may be nil. Several goroutines may ask.
	Now func() time.Time

	Pins       []Pin       // shardings of inputs and outputs beside those that the model has; of two for one value the last counts
	Forbidden  []Forbid    // axes that are kept away from inputs and outputs
	Budgets    []Budget    // that a step's collectives keep
	TripCounts []TripCount // of loops that the data ends, which are priced for one iteration otherwise
	// Taste is the part of a step that a plan may take more whose inputs are cut more plainly; 0: [DefaultTaste], below: none.
	Taste     float64
	WholeAxes bool         // dimensions are cut along whole axes only, but for what the model says
	Without   rewrites.Set // rewrites of programs that are not made; the others are made where they gain
	// From is a plan of this program or of one like it, with other numbers of layers, names or sizes, that the search begins with; nil for
	// none. The answer is never worse than what it leads to here, where that fits and keeps what is wanted: this program with its inputs,
	// outputs and ops cut as theirs are, in as many microbatches.
	From *Plan
}

// Progress is a report of long work: the stage - read, propagate, baselines, rules, space, search, lower, bound, write, verify - and,
// once a plan is known, the predicted step time of the best so far and the bound that no plan goes below, in seconds.
type Progress struct {
	Stage      string
	Seconds    float64
	Bound      float64
	Strategies int // of all ops, in the problem that is searched; 0 before there is one
}

// Schema identifies the JSON form of a Plan.
const Schema = "autoshard.plan/v1"

// Plan is the answer to a planning request. Its JSON form is plan.json; times are in seconds, sizes in bytes.
type Plan struct {
	Schema string            `json:"schema"` // the format and its number
	Model  string            `json:"model"`  // name of the program
	Mesh   []answer.MeshAxis `json:"mesh"`   // axes from major to minor
	// the mesh with axes cut where shardings use parts of them, so that no refinedSpec needs a part of an axis: it lists the same devices in
	// the same order; empty where the parts have no common refinement
	RefinedMesh  []answer.MeshAxis `json:"refinedMesh"`
	Hardware     string            `json:"hardware"`               // name of the profile that prices are of
	Memory       int64             `json:"memoryLimit"`            // bytes that a device may hold
	Inputs       []answer.Tensor   `json:"inputs"`                 // of the program, in order
	Outputs      []answer.Tensor   `json:"outputs"`                // likewise
	Dropped      []string          `json:"dropped"`                // arguments of the exported function that it does not use, where known: no inputs
	Constraints  []Constraint      `json:"constraints"`            // that the user wrote inside the program, in program order
	Collectives  []Collective      `json:"collectives"`            // in program order
	Merged       *Merging          `json:"merged,omitempty"`       // absent where no collectives are sent as one
	Rewrites     []Gain            `json:"rewrites"`               // that changed the program and what they save
	Recomputed   []Recomputed      `json:"recomputed"`             // values that the program makes again instead of holding them, in program order
	Microbatches int64             `json:"microbatches,omitempty"` // parts that the program computes the batch in, one after the other; absent where it computes it at once
	Estimate     program.Estimate  `json:"estimate"`               // of one step of the plan
	Baselines    []Baseline        `json:"baselines"`              // plans that need no search
	Timeline     Timeline          `json:"timeline"`               // of a step with collectives beside other ops
	Certificate  Certificate       `json:"certificate"`            // how good the plan is
	Meshes       []TriedMesh       `json:"meshes"`                 // that were tried where the mesh was chosen, this one first; empty where it was given
	Options      Request           `json:"options"`                // what was asked for
	Hashes       Hashes            `json:"hashes"`                 // of the plan and what it was made from
	Findings     []answer.Finding  `json:"findings"`               // what the plan does not keep or does not know, in the order of the model
	Program      string            `json:"program"`                // the sharded program with explicit collectives, as MLIR text

	// Unknown are the fields of the file that the plan was read from which this version does not know, such as estimate.joules.
	Unknown []string `json:"-"`
}

// Collective is one communication of the per-device program.
type Collective struct {
	Kind    string   `json:"kind"`             // all_gather, reduce_scatter, all_reduce, all_to_all, collective_permute, collective_broadcast or _reduce
	Axes    []string `json:"axes"`             // the mesh axes it runs over, sub-axes as x:(m)k
	Groups  []string `json:"groups,omitempty"` // where it runs over none: the devices of each group, as 0,3
	Type    string   `json:"type"`             // of one device's operand; of a merged one the first, and how many more there are
	Count   int64    `json:"count"`            // how often one step executes it
	Bytes   int64    `json:"bytes"`            // that all devices together send in one step
	Seconds float64  `json:"seconds"`          // predicted time in one step
	Source  string   `json:"source"`           // the value it moves, with source line where known
}

// Merging is what is gained by sending collectives of one kind over the same axes as one.
type Merging struct {
	Collectives  int     `json:"collectives"`  // that would be sent otherwise
	Into         int     `json:"into"`         // that are sent
	SavedSeconds float64 `json:"savedSeconds"` // predicted, of one step
}

// Gain is what a rewrite of the plan's program saves of a step: the program beside one that is lowered without the rewrite.
type Gain struct {
	Rewrite      string  `json:"rewrite"`      // its name
	SavedSeconds float64 `json:"savedSeconds"` // predicted; below 0 where it takes more
	SavedBytes   int64   `json:"savedBytes"`   // that all devices together send
	SavedPeak    int64   `json:"savedPeak"`    // of the most bytes that a device holds
}

// Recomputed is a value that the program makes again where it is needed, by the same op, instead of holding it until then.
type Recomputed struct {
	Op      string  `json:"op"`      // kind of the op that makes it
	Type    string  `json:"type"`    // of a device's block
	Count   int64   `json:"count"`   // how often one step makes it again
	Seconds float64 `json:"seconds"` // predicted, of the ops that make it again in one step, each by itself
	Source  string  `json:"source"`  // where the user wrote it: scope and line
}

// Baseline is a plan that needs no search, for comparison: replicated, data parallel, or the annotations alone.
type Baseline struct {
	Name     string           `json:"name"`           // replicated, data parallel or annotations only
	Note     string           `json:"note,omitempty"` // why it does not apply or does not fit
	Fits     bool             `json:"fits"`           // within the memory limit
	Estimate program.Estimate `json:"estimate"`       // of one step
}

// Certificate says how good the plan is: the predicted step time, which is that of the estimate, and a lower bound on it for all
// plans that were searched, in picoseconds. A bound of 0 is none.
type Certificate struct {
	Cost   int64   `json:"cost"`   // picoseconds of a step
	Bound  int64   `json:"bound"`  // that no plan of the search space is below
	Gap    float64 `json:"gap"`    // (cost - bound) / cost
	Status string  `json:"status"` // optimal, feasible or early
	Steps  int64   `json:"steps"`  // that building the space and searching it took
	Seed   uint64  `json:"seed"`   // of the search
	// which plans the bound is about, such as one "of the whole batch that computes nothing twice"; absent where it is about all that were
	// searched, or in plans of earlier versions
	Scope string `json:"scope,omitempty"`
}

// Optimal says whether no plan of the search space is below the plan's cost. A gap of 0 does not say so of a plan that comes below the
// bound, as it saves time by computing something twice: no plan that computes nothing twice is below it.
func (c *Certificate) Optimal() bool { return c.Status == search.Optimal.String() }

package plan

import (
	"time"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/program"
	"autoshard/subaxis"
)

// Options says what to plan for.
type Options struct {
	Mesh     []subaxis.Axis // empty: the mesh that the model declares
	Hardware cost.Hardware  // without a name: that of cost.DefaultProfile
	Memory   int64          // bytes per device; 0: the hardware's memory
	Steps    int64          // budget of building the space and searching it; 0: search.DefaultSteps for each search
	Seed     uint64         // of the search
	// SearchMemory is the most bytes that planning may hold, by an account of what models, baselines, problems and searches take; 0:
	// [DefaultSearchMemory]. What would take more is left out, and a finding says so.
	SearchMemory int64
	Progress     func(Progress)
	Now          func() time.Time // a clock, so that time is left before the context's deadline to write down what was found; may be nil

	TripCounts   []TripCount // of loops that the data ends, which are priced for one iteration otherwise
	WholeAxes    bool        // dimensions are cut along whole axes only, but for what the model says
	SerialMatmul bool        // no collective matmuls; else they are made where they are faster (cost.md section 3.5)
	Separate     bool        // no merged collectives; else they are merged where that is faster
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
	Schema      string            `json:"schema"`
	Model       string            `json:"model"`
	Mesh        []answer.MeshAxis `json:"mesh"`
	Hardware    string            `json:"hardware"`
	Memory      int64             `json:"memoryLimit"` // per device
	Inputs      []answer.Tensor   `json:"inputs"`
	Outputs     []answer.Tensor   `json:"outputs"`
	Dropped     []string          `json:"dropped"` // arguments of the exported function that it does not use, where known: no inputs
	Collectives []Collective      `json:"collectives"`
	Merged      *Merging          `json:"merged,omitempty"`
	Estimate    program.Estimate  `json:"estimate"`
	Baselines   []Baseline        `json:"baselines"`
	Certificate Certificate       `json:"certificate"`
	Findings    []answer.Finding  `json:"findings"`
	Program     string            `json:"program"` // the sharded program with explicit collectives, as MLIR text
}

// Collective is one communication of the per-device program.
type Collective struct {
	Kind    string   `json:"kind"`    // all_gather, reduce_scatter, all_reduce, all_to_all, collective_permute
	Axes    []string `json:"axes"`    // the mesh axes it runs over, sub-axes as x:(m)k
	Type    string   `json:"type"`    // of one device's operand; of a merged one the first, and how many more there are
	Count   int64    `json:"count"`   // how often one step executes it
	Bytes   int64    `json:"bytes"`   // that all devices together send in one step
	Seconds float64  `json:"seconds"` // predicted time in one step
	Source  string   `json:"source"`  // the value it moves, with source line where known
}

// Merging is what is gained by sending collectives of one kind over the same axes as one.
type Merging struct {
	Collectives  int     `json:"collectives"`  // that would be sent otherwise
	Into         int     `json:"into"`         // that are sent
	SavedSeconds float64 `json:"savedSeconds"` // predicted, of one step
}

// Baseline is a plan that needs no search, for comparison: replicated, data parallel, or the annotations alone.
type Baseline struct {
	Name     string           `json:"name"`
	Note     string           `json:"note,omitempty"` // why it does not apply or does not fit
	Fits     bool             `json:"fits"`           // within the memory limit
	Estimate program.Estimate `json:"estimate"`
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

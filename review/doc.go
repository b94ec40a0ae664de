// Package review makes of a propagation or a plan one document that a page in a browser shows: the program by module path and layer, every
// step of the propagation, or what a step of the plan takes, holds and sends.
//
//	x, err := explain.NewExplainer(ctx, source, explain.Options{})
//	d, err := review.Propagation(ctx, x)   // or review.Plan(ctx, plan, hardware)
//	page, err := json.Marshal(d)
//
// The document is made for programs of 100,000 operations: rows of operations, values and steps are columns of numbers, and every text,
// type, list of axes and sharding is written once and named by its place in a table. The same input gives the same bytes.
package review

import (
	"bytes"

	"autoshard/answer"
	"autoshard/plan"
	"autoshard/program"
	"autoshard/trace"
)

// Schema identifies the JSON form of a Document.
const Schema = "autoshard.review/v1"

// Document is what a page shows. Texts are numbers of Strings, unless a field says otherwise; -1 stands for none. Times are in seconds,
// sizes in bytes.
type Document struct {
	Schema    string            `json:"schema"`
	Model     string            `json:"model"` // its name, itself
	File      string            `json:"file"`  // that most operations come from, itself; their lines are :12
	Mesh      []answer.MeshAxis `json:"mesh"`
	DeviceIDs []int64           `json:"deviceIds"` // by place in the mesh
	Strings   []string          `json:"strings"`
	Axes      [][]AxisPart      `json:"axes"` // lists of axes, major to minor; the first is empty
	Types     []Type            `json:"types"`
	Shardings []Sharding        `json:"shardings"` // the first is that of a value that has none
	Scopes    Scopes            `json:"scopes"`
	Ops       Ops               `json:"ops"`
	Values    Values            `json:"values"`
	Inputs    []answer.Tensor   `json:"inputs"`
	Outputs   []answer.Tensor   `json:"outputs"`
	Findings  []answer.Finding  `json:"findings"`

	Propagation *Steps `json:"propagation,omitempty"`
	Plan        *Step  `json:"plan,omitempty"`
}

// AxisPart is an axis of the mesh, or the part (Pre)Size of one.
type AxisPart struct {
	Axis int32 `json:"axis"` // of the mesh
	Pre  int32 `json:"pre"`
	Size int32 `json:"size"`
}

// Type is the type of a value.
type Type struct {
	Text  string  `json:"text"` // f32[8,16], itself
	Dims  []int64 `json:"dims"`
	Bytes int64   `json:"bytes"` // of the whole
}

// Sharding is how a value lies.
type Sharding struct {
	Dims      []int32 `json:"dims"`      // lists of axes, by dimension
	Unreduced int32   `json:"unreduced"` // list of axes along which devices hold summands
}

// Scopes are the parts of the program: the module itself first, then parts in the order in which they begin.
type Scopes struct {
	Name   []int32 `json:"name"`
	Parent []int32 `json:"parent"`
	Like   []int32 `json:"like"` // the first part beside this one that does the same, itself where there is none
}

// Ops are the operations in program order, those of regions behind what they belong to.
type Ops struct {
	Kind     []int32 `json:"kind"`
	Scope    []int32 `json:"scope"`
	Source   []int32 `json:"source"`   // line
	Inside   []int32 `json:"inside"`   // the operation in whose region it is, -1
	Operands []int32 `json:"operands"` // values of all operations
	First    []int32 `json:"first"`    // where its operands begin; one more than operations
}

// Values are arguments, results of operations, and behind these the results of the program.
type Values struct {
	Name     []int32 `json:"name"`
	Type     []int32 `json:"type"`
	Sharding []int32 `json:"sharding"` // in the end
	Op       []int32 `json:"op"`       // that makes it, -1 of arguments, -2 of results of the program
}

// Steps are what a propagation did. All columns but the last two are of steps, those of Trace.Events.
type Steps struct {
	Kind     []int32   `json:"kind"` // trace.Kind
	Level    []int32   `json:"level"`
	Op       []int32   `json:"op"` // -1: a result of the program
	Axes     []int32   `json:"axes"`
	From     []int32   `json:"from"` // values; dimensions follow
	FromDim  []int32   `json:"fromDim"`
	To       []int32   `json:"to"`
	ToDim    []int32   `json:"toDim"`
	Now      []int32   `json:"now"` // axes of To behind the step
	Reason   []int32   `json:"reason"`
	Against  []int32   `json:"against"` // axes
	Other    []int32   `json:"other"`   // value that has them; its dimension follows
	OtherDim []int32   `json:"otherDim"`
	Change   []int32   `json:"change"` // what would let a refused axis pass
	Causes   [][]int32 `json:"causes"` // steps
	Given    []Given   `json:"given"`
	Levels   []Level   `json:"levels"`
	Rounds   []Round   `json:"rounds"`
	Owner    []int32   `json:"owner"` // by value: the one under whose name the trace has its axes
}

// Given is what a dimension had before the first step, or gets from its user at a later user priority.
type Given struct {
	Value  int32 `json:"value"`
	Dim    int32 `json:"dim"`
	Axes   int32 `json:"axes"`
	By     int32 `json:"by"`
	Source int32 `json:"source"`
}

// Round is a user priority.
type Round struct {
	UserPriority int32         `json:"userPriority"`
	Summary      trace.Summary `json:"summary"`
}

// Level is an op priority of a user priority: steps that follow each other.
type Level struct {
	UserPriority int32         `json:"userPriority"`
	OpPriority   int32         `json:"opPriority"`
	First        int32         `json:"first"` // step
	Steps        int32         `json:"steps"`
	Groups       []trace.Group `json:"groups"` // whose steps count from First
	Gathered     *Gathered     `json:"gathered,omitempty"`
}

// Gathered is what each device would gather if propagation ended with a level.
type Gathered struct {
	Bytes  int64   `json:"bytes"`
	Values []int32 `json:"values"`
	Each   []int64 `json:"each"` // bytes, by value of Values
	Note   string  `json:"note,omitempty"`
}

// Step is what a step of a plan takes, holds and sends.
type Step struct {
	Hardware    string             `json:"hardware"`
	MemoryLimit int64              `json:"memoryLimit"`
	Estimate    program.Estimate   `json:"estimate"`
	Baselines   []plan.Baseline    `json:"baselines"`
	Certificate plan.Certificate   `json:"certificate"`
	Collectives []plan.Collective  `json:"collectives"`
	Constraints []plan.Constraint  `json:"constraints"`
	Rewrites    []plan.Gain        `json:"rewrites"`
	Recomputed  []plan.Recomputed  `json:"recomputed"`
	Meshes      []plan.TriedMesh   `json:"meshes"`
	Options     plan.Request       `json:"options"`
	Hash        string             `json:"hash"`
	Timeline    Timeline           `json:"timeline"`
	Breakdown   *program.Breakdown `json:"breakdown"`
	Memory      *program.Memory    `json:"memory"`
}

// Timeline is a simulated step: columns of events, in program order. Tracks are the units, then kinds of links.
type Timeline struct {
	Seconds float64   `json:"seconds"`
	Tracks  []string  `json:"tracks"`
	Name    []int32   `json:"name"`
	Type    []int32   `json:"type"`   // text
	Source  []int32   `json:"source"` // line
	Scope   []int32   `json:"scope"`
	On      [][]int32 `json:"on"`     // tracks
	Start   []float64 `json:"start"`  // microseconds
	Length  []float64 `json:"length"` // microseconds
	Waited  []float64 `json:"waited"` // microseconds that the units stood still for it
	Moves   []int64   `json:"moves"`  // bytes that all devices send, of a collective
}

// Is says whether a text is the JSON form of a Document, by how it begins.
func Is(text []byte) bool { return bytes.HasPrefix(text, []byte(`{"schema":"`+Schema+`"`)) }

package resharding

import (
	"autoshard/answer"
	"autoshard/blocks"
	"autoshard/cost"
	"autoshard/subaxis"
)

// Request asks for a way between two shardings of a tensor.
type Request struct {
	Mesh   []subaxis.Axis
	Tensor string // its type: f32[64,128]
	// From and To are shardings as Shardy writes them, <@mesh, [{"x"}, {}]> or [{"x"}, {}], or as JAX does, P('x', None), with parts of
	// axes as 'x':(1)2. Open dimensions, priorities and replicated axes mean nothing here.
	From, To string
	Hardware cost.Hardware // without a name: that of cost.DefaultProfile
	Memory   int64         // that a step may take of a device, for what it reads and what it makes; 0: the hardware's
	Book     bool          // prices by the conventions of "How to Scale Your Model": nominal rates, asymptotic rings, slices for nothing
}

// Schema identifies the JSON form of an Answer.
const Schema = "autoshard.reshard/v1"

// Answer is the cheapest way. Times are in seconds, sizes in bytes.
type Answer struct {
	Schema   string            `json:"schema"`
	Tensor   string            `json:"tensor"`
	Mesh     []answer.MeshAxis `json:"mesh"`
	Hardware string            `json:"hardware"`
	Memory   int64             `json:"memoryLimit"` // per device
	From     blocks.Place      `json:"from"`
	To       blocks.Place      `json:"to"`
	Steps    []Step            `json:"steps"`
	Totals
	Ours    *Totals `json:"ours,omitempty"`   // of the way that plans take, where the prices are those of the book
	Shardy  *Totals `json:"shardy,omitempty"` // what Shardy's sdy-reshard-to-collectives takes; absent where that is the same, or nothing
	Program string  `json:"program"`          // the steps, as MLIR text
}

// Totals are what steps take together.
type Totals struct {
	Collectives int     `json:"collectives"` // that send something
	Bytes       int64   `json:"bytes"`       // that all devices together send
	Seconds     float64 `json:"seconds"`
	PeakBytes   int64   `json:"peakBytes"` // of a device, for what the largest step reads and makes
}

// Step is one communication.
type Step struct {
	Kind      string   `json:"kind"`           // all_slice, all_gather, reduce_scatter, all_reduce, all_to_all, collective_permute
	Axes      []string `json:"axes"`           // it runs over, sub-axes as x:(m)k
	Dim       *int     `json:"dim,omitempty"`  // that is cut or joined; of an all_to_all the one that is joined; absent where none is
	Cuts      *int     `json:"cuts,omitempty"` // of an all_to_all the one that is cut
	Spec      string   `json:"spec"`           // of the result, in autoshard's notation
	Block     string   `json:"block"`          // the type of a block of the result
	Bytes     int64    `json:"bytes"`          // that all devices together send
	Seconds   float64  `json:"seconds"`
	PeakBytes int64    `json:"peakBytes"` // of a device, for what it reads and what it makes
}

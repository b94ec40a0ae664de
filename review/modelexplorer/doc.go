// Package modelexplorer writes what a propagation or a plan decides as node data for Google's Model Explorer, which shows them over the
// graph of the model's file.
//
//	d, err := modelexplorer.Propagation(ctx, model, recording, modelexplorer.Sharding)
//	file, err := d.JSON()
//
// Node data are values by graph and node. Of an MLIR file, Model Explorer's adapter makes a graph of each function, and a node of each
// operation: they are numbered in the order of the text, those of regions and what ends them included. Propagations and plans are about
// another program, in which functions are inlined and communications written out; every operation there knows the place that it comes
// from. Where several come from one, as those of a function that is called twice, its node shows what they are together.
package modelexplorer

import (
	"encoding/json"
	"slices"

	"autoshard/internal/diag"
)

// Quantity is what nodes show.
type Quantity string

// The quantities. The last two are of plans alone.
const (
	Sharding Quantity = "sharding" // how the results of an operation lie
	Memory   Quantity = "memory"   // bytes of a device's blocks of the results of an operation
	Time     Quantity = "time"     // microseconds of a step
	Sent     Quantity = "sent"     // bytes that all devices together send in a step
)

// Quantities returns all quantities.
func Quantities() []Quantity { return []Quantity{Sharding, Memory, Time, Sent} }

// OfPlans says whether only plans have the quantity.
func (q Quantity) OfPlans() bool { return q == Time || q == Sent }

// check fails with diag.ErrInvalid for what is no quantity.
func (q Quantity) check() error {
	if slices.Contains(Quantities(), q) {
		return nil
	}
	return diag.Invalid(diag.BadOption, diag.Position{}, "there are no node data called `%s`: they are sharding, memory, time or sent", q)
}

// Document are the node data of a model.
type Document struct {
	Graphs map[string]*Graph // by function
	// Shared counts nodes of operations whose place in the source others have, too, so that what these are is known of all of them only.
	Shared int
	// Elsewhere is the part of the time or of the bytes, from 0 to 1, of what stands at no place of the model.
	Elsewhere float64
}

// Graph are the node data of a function, as Model Explorer's node_data_builder.GraphNodeData has them.
type Graph struct {
	Name     string            `json:"name"`
	Results  map[string]Result `json:"results"` // by node
	Gradient []Stop            `json:"gradient,omitempty"`
	Expanded bool              `json:"showExpandedSummaryOnGroupNode,omitempty"`
	Counts   bool              `json:"showLabelCountColumnsInChildrenStatsTable,omitempty"`
}

// Result is what a node shows: a text or a number.
type Result struct {
	Value any    `json:"value"`
	Back  string `json:"bgColor,omitempty"`
	Text  string `json:"textColor,omitempty"`
}

// Stop is the colour of a part of the way, from 0 to 1, between the least and the largest number of a graph.
type Stop struct {
	At   float64 `json:"stop"`
	Back string  `json:"bgColor"`
	Text string  `json:"textColor"`
}

// JSON returns the document as a file that Model Explorer opens.
func (d *Document) JSON() ([]byte, error) {
	text, err := json.Marshal(d.Graphs)
	return append(text, '\n'), err
}

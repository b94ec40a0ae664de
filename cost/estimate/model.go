// Package estimate prices programs: it maps ops, reshards and whole per-device programs to the formulas of package
// cost for one mesh on one hardware.
//
//	md, err := estimate.New(hw, mesh)
//	md.Price(collectives.AllReduce, axes, bytes) // picoseconds
//	step, err := md.Program(ctx, p)              // of one step: compute, collectives, peak memory
//
// Local ops take the larger of their arithmetic and their memory traffic at the hardware's rates (cost.md section
// 3.4), with elementwise chains fused ([fusion.Of]); collectives take the time of cost.md section 2. Nothing overlaps but the permutes
// of collective matmuls, which send while their products compute (cost.md section 3.5). What is fused is in memory nowhere, but what it is
// computed of is until it is read.
package estimate

import (
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// Model prices what runs on one mesh of one hardware.
type Model struct {
	hardware cost.Hardware
	topology *cost.Topology
	mesh     subaxis.Mesh
	permuted permuted
	toll     Toll // nil for none
}

// Toll is what a collective of a kind along some axes costs on top, in picoseconds, where all devices together send so many bytes by it.
type Toll func(kind collectives.Kind, axes []subaxis.Ref, bytes int64) int64

// New returns the model of a mesh on a hardware, under the options to plan with. The error is of class
// diag.ErrInvalid.
func New(hw cost.Hardware, mesh subaxis.Mesh) (*Model, error) {
	return NewUnder(hw, mesh, cost.Planning())
}

// NewUnder is New under other options.
func NewUnder(hw cost.Hardware, mesh subaxis.Mesh, o cost.Options) (*Model, error) {
	topology, err := cost.NewTopology(hw, mesh, o)
	if err != nil {
		return nil, err
	}
	return &Model{hardware: hw, topology: topology, mesh: mesh, permuted: permuted{costs: map[string]cost.Cost{}}}, nil
}

// Tolled returns the model with a toll on collectives.
func (md *Model) Tolled(toll Toll) *Model {
	return &Model{hardware: md.hardware, topology: md.topology, mesh: md.mesh, permuted: permuted{costs: map[string]cost.Cost{}}, toll: toll}
}

// priced returns the picoseconds of a collective with its toll.
func (md *Model) priced(kind collectives.Kind, axes []subaxis.Ref, c cost.Cost) int64 {
	ps := cost.Picoseconds(c.Seconds)
	if md.toll != nil && c.TotalBytes > 0 {
		ps += md.toll(kind, axes, c.TotalBytes)
	}
	return ps
}

// Price implements collectives.Pricer. A slice sends nothing but copies what it keeps, which counts where rates are fitted.
func (md *Model) Price(kind collectives.Kind, axes []subaxis.Ref, bytes int64) int64 {
	if kind == collectives.AllSlice {
		if !md.topology.Options().Fitted {
			return 0
		}
		copied := cost.Work{Bytes: 2 * float64(bytes/subaxis.Product(axes))}
		return cost.Picoseconds(md.hardware.Op(copied, md.topology.Options()).Seconds)
	}
	v := collectives.GroupBytes(kind, subaxis.Product(axes), bytes)
	return md.priced(kind, axes, md.topology.Collective(kind, axes, v))
}

// Start returns the picoseconds that a collective of a kind over some axes takes before it sends anything and saves where it is sent as one
// with another.
func (md *Model) Start(kind collectives.Kind, axes []subaxis.Ref) int64 {
	whole := md.Price(kind, axes, 0)
	return whole - int64(float64(whole)*md.again())
}

// again returns the part of what a collective takes before it sends that each further array takes.
func (md *Model) again() float64 {
	if !md.topology.Options().Fitted {
		return 0
	}
	return md.hardware.Arrays
}

// collective prices one run of a collective of a program.
func (md *Model) collective(m *ir.Module, c *shardmap.Collective) int64 {
	return md.priced(c.Kind, c.Axes, md.costOf(m, c))
}

// Written prices one run of an op that the user wrote in a manual computation and that communicates, in picoseconds; 0 for other ops.
func (md *Model) Written(m *ir.Module, op ir.OpID) int64 {
	c, ok := shardmap.Written(m, op, &md.mesh)
	if !ok {
		return 0
	}
	return md.collective(m, &c)
}

// costOf returns the cost of one run of a collective of a program with as many arrays as it has results.
func (md *Model) costOf(m *ir.Module, c *shardmap.Collective) cost.Cost {
	out := md.alone(c)
	if n := m.NumResults(c.Op); n > 1 {
		more := float64(n-1) * md.again() * (out.Overhead + out.Latency)
		out.Overhead, out.Seconds = out.Overhead+more, out.Seconds+more
	}
	return out
}

// alone returns the cost of a collective of one array. What an op fetches of other blocks is priced by the way there.
func (md *Model) alone(c *shardmap.Collective) cost.Cost {
	switch {
	case c.Fetch != nil:
		return md.topology.Permutation(pairs(&md.mesh, c.Axes, c.Fetch), c.Bytes)
	case c.Members != nil:
		return md.topology.Among(c.Kind, c.Members, c.Bytes)
	}
	return md.topology.Collective(c.Kind, c.Axes, collectives.GroupBytes(c.Kind, subaxis.Product(c.Axes), c.Bytes))
}

// Op prices one op on blocks of the given local shapes, in picoseconds.
func (md *Model) Op(m *ir.Module, op ir.OpID, operands, results [][]int64, fused []bool) int64 {
	w := WorkOf(m, op, operands, results, fused)
	return cost.Picoseconds(md.hardware.Op(w, md.topology.Options()).Seconds)
}

// Counting prices what a device does beside an iota itself where it counts from the beginning of its block on, in picoseconds: it
// spreads the index of its first element and adds it to each.
func (md *Model) Counting(t dtype.Type, elements int64) int64 {
	each := func(n int64) int64 {
		return cost.Picoseconds(md.hardware.Op(cost.Work{DType: t, FLOPs: float64(n)}, md.topology.Options()).Seconds)
	}
	if t.Kind() == dtype.Float {
		return each(1) + 2*each(elements) // the index is converted
	}
	return 2 * each(elements)
}

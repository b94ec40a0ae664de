// Package collectives knows the communications between devices that hold blocks of one tensor, finds sequences of them
// that turn one sharding into another - the cheapest, or the one that Shardy takes - and makes the communications of an
// annotated program explicit.
//
//	p := collectives.NewPlanner(pricer, mesh.Axes)
//	steps := p.Cheapest(&collectives.Reshard{...}) // [all_slice dim 1 by "y", all_gather dim 0 by "x"]
//
// A sharding is seen here as a [Layout]: the axes that cut each dimension, and the axes along which the blocks are
// partial values still to be reduced. Specification: cost.md section 2.7, shardy.md sections 1.6 and 5.
package collectives

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// Kind is a kind of communication.
type Kind uint8

// The kinds, with their meaning on the blocks of one group of devices along the step's axes. Reshards consist of those to Permute; the
// others only users write.
const (
	AllSlice      Kind = iota // each device keeps its part of a dimension; nothing is sent
	AllGather                 // blocks are joined along a dimension
	ReduceScatter             // partial blocks are reduced, each device keeps its part of a dimension
	AllReduce                 // partial blocks are reduced, every device gets the result
	AllToAll                  // joined along one dimension and cut along another
	Permute                   // each block goes to one other device
	Broadcast                 // every device gets the block of one
	Reduce                    // blocks are reduced for one device
)

// String returns the name of the kind as Shardy and StableHLO spell it.
func (k Kind) String() string {
	return [...]string{"all_slice", "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "collective_permute", "collective_broadcast",
		"collective_reduce"}[k]
}

// Layout is where the blocks of a tensor lie: per dimension the axes that cut it, major to minor, and the axes along
// which devices hold partial values.
type Layout struct {
	Dims      [][]subaxis.Ref
	Unreduced []subaxis.Ref
	Reduction ir.Reduction
}

// LayoutOf returns the layout of a sharding.
func LayoutOf(s *ir.Sharding) Layout {
	l := Layout{Dims: make([][]subaxis.Ref, len(s.Dims)), Unreduced: s.Unreduced, Reduction: s.Reduction}
	for i, d := range s.Dims {
		l.Dims[i] = d.Axes
	}
	return l
}

// Sharding returns the closed sharding with this layout.
func (l *Layout) Sharding(mesh ir.MeshID) ir.Sharding {
	s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, len(l.Dims)), Unreduced: l.Unreduced, Reduction: l.Reduction}
	for i, axes := range l.Dims {
		s.Dims[i] = ir.DimSharding{Axes: axes, Closed: true, Priority: ir.NoPriority}
	}
	return s
}

// Shards returns the number of different blocks: the product of all axes that cut a dimension.
func (l *Layout) Shards() int64 {
	n := int64(1)
	for _, axes := range l.Dims {
		n *= subaxis.Product(axes)
	}
	return n
}

// Independent says whether all axes of the layout are products of the axes of one finer mesh. The halves of six devices, and
// those with even and odd numbers, are not independent: the neighbour in the other half has the other parity, so that no
// collective leads from one block to the next.
func (l *Layout) Independent() bool { return coexist(*l, Layout{}) }

// Equal says whether two layouts put the same blocks on the same devices.
func (l *Layout) Equal(o *Layout) bool {
	return slices.Equal(l.Unreduced, o.Unreduced) && slices.EqualFunc(l.Dims, o.Dims, slices.Equal)
}

// LocalDims returns the shape of one block of a tensor of that shape. The last blocks of a dimension that is not divided evenly have
// less of it, or nothing, and are filled up.
func (l *Layout) LocalDims(dims []int64) []int64 {
	out := slices.Clone(dims)
	for i := range out {
		n := subaxis.Product(l.Dims[i])
		out[i] = (out[i] + n - 1) / n
	}
	return out
}

// LocalElements returns how many elements such a block has.
func (l *Layout) LocalElements(dims []int64) int64 {
	elements := int64(1)
	for i := range dims {
		n := subaxis.Product(l.Dims[i])
		elements *= (dims[i] + n - 1) / n
	}
	return elements
}

// Divides says whether a tensor of that shape is cut into equal blocks.
func (l *Layout) Divides(dims []int64) bool {
	for i, d := range dims {
		if d%subaxis.Product(l.Dims[i]) != 0 {
			return false
		}
	}
	return true
}

// Step is one communication of a plan.
type Step struct {
	Kind  Kind
	Axes  []subaxis.Ref // the axes of the groups, major to minor; for Permute all axes that cut the tensor before or after
	Dim   int           // the dimension that is cut or joined; for AllToAll the one that is joined
	To    int           // for AllToAll, the dimension that is cut
	Joint bool          // one op with the step before, of the same kind, along another dimension
	After Layout
}

// Pricer says what a step costs. Bytes are those of one device's operand; the result is in picoseconds. Several goroutines may ask at once.
type Pricer interface {
	Price(kind Kind, axes []subaxis.Ref, bytes int64) int64
}

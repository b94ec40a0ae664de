package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// Projection restates the shardings of an op's tensors, operands first, by the factors of its rule, and back. It is
// for passes after propagation; it keeps its memory from one op to the next (source: shardy.md section 3).
type Projection struct{ p projection }

// Project fills the projection with shardings on one mesh, one for each operand and then each result. Those that are 0
// count as open and empty. Slices that the projection gave out before stay valid.
func (p *Projection) Project(m *ir.Module, mesh ir.MeshID, r *ir.Rule, shardings []ir.ShardingID) {
	p.p.arena = nil
	p.p.project(m, mesh, r, shardings)
}

// Tensors returns the number of tensors.
func (p *Projection) Tensors() int { return len(p.p.tensors) }

// Dims returns the factors of each dimension of a tensor.
func (p *Projection) Dims(tensor int) [][]int32 { return p.p.dims(tensor) }

// Maps says whether a tensor has a factor.
func (p *Projection) Maps(tensor int, factor int32) bool {
	return p.p.tensors[tensor].factors[factor].mapped
}

// Axes returns the axes along which a tensor is sharded in a factor. The slice must not be changed.
func (p *Projection) Axes(tensor int, factor int32) []subaxis.Ref {
	return p.p.tensors[tensor].factors[factor].axes
}

// Overflow returns the axes of a dimension that fit none of its factors, at the factor where they stand.
func (p *Projection) Overflow(tensor int, factor int32) []subaxis.Ref {
	return p.p.tensors[tensor].factors[factor].overflow
}

// Set replaces the axes and the overflow of a factor that the tensor has, and says whether that changed anything.
func (p *Projection) Set(tensor int, factor int32, axes, overflow []subaxis.Ref) bool {
	fs := &p.p.tensors[tensor].factors[factor]
	if !fs.mapped || slices.Equal(fs.axes, axes) && slices.Equal(fs.overflow, overflow) {
		return false
	}
	fs.axes, fs.overflow = axes, overflow
	return true
}

// Sharding returns the sharding of a tensor that the projection describes, on a mesh with the same axes.
func (p *Projection) Sharding(tensor int, mesh ir.MeshID) ir.Sharding {
	return p.p.sharding(tensor, mesh)
}

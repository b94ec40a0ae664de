package reshard

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// hasSingle says whether a result of an op is on a single device.
func (r *inserter) hasSingle(op ir.OpID) bool {
	return !r.plain && slices.ContainsFunc(r.shardings[r.m.NumOperands(op):], r.isSingle)
}

// singleDevice brings the operands of an op to the single device that its results are on, and the results from there to
// all devices (source: shardy.md section 5.6a).
func (r *inserter) singleDevice(op ir.OpID) error {
	m := r.m
	results := r.shardings[m.NumOperands(op):]
	device := m.ShardingOf(results[slices.IndexFunc(results, r.isSingle)]).Mesh
	for _, id := range results {
		if r.isSingle(id) && !m.Mesh(m.ShardingOf(id).Mesh).Equal(&m.Mesh(device).Mesh) {
			return diag.Invalid(diag.BadSharding, m.Position(op), "`%s` has results on different single devices: put them on one", m.OpName(op))
		}
	}
	grid := r.firstGrid()
	if grid == 0 {
		return nil
	}
	single := m.Replicated(device, 0, true)
	before, after := m.BuilderBefore(op), m.BuilderAfter(op)
	for i := range m.NumOperands(op) {
		r.toDevice(op, i, r.sharding(m.Operand(op, i)), single, grid, before)
	}
	for i, id := range slices.Clone(results) {
		v := m.Result(op, i)
		if m.ValueType(v).Kind != ir.TensorKind {
			m.SetSharding(v, m.Replicated(grid, 0, true))
			continue
		}
		everywhere := m.Replicated(grid, len(m.Shape(v)), true)
		m.SetSharding(v, single)
		out := after.Reshard(v, everywhere)
		r.m.Divert(v, out)
		if id != 0 && !r.isSingle(id) && id != everywhere {
			r.m.Divert(out, after.Reshard(out, id))
		}
	}
	return nil
}

// toDevice brings operand i of an op to a single device, by way of all devices.
func (r *inserter) toDevice(op ir.OpID, i int, have, single ir.ShardingID, grid ir.MeshID, b *ir.Builder) {
	m := r.m
	v := m.Operand(op, i)
	if m.ValueType(v).Kind != ir.TensorKind || have == single {
		return
	}
	if have != 0 && (m.ShardingOf(have).Mesh != grid || !r.isReplicated(have)) {
		v = b.Reshard(v, m.Replicated(grid, len(m.Shape(v)), true))
	}
	m.SetOperand(op, i, b.Reshard(v, single))
}

// firstGrid returns the first named mesh of the module that has axes, 0 if there is none.
func (r *inserter) firstGrid() ir.MeshID {
	for id := range r.m.NamedMeshes() {
		if len(r.m.Mesh(id).Axes) > 0 {
			return id
		}
	}
	return 0
}

package propagate

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// CleanManualAxes sorts the axes of manual computations in mesh order and adds those that an operand or result
// does not use to its replicated axes, so that everything is said explicitly. It fails where manual axes are
// given without any sharding. Shardy: -sdy-manual-axes-cleanup.
func CleanManualAxes(m *ir.Module) error {
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyManualComputation) {
		if manual := dataflow.ManualAxes(m, op); len(manual) > 0 {
			if err := cleanManual(m, op, manual); err != nil {
				return err
			}
		}
	}
	return nil
}

func cleanManual(m *ir.Module, op ir.OpID, manual []subaxis.Ref) error {
	body := m.RegionBlock(op, 0)
	values := dataflow.Owners(m, op)
	mesh := commonMesh(m, values)
	if mesh == 0 {
		if m.FirstOp(body) == m.LastOp(body) {
			return nil
		}
		return diag.Invalid(diag.BadSharding, opPosition(m, op), "`sdy.manual_computation` has manual axes but no shardings")
	}
	manual = slices.Clone(manual)
	slices.SortFunc(manual, subaxis.Compare)
	m.SetAttrs(op, m.OpAttrs(op).With("manual_axes", &ir.AxesAttr{Mesh: mesh, Axes: manual}))
	for _, v := range values {
		if id := m.Sharding(v); id != 0 && m.ValueType(v).Kind == ir.TensorKind {
			addReplicated(m, v, mesh, manual)
		}
	}
	return nil
}

// addReplicated adds the manual axes that a sharding leaves out to its replicated axes.
func addReplicated(m *ir.Module, v ir.ValueID, mesh ir.MeshID, manual []subaxis.Ref) {
	s := m.ShardingOf(m.Sharding(v)).Clone()
	missing := subaxis.Difference(manual, s.AllAxes())
	if len(missing) == 0 {
		return
	}
	s.Mesh = mesh
	s.Replicated = subaxis.SortMerge(append(s.Replicated, missing...))
	m.SetSharding(v, m.InternSharding(s))
}

// commonMesh returns the first mesh of the values' shardings, preferring one that is not empty; 0 if there is none.
func commonMesh(m *ir.Module, values []ir.ValueID) ir.MeshID {
	var mesh ir.MeshID
	for _, v := range values {
		id := m.Sharding(v)
		if id == 0 {
			continue
		}
		if s := m.ShardingOf(id); mesh == 0 || m.Mesh(mesh).IsEmpty() {
			mesh = s.Mesh
		}
	}
	return mesh
}

func opPosition(m *ir.Module, op ir.OpID) diag.Position {
	at, _ := m.FilePos(m.OpLoc(op))
	return at
}

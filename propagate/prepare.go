package propagate

import "autoshard/ir"

// Normalize is the part of Import that leaves an ordinary program behind: meshes are named and equal ones merged,
// axes of size one are gone from shardings, every use of a constant has its own, and manual computations say which
// axes they replicate.
func Normalize(m *ir.Module) error {
	LiftInlinedMeshes(m)
	RemoveSizeOneAxes(m)
	if err := SplitConstants(m); err != nil {
		return err
	}
	return CleanManualAxes(m)
}

// Connect is the rest of Import: it inserts the data-flow edges along which shardings cross regions, applies
// constraints to what they constrain, and merges sharding groups. Disconnect takes it out again.
func Connect(m *ir.Module) error {
	AddDataFlowEdges(m)
	ApplyConstraints(m)
	return ImportGroups(m)
}

// Disconnect takes out what Connect inserted; values keep their ids and shardings.
func Disconnect(m *ir.Module) {
	SinkDataFlowEdges(m)
	RemoveGroups(m)
}

package propagate

import (
	"autoshard/ir"
)

// Import makes a module without calls ready for propagation: meshes named, constants split, shardings said
// explicitly, data-flow edges and constraints in place. Shardy: -sdy-import-pipeline and the passes between it
// and propagation.
func Import(m *ir.Module) error {
	if err := Normalize(m); err != nil {
		return err
	}
	return Connect(m)
}

// Close ends propagation: what only propagation needs is removed, arguments and results become divisible, and all
// dimensions are closed. Shardy: the start of -sdy-export-pipeline, up to -sdy-close-shardings, but constraints
// stay constraints, so that every value keeps its id.
func Close(m *ir.Module) {
	MergeConstants(m)
	Disconnect(m)
	UpdateNonDivisible(m)
	RemoveSubAxes(m)
	CloseShardings(m)
}

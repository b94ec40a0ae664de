package program

import (
	"context"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"
	"autoshard/shardmap/ring"
)

// PerDevice turns a program with explicit communications into that of one device over axes, with the rings and the merged collectives
// that it asks for.
func PerDevice(ctx context.Context, m *ir.Module, mesh ir.MeshID) (*shardmap.Program, error) {
	program, err := shardmap.Lower(ctx, m, mesh)
	if err != nil {
		return nil, err
	}
	if err := ring.Rewrite(ctx, program); err != nil {
		return nil, err
	}
	return program, merge.Rewrite(ctx, program)
}

// programFile is the name of the plan's program in positions.
const programFile = "program"

// atModel moves the places that an error has in the plan's program to the lines of the model that they come from, as far
// as these are known. Only the model is a text that the user has seen.
func atModel(m *ir.Module, err error) error {
	found := diag.Diagnostics(err)
	for i := range found {
		d := &found[i]
		if d.Pos.File != programFile || d.Pos.Line == 0 {
			continue
		}
		for op := ir.OpID(1); int(op) < m.NumOps(); op++ {
			if l := m.FileLoc(m.OpLoc(op)); m.OpPos(op) == d.Pos && l.Kind == ir.LocFile {
				d.Pos, d.Source = diag.Position{File: l.File, Line: l.Line, Col: l.Col}, ""
				break
			}
		}
	}
	return err
}

// Parse reads a partitioned program and verifies it.
func Parse(ctx context.Context, text string) (*ir.Module, ir.MeshID, error) {
	m, err := mlir.Parse(ctx, []byte(text), mlir.Options{File: programFile})
	if err != nil {
		return nil, 0, err
	}
	if err := ir.Verify(ctx, m); err != nil {
		return nil, 0, err
	}
	mesh, err := answer.ChooseMesh(m, nil)
	return m, mesh, err
}

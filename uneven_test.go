package autoshard_test

import (
	"errors"
	"os"
	"testing"

	"autoshard"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// Training steps and forward passes whose inputs are cut over three and over five devices, which divide next to no dimension, compute what
// JAX recorded: as annotated, and as the search goes on from there.
func TestRecordedModelsUneven(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	tried := map[string]bool{}
	for _, c := range recordedCases(t, shared, func(model, plan string) bool {
		again := tried[model]
		tried[model] = true
		return plan == "chosen" && !again
	}) {
		if c.mesh == nil { // the model has shardings
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for first, size := range []int64{3, 5} {
				model, err := autoshard.ReadModel(t.Context(), c.name+".mlir", cutInputs(t, c.text, size, first))
				if err != nil {
					t.Fatal(err)
				}
				o := autoshard.PlanOptions{Hardware: slowProcessor(t), Steps: 20_000}
				annotated, err := autoshard.PlanAsAnnotated(t.Context(), model, o)
				if err != nil {
					t.Fatal(err)
				}
				verify(t, annotated, c.inputs, c.expected, max(c.tolerance, 1e-4))
				chosen, err := autoshard.MakePlan(t.Context(), model, o)
				if errors.Is(err, autoshard.ErrInfeasible) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				verify(t, chosen, c.inputs, c.expected, max(c.tolerance, 1e-4))
			}
		})
	}
}

// cutInputs returns a program whose inputs are cut over so many devices, each along another dimension than the one before.
func cutInputs(t *testing.T, text []byte, size int64, first int) []byte {
	m, err := mlir.Parse(t.Context(), text, mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	over := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: size}}}
	mesh := m.AddMesh("mesh", over, nil, 0)
	for i, arg := range m.BlockArgs(m.MainFunc().Body) {
		dims := m.Shape(arg)
		if len(dims) == 0 {
			continue
		}
		s := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, len(dims))}
		for d := range s.Dims {
			s.Dims[d].Priority = ir.NoPriority
		}
		if d := (i + first) % len(dims); dims[d] >= size {
			s.Dims[d].Axes = []subaxis.Ref{over.Full(0)}
		}
		m.SetSharding(arg, m.InternSharding(s))
	}
	return mlir.Print(m, mlir.PrintOptions{DebugInfo: true})
}

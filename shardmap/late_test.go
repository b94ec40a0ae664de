package shardmap_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/rewrites"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Sums of products over a batch that is cut are reduced once, as their sum and after loops, and come to the same.
func TestDevicesReduceLate(t *testing.T) {
	late, sums := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, mesh := drawSums(t)
		inputs := programs.Inputs(t, m)
		want, text := runWhole(t, m, inputs), mlir.Print(m, mlir.PrintOptions{})
		p, changed := reducedLate(t, m, mesh)
		if sums++; changed {
			late++
		}
		for i, got := range runSharded(t, p, inputs) {
			if !near(got, want[i]) {
				t.Fatalf("output %d is %v, want %v\n%s\n%s", i, got, want[i], text, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
	if late < sums/4 {
		t.Errorf("%d of %d sums are reduced late", late, sums)
	}
}

// drawSums draws a sum whose inputs are cut along the batch by some parts of a mesh, and what is added up by others or nothing.
func drawSums(t *rapid.T) (*ir.Module, ir.MeshID) {
	m := programs.Sums(t)
	on := rapid.SampledFrom(testMeshes).Draw(t, "mesh")
	mesh := m.AddMesh("mesh", on, nil, 0)
	axes := rapid.Permutation(on.All()).Draw(t, "axes")
	n := rapid.IntRange(1, len(axes)).Draw(t, "along the batch")
	summed := programs.Layout(t, m.TypeOf(m.MainFunc().ResultTypes[0]).Dims, axes[n:])
	if rapid.Bool().Draw(t, "scattered") {
		summed = programs.Layout(t, m.TypeOf(m.MainFunc().ResultTypes[0]).Dims, axes)
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		switch l := (collectives.Layout{Dims: [][]subaxis.Ref{axes[:n], nil}}); {
		case m.Type(v) == m.MainFunc().ResultTypes[0]:
			m.SetSharding(v, m.InternSharding(summed.Sharding(mesh)))
		case m.ArgBlock(v) == m.MainFunc().Body:
			m.SetSharding(v, m.InternSharding(l.Sharding(mesh)))
		}
	}
	m.MainFunc().ResultShardings[0] = m.InternSharding(summed.Sharding(mesh))
	return m, mesh
}

// reducedLate lowers a program and says whether anything is reduced later than where it is made.
func reducedLate(t *rapid.T, m *ir.Module, mesh ir.MeshID) (*shardmap.Program, bool) {
	if err := collectives.Settle(t.Context(), m, mesh); err != nil {
		t.Fatal(err)
	}
	assignment, err := collectives.Derive(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	rewritten, err := collectives.Partition(t.Context(), m, mesh, assignment, collectives.NewPlanner(flat{}, m.Mesh(mesh).Axes),
		collectives.Rewriting{Reach: collectives.Anywhere})
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatalf("the partitioned program is wrong: %v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err != nil {
		t.Fatal(err)
	}
	if err := shardmap.LowerAxes(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p, rewritten.Changed.Has(rewrites.DeferReductions)
}

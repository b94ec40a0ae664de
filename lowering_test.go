package autoshard_test

import (
	"os"
	"testing"

	"autoshard/answer"
	"autoshard/benchmarks/experts"
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"
	"autoshard/rewrites"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// BenchmarkLowering lowers the unrolled training step of a model of 8 billion parameters, from shardings of all values, as propagation
// leaves them, to the StableHLO of one device.
func BenchmarkLowering(b *testing.B) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		b.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	models, err := experts.Matching("llama3_8b_train")
	if err != nil {
		b.Fatal(err)
	}
	text, err := models[0].Text()
	if err != nil {
		b.Fatal(err)
	}
	for i := range models[0].Plans {
		plan := &models[0].Plans[i]
		b.Run(plan.Name, func(b *testing.B) {
			annotated, err := plan.Annotate(b.Context(), text)
			if err != nil {
				b.Fatal(err)
			}
			m := propagated(b, annotated)
			pricer, err := estimate.New(cost.Hardware{}.OrDefault(), subaxis.Mesh{Axes: plan.Mesh})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				lowerAll(b, m.Clone(), pricer)
			}
		})
	}
}

// propagated reads a program and propagates its shardings.
func propagated(b *testing.B, text []byte) *ir.Module {
	m, err := mlir.Parse(b.Context(), text, mlir.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if m, _, err = (&answer.Source{Name: "llama", Module: m}).Inlined(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	if err := propagate.Normalize(b.Context(), m); err != nil {
		b.Fatal(err)
	}
	if _, err := propagate.Run(b.Context(), m, propagate.Options{CompleteRules: true}); err != nil {
		b.Fatal(err)
	}
	return m
}

// lowerAll lowers a propagated program.
func lowerAll(b *testing.B, m *ir.Module, pricer collectives.Pricer) {
	ctx := b.Context()
	mesh, err := answer.ChooseMesh(m, nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := collectives.Settle(ctx, m, mesh); err != nil {
		b.Fatal(err)
	}
	factors, err := collectives.Derive(ctx, m)
	if err != nil {
		b.Fatal(err)
	}
	planner := collectives.NewPlanner(pricer, m.Mesh(mesh).Axes)
	how := collectives.Rewriting{Reach: collectives.Anywhere, Without: rewrites.Of()}
	if _, err := collectives.Partition(ctx, m, mesh, factors, planner, how); err != nil {
		b.Fatal(err)
	}
	ir.EraseDead(m)
	p, err := shardmap.Lower(ctx, m, mesh)
	if err != nil {
		b.Fatal(err)
	}
	if err := shardmap.LowerAxes(ctx, p); err != nil {
		b.Fatal(err)
	}
}

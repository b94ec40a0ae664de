package main

import (
	"os"
	"testing"

	"autoshard/ir/mlir"
	"autoshard/ir/pass"
	"autoshard/passes"
)

// BenchmarkPipeline runs the pipeline alone on each program: for profiles, which the table of this command leads to.
//
//	go test ./benchmarks/propagate -run '^$' -bench Pipeline/transformer_train$ -cpuprofile cpu.out
func BenchmarkPipeline(b *testing.B) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		b.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	programs, err := allPrograms()
	if err != nil {
		b.Fatal(err)
	}
	p, err := passes.Table().Parse(pipeline, "pipeline")
	if err != nil {
		b.Fatal(err)
	}
	for _, program := range programs {
		b.Run(program.name, func(b *testing.B) {
			text, err := program.text()
			if err != nil {
				b.Fatal(err)
			}
			m, err := mlir.Parse(b.Context(), text, mlir.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c := m.Clone()
				b.StartTimer()
				if _, err := p.Run(b.Context(), c, pass.Hooks{SkipVerify: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

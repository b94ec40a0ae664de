package conformance

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/internal/testkit"
	"autoshard/internal/testkit/peer"
	"autoshard/internal/testkit/programs"
	"autoshard/ir/mlir"
)

var (
	evaluated     = flag.Int("evaluator.programs", 300, "how many random programs the evaluator of StableHLO runs")
	evaluatedSeed = flag.Int("evaluator.seed", 0, "seed of the first of them, which the others follow; 0: as testkit.Seed says")
)

// The interpreter gives of random programs, in which ops follow each other in chains and loops, what the evaluator of StableHLO gives.
func TestEvaluator(t *testing.T) {
	t.Parallel()
	python := peer.Python(t)
	seed := testkit.SeedOr(t, "evaluator.seed", *evaluatedSeed)
	draw := rapid.Custom(drawProgram)
	drawn := lists.Of(*evaluated, func(i int) *source { return draw.Example(seed + i) })
	replies, err := peer.Ask(t.Context(), python, peer.Evaluator, lists.Map(drawn, func(s *source) peer.Program {
		return peer.Program{Text: s.text, Args: lists.Map(s.inputs, peerArray)}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range drawn {
		if r := replies[k]; r.Refusal != "" {
			t.Errorf("seed %d is refused: %s\n%s", seed+k, r.Refusal, s.text)
			continue
		}
		for i, x := range replies[k].Results {
			if d := deviation(fromPeer(x), s.want[i]); !(d <= 1e-4) {
				t.Errorf("seed %d: output %d is %v, the evaluator gives %v:\n%s", seed+k, i, s.want[i], fromPeer(x), s.text)
			}
		}
	}
}

func peerArray(x *tensor.Tensor) peer.Array {
	return peer.Array{Type: x.DType, Shape: x.Shape, Data: x.Data}
}

func fromPeer(x peer.Array) *tensor.Tensor {
	return &tensor.Tensor{DType: x.Type, Shape: x.Shape, Data: x.Data}
}

// drawProgram draws a program with inputs and what the interpreter gives.
func drawProgram(t *rapid.T) *source {
	m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 8, Rank: 3, Sizes: []int64{1, 2, 3, 4, 6}, Indices: true, Windows: true, Loops: true,
		AllResults: true})
	s := &source{text: string(mlir.Print(m, mlir.PrintOptions{})), inputs: programs.Inputs(t, m)}
	for _, id := range m.MainFunc().ResultTypes {
		s.types = append(s.types, m.TypeOf(id))
	}
	in, err := interp.New(m, interp.Options{}) // windows partly outside count element by element, as in the specification
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	if s.want, err = in.Run(t.Context(), main, s.inputs); err != nil {
		t.Fatalf("%v\n%s", err, s.text)
	}
	return s
}

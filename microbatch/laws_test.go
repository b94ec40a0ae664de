package microbatch_test

import (
	"errors"
	"math"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/microbatch"

	"pgregory.net/rapid"
)

// outputs runs a program on one device.
func outputs(t *rapid.T, m *ir.Module, inputs []*tensor.Tensor) []*tensor.Tensor {
	in, err := interp.New(m, interp.Options{WholeWindows: true})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	out, err := in.Run(t.Context(), main, inputs)
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	return out
}

// near says whether two tensors are equal up to the order of sums.
func near(a, b *tensor.Tensor) bool {
	x, y := a.Floats(), b.Floats()
	largest := 0.0
	for i := range y {
		largest = max(largest, math.Abs(y[i]))
	}
	for i := range y {
		if math.Abs(x[i]-y[i]) > 1e-4*largest {
			return false
		}
	}
	return len(x) == len(y)
}

// inParts compares a program with what it becomes in microbatches, whatever its inputs count along their first dimension, and reports
// whether there is such a form. It may only be refused for a reason.
func inParts(t *rapid.T, m *ir.Module, batch []ir.ValueID) bool {
	text := mlir.Print(m, mlir.PrintOptions{})
	var refused *microbatch.Refusal
	s, err := microbatch.New(t.Context(), m, batch)
	if errors.As(err, &refused) {
		return false
	} else if err != nil {
		t.Fatal(err)
	}
	parts := rapid.SampledFrom(s.Parts()).Draw(t, "parts")
	split, err := s.Split(t.Context(), parts)
	if errors.As(err, &refused) {
		return false
	} else if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(t.Context(), split); err != nil {
		t.Fatalf("%v\n%s\n%s", err, text, mlir.Print(split, mlir.PrintOptions{}))
	}
	if n := microbatch.Count(split); n != parts || microbatch.Count(m) != 0 {
		t.Fatalf("%d microbatches, want %d", n, parts)
	}
	inputs := programs.Inputs(t, m)
	want := outputs(t, m, inputs)
	for i, got := range outputs(t, split, inputs) {
		if !near(got, want[i]) {
			t.Fatalf("output %d of %d microbatches is %v, want %v\n%s\n%s", i, parts, got, want[i], text, mlir.Print(split, mlir.PrintOptions{}))
		}
	}
	return true
}

// Random programs that take some of their inputs in microbatches compute what they compute at once, or are refused: programs that mix
// examples are among them, such as those that reverse the batch or read rows of it by number.
func TestPartsEqualTheWhole(t *testing.T) {
	split, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 6, Rank: 3, Sizes: []int64{2, 4, 8, 12}, Indices: rapid.Bool().Draw(t, "indices"),
			Windows: rapid.Bool().Draw(t, "windows"), Loops: rapid.Bool().Draw(t, "loops"), AllResults: true})
		var batch []ir.ValueID
		for _, v := range m.BlockArgs(m.MainFunc().Body) {
			if rapid.Bool().Draw(t, "batch") {
				batch = append(batch, v)
			}
		}
		if inParts(t, m, batch) {
			split++
		} else {
			refused++
		}
	})
	if split < 5 || refused < 5 {
		t.Errorf("%d programs are split, %d refused: the test shows nothing", split, refused)
	}
	t.Logf("%d programs are split, %d refused", split, refused)
}

// Gradients that are sums over the batch, in loops too, are added up over microbatches.
func TestGradientsInParts(t *testing.T) {
	split := 0
	rapid.Check(t, func(t *rapid.T) {
		m := programs.Sums(t)
		args := m.BlockArgs(m.MainFunc().Body)
		if inParts(t, m, args[:len(args)-1]) {
			split++
		}
	})
	if split == 0 {
		t.Error("no program is split: the test shows nothing")
	}
	t.Logf("%d programs are split", split)
}

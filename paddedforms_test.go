package autoshard_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// paddedProgram is a program whose inputs and outputs are stored padded, with inputs, and outputs as our devices compute them.
type paddedProgram struct {
	*autoshard.Program
	inputs, want []*tensor.Tensor
}

// eachPadded calls f with the programs of testdata/emit/padded.
func eachPadded(t *testing.T, f func(p *paddedProgram)) {
	datadriven.RunTest(t, "testdata/emit/padded", func(t *testing.T, d *datadriven.TestData) string {
		p := &paddedProgram{Program: lowered(t, &autoshard.Plan{Program: d.Input}), inputs: randomInputs(t, d.Input)}
		ran, err := p.Run(t.Context(), p.inputs)
		if err != nil {
			t.Fatal(err)
		}
		p.want = ran.Outputs
		p.Program = lowered(t, &autoshard.Plan{Program: d.Input, Inputs: numbered("arg", len(p.inputs)), Outputs: numbered("out", len(p.want))})
		f(p)
		return d.Expected
	})
}

// numbered returns inputs or outputs with numbered names.
func numbered(name string, n int) (list []autoshard.Tensor) {
	for i := range n {
		list = append(list, autoshard.Tensor{Index: i, Name: fmt.Sprintf("%s%d", name, i)})
	}
	return list
}

// emitted returns a program in another form.
func (p *paddedProgram) emitted(t *testing.T, form string) []byte {
	t.Helper()
	text, err := p.Emit(t.Context(), form)
	if err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	return text
}

// compare compares the beginnings of outputs with what is wanted.
func (p *paddedProgram) compare(t *testing.T, what string, outputs []*tensor.Tensor) {
	t.Helper()
	for i, want := range p.want {
		got := tensor.Slice(*outputs[i], make([]int64, len(want.Shape)), want.Shape, slices.Repeat([]int64{1}, len(want.Shape)))
		for j, v := range want.Floats() {
			if d := math.Abs(got.Floats()[j] - v); !(d <= 1e-5) {
				t.Fatalf("%s: element %d of output %d is %g, not %g", what, j, i, got.Floats()[j], v)
			}
		}
	}
}

// As a manual computation, the program takes and returns the tensors themselves, and computes the same.
func TestPaddedManualComputations(t *testing.T) {
	eachPadded(t, func(p *paddedProgram) {
		text := p.emitted(t, "sdy")
		again, err := autoshard.ReadProgram(t.Context(), "padded.mlir", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		ran, err := again.Run(t.Context(), p.inputs)
		if err != nil {
			t.Fatal(err)
		}
		p.compare(t, "manual computation", ran.Outputs)
	})
}

// XLA computes with the manual computation what our devices compute with the program.
func TestPaddedManualComputationsRunOnXLA(t *testing.T) {
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED name a Python with jax and the folder with the oracle")
	}
	eachPadded(t, func(p *paddedProgram) {
		dir := t.TempDir()
		file := func(name string, data []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		out, err := exec.Command(python, filepath.Join(shared, "oracle", "xla.py"), "--devices", "8", "--rtol", "1e-4", "--inputs",
			file("in.npz", archive(t, "arg", p.inputs)), "--expect", file("out.npz", archive(t, "out", p.want)),
			file("padded.mlir", p.emitted(t, "sdy"))).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
}

// The text of a shard_map program has tensors as they are stored, and says so. No padding reaches the outputs.
func TestPaddedShardMapText(t *testing.T) {
	eachPadded(t, func(p *paddedProgram) {
		s, err := autoshard.ReadShardMap(t.Context(), "padded.shardmap", p.emitted(t, "shardmap"))
		if err != nil {
			t.Fatal(err)
		}
		var stored []*tensor.Tensor
		for i, in := range p.inputs {
			stored = append(stored, filled(t, in, s.Inputs[i].Type))
		}
		ran, err := s.Run(t.Context(), stored)
		if err != nil {
			t.Fatal(err)
		}
		p.compare(t, "shard_map program", ran.Outputs)
		described, err := p.ShardMap(t.Context())
		if err != nil || len(described.Notes) == 0 {
			t.Errorf("%v; nothing is said about the padding", err)
		}
	})
}

// filled returns a tensor of a larger type with another one at its beginning, and NaN elsewhere.
func filled(t *testing.T, x *tensor.Tensor, typ string) *tensor.Tensor {
	t.Helper()
	_, want, ok := dtype.ParseTensor(typ)
	if !ok {
		t.Fatalf("type %q", typ)
	}
	none, high := make([]int64, len(want)), make([]int64, len(want))
	for d := range want {
		high[d] = want[d] - x.Shape[d]
	}
	out := tensor.Pad(*x, tensor.FromFloats(x.DType, nil, math.NaN()), none, high, none)
	return &out
}

// Watching the program takes and returns the tensors themselves.
func TestPaddedProgramsAreWatched(t *testing.T) {
	eachPadded(t, func(p *paddedProgram) {
		w, err := p.Watch(t.Context(), p.inputs, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.compare(t, "watched program", w.Result.Outputs)
	})
}

// Derivatives would be by the padding, too.
func TestPaddedProgramsHaveNoDerivatives(t *testing.T) {
	eachPadded(t, func(p *paddedProgram) {
		if _, err := p.Derive(t.Context(), autoshard.VJP, []string{p.Inputs[0].Name}); !errors.Is(err, autoshard.ErrUnsupported) {
			t.Errorf("error %v, want one of class ErrUnsupported", err)
		}
	})
}

package autoshard_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// documented returns the programs of docs/shardmap.md by their names.
func documented(t *testing.T) map[string]*autoshard.Program {
	t.Helper()
	text, err := os.ReadFile("docs/shardmap.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]*autoshard.Program{}
	for block := range strings.SplitSeq(string(text), "```\n") {
		if !autoshard.IsShardMap([]byte(block)) {
			continue
		}
		p, err := autoshard.ReadShardMap(t.Context(), "docs/shardmap.md", []byte(block))
		if err != nil {
			t.Fatalf("%v in\n%s", err, block)
		}
		programs[p.Name] = p
	}
	if len(programs) != 4 {
		t.Errorf("the document has %d programs, not 4", len(programs))
	}
	return programs
}

// TestShardMapDocument reads the programs of docs/shardmap.md and writes them in all forms.
func TestShardMapDocument(t *testing.T) {
	for _, p := range documented(t) {
		if _, err := autoshard.ReadShardMap(t.Context(), "again", []byte(textOf(t, p))); err != nil {
			t.Errorf("%v in\n%s", err, textOf(t, p))
		}
		for _, form := range []string{"jax", "stablehlo", "sdy"} {
			if _, err := p.Emit(t.Context(), form); err != nil {
				t.Errorf("%s as %s: %v", p.Name, form, err)
			}
		}
	}
}

// What the document says of two programs: with reduced weights nothing is sent backward, and slices of different lengths end up there.
func TestShardMapDocumentAnswers(t *testing.T) {
	programs := documented(t)
	back, err := programs["product"].Derive(t.Context(), autoshard.VJP, []string{"w"})
	if err != nil {
		t.Fatal(err)
	}
	if text := textOf(t, back); !strings.Contains(text, "out_specs=(P(unreduced={'i'}),)") || strings.Contains(text, "psum") {
		t.Errorf("backward the product is\n%s", text)
	}
	ints := func(n ...int64) *tensor.Tensor {
		x := tensor.FromInts(dtype.I32, []int64{int64(len(n))}, n...)
		return &x
	}
	x, into := tensor.FromFloats(dtype.F32, []int64{6}, 1, 2, 2, 3, 4, 0), tensor.New(dtype.F32, []int64{8})
	got, err := programs["exchange"].Run(t.Context(), []*tensor.Tensor{&x, &into, ints(0, 1, 0, 1), ints(1, 2, 1, 1), ints(0, 0, 1, 2),
		ints(1, 1, 2, 1)})
	if err != nil || got.Outputs[0].String() != "f32[8] [1, 3, 0, 0, 2, 2, 4, 0]" {
		t.Errorf("the exchange gives %v, %v", got, err)
	}
}

// A text is a manual computation where it is MLIR that has one; a plan that holds such MLIR is none.
func TestIsManualComputation(t *testing.T) {
	for text, want := range map[string]bool{
		"module { sdy.manual_computation() }": true, "module {}": false, `{"program": "sdy.manual_computation"}`: false, "shard_map @f": false,
	} {
		if got := program.IsManualComputation([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if _, err := autoshard.ReadShardMap(t.Context(), "f.mlir", []byte("module {")); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("half a module is read: %v", err)
	}
}

// What JAX's check refuses is read with the check off, and says so; what is no shard_map program gets the form of one.
func TestReadProgramUnchecked(t *testing.T) {
	const text = "shard_map @f mesh=(i=2,)\n  in_specs=(P('i'),)\n  out_specs=(P(),)\nlambda x:f32[4]\n  return x\n"
	if _, err := autoshard.ReadProgram(t.Context(), "text", []byte(text)); !errors.Is(err, autoshard.ErrInvalid) {
		t.Errorf("with the check on: %v", err)
	}
	exported, err := os.ReadFile("testdata/shardmap/exported/around.mlir")
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string][]byte{"text": []byte(text), "exported": exported} {
		p, err := autoshard.ReadProgramUnchecked(t.Context(), name, src)
		if err != nil {
			t.Fatal(err)
		}
		if out := textOf(t, p); !strings.Contains(out, "check=false") {
			t.Errorf("the check of %s is on:\n%s", name, out)
		}
	}
}

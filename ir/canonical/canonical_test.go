package canonical_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/canonical"
	"autoshard/ir/mlir"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

// canonicalize returns the canonical form of a text.
func canonicalize(text string, o canonical.Options) (string, error) {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{})
	if err != nil {
		return "", err
	}
	if err := ir.Verify(context.Background(), m); err != nil {
		return "", err
	}
	canonical.Run(m, o)
	return string(mlir.Print(m, mlir.PrintOptions{})), ir.Verify(context.Background(), m)
}

// TestGolden: "canonicalize", with only=LABEL or bottom-up.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			o := canonical.Options{BottomUp: d.HasArg("bottom-up")}
			if d.HasArg("only") {
				var only string
				d.ScanArgs(t, "only", &only)
				o.Skip = func(label string) bool { return label != only }
			}
			out, err := canonicalize(d.Input, o)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

// What is canonical stays as it is.
func TestIdempotent(t *testing.T) {
	for seed := range int64(500) {
		once, err := canonicalize(randomProgram(seed), canonical.Options{})
		if err != nil {
			continue // generated shardings need not be valid
		}
		twice, err := canonicalize(once, canonical.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(once, twice); d != "" {
			t.Errorf("seed %d:\n%s", seed, d)
		}
	}
}

// TestAgainstMLIR compares with the canonicalizer inside jaxlib, byte for byte.
func TestAgainstMLIR(t *testing.T) {
	const programs = 150
	pipelines := []string{"canonicalize", "canonicalize", "canonicalize{top-down=false enable-patterns=sdy-collective}",
		"canonicalize{enable-patterns=sdy-reshard}"}
	options := []canonical.Options{{}, {}, {BottomUp: true, Skip: func(l string) bool { return l != canonical.LabelCollective }},
		{Skip: func(l string) bool { return l != canonical.LabelReshard }}}
	var input [][2]string
	for seed := range int64(programs) {
		input = append(input, [2]string{randomProgram(seed), pipelines[seed%4]})
	}
	compared, changed := 0, 0
	for i, answer := range peer(t, input) {
		text := input[i][0]
		got, err := canonicalize(text, options[i%4])
		switch {
		case answer[0] == nil:
			continue // generated shardings need not be valid; MLIR also rejects some programs that it makes itself
		case err != nil:
			t.Errorf("seed %d: %v\n%s", i, err, text)
			continue
		}
		compared++
		if d := cmp.Diff(strings.TrimSpace(*answer[0]), strings.TrimSpace(got)); d != "" {
			t.Errorf("seed %d, %s (-MLIR +here):\n%s\nof\n%s", i, input[i][1], d, text)
		}
		if plain, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{}); err == nil &&
			string(mlir.Print(plain, mlir.PrintOptions{})) != got {
			changed++
		}
	}
	t.Logf("%d of %d programs compared, %d of them had something to do", compared, programs, changed)
	if compared < programs/2 || changed < programs/4 {
		t.Errorf("too few programs: %d, %d", compared, changed)
	}
}

// peer runs pipelines of jaxlib on [text, pipeline] pairs and returns [output or nil, error].
func peer(t *testing.T, programs [][2]string) [][2]*string {
	t.Helper()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" || os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_PYTHON (a Python with jax) and AUTOSHARD_SHARED are needed to run MLIR's canonicalizer")
	}
	input, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("..", "..", "propagate", "testdata", "shardy.py"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), io.Discard
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("running MLIR: %v", err)
	}
	var answers [][2]*string
	if err := json.Unmarshal(output, &answers); err != nil || len(answers) != len(programs) {
		t.Fatalf("reading %d answers: %v", len(answers), err)
	}
	return answers
}

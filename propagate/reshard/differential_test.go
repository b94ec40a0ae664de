package reshard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/pass"
	"autoshard/passes"
	"autoshard/propagate/reshard"

	"github.com/google/go-cmp/cmp"
)

var (
	programs  = flag.Int64("programs", 300, "random programs to compare with real Shardy")
	firstSeed = flag.Int64("seed", 0, "seed of the first random program")
)

// shardy runs real Shardy on [text, pipeline] pairs and returns [output or nil, error].
func shardy(t *testing.T, programs [][2]string) [][2]*string {
	t.Helper()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" || os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_PYTHON (a Python with jax) and AUTOSHARD_SHARED are needed to run real Shardy")
	}
	input, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("..", "testdata", "shardy.py"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), io.Discard
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("running Shardy: %v", err)
	}
	var answers [][2]*string
	if err := json.Unmarshal(output, &answers); err != nil || len(answers) != len(programs) {
		t.Fatalf("reading Shardy's %d answers: %v", len(answers), err)
	}
	return answers
}

// insert returns what Insert makes of a program.
func insert(text string, o reshard.Options) (string, error) {
	m, err := read(text)
	if err != nil {
		return "", err
	}
	if err := reshard.Insert(m, o); err != nil {
		return "", err
	}
	return string(mlir.Print(m, mlir.PrintOptions{})), nil
}

// insertPass returns the pass under test as a pipeline.
func insertPass(full bool) string {
	return fmt.Sprintf("sdy-insert-explicit-reshards{enable-full-version=%v}", full)
}

// TestRandomAgainstShardy compares random programs with real Shardy, in both versions of the pass.
func TestRandomAgainstShardy(t *testing.T) {
	compare(t, randomProgram, func(seed int64) string { return insertPass(seed%3 != 0) }, func(text string, seed int64) (string, error) {
		return insert(text, reshard.Options{Full: seed%3 != 0})
	})
}

// TestPipelineAgainstShardy compares what the whole of propagation makes of random programs.
func TestPipelineAgainstShardy(t *testing.T) {
	pipeline := func(seed int64) string {
		switch seed % 4 {
		case 0:
			return "sdy-propagation-pipeline," + insertPass(true)
		case 1:
			return "sdy-propagation-pipeline{dedup-functions-fully=true}"
		}
		return "sdy-propagation-pipeline"
	}
	compare(t, randomProgram, pipeline, func(text string, seed int64) (string, error) { return runPipeline(text, pipeline(seed)) })
}

// TestVerifyAgainstShardy compares which random programs, and which of their ops first, are refused.
func TestVerifyAgainstShardy(t *testing.T) {
	var inputs [][2]string
	for seed := *firstSeed; seed < *firstSeed+*programs; seed++ {
		inputs = append(inputs, [2]string{randomUnreduced(seed), "sdy-verify-unreduced-axes"})
	}
	accepted, refused := 0, 0
	for i, answer := range shardy(t, inputs) {
		m, err := read(inputs[i][0])
		if err != nil || answer[0] == nil && *answer[1] == "crash" {
			continue // not a program that gets here
		}
		err = reshard.VerifyUnreduced(m)
		switch {
		case answer[0] == nil:
			refused++
			op, _, _ := strings.Cut(strings.TrimPrefix(*answer[1], "'"), "'")
			if err == nil || !strings.Contains(err.Error(), "`"+op+"`") {
				t.Errorf("seed %d: Shardy says %s\nhere: %v\n%s", *firstSeed+int64(i), *answer[1], err, inputs[i][0])
			}
		case err != nil:
			t.Errorf("seed %d: Shardy accepts it, %v\n%s", *firstSeed+int64(i), err, inputs[i][0])
		default:
			accepted++
		}
	}
	t.Logf("%d of %d programs accepted, %d refused", accepted, len(inputs), refused)
	if min(accepted, refused) < len(inputs)/20 {
		t.Errorf("of %d programs, %d were accepted and %d refused", len(inputs), accepted, refused)
	}
}

// read reads a program and verifies it.
func read(text string) (*ir.Module, error) {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{})
	if err != nil {
		return nil, err
	}
	return m, ir.Verify(context.Background(), m)
}

// runPipeline returns what passes make of a program. It does not verify in between: what Shardy accepts counts.
func runPipeline(text, pipeline string) (string, error) {
	p, err := passes.Table().Parse(pipeline, "pipeline")
	if err != nil {
		return "", err
	}
	m, err := read(text)
	if err != nil {
		return "", err
	}
	if _, err := p.Run(context.Background(), m, pass.Hooks{}); err != nil {
		return "", err
	}
	return string(mlir.Print(m, mlir.PrintOptions{})), nil
}

// compare runs random programs through a pipeline of real Shardy and through here, and reports every difference. What
// Shardy rejects or crashes on says nothing: for the most part these are programs of which it makes wrong ones itself.
func compare(t *testing.T, program, pipeline func(seed int64) string, here func(text string, seed int64) (string, error)) {
	t.Helper()
	var inputs [][2]string
	for seed := *firstSeed; seed < *firstSeed+*programs; seed++ {
		inputs = append(inputs, [2]string{program(seed), pipeline(seed)})
	}
	compared := 0
	for i, answer := range shardy(t, inputs) {
		seed := *firstSeed + int64(i)
		got, err := here(inputs[i][0], seed)
		if answer[0] == nil {
			continue
		}
		compared++
		if err != nil {
			t.Errorf("seed %d, %s: %v\n%s", seed, inputs[i][1], err, inputs[i][0])
		} else if diff := cmp.Diff(strings.TrimSpace(*answer[0]), strings.TrimSpace(got)); diff != "" {
			t.Errorf("seed %d, %s (-Shardy +here):\n%s\nof\n%s", seed, inputs[i][1], diff, inputs[i][0])
		}
	}
	t.Logf("%d of %d programs compared", compared, len(inputs))
	if compared < len(inputs)/2 {
		t.Errorf("Shardy gave an answer for %d of %d programs only", compared, len(inputs))
	}
}

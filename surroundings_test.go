package autoshard_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard"
)

// Programs with shard_maps in them that JAX exported - alone and among other ops, in loops, branches and each other, under derivatives,
// with the check off - are planned and proved, run as they are, and written as shard_map and sdy text, which are read again: all give what
// JAX recorded, and move the bytes that are predicted.
func TestSurroundings(t *testing.T) {
	const notes = "the model is more than one shard_map: all of it is cut as its shardings say"
	const differs = "output result, of spec P(), differs between devices 0 and 2: that of device 0 is taken"
	for name, want := range map[string]struct {
		note, result, plan string // what is said about the program, to begin with, about its run, and in the end about that of a plan
	}{
		"around": {note: notes}, "several": {note: notes}, "inscan": {note: notes}, "branch": {note: notes}, "gradients": {note: notes},
		"nested": {note: notes},
		"matmul": {note: "the check is off: output 0 has spec P(), which says that it is replicated"},
		"groups": {note: "the check is off: "}, "differ": {note: "the check is off: output 0", result: differs,
			plan: "result 0 of the shard_map differs between devices 0 and 2: that of device 0 is taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := filepath.Join("testdata", "shardmap", "exported", name)
			text, err := os.ReadFile(base + ".mlir")
			if err != nil {
				t.Fatal(err)
			}
			p, err := autoshard.ReadProgram(t.Context(), name, text)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], want.note) {
				t.Errorf("%q is said about the program", p.Notes)
			}
			if got := proved(t, p, base, 1e-4); strings.Join(got.Notes, "\n") != want.result {
				t.Errorf("%q is said about the run", got.Notes)
			}
			for _, form := range []string{"shardmap", "sdy"} {
				text, err := p.Emit(t.Context(), form)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				again, err := autoshard.ReadProgram(t.Context(), name+" as "+form, text)
				if err != nil {
					t.Fatal(err)
				}
				proved(t, again, base, 1e-4)
			}
			model, err := autoshard.ReadModel(t.Context(), name, text)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := autoshard.MakePlan(t.Context(), model, autoshard.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			verify(t, plan, base+".in.npz", base+".out.npz", 1e-4)
			check, err := lowered(t, plan).Verify(t.Context(), readArrays(t, base+".in.npz", plan.Inputs), nil, autoshard.Tolerance{})
			if err != nil || check.Proof == nil || check.Outputs[0].UnshardedError == nil {
				t.Fatalf("without recorded outputs: %+v, %v", check, err)
			}
			if got := strings.Join(check.Result.Notes, "\n"); (got == "") != (want.result == "") || !strings.HasSuffix(got, want.plan) {
				t.Errorf("%q is said about the run of a plan", got)
			}
		})
	}
}

// proved runs a program on the recorded inputs, and compares its outputs.
func proved(t *testing.T, p *autoshard.Program, base string, tolerance float64) *autoshard.RunResult {
	t.Helper()
	check, err := p.Verify(context.Background(), readArrays(t, base+".in.npz", p.Inputs), readArrays(t, base+".out.npz", p.Outputs),
		autoshard.Tolerance{Rel: tolerance})
	if err != nil || !check.Passed {
		t.Fatalf("%s: %+v, %v", p.Name, check, err)
	}
	return check.Result
}

// Written for JAX they give what JAX recorded.
func TestSurroundingsOnJAX(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax")
	}
	dir, files := t.TempDir(), map[string]*emitCase{}
	for _, name := range []string{"around", "several", "inscan", "branch", "gradients", "matmul", "groups", "differ", "nested"} {
		base := filepath.Join("testdata", "shardmap", "exported", name)
		text, err := os.ReadFile(base + ".mlir")
		if err != nil {
			t.Fatal(err)
		}
		p, err := autoshard.ReadProgram(t.Context(), name, text)
		if err != nil {
			t.Fatal(err)
		}
		if text, err = p.Emit(t.Context(), "jax"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		inputs, err := os.ReadFile(base + ".in.npz")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name+".py")
		for path, data := range map[string][]byte{file: text, file + ".in.npz": inputs} {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		files[file] = &emitCase{name: name, expected: base + ".out.npz", tolerance: 1e-4}
	}
	runEmitted(t, python, slices.Sorted(maps.Keys(files)))
	for file, c := range files {
		if err := compareFile(file, c); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

package autoshard_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"autoshard"
	"autoshard/subaxis"
)

var onX = []subaxis.Axis{{Name: "x", Size: 2}}

// ports returns what propagation calls inputs and outputs.
func ports(t *testing.T, file string) (inputs, outputs []string) {
	t.Helper()
	p, err := autoshard.Propagate(context.Background(), readModel(t, file), autoshard.PropagateOptions{Mesh: meshOf(file)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Inputs {
		inputs = append(inputs, p.Inputs[i].Name)
	}
	for i := range p.Outputs {
		outputs = append(outputs, p.Outputs[i].Name)
	}
	return inputs, outputs
}

// meshOf returns the mesh to ask for: none where the program has one.
func meshOf(file string) []subaxis.Axis {
	if strings.Contains(file, "donor") {
		return nil
	}
	return onX
}

// TestNamesGolden has the names of the programs of testdata/names, whose export.py says what they are. The text of
// jax.export has the same, that without locations the same results and numbered arguments.
func TestNamesGolden(t *testing.T) {
	seen := 0
	datadriven.RunTest(t, "testdata/names/golden", func(t *testing.T, d *datadriven.TestData) string {
		seen++
		base := "testdata/names/" + d.Cmd
		inputs, outputs := ports(t, base+".debug.mlir")
		if _, err := os.Stat(base + ".export.mlir"); err == nil {
			in, out := ports(t, base+".export.mlir")
			if diff := cmp.Diff([][]string{inputs, outputs}, [][]string{in, out}); diff != "" {
				t.Errorf("%s of jax.export: %s", d.Cmd, diff)
			}
		}
		in, out := ports(t, base+".plain.mlir")
		if diff := cmp.Diff(outputs, out); diff != "" {
			t.Errorf("%s without locations: %s", d.Cmd, diff)
		}
		for i, name := range in {
			if name != fmt.Sprintf("arg%d", i) {
				t.Errorf("argument %d of %s without locations is called %s", i, d.Cmd, name)
			}
		}
		return strings.Join(inputs, "\n") + "\n->\n" + strings.Join(outputs, "\n") + "\n"
	})
	if files, _ := filepath.Glob("testdata/names/*.debug.mlir"); len(files) != seen || seen != 10 {
		t.Errorf("%d programs have golden names, %d files are there", seen, len(files))
	}
}

// Every name that a table prints is found again, as it stands, with a dimension behind it and without its quotes.
func TestNamesBothWays(t *testing.T) {
	files, err := filepath.Glob("testdata/names/*.mlir")
	if err != nil || len(files) < 29 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		o := autoshard.PropagateOptions{Mesh: meshOf(file)}
		e, err := autoshard.NewExplainer(context.Background(), readModel(t, file), o)
		if err != nil {
			t.Fatal(err)
		}
		inputs, outputs := ports(t, file)
		for i, name := range slices.Concat(inputs, outputs) {
			place := fmt.Sprintf("argument %d of func.func", i)
			if i >= len(inputs) {
				place = fmt.Sprintf("result %d of func.func", i-len(inputs))
			}
			for _, asked := range []string{name, " " + name + " ", strings.ReplaceAll(name, "'", ""), strings.ReplaceAll(name, "'", `"`)} {
				x, err := e.Explain(t.Context(), asked, "")
				if err != nil || !strings.HasPrefix(x.Op, place) || strings.TrimPrefix(x.Value, "%") != name {
					t.Errorf("%s: `%s` is %v, %v, want %s", file, asked, x, err, place)
					continue
				}
				for d := range x.Dims {
					if y, err := e.Explain(t.Context(), fmt.Sprintf("%s[%d]", asked, d), ""); err != nil || y.Op != x.Op || len(y.Dims) != 1 ||
						y.Dims[0].Dim != d {
						t.Errorf("%s: dimension %d of `%s` is %v, %v", file, d, asked, y, err)
					}
				}
			}
			if x, err := e.Explain(t.Context(), name+"x", ""); err == nil || !strings.Contains(err.Error(), "did you mean `") {
				t.Errorf("%s: %sx is %v, %v", file, name, x, err)
			}
		}
		for _, label := range e.Values() {
			if x, err := e.Explain(t.Context(), label, ""); err != nil || x.Value != label {
				t.Errorf("%s: the value %s is explained as %v, %v", file, label, x, err)
			}
		}
	}
}

// A collective says in which scope of the program it serves, and the line there, also where the scope is that of a call.
func TestCollectivesNameScopes(t *testing.T) {
	model := read(t, `module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = call @layer(%arg0, %arg1) : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32> loc("jit(step)/layer_0/checkpoint"("model.py":7:1))
    return %0 : tensor<8x8xf32>
  }
  func.func private @layer(%arg0: tensor<8x4xf32>, %arg1: tensor<4x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32> loc("mlp/dot_general"("model.py":12:3))
    return %0 : tensor<8x8xf32>
  }
}`)
	o := options(t)
	o.Mesh, o.Steps = nil, 1000
	p := makePlan(t, model, o)
	if len(p.Collectives) == 0 {
		t.Fatal("the plan has no collectives")
	}
	for _, c := range p.Collectives {
		if c.Source != "layer_0/checkpoint/mlp/dot_general (model.py:12)" {
			t.Errorf("%s serves %q", c.Kind, c.Source)
		}
	}
}

// Emitted Python has one parameter per input, named after it, in plans and in shard_map programs; it runs with donated
// inputs, which stay as they are where the caller keeps them.
func TestEmittedNames(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON, a Python with JAX, is not set")
	}
	files, err := filepath.Glob("testdata/names/*.debug.mlir")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"testdata/names/check_emitted.py"}
	for _, file := range files {
		o := options(t)
		o.Mesh, o.Steps = meshOf(file), 1000
		p := makePlan(t, readModel(t, file), o)
		s, err := lowered(t, p).ShardMap(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".debug.mlir")
		for form, emit := range map[string]func(context.Context, string) ([]byte, error){
			"plan":     func(ctx context.Context, form string) ([]byte, error) { return lowered(t, p).Emit(ctx, form) },
			"shardmap": s.Emit,
		} {
			text, err := emit(t.Context(), "jax")
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, name+"_"+form+".py")
			if err := os.WriteFile(out, text, 0o666); err != nil {
				t.Fatal(err)
			}
			args = append(args, out)
		}
	}
	slices.Sort(args[1:])
	cmd := exec.Command(python, args...)
	cmd.Env = append(os.Environ(), "XLA_FLAGS=--xla_force_host_platform_device_count=4", "JAX_PLATFORMS=cpu")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "donated") != 6 {
		t.Errorf("%v\n%s", err, out)
	}
}

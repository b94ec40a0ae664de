package autoshard_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/benchmarks/experts"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/testkit"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

var (
	emitAll = flag.Bool("emitall", false, "run the emitted files of all recorded models and expert plans, not a sample")
	emitDir = flag.String("emitdir", "", "folder to leave plans and emitted files in; plans that it has are taken as they are")
)

// emitCase is a plan whose emitted file is run on JAX.
type emitCase struct {
	name      string
	text      []byte // of the model
	mesh      []subaxis.Axis
	inputs    string
	expected  string
	tolerance float64
}

// recordedCases returns plans of the recorded models: the chosen one and the expert's.
func recordedCases(t *testing.T, shared string, wanted func(model, plan string) bool) []emitCase {
	models, err := experts.Read(filepath.Join(shared, "models"))
	if err != nil {
		t.Fatal(err)
	}
	var out []emitCase
	for _, m := range models {
		if m.Inputs == "" || m.Expected == "" {
			continue
		}
		text, err := m.Text()
		if err != nil {
			t.Fatal(err)
		}
		c := emitCase{text: text, inputs: m.Path(m.Inputs), expected: m.Path(m.Expected), tolerance: m.Tolerance}
		meshes := m.Meshes
		if m.Manual || m.Annotated {
			meshes = [][]subaxis.Axis{nil}
		}
		for _, mesh := range meshes {
			c.name, c.mesh = fmt.Sprintf("%s-chosen-%v", m.Name, mesh), mesh
			if wanted(m.Name, "chosen") {
				out = append(out, c)
			}
		}
		for _, p := range m.Plans {
			if !wanted(m.Name, p.Name) {
				continue
			}
			e := c
			e.name, e.mesh = fmt.Sprintf("%s-%s-%v", m.Name, p.Name, p.Mesh), nil
			if e.text, err = p.Annotate(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
	}
	return out
}

// emitCases makes the plans and writes their files. What cannot be planned or lowered is left out with a note.
func emitCases(t *testing.T, cases []emitCase, dir string) map[string]*emitCase {
	hw, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*emitCase{}
	for i := range cases {
		c := &cases[i]
		file := filepath.Join(dir, strings.NewReplacer(" ", "", "{", "_", "}", "", "[", "", "]", "").Replace(c.name)+".py")
		plan := casePlan(t, c, file+".json", hw)
		if plan == nil {
			continue
		}
		text, err := lowered(t, plan).Emit(t.Context(), "jax")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := os.ReadFile(c.inputs)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file+".in.npz", in, 0o666); err != nil {
			t.Fatal(err)
		}
		files[file] = c
	}
	return files
}

// casePlan returns the plan of a case, from a file if it is there; nil where there is none.
func casePlan(t *testing.T, c *emitCase, file string, hw cost.Hardware) *autoshard.Plan {
	if text, err := os.ReadFile(file); err == nil {
		plan, err := autoshard.ReadPlan(t.Context(), file, text)
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	model, err := autoshard.ReadModel(t.Context(), c.name+".mlir", c.text)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := autoshard.MakePlan(context.Background(), model, autoshard.PlanOptions{Mesh: c.mesh, Hardware: hw, Steps: 20_000})
	if err != nil {
		t.Logf("%s: no plan: %v", c.name, err)
		return nil
	}
	if err := os.WriteFile(file, plan.JSON(), 0o666); err != nil {
		t.Fatal(err)
	}
	return plan
}

// The emitted file of a plan gives on eight devices of JAX what JAX recorded, and what its own unsharded function gives.
func TestEmittedPython(t *testing.T) {
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED are not set: they name a Python with jax and the folder of models")
	}
	sample := map[string]bool{"moe_sort_fwd/data_expert": true, "convnet_train/data_parallel": true, "shmap_fsdp_tensor/chosen": true}
	cases := recordedCases(t, shared, func(model, plan string) bool { return *emitAll || sample[model+"/"+plan] })
	dir := *emitDir
	if dir == "" {
		dir = t.TempDir()
	}
	files := emitCases(t, cases, dir)
	paths := slices.Sorted(maps.Keys(files))
	runEmitted(t, python, paths)
	passed := 0
	for _, file := range paths {
		if err := compareFile(file, files[file]); err != nil {
			t.Errorf("%s: %v", files[file].name, err)
		} else {
			passed++
		}
	}
	t.Logf("%d of %d emitted files pass", passed, len(files))
}

// runEmitted runs emitted files in one Python process. Their outputs, or what went wrong, lie beside them afterwards.
func runEmitted(t *testing.T, python string, files []string) {
	t.Helper()
	script, err := filepath.Abs("shardmap/emit/testdata/run.py")
	if err != nil {
		t.Fatal(err)
	}
	unsharded := ".py" // of all files
	if *emitAll {
		unsharded = "-chosen-" // of one plan in five: it is the same for all plans of a model
	}
	cmd := exec.Command(python, append([]string{script}, files...)...)
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "UNSHARDED="+unsharded)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// compareFile compares what a file gave with the recorded outputs.
func compareFile(file string, c *emitCase) error {
	if text, err := os.ReadFile(file + ".error"); err == nil {
		return errors.New(string(text))
	}
	var lists [2]map[string]tensor.Tensor
	for i, name := range []string{file + ".out.npz", c.expected} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		arrays, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
		if err != nil {
			return err
		}
		lists[i] = map[string]tensor.Tensor{}
		for _, a := range arrays {
			lists[i][a.Name] = a.Tensor
		}
	}
	if len(lists[0]) != len(lists[1]) {
		return fmt.Errorf("%d outputs, %d are recorded", len(lists[0]), len(lists[1]))
	}
	for name, want := range lists[1] {
		got := lists[0][name]
		a, b := got.Floats(), want.Floats()
		if len(a) != len(b) {
			return fmt.Errorf("%s has %d elements, not %d", name, len(a), len(b))
		}
		largest, difference := 0.0, 0.0
		for k := range b {
			largest = max(largest, b[k], -b[k])
			difference = max(difference, a[k]-b[k], b[k]-a[k])
		}
		if !(difference <= max(c.tolerance, 1e-4)*largest) && got.DType.Kind() != dtype.Bool {
			return fmt.Errorf("%s differs by %g of %g", name, difference, largest)
		}
	}
	return nil
}

// The files of three small plans. Rewrite them with: go test . -run Emit -rewrite
func TestEmitGolden(t *testing.T) {
	for _, c := range []struct {
		name, model string
		memory      int64
		mesh        []subaxis.Axis
	}{
		{"mlp", "mlp.json", 0, nil},
		{"mlp_train", "mlp_train.mlir", 41_000, dataModel},
		{"mlp_train_parts", "mlp_train.mlir", 20_000, []subaxis.Axis{{Name: "x", Size: 8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t)
			o.Memory, o.Mesh, o.Steps = c.memory, c.mesh, 3_000_000
			got, err := lowered(t, makePlan(t, readModel(t, "examples/"+c.model), o)).Emit(t.Context(), "jax")
			if err != nil {
				t.Fatal(err)
			}
			testkit.File(t, filepath.Join("testdata/emit", c.name+".py"), string(got))
		})
	}
}

// The program of one device is a program that reads back.
func TestEmitStableHLO(t *testing.T) {
	o := options(t)
	o.Memory, o.Steps = 41_000, 100_000
	program := lowered(t, makePlan(t, readModel(t, "examples/mlp_train.mlir"), o))
	text, err := program.Emit(t.Context(), "stablehlo")
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), text, mlir.Options{})
	if err == nil {
		err = ir.Verify(t.Context(), m)
	}
	if err != nil || !bytes.Contains(text, []byte("stablehlo.all_reduce")) || bytes.Contains(text, []byte("sdy.")) {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := program.Emit(t.Context(), "hlo"); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("an unknown form: %v", err)
	}
}

// lowered returns the program of a plan.
func lowered(t testing.TB, p *autoshard.Plan) *autoshard.Program {
	t.Helper()
	program, err := p.Lowered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// textOf returns a program as the text of a shard_map program.
func textOf(t testing.TB, p *autoshard.Program) string {
	t.Helper()
	text, err := p.Emit(t.Context(), "shardmap")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

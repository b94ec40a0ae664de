package program_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/benchmarks/experts"
	"autoshard/ir/dtype"
	"autoshard/program"
)

var xlaAll = flag.Bool("xla.all", false, "run the programs of all recorded models and expert plans on XLA, not a sample")

// The lowered program of every recorded model, with the shardings of every expert, computes on devices of XLA, block for block, what it
// computes here; and here what JAX recorded.
func TestLoweredModelsOnXLA(t *testing.T) {
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED name a Python with jax and the folder with models and oracle")
	}
	models, err := experts.Read(filepath.Join(shared, "models"))
	if err != nil {
		t.Fatal(err)
	}
	sample := []string{"mlp_train/fsdp", "moe_sort_fwd/expert_parallel", "convnet_train/spatial", "gqa_decode/context_parallel",
		"transformer_train_scan/fsdp_tensor", "shmap_fsdp_tensor/", "nucleus_sampling/data_tensor"}
	dir, tolerances := t.TempDir(), map[string]float64{}
	for i := range models {
		m := &models[i]
		if m.Inputs == "" || m.Expected == "" {
			continue
		}
		text, err := m.Text()
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string][]byte{}
		if m.Manual || m.Annotated {
			texts[m.Name+"/"] = text
		}
		for _, p := range m.Plans {
			if name := m.Name + "/" + p.Name; *xlaAll || slices.Contains(sample, name) {
				if texts[fmt.Sprint(name, p.Mesh)], err = p.Annotate(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
		}
		for name, text := range texts {
			if *xlaAll || !strings.HasSuffix(name, "/") || slices.Contains(sample, name) {
				file := strings.NewReplacer("/", "-", " ", "", "{", "_", "}", "", "[", "", "]", "").Replace(name)
				tolerances[file] = max(m.Tolerance, 1e-4)
				writeForXLA(t, dir, file, text, m.Path(m.Inputs), m.Path(m.Expected), tolerances[file])
			}
		}
	}
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	exact, near := 0, 0
	for _, devices := range folders {
		equal, differences := onXLA(t, python, filepath.Join(shared, "oracle"), filepath.Join(dir, devices.Name()))
		exact += equal
		for _, line := range differences {
			name, by, _ := strings.Cut(line, " differs by ")
			if apart, err := strconv.ParseFloat(by, 64); err == nil && apart <= tolerances[name] {
				near++
				continue
			}
			t.Error(line)
		}
	}
	t.Logf("%d programs: %d equal bit for bit, %d within the tolerance of their model", len(tolerances), exact, near)
}

// onXLA runs the programs of a folder in one process of XLA. It returns how many are equal bit for bit, and a line about each other one.
func onXLA(t *testing.T, python, oracle, dir string) (equal int, differences []string) {
	t.Helper()
	out, err := exec.Command(python, "../shardmap/testdata/xla.py", oracle, dir, "0").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := len(lines) - 1
	if equal, err = strconv.Atoi(lines[last]); err != nil {
		t.Fatalf("%s", out)
	}
	return equal, lines[:last]
}

// writeForXLA writes the program of one device, the blocks of its inputs and of what it computes here, which is compared with what is
// expected. It writes into a folder for the number of devices, which a process of XLA has once and for all.
func writeForXLA(t *testing.T, dir, name string, text []byte, inputs, expected string, tolerance float64) {
	t.Helper()
	model, err := autoshard.ReadModel(t.Context(), name+".mlir", text)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Lowered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in, want := arrays(t, inputs, "arg", p.Inputs), arrays(t, expected, "out", p.Outputs)
	result, err := p.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if check, err := p.Compare(t.Context(), result, in, want, program.Tolerance{Rel: tolerance}); err != nil || !check.Passed {
		t.Fatalf("%s: %v %v", name, check, err)
	}
	local, err := p.Stage(t.Context(), "local")
	if err != nil {
		t.Fatal(err)
	}
	device := program.Grouped(p)
	dir = filepath.Join(dir, fmt.Sprint(device.Mesh.Devices()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".mlir", local, 0o600); err != nil {
		t.Fatal(err)
	}
	ran, err := run.Program(t.Context(), device, in, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args := make([][]*tensor.Tensor, len(ran.Blocks))
	for i, x := range in {
		blocks := run.NewCut(&device.Mesh, &device.Inputs[i].Layout, device.Inputs[i].Stored()).Split(x, nil)
		for d := range args {
			block := blocks.Of(d)
			args[d] = append(args[d], &block)
		}
	}
	writeBlocks(t, path+".in.npz", "arg", args)
	writeBlocks(t, path+".out.npz", "out", ran.Blocks)
}

// writeBlocks writes the blocks of all devices, stacked along a new first dimension.
func writeBlocks(t *testing.T, path, name string, blocks [][]*tensor.Tensor) {
	t.Helper()
	var out []npz.Array
	for i := range blocks[0] {
		var parts []tensor.Tensor
		for _, device := range blocks {
			parts = append(parts, tensor.Reshape(*device[i], slices.Insert(slices.Clone(device[i].Shape), 0, 1)))
		}
		out = append(out, npz.Array{Name: fmt.Sprint(name, i), Tensor: tensor.Concatenate(parts, 0)})
	}
	var file bytes.Buffer
	if err := npz.Write(&file, out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// arrays reads the numbered arrays of a file, 16-bit floats of which are recorded in 32 bits.
func arrays(t *testing.T, path, name string, types []autoshard.Tensor) []*tensor.Tensor {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := npz.Read(bytes.NewReader(src), int64(len(src)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*tensor.Tensor, len(types))
	for _, a := range read {
		i, err := strconv.Atoi(strings.TrimPrefix(a.Name, name))
		if err != nil || i >= len(out) {
			t.Fatalf("%s has an array %s", path, a.Name)
		}
		if strings.HasPrefix(types[i].Type, "bf16[") {
			a.Tensor = tensor.Convert(a.Tensor, dtype.BF16)
		}
		out[i] = &a.Tensor
	}
	return out
}

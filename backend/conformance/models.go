package conformance

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/benchmarks/experts"
	"autoshard/ir/dtype"
)

// sample are the models and expert plans that a backend runs which takes time to start and to compile. Others run the first plan of each
// model, too.
var sample = []string{"mlp_train/fsdp", "moe_sort_fwd/data_expert", "gqa_decode/data_tensor", "convnet_train/data_parallel",
	"int8_matmul/tensor_parallel", "shmap_pipeline", "shmap_partly_manual"}

// models demands that recorded models give their recorded outputs: on whole tensors, or as their own shardings or those of experts say.
func (s *suite) models(t *testing.T) {
	models, err := experts.Read(filepath.Join(shared(t), "models"))
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*Job
	var of []*experts.Model
	for i := range models {
		m := &models[i]
		if m.Inputs == "" || m.Expected == "" || s.Whole && m.Manual {
			continue
		}
		for _, job := range s.jobsOf(t, m) {
			jobs, of = append(jobs, job), append(of, m)
		}
	}
	for i, o := range s.Run(t.Context(), jobs) {
		t.Run(jobs[i].Name, func(t *testing.T) {
			expected := recorded(t, of[i].Path(of[i].Expected), "out")
			if o.Err != nil || len(o.Outputs) != len(expected) {
				t.Fatalf("%d outputs, %d are recorded: %v", len(o.Outputs), len(expected), o.Err)
			}
			for k, want := range expected {
				if d := deviation(o.Outputs[k], want); !(d <= max(of[i].Tolerance, 1e-4)) {
					t.Errorf("output %d is %g away, of its largest element, tolerance %g", k, d, of[i].Tolerance)
				}
			}
		})
	}
	t.Logf("%d models and plans", len(jobs))
}

// jobsOf returns what a backend runs of a model: it as it is, and as experts cut it.
func (s *suite) jobsOf(t *testing.T, m *experts.Model) (jobs []*Job) {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	if s.Whole {
		model, err := autoshard.ReadModel(t.Context(), m.Name+".mlir", text)
		if err != nil {
			t.Fatal(err)
		}
		return []*Job{{Name: m.Name, Model: model, Inputs: inputsOf(t, m, model)}}
	}
	add := func(name string, text []byte) {
		job := newJob(t, name, text)
		job.Inputs = inputsOf(t, m, job.Model)
		jobs = append(jobs, job)
	}
	runs := func(name string, first bool) bool {
		return *all || first && s.Start == 0 || slices.Contains(sample, name)
	}
	if (m.Manual || m.Annotated) && runs(m.Name, true) {
		add(m.Name, text)
	}
	for i, p := range m.Plans {
		if runs(m.Name+"/"+p.Name, i == 0) {
			annotated, err := p.Annotate(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			add(fmt.Sprintf("%s/%s%v", m.Name, p.Name, p.Mesh), annotated)
		}
	}
	return jobs
}

// inputsOf returns the recorded inputs of a model in the types that it has.
func inputsOf(t *testing.T, m *experts.Model, model *autoshard.Model) []*tensor.Tensor {
	t.Helper()
	in, err := model.Interpreter()
	if err != nil {
		t.Fatal(err)
	}
	inputs := recorded(t, m.Path(m.Inputs), "arg")
	for i := range inputs {
		typ, dims, ok := dtype.ParseTensor(in.Inputs[i].Type)
		if !ok {
			t.Fatalf("%s: input %d is %s", m.Name, i, in.Inputs[i].Type)
		}
		x := tensor.Reshape(*inType(inputs[i], typ), dims)
		inputs[i] = &x
	}
	return inputs
}

// recorded returns the arrays name0, name1, … of a file.
func recorded(t *testing.T, file, name string) []*tensor.Tensor {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]*tensor.Tensor, len(found))
	for i := range list {
		k := slices.IndexFunc(found, func(a npz.Array) bool { return a.Name == fmt.Sprint(name, i) })
		if k < 0 {
			t.Fatalf("%s has no %s%d", file, name, i)
		}
		list[i] = &found[k].Tensor
	}
	return list
}

// deviation returns the largest difference of two elements, relative to the largest element that is wanted.
func deviation(got, want *tensor.Tensor) float64 {
	x := inType(got, want.DType)
	a, b := parts(x), parts(want)
	largest, difference := 0.0, 0.0
	for k := range b {
		if !math.IsInf(b[k], 0) && !math.IsNaN(b[k]) {
			largest = max(largest, math.Abs(b[k]))
		}
		if a[k] == b[k] || math.IsNaN(a[k]) && math.IsNaN(b[k]) {
			continue
		}
		if d := math.Abs(a[k] - b[k]); d > difference || math.IsNaN(d) {
			difference = d
		}
	}
	if difference == 0 {
		return 0
	}
	return difference / largest
}

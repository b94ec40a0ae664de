package interp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/backend/tensor/npz"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

type port struct {
	DType string  `json:"dtype"`
	Shape []int64 `json:"shape"`
}

type model struct {
	Name     string `json:"name"`
	File     string `json:"file"`
	Entry    string `json:"entry"`
	Inputs   string `json:"inputs_file"`
	Expected string `json:"expected_file"`
	Manual   bool   `json:"manual"`
	Args     []port `json:"args"`
}

// recorded returns the folder of exported models and those that come with inputs and results.
func recorded(t testing.TB) (string, []model) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the exported models")
	}
	dir := filepath.Join(shared, "models")
	src, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all, run []model
	if err := json.Unmarshal(src, &all); err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Inputs != "" && m.Expected != "" && !m.Manual {
			run = append(run, m)
		}
	}
	return dir, run
}

// arrays reads name0, name1, … of an archive as tensors of the types of ports.
func arrays(t testing.TB, path, name string, ports []port) []*tensor.Tensor {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]tensor.Tensor{}
	for _, a := range list {
		byName[a.Name] = a.Tensor
	}
	out := make([]*tensor.Tensor, len(ports))
	for i, p := range ports {
		x, ok := byName[fmt.Sprint(name, i)]
		e, known := dtype.Parse(p.DType)
		if !ok || !known {
			t.Fatalf("%s: no %s%d of type %s", path, name, i, p.DType)
		}
		x = tensor.Reshape(tensor.Convert(x, e), p.Shape)
		out[i] = &x
	}
	return out
}

func load(t testing.TB, path, entry string) (*ir.Module, ir.FuncID) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: filepath.Base(path)})
	if err != nil {
		t.Fatal(err)
	}
	fn, ok := m.LookupFunc(entry)
	if !ok {
		t.Fatalf("%s: no function @%s", path, entry)
	}
	return m, fn
}

// Runs of exported models release all values, and give the same bits again in memory full of garbage. That the results are right says
// package conformance.
func TestRecordedModels(t *testing.T) {
	dir, models := recorded(t)
	for _, model := range models {
		t.Run(model.Name, func(t *testing.T) {
			m, fn := load(t, filepath.Join(dir, model.File), model.Entry)
			in, err := interp.New(m, interp.Options{WholeWindows: true})
			if err != nil {
				t.Fatal(err)
			}
			args := arrays(t, filepath.Join(dir, model.Inputs), "arg", model.Args)
			got, err := in.Run(context.Background(), fn, args)
			if err != nil {
				t.Fatal(err)
			}
			w := memory.Watch(255)
			again, err := in.Run(context.Background(), fn, args)
			if err := errors.Join(err, w.Stop()); err != nil {
				t.Fatal(err)
			}
			if n := interp.Leftovers(in); n > 0 {
				t.Errorf("%d values are never released", n)
			}
			for i := range got {
				if !got[i].Equal(*again[i]) {
					t.Errorf("result %d is another one in a second run", i)
				}
			}
		})
	}
}

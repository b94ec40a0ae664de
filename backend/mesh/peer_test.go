package mesh_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// stack joins the tensors of all devices along a new first dimension.
func stack(xs []tensor.Tensor) tensor.Tensor {
	parts := make([]tensor.Tensor, len(xs))
	for d, x := range xs {
		parts[d] = tensor.Reshape(x, slices.Insert(slices.Clone(x.Shape), 0, 1))
	}
	return tensor.Concatenate(parts, 0)
}

func save(t *testing.T, path string, arrays []npz.Array) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := npz.Write(f, arrays); err != nil {
		t.Fatal(err)
	}
}

// randomArgs returns small numbers for the arguments of each device, and the same stacked over devices.
func randomArgs(m *ir.Module, fn ir.FuncID, devices int) (args [][]*tensor.Tensor, stacked []npz.Array) {
	random := rand.New(rand.NewPCG(1, 2))
	args = make([][]*tensor.Tensor, devices)
	for i, arg := range m.BlockArgs(m.Func(fn).Body) {
		blocks := make([]tensor.Tensor, devices)
		for d := range blocks {
			values := make([]int64, m.ValueType(arg).Elements())
			for k := range values {
				values[k] = random.Int64N(17) - 8
			}
			blocks[d] = tensor.FromInts(m.ValueType(arg).DType, m.Shape(arg), values...)
			args[d] = append(args[d], &blocks[d])
		}
		stacked = append(stacked, npz.Array{Name: fmt.Sprint("arg", i), Tensor: stack(blocks)})
	}
	return args, stacked
}

// TestPeer runs the programs of testdata/programs on 8 devices here and in XLA, on random inputs of small numbers,
// whose sums are exact.
func TestPeer(t *testing.T) {
	const devices = 8
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED are not set: they name a Python with jax and the folder of the oracle")
	}
	paths, err := filepath.Glob("testdata/programs/*.mlir")
	if err != nil || len(paths) == 0 {
		t.Fatal("no programs", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, fn := parse(t, string(src))
			args, inputs := randomArgs(m, fn, devices)
			results, _, err := mesh.Run(context.Background(), m, fn, devices, args, mesh.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var outputs []npz.Array
			for i := range results[0] {
				blocks := make([]tensor.Tensor, devices)
				for d := range blocks {
					blocks[d] = *results[d][i]
					if blocks[d].DType == dtype.BF16 {
						blocks[d] = tensor.Convert(blocks[d], dtype.F32)
					}
				}
				outputs = append(outputs, npz.Array{Name: fmt.Sprint("out", i), Tensor: stack(blocks)})
			}
			dir := t.TempDir()
			save(t, filepath.Join(dir, "in.npz"), inputs)
			save(t, filepath.Join(dir, "out.npz"), outputs)
			cmd := exec.Command(python, filepath.Join(shared, "oracle", "xla.py"), "--partitioned", "--devices", fmt.Sprint(devices), "--rtol",
				"1e-6",
				"--inputs", filepath.Join(dir, "in.npz"), "--expect", filepath.Join(dir, "out.npz"), path)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("XLA disagrees: %v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

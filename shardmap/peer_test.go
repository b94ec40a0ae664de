package shardmap_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/testkit"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

var (
	xlaPrograms = flag.Int("xla.programs", 200, "how many random programs TestAgainstXLA compares")
	xlaSeed     = flag.Int("xla.seed", 0, "seed of the first of them, which the others follow; 0: as testkit.Seed says")
)

// xlaBatch bounds the programs that one process of XLA runs, which keeps what it has compiled.
const xlaBatch = 250

// Random programs with a random sharding on every value, of whole axes and parts, a third of which does not divide all dimensions, on
// meshes with their devices in any order: the
// unsharded run, the programs of eight devices here and the same programs on XLA compute the same.
func TestAgainstXLA(t *testing.T) {
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED name a Python with jax and the folder with the oracle")
	}
	seed := testkit.SeedOr(t, "xla.seed", *xlaSeed)
	draw := rapid.Custom(drawPartitioned)
	for done := 0; done < *xlaPrograms; {
		dir := t.TempDir()
		n := min(xlaBatch, *xlaPrograms-done)
		for i := range n {
			draw.Example(seed+done+i).write(t, dir, fmt.Sprint("seed", seed+done+i))
		}
		out, err := exec.Command(python, filepath.Join("testdata", "xla.py"), filepath.Join(shared, "oracle"), dir).Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if equal, _ := strconv.Atoi(lines[len(lines)-1]); equal != n {
			t.Errorf("%d of %d programs are equal:\n%s", equal, n, out)
			for _, line := range lines[:len(lines)-1] {
				if text, err := os.ReadFile(filepath.Join(dir, strings.Fields(line)[0]+".mlir")); err == nil {
					t.Logf("%s", text)
				}
			}
		}
		done += n
	}
}

// partitioned is the program of one device, with the blocks of all devices.
type partitioned struct {
	text      []byte
	args, out [][]*tensor.Tensor
}

// drawPartitioned draws a program whose sharded run here is equal to the unsharded one.
func drawPartitioned(t *rapid.T) *partitioned {
	m, mesh := drawAnyOrUnpool(t)
	m.Name = "random"
	inputs := programs.Inputs(t, m)
	want := runWhole(t, m, inputs)
	_, p := lower(t, m, mesh)
	if err := shardmap.LowerAxes(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for i, got := range runSharded(t, p, inputs) {
		if !near(got, want[i]) {
			t.Fatalf("output %d is %v, want %v\n%s", i, got, want[i], mlir.Print(m, mlir.PrintOptions{}))
		}
	}
	args := cutInputs(p, inputs)
	return &partitioned{mlir.Print(p.Module, mlir.PrintOptions{}), args, runBlocks(t, p, args)}
}

// drawAnyOrUnpool draws one program of eight to be a gradient of a pooling along one dimension, over whose ends windows reach: in windows
// of several dimensions XLA chooses another one of equal elements, also on one device.
func drawAnyOrUnpool(t *rapid.T) (*ir.Module, ir.MeshID) {
	if rapid.IntRange(0, 7).Draw(t, "unpool") > 0 {
		return drawAny(t, testMeshes...)
	}
	over := rapid.SampledFrom(testMeshes).Draw(t, "mesh")
	return programs.Unpool(t, over, [][]subaxis.Ref{{rapid.SampledFrom(over.All()).Draw(t, "axis")}})
}

// write writes the program and its arrays.
func (p *partitioned) write(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".mlir", p.text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, side := range []struct {
		file, array string
		blocks      [][]*tensor.Tensor
	}{{".in.npz", "arg", p.args}, {".out.npz", "out", p.out}} {
		f, err := os.Create(path + side.file)
		if err != nil {
			t.Fatal(err)
		}
		if err := npz.Write(f, stacked(side.array, side.blocks)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// stacked joins the blocks of all devices along a new first dimension.
func stacked(name string, blocks [][]*tensor.Tensor) []npz.Array {
	var out []npz.Array
	for i := range blocks[0] {
		var parts []tensor.Tensor
		for _, device := range blocks {
			parts = append(parts, tensor.Reshape(*device[i], slices.Insert(slices.Clone(device[i].Shape), 0, 1)))
		}
		out = append(out, npz.Array{Name: fmt.Sprint(name, i), Tensor: tensor.Concatenate(parts, 0)})
	}
	return out
}

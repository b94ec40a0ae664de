package modelexplorer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "record the nodes of the sample anew")

const (
	root   = "../.."
	sample = root + "/review/modelexplorer/testdata/regions"
)

// peer runs peer.py.
func peer(t *testing.T, args ...string) []byte {
	t.Helper()
	python := os.Getenv("AUTOSHARD_MODEL_EXPLORER")
	if python == "" {
		t.Skip("AUTOSHARD_MODEL_EXPLORER is not set: it names a Python with ai-edge-model-explorer")
	}
	var said bytes.Buffer
	cmd := exec.Command(python, append([]string{"peer.py"}, args...)...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.Bytes())
	}
	return out
}

// build compiles the program.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "autoshard")
	cmd := exec.Command("go", "build", "-o", file, "./cmd/autoshard")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

func autoshard(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("autoshard %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// The nodes that the tests of review/modelexplorer compare with are those of the adapter.
func TestRecordedNodes(t *testing.T) {
	got := peer(t, sample+".mlir")
	if *rewrite {
		if err := os.WriteFile(sample+".nodes.txt", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(sample + ".nodes.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s.nodes.txt is not what the adapter says: go test -C tools ./modelexplorer -rewrite", sample)
	}
}

// Every key of node data names a node, of propagations and of plans, of models with locations and without.
func TestKeysNameNodes(t *testing.T) {
	peer(t, sample+".mlir")
	program := build(t)
	examples := root + "/examples/"
	for _, c := range []struct {
		model string
		plan  []string
	}{
		{sample + ".mlir", nil},
		{examples + "transformer_train_megatron.mlir", nil},
		{examples + "transformer_train_megatron_priorities.mlir", []string{"--memory", "400KB"}},
		{examples + "mlp_train.mlir", []string{"--mesh", "x=4", "--hardware", "cpu"}},
		{examples + "llama_train.mlir", []string{"--mesh", "data=4,model=2", "--hardware", "cpu", "--memory", "400KB"}},
		{root + "/testdata/shardmap/exported/nested.mlir", nil},
		{root + "/testdata/shardmap/exported/inscan.mlir", nil},
	} {
		t.Run(filepath.Base(c.model), func(t *testing.T) {
			of, quantities := c.model, []string{"sharding", "memory"}
			if c.plan != nil {
				of = filepath.Join(t.TempDir(), "plan.json")
				autoshard(t, program, append([]string{"plan", c.model, "-o", of}, c.plan...)...)
				quantities = append(quantities, "time", "sent")
			}
			check(t, program, c.model, of, quantities)
		})
	}
}

// So it is for all models that are shared, on a mesh for those that declare none.
func TestSharedModels(t *testing.T) {
	peer(t, sample+".mlir")
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED, the folder with recorded models, is not set")
	}
	program := build(t)
	files, err := filepath.Glob(filepath.Join(shared, "models", "*.mlir*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no models in %s: %v", shared, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			check(t, program, unpacked(t, file), unpacked(t, file), []string{"sharding"}, "--mesh", "data=4,model=2")
		})
	}
}

// unpacked returns a copy of a file that is packed, which the adapter does not read, or the file.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	if filepath.Ext(file) != ".gz" {
		return file
	}
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(file), ".gz"))
	if err := os.WriteFile(out, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// check compares node data of a plan or a model with the nodes of the model.
func check(t *testing.T, program, model, of string, quantities []string, args ...string) {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, q := range quantities {
		file := filepath.Join(dir, q+".json")
		command := []string{"review", of, "--format", "model-explorer", "--data", q, "-o", file}
		out, err := exec.Command(program, append(command, args...)...).CombinedOutput()
		if err != nil && len(args) > 0 && bytes.Contains(out, []byte("AS1201")) { // it declares a mesh of its own
			out, err = exec.Command(program, command...).CombinedOutput()
		}
		if err != nil {
			t.Fatalf("autoshard %s: %v\n%s", strings.Join(command, " "), err, out)
		}
		files = append(files, file)
	}
	var found []struct {
		Match   int
		Unknown []string
		Without map[string]int
	}
	if err := json.Unmarshal(peer(t, append([]string{model}, files...)...), &found); err != nil {
		t.Fatal(err)
	}
	for i, f := range found {
		t.Logf("%s: %d nodes have data; none have %v", quantities[i], f.Match, f.Without)
		if f.Match == 0 || len(f.Unknown) > 0 {
			t.Errorf("%s: %d nodes have data, and no node is called %v", quantities[i], f.Match, f.Unknown)
		}
	}
}

package mlirfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"autoshard/ir/mlir"
	"autoshard/ir/mlirfile"
	"autoshard/ir/vhlo"
)

var target = vhlo.Version{Major: 1, Minor: 18}

// exported writes a program of the examples as a JAX export.
func exported(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", name+".mlir"))
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := mlirfile.Read(t.Context(), text, name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := mlirfile.WriteExport(m, nil, name, target)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestExportOfText writes an export of a program that JAX did not export, and reads the signature and the program.
func TestExportOfText(t *testing.T) {
	m, e, err := mlirfile.Read(t.Context(), exported(t, "transformer_train_megatron"), "export")
	if err != nil {
		t.Fatal(err)
	}
	if e.Devices != 8 || len(e.InAvals) != len(e.KeptInputs) || len(e.InTree.InputNames()) != len(e.InAvals) {
		t.Errorf("%d devices, %d of %d inputs, tree of %d", e.Devices, len(e.KeptInputs), len(e.InAvals), len(e.InTree.InputNames()))
	}
	sharded := 0
	for _, s := range e.InShardings {
		if s != nil {
			sharded++
		}
	}
	if sharded == 0 {
		t.Error("no input has a sharding")
	}
	first := mlir.Print(m, mlir.PrintOptions{})
	data, err := mlirfile.WriteExport(m, e, "", target)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := mlirfile.Read(t.Context(), data, "again")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mlir.Print(again, mlir.PrintOptions{}), first) {
		t.Error("the program of an export changes when it is written again")
	}
}

func TestTypesThatExportsCannotHave(t *testing.T) {
	for _, text := range []string{"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}",
		"func.func @main(%x: !stablehlo.token) -> !stablehlo.token {\n  return %x : !stablehlo.token\n}"} {
		m, _, err := mlirfile.Read(t.Context(), []byte(text), "program")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mlirfile.WriteExport(m, nil, "program", target); err == nil || !strings.Contains(err.Error(), "argument 0") {
			t.Errorf("got %v", err)
		}
	}
}

// TestJAXCallsExports has JAX call exports of programs and compares with the recorded outputs.
func TestJAXCallsExports(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax and flatbuffers, which calls exports")
	}
	if exec.Command(python, "-c", "import flatbuffers").Run() != nil {
		t.Skip("AUTOSHARD_PYTHON has no flatbuffers, which jax.export needs")
	}
	type call struct {
		Data     []byte `json:"data"`
		Inputs   string `json:"inputs"`
		Expected string `json:"expected"`
	}
	names := []string{"mlp_train", "transformer_train", "transformer_train_megatron"}
	var calls []call
	for _, name := range names {
		arrays := filepath.Join("..", "..", "examples", strings.TrimSuffix(name, "_megatron"))
		calls = append(calls, call{exported(t, name), arrays + ".in.npz", arrays + ".out.npz"})
	}
	in, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "call.py"))
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("%v\n%s", err, failed.Stderr)
		}
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(names) {
		t.Fatalf("%d answers: %s", len(lines), out)
	}
	for i, line := range lines {
		if d, err := strconv.ParseFloat(line, 64); err != nil || !(d <= 1e-4) {
			t.Errorf("%s: differs by %s", names[i], line)
		}
	}
}

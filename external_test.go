package autoshard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program of another module does with public packages all that a plan goes through. It is compiled against this checkout, with
// the versions and sums of this module, so that nothing is fetched.
func TestExternalModule(t *testing.T) {
	dir := t.TempDir()
	ours, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("testdata/external/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(ours), "\nrequire ")
	copyFile(t, "go.sum", filepath.Join(dir, "go.sum"))
	modfile := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(modfile, []byte(string(theirs)+"\nrequire "+requirements), 0o644); err != nil {
		t.Fatal(err)
	}
	model, err := filepath.Abs("examples/mlp.json")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", "-modfile="+modfile, ".", model)
	cmd.Dir = "testdata/external"
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const want = `propagated mlp with 7 inputs
refused: AS2002 with notes: true
planned for tpu-v5e certificate feasible
ran on 8 devices, verified: true
estimated: true
emitted jax true
emitted stablehlo true
emitted shardmap true
emitted sdy true
the shard_map program gives 1 outputs
`
	if string(out) != want {
		t.Errorf("it says\n%s", out)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

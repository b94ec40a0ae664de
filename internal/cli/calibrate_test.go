package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/internal/cli"
	"autoshard/report"
)

// What is measured on JAX is a profile, or refused because the machine was too busy for times that grow.
func TestCalibrate(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON, a Python with JAX, is not set")
	}
	file := filepath.Join(t.TempDir(), "host.yaml")
	var out bytes.Buffer
	args := []string{"calibrate", "--python", python, "--number", "2", "--size", "256", "-o", file}
	code := cli.Main(args, strings.NewReader(""), &out, &out)
	if code != 0 {
		if !strings.Contains(out.String(), "do not grow with the amount") {
			t.Errorf("the command ends with %d\n%s", code, out.String())
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := cost.ReadProfile(file, text)
	if err != nil {
		t.Fatal(err)
	}
	table := out.String()
	if p.Hardware.Levels[0].Degree != 2 || !strings.HasPrefix(table, "2 devices at once\n") || strings.Count(table, "\nmatmul ") != 2 {
		t.Errorf("%+v\n%s", p.Hardware, out.String())
	}
}

// The four primitives are timed on JAX, beside what the profile says.
func TestBenchCollectives(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON, a Python with JAX, is not set")
	}
	var out bytes.Buffer
	args := []string{"bench", "collectives", "--python", python, "--number", "2", "--size", "256", "--hardware", "cpu", "--format", "json"}
	if code := cli.Main(args, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("the command ends with %d\n%s", code, out.String())
	}
	var b report.Bench
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	if b.Schema != report.BenchSchema || b.Devices != 2 || len(b.Rounds) < 5 || len(b.Ratios) != 4 {
		t.Fatalf("%s", out.String())
	}
	for _, r := range b.Rounds {
		if len(r.Times) != 4 || r.Times[2].Predicted <= r.Times[0].Predicted {
			t.Errorf("%d bytes: %+v", r.Bytes, r.Times)
		}
	}
}

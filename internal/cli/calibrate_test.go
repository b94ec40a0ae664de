package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/internal/cli"
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

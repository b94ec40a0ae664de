package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"autoshard/internal/diag"
)

// meshes are those that every program is planned on.
var meshes = []string{"data=4", "data=2,model=2"}

// runForm does with one form what a user would. Steps that need the result of one that failed are left out.
func runForm(o options, r *result) {
	file := filepath.Join(o.dir, r.program+"."+r.form)
	inputs := []string{"--inputs", filepath.Join(o.dir, r.program+".in.npz"), "--expect", filepath.Join(o.dir, r.program+".out.npz")}
	dir, err := os.MkdirTemp("", "coverage")
	if err != nil {
		r.failures = append(r.failures, failure{"prepare", 0, err.Error()})
		return
	}
	defer os.RemoveAll(dir)
	model := []string{file}
	if strings.HasPrefix(r.program, "symbolic") && (r.form == "export.mlir" || r.form == "artifact") {
		model = append(model, "--dim", "b=8")
	}
	if !r.step(o, dir, "check", "check", file) {
		return
	}
	r.step(o, dir, "propagate", slices.Concat([]string{"propagate", "--mesh", "data=4"}, model)...)
	for _, mesh := range meshes {
		plan := filepath.Join(dir, mesh+".json")
		args := slices.Concat([]string{"plan", "--mesh", mesh, "--hardware", "cpu", "--timeout", "60s", "--verify", "-o", plan}, model, inputs)
		if !r.step(o, dir, "plan "+mesh, args...) {
			continue
		}
		for _, format := range []string{"stablehlo", "shardmap", "sdy", "jax"} {
			r.emit(o, dir, mesh, format, inputs)
		}
	}
}

// emit writes a plan in a format, and runs what runs here.
func (r *result) emit(o options, dir, mesh, format string, inputs []string) {
	plan, file := filepath.Join(dir, mesh+".json"), filepath.Join(dir, format)
	if !r.step(o, dir, "emit "+format+" "+mesh, "emit", plan, "--format", format, "-o", file) {
		return
	}
	switch format {
	case "stablehlo":
		r.step(o, dir, "check stablehlo "+mesh, "check", file)
	case "shardmap", "sdy":
		r.step(o, dir, "run "+format+" "+mesh, slices.Concat([]string{"run", file}, inputs)...)
	case "jax":
		if o.jax && r.form == "text.mlir" {
			r.step(o, dir, "run jax "+mesh, slices.Concat([]string{"run", plan, "--backend", "jax"}, inputs)...)
		}
	}
}

// step runs one command, and says whether it succeeded.
func (r *result) step(o options, dir, name string, args ...string) bool {
	r.steps++
	ctx, cancel := context.WithTimeout(context.Background(), o.limit)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		r.failures = append(r.failures, failure{name, 0, err.Error()})
		return false
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"autoshard"}, args...)...)
	var out bytes.Buffer
	cmd.Stderr, cmd.Stdout = &out, nil
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case ctx.Err() != nil:
		r.failures = append(r.failures, failure{name, -1, fmt.Sprintf("no end within %s", o.limit)})
	case errors.As(err, &exit) && exit.ExitCode() == diag.ExitFinding && strings.Contains(out.String(), "error: 0 errors"): // warnings
		return true
	case errors.As(err, &exit):
		r.failures = append(r.failures, failure{name, exit.ExitCode(), message(out.String(), o.dir, dir)})
	default:
		r.failures = append(r.failures, failure{name, 0, err.Error()})
	}
	return false
}

// message returns the line that says what went wrong, without the folders.
func message(text string, dirs ...string) string {
	for _, dir := range dirs {
		text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "error: ") || strings.Contains(line, "panic: ") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(strings.SplitN(text, "\n", 2)[0])
}

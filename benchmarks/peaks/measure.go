package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"autoshard"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/cost"
	"autoshard/ir/mlir"
	"autoshard/program"
	"autoshard/program/inputs"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// row is a plan of a model: the bytes that a device is said to need, and that it takes.
type row struct {
	model, plan string
	mesh        []subaxis.Axis
	said        int64
	held        int64 // by the virtual device that held most
	xla         figures
}

// figures are what XLA says of a program it compiled.
type figures struct {
	Arguments int64 `json:"argument_bytes"`
	Outputs   int64 `json:"output_bytes"`
	Temporary int64 `json:"temp_bytes"`
}

func (f *figures) total() int64 { return f.Arguments + f.Outputs + f.Temporary }

// measure runs a plan on virtual devices, and returns its program for a device as XLA takes it, which merges collectives itself. There is
// no program where no inputs of the model are recorded.
func measure(ctx context.Context, m *experts.Model, p *experts.Plan, hw cost.Hardware) (r row, device *shardmap.Program, err error) {
	if m.Inputs == "" {
		return row{}, nil, nil
	}
	r = row{model: m.Name, plan: p.Name, mesh: p.Mesh}
	plan, err := m.AsAnnotated(ctx, p, hw)
	if err != nil {
		return r, nil, err
	}
	r.said = plan.Estimate.PeakBytes
	merged, err := lowered(ctx, plan, true)
	if err != nil {
		return r, nil, err
	}
	inputs, err := recorded(m.Path(m.Inputs), plan.Inputs)
	if err != nil {
		return r, nil, err
	}
	ran, err := run.Program(ctx, merged, inputs, run.Options{})
	if err != nil {
		return r, nil, err
	}
	r.held = slices.Max(ran.Traffic.PeakBytes)
	device, err = lowered(ctx, plan, false)
	return r, device, err
}

// lowered returns a plan's program for a device in plain StableHLO, with the merged collectives and rings that it asks for or without.
func lowered(ctx context.Context, plan *autoshard.Plan, merged bool) (*shardmap.Program, error) {
	lower := shardmap.Lower
	if merged {
		lower = program.PerDevice
	}
	whole, mesh, err := program.Parse(ctx, plan.Program)
	if err != nil {
		return nil, err
	}
	device, err := lower(ctx, whole, mesh)
	if err != nil {
		return nil, err
	}
	return device, shardmap.LowerAxes(ctx, device)
}

// recorded reads the inputs of a model.
func recorded(file string, types []autoshard.Tensor) ([]*tensor.Tensor, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found, err := npz.Read(bytes.NewReader(src), int64(len(src)), npz.DefaultLimits)
	if err != nil {
		return nil, err
	}
	return inputs.Match(found, file, "arg", types)
}

// compiler is XLA.
type compiler struct{ python, script, dir string }

func newCompiler() (*compiler, error) {
	python, err := site.Python()
	if err != nil {
		return nil, err
	}
	script, err := site.Shared("oracle/xla.py")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "peaks")
	return &compiler{python, script[0], dir}, err
}

func (c *compiler) close() { os.RemoveAll(c.dir) }

// compile returns what XLA says of a per-device program.
func (c *compiler) compile(ctx context.Context, p *shardmap.Program) (f figures, err error) {
	text, err := mlir.Write(ctx, p.Module, mlir.PrintOptions{})
	if err != nil {
		return f, err
	}
	file := filepath.Join(c.dir, "program.mlir")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return f, err
	}
	devices := fmt.Sprint(p.Mesh.Devices())
	out, err := exec.CommandContext(ctx, c.python, c.script, "--json", "--partitioned", "--devices", devices, file).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return f, fmt.Errorf("XLA: %w\n%s", err, failed.Stderr)
	}
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(out, &f)
}

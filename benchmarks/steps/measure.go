package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"autoshard/backend/jax"
	"autoshard/benchmarks/experts"
	"autoshard/calibrate"
	"autoshard/cost"
	"autoshard/program"
	"autoshard/subaxis"
)

// row is a plan of a model: what a step is said to take, in seconds, and takes.
type row struct {
	model, plan string
	mesh        []subaxis.Axis
	said        program.Estimate
	took        times
}

// times are medians of seconds.
type times struct {
	Step  float64 `json:"step"`
	Start float64 `json:"start"` // of a program with these inputs and results that computes nothing
}

// predicted returns what a step with its start is said to take.
func (r *row) predicted() float64 { return r.said.Seconds + r.took.Start }

// calibrated measures the devices, and returns the fits with the profile that they make.
func calibrated(ctx context.Context, python string, size int64) (*calibrate.Calibration, cost.Hardware, error) {
	base, err := cost.Lookup("cpu")
	if err != nil {
		return nil, base, err
	}
	o := jax.Options{Python: python, Devices: devices, Env: os.Environ()}
	outputs, err := jax.Run(ctx, calibrate.Script, calibrate.Inputs(size, false), o)
	if err != nil {
		return nil, base, err
	}
	samples, _, err := calibrate.Outputs(outputs)
	if err != nil {
		return nil, base, err
	}
	fits, err := calibrate.Fit(samples, devices)
	if err != nil {
		return nil, base, err
	}
	profile, err := cost.ReadProfile("host.yaml", []byte(fits.Profile("host", "now", &base)))
	if err != nil {
		return nil, base, err
	}
	return fits, profile.Hardware, nil
}

// script times the files of plans.
//
//go:embed peer.py
var script string

// peer is a process with the devices of JAX.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	dir string
}

func start(ctx context.Context, python string) (*peer, error) {
	p := &peer{cmd: exec.CommandContext(ctx, python, "-c", script)}
	p.cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "TF_CPP_MIN_LOG_LEVEL=3",
		"XLA_FLAGS=--xla_force_host_platform_device_count="+strconv.Itoa(devices))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.dir, err = os.MkdirTemp("", "steps"); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

func (p *peer) end() {
	p.in.Close()
	p.cmd.Wait()
	os.RemoveAll(p.dir)
}

// measure predicts a step of a plan and times it. It is false where no inputs of the model are recorded, or the mesh has other devices.
func (p *peer) measure(ctx context.Context, m *experts.Model, plan *experts.Plan, hw cost.Hardware) (r row, ok bool, err error) {
	mesh := subaxis.Mesh{Axes: plan.Mesh}
	if m.Inputs == "" || mesh.Devices() != devices {
		return r, false, nil
	}
	made, err := m.AsAnnotated(ctx, plan, hw)
	if err != nil {
		return r, false, err
	}
	lowered, err := made.Lowered(ctx)
	if err != nil {
		return r, false, err
	}
	text, err := lowered.Emit(ctx, "jax")
	if err != nil {
		return r, false, err
	}
	file := filepath.Join(p.dir, "plan.py")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return r, false, err
	}
	r = row{m.Name, plan.Name, plan.Mesh, made.Estimate, times{}}
	return r, true, p.ask(file, m.Path(m.Inputs), &r.took)
}

// ask times a file.
func (p *peer) ask(file, inputs string, answer *times) error {
	if err := json.NewEncoder(p.in).Encode(map[string]string{"file": file, "inputs": inputs}); err != nil {
		return err
	}
	if !p.out.Scan() {
		return errors.New("the process that times steps ended")
	}
	return json.Unmarshal(p.out.Bytes(), answer)
}

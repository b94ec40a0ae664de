// Package jax runs programs on real JAX: Python files as shardmap/emit writes them, in one process or in several that
// work together over jax.distributed, as they would on several hosts.
//
//	outputs, err := jax.Run(ctx, source, inputs, jax.Options{Devices: 8, Processes: 2, Env: os.Environ()})
//	// two processes with four virtual CPU devices each; outputs are out0, out1, …
//
// The file takes --inputs and --outputs (.npz files of arg0, … and out0, …), --no-check and, of several processes,
// --coordinator HOST:PORT, --processes P and --process I; process 0 writes the outputs. Launcher writes the command
// lines that start the same file on several hosts.
//
// No process outlives Run: each has its own process group, which is killed when the context ends or another process
// fails. This is the one backend that knows the operating system.
package jax

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/diag"
)

// Options say what runs a program.
type Options struct {
	Python    string   // name or path of the interpreter; "": python3
	Devices   int      // of all processes together
	Processes int      // Devices is a multiple of it; 0: 1
	Native    bool     // on the devices that JAX finds, in place of virtual CPU devices; in one process only
	Env       []string // environment of the processes, as os.Environ has it
}

// attempts bounds how often processes are started: another program may take the coordinator's port first.
const attempts = 4

// guard runs the file, and ends a process at once where it fails.
//
//go:embed guard.py
var guard []byte

// Run runs a Python program of the contract above on whole inputs and returns its outputs in order. Errors are of class
// diag.ErrInvalid for options that make no sense or name no Python, and diag.ErrUnsupported where Python has no JAX or
// the program fails: the first process to fail stops the others, and the error has its exception, the program's line
// and its last output. Where ctx ends, the error wraps that of ctx and has the last output of all processes.
func Run(ctx context.Context, source []byte, inputs []*tensor.Tensor, o Options) ([]npz.Array, error) {
	o.Python = cmp.Or(o.Python, "python3")
	o.Processes = max(1, o.Processes)
	if err := o.check(); err != nil {
		return nil, err
	}
	python, err := exec.LookPath(o.Python)
	if err != nil {
		return nil, diag.Invalid(diag.BackendFailed, diag.Position{},
			"no Python at %q: install Python and JAX (`pip install jax`), or name the Python with --python or AUTOSHARD_PYTHON", o.Python)
	}
	o.Python = python
	dir, err := os.MkdirTemp("", "autoshard-jax-")
	if err != nil {
		return nil, diag.Invalid(diag.BadFile, diag.Position{}, "no folder for the program: %v", err)
	}
	defer os.RemoveAll(dir)
	r := &runner{Options: o, dir: dir, source: source, port: freePort}
	if err := r.write(inputs); err != nil {
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.outputs()
}

func (o *Options) check() error {
	switch {
	case o.Devices < 1:
		return diag.Invalid(diag.BadOption, diag.Position{}, "%d devices: there must be at least one", o.Devices)
	case o.Devices%o.Processes != 0:
		return diag.Invalid(diag.BadOption, diag.Position{}, "%d devices cannot be shared equally by %d processes", o.Devices, o.Processes)
	case o.Native && o.Processes > 1:
		return diag.Invalid(diag.BadOption, diag.Position{},
			"several processes on one host have virtual devices only: `autoshard emit --launcher` writes the commands for several hosts")
	}
	return nil
}

// runner is one call of Run.
type runner struct {
	Options
	dir    string
	source []byte
	port   func() (int, error) // a port of the loopback interface that is free now
}

// The files in the folder of a run.
const (
	guardFile   = "guard.py"
	programFile = "program.py"
	inputsFile  = "in.npz"
	outputsFile = "out.npz"
)

func (r *runner) file(name string) string { return filepath.Join(r.dir, name) }

// report is the file in which the guard of a process writes what failed.
func (r *runner) report(process int) string { return r.file(fmt.Sprintf("failure%d.json", process)) }

func (r *runner) write(inputs []*tensor.Tensor) error {
	named := make([]npz.Array, len(inputs))
	for i, t := range inputs {
		named[i] = npz.Array{Name: fmt.Sprintf("arg%d", i), Tensor: *t}
	}
	var packed bytes.Buffer
	err := errors.Join(npz.Write(&packed, named), os.WriteFile(r.file(inputsFile), packed.Bytes(), 0o600),
		os.WriteFile(r.file(guardFile), guard, 0o600), os.WriteFile(r.file(programFile), r.source, 0o600))
	if err != nil {
		return diag.Invalid(diag.BadFile, diag.Position{}, "the program cannot be written: %v", err)
	}
	return nil
}

// run starts the processes and waits for them, again where the coordinator's port was taken in between.
func (r *runner) run(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		coordinator := ""
		if r.Processes > 1 {
			port, err := r.port()
			if err != nil {
				return diag.Unsupported(diag.BackendFailed, diag.Position{}, "no port for the coordinator: %v", err)
			}
			coordinator = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		}
		g := &group{}
		for i := range r.Processes {
			g.add(r.command(i, coordinator))
		}
		failed := g.run(ctx)
		switch {
		case failed == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w\n%s", ctx.Err(), r.lastOutput(g))
		case attempt == attempts || coordinator == "" || !portTaken(failed):
			return r.explain(failed)
		}
		for i := range r.Processes {
			os.Remove(r.report(i))
		}
	}
}

// command returns the command of one process.
func (r *runner) command(process int, coordinator string) *exec.Cmd {
	args := []string{r.file(guardFile), r.report(process), r.file(programFile), "--inputs", r.file(inputsFile),
		"--outputs", r.file(outputsFile), "--no-check"}
	if coordinator != "" {
		args = append(args, "--coordinator", coordinator, "--processes", strconv.Itoa(r.Processes), "--process", strconv.Itoa(process))
	}
	cmd := exec.Command(r.Python, args...)
	cmd.Env = environment(r.Env, r.Devices/r.Processes, r.Native, coordinator)
	return cmd
}

// environment returns the variables of a process with a number of virtual devices. The last of equal flags counts in
// XLA_FLAGS, the last of equal variables for a process. The coordinator listens on the loopback interface only; JAX by
// itself would listen on all.
func environment(env []string, devices int, native bool, coordinator string) []string {
	env = append([]string(nil), env...)
	env = append(env, "PYTHONUNBUFFERED=1")
	if coordinator != "" {
		env = append(env, "JAX_COORDINATOR_BIND_ADDRESS="+coordinator)
	}
	if native {
		return env
	}
	flags := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "XLA_FLAGS="); ok {
			flags = value + " "
		}
	}
	return append(env, "JAX_PLATFORMS=cpu", fmt.Sprintf("XLA_FLAGS=%s--xla_force_host_platform_device_count=%d", flags, devices))
}

// freePort returns a port of the loopback interface that is free now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// outputs reads what process 0 wrote, in the order of the outputs.
func (r *runner) outputs() ([]npz.Array, error) {
	data, err := os.ReadFile(r.file(outputsFile))
	if err != nil {
		return nil, diag.Unsupported(diag.BackendFailed, diag.Position{File: programFile}, "the program ended without outputs")
	}
	return npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
}

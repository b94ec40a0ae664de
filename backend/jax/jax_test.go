package jax

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// plain returns a Python, which need not have JAX, or skips the test.
func plain(t *testing.T) string {
	t.Helper()
	if python := os.Getenv("AUTOSHARD_PYTHON"); python != "" {
		return python
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to start processes of")
	}
	return python
}

// peer returns a Python with JAX, or skips the test.
func peer(t *testing.T) string {
	t.Helper()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax")
	}
	return python
}

// alone makes temporary folders of the test's own and demands that they are empty at its end.
func alone(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func vector(values ...float64) *tensor.Tensor {
	x := tensor.FromFloats(dtype.F32, []int64{int64(len(values))}, values...)
	return &x
}

// options returns options for a program that needs no JAX. The marker in the environment tells its processes and
// those that they start from all others.
func options(t *testing.T, processes int) (o Options, marker string) {
	t.Helper()
	marker = fmt.Sprintf("AUTOSHARD_TEST=%s-%d", t.Name(), time.Now().UnixNano())
	return Options{Python: plain(t), Devices: 8, Processes: processes, Env: append(os.Environ(), marker)}, marker
}

// survivors returns the processes with a marker in their environment.
func survivors(t *testing.T, marker string) []string {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environments) == 0 {
		t.Skip("no /proc to look for processes in")
	}
	var found []string
	for _, file := range environments {
		text, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(text), "\x00"), marker) {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}

// noSurvivors demands that all processes with a marker end: the kernel needs a moment for those that are killed.
func noSurvivors(t *testing.T, marker string) {
	t.Helper()
	var left []string
	for range 100 {
		if left = survivors(t, marker); len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("processes %v survive", left)
}

// started waits until n processes with a marker have written a file in a folder.
func started(t *testing.T, dir string, n int) {
	t.Helper()
	for range 1000 {
		if files, _ := os.ReadDir(dir); len(files) >= n {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the processes do not start")
}

// copyProgram writes its first input as its output, without NumPy.
const copyProgram = `
import shutil, sys
args = dict(zip(sys.argv[1:], sys.argv[2:]))
if args.get("--process", "0") == "0":
    import zipfile
    with zipfile.ZipFile(args["--inputs"]) as a, zipfile.ZipFile(args["--outputs"], "w") as b:
        for i, name in enumerate(a.namelist()):
            b.writestr(f"out{i}.npy", a.read(name))
`

// Inputs reach the program and outputs come back, from any number of processes, of which none is left.
func TestCopy(t *testing.T) {
	for _, processes := range []int{0, 1, 2, 4} {
		alone(t)
		o, marker := options(t, processes)
		got, err := Run(t.Context(), []byte(copyProgram), []*tensor.Tensor{vector(1, 2), vector(3)}, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || got[0].Name != "out0" || !got[0].Tensor.Equal(*vector(1, 2)) || !got[1].Tensor.Equal(*vector(3)) {
			t.Errorf("outputs are %v", got)
		}
		noSurvivors(t, marker)
	}
}

// waitProgram has every process start another one, say that it runs, and wait. %q is a folder.
const waitProgram = `
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("waiting", flush=True)
open(os.path.join(%q, str(os.getpid())), "w").close()
time.sleep(600)
`

// A context that ends in the middle ends all processes, and those that they started.
func TestCancel(t *testing.T) {
	for _, processes := range []int{1, 3} {
		alone(t)
		o, marker := options(t, processes)
		o.Devices = 6
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := Run(ctx, fmt.Appendf(nil, waitProgram, dir), nil, o)
			done <- err
		}()
		started(t, dir, processes)
		if n := len(survivors(t, marker)); n < 2*processes {
			t.Fatalf("%d processes run, want %d", n, 2*processes)
		}
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the end of the context", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("Run does not end with its context")
		}
		noSurvivors(t, marker)
	}
}

// A run that takes too long ends with its context's error, which has the last output of every process.
func TestTimeout(t *testing.T) {
	alone(t)
	o, marker := options(t, 2)
	dir := t.TempDir()
	for timeout := time.Second; ; timeout *= 4 { // long enough for the processes to start
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		_, err := Run(ctx, fmt.Appendf(nil, waitProgram, dir), nil, o)
		cancel()
		noSurvivors(t, marker)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the end of the context", err)
		}
		if strings.Contains(err.Error(), "last output of process 1 of 2:\n  waiting") {
			return
		}
		if timeout > time.Minute {
			t.Fatalf("got %v", err)
		}
	}
}

// TestKilledParent is the program that TestOrphans starts and kills; by itself it does nothing.
func TestKilledParent(t *testing.T) {
	dir := os.Getenv("AUTOSHARD_TEST_DIR")
	if dir == "" {
		return
	}
	_, err := Run(t.Context(), fmt.Appendf(nil, strings.Replace(waitProgram, "subprocess.Popen", "str", 1), dir), nil,
		Options{Python: plain(t), Devices: 2, Processes: 2, Env: os.Environ()})
	t.Fatal("the run ended", err)
}

// Processes end with this program, even where it is killed.
func TestOrphans(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only Linux ends processes whose parent is killed")
	}
	_, marker := options(t, 2)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledParent$")
	cmd.Env = append(os.Environ(), marker, "AUTOSHARD_TEST_DIR="+dir, "TMPDIR="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started(t, dir, 2)
	if n := len(survivors(t, marker)); n != 3 {
		t.Errorf("%d processes run, want 3", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	noSurvivors(t, marker)
}

// failing programs and what is said about them.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name, program string
		processes     int
		class         error
		want          []string
	}{
		{"exception", "x = 1\nprint('before')\nraise ValueError('boom')\n", 1, diag.ErrUnsupported,
			[]string{"program.py:3:1: error: the program failed: ValueError: boom [AS3005]\n  raise ValueError('boom')\n",
				"its last output is\n  before\n  Traceback"}},
		{"below a function", "import json\ndef f(x):\n  return json.loads(x)\nf('{')\n", 1, diag.ErrUnsupported,
			[]string{"program.py:3:3: error: the program failed: json"}},
		{"syntax", "x = (\n", 1, diag.ErrUnsupported, []string{"program.py:1:1: error: the program failed: SyntaxError: "}},
		{"exit text", "raise SystemExit('8 devices are needed')\n", 1, diag.ErrUnsupported, []string{"the program failed: 8 devices are needed"}},
		{"exit status", "import sys\nsys.exit(3)\n", 1, diag.ErrUnsupported,
			[]string{"program.py:2:1: error: the program failed: exit status 3"}},
		{"signal", "import os\nprint('last words')\nos.abort()\n", 1, diag.ErrUnsupported,
			[]string{"program.py: error: the program failed: signal: aborted", "  last words\n"}},
		{"no jax", "import os\nraise ImportError(\"No module named 'jax'\", name='jax')\n", 1, diag.ErrUnsupported,
			[]string{"cannot import JAX: install it with `", "-m pip install jax`", "--python or AUTOSHARD_PYTHON"}},
		{"no outputs", "print('nothing')\n", 1, diag.ErrUnsupported, []string{"the program ended without outputs"}},
		{"one of several", "import sys, time\nif sys.argv[-1] != '2': time.sleep(600)\nraise ValueError('boom')\n", 4, diag.ErrUnsupported,
			[]string{"program.py:3:1: error: process 2 of 4 failed: ValueError: boom"}},
		{"waits at its end", "import atexit, time\natexit.register(time.sleep, 600)\nraise ValueError('boom')\n", 2, diag.ErrUnsupported,
			[]string{"of 2 failed: ValueError: boom"}},
		{"much output", "print('\\n'.join(f'line {i}' for i in range(200000)))\nraise ValueError('boom')\n", 1, diag.ErrUnsupported,
			[]string{"  line 199999\n"}},
		{"not text", "import os, sys\nos.write(1, bytes(range(128, 256)))\nraise ValueError('\\udc80')\n", 1, diag.ErrUnsupported,
			[]string{"the program failed: ValueError"}},
		{"uneven", "", 3, diag.ErrInvalid, []string{"8 devices cannot be shared equally by 3 processes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			alone(t)
			o, marker := options(t, test.processes)
			_, err := Run(t.Context(), []byte(test.program), nil, o)
			var b strings.Builder
			diag.Render(&b, err, nil)
			if !errors.Is(err, test.class) {
				t.Errorf("class is not %v", test.class)
			}
			for _, want := range test.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s\ndoes not contain %q", b.String(), want)
				}
			}
			if n := b.Len(); n > 4<<10 {
				t.Errorf("%d bytes about a failure", n)
			}
			noSurvivors(t, marker)
		})
	}
}

// Options that make no sense, and a Python that is not there, are refused before anything starts.
func TestBadOptions(t *testing.T) {
	for want, o := range map[string]Options{
		`no Python at "missing/python": install Python and JAX`: {Python: "missing/python", Devices: 1},
		"0 devices": {},
		"several processes on one host have virtual devices only": {Devices: 2, Processes: 2, Native: true},
	} {
		if _, err := Run(t.Context(), nil, nil, o); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A process that ends well may leave others behind, which end too and do not make it fail.
func TestLeftBehind(t *testing.T) {
	alone(t)
	o, marker := options(t, 1)
	program := "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n" + copyProgram
	if _, err := Run(t.Context(), []byte(program), []*tensor.Tensor{vector(1)}, o); err != nil {
		t.Error(err)
	}
	noSurvivors(t, marker)
}

// Where another program takes the port, the processes start again with another one.
func TestPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	ports := []int{taken.Addr().(*net.TCPAddr).Port}
	program := `
import socket, sys, time
args = dict(zip(sys.argv[1:], sys.argv[2:]))
if args["--process"] == "0":
    socket.create_server(("127.0.0.1", int(args["--coordinator"].split(":")[1])))
elif args["--coordinator"].endswith(":` + strconv.Itoa(ports[0]) + `"):
    time.sleep(600)
`
	o, marker := options(t, 2)
	r := &runner{Options: o, dir: t.TempDir(), source: []byte(program)}
	calls := 0
	r.port = func() (int, error) {
		if calls++; calls == 1 {
			return ports[0], nil
		}
		return freePort()
	}
	if err := errors.Join(r.write(nil), r.run(t.Context())); err != nil || calls != 2 {
		t.Errorf("%d ports: %v", calls, err)
	}
	r.port = func() (int, error) { calls++; return ports[0], nil }
	calls = 0
	if err := r.run(t.Context()); !errors.Is(err, diag.ErrUnsupported) || calls != attempts {
		t.Errorf("%d ports: %v", calls, err)
	}
	noSurvivors(t, marker)
}

// Processes get the caller's environment, and what makes virtual devices unless the devices are real.
func TestEnvironment(t *testing.T) {
	env := []string{"A=b", "XLA_FLAGS=--xla_dump_to=d", "JAX_PLATFORMS=cuda"}
	want := append(slices.Clone(env), "PYTHONUNBUFFERED=1", "JAX_PLATFORMS=cpu",
		"XLA_FLAGS=--xla_dump_to=d --xla_force_host_platform_device_count=4")
	if d := cmp.Diff(want, environment(env, 4, false, "")); d != "" {
		t.Error(d)
	}
	want = append(slices.Clone(env), "PYTHONUNBUFFERED=1", "JAX_COORDINATOR_BIND_ADDRESS=127.0.0.1:7")
	if d := cmp.Diff(want, environment(env, 4, true, "127.0.0.1:7")); d != "" {
		t.Error(d)
	}
}

// Of a long output the end is kept.
func TestTail(t *testing.T) {
	var w tail
	for i := range 10 * maxKept / 8 {
		fmt.Fprintf(&w, "%07d\n", i)
	}
	if s := w.String(); len(s) != maxKept || !strings.HasSuffix(s, fmt.Sprintf("%07d\n", 10*maxKept/8-1)) {
		t.Errorf("%d bytes end with %q", len(s), s[len(s)-8:])
	}
	fmt.Fprint(&w, strings.Repeat("x", 3*maxKept))
	if s := w.String(); s != strings.Repeat("x", maxKept) {
		t.Errorf("%d bytes", len(s))
	}
}

// Real JAX: one process with eight devices, and two with four.
func TestMatmul(t *testing.T) {
	python := peer(t)
	source, err := os.ReadFile(filepath.Join("testdata", "matmul.py"))
	if err != nil {
		t.Fatal(err)
	}
	a, b := make([]float64, 4*16), make([]float64, 16*2)
	for i := range a {
		a[i] = float64(i % 7)
	}
	for i := range b {
		b[i] = float64(i % 5)
	}
	x, y := tensor.FromFloats(dtype.F32, []int64{4, 16}, a...), tensor.FromFloats(dtype.F32, []int64{16, 2}, b...)
	product, sums := make([]float64, 8), make([]float64, 16)
	for i := range 4 {
		for k := range 16 {
			sums[k] += a[16*i+k]
			for j := range 2 {
				product[2*i+j] += a[16*i+k] * b[2*k+j]
			}
		}
	}
	for _, processes := range []int{1, 2} {
		alone(t)
		got, err := Run(t.Context(), source, []*tensor.Tensor{&x, &y}, Options{Python: python, Devices: 8, Processes: processes,
			Env: os.Environ()})
		if err != nil {
			diag.Render(os.Stderr, err, nil)
			t.Fatal(err)
		}
		if d := cmp.Diff([][]float64{product, sums}, [][]float64{got[0].Tensor.Floats(), got[1].Tensor.Floats()}); d != "" {
			t.Errorf("%d processes: %s", processes, d)
		}
	}
}

// A process of real JAX that fails while the other waits for it in a collective ends both at once.
func TestFailureInCollective(t *testing.T) {
	python := peer(t)
	alone(t)
	source, err := os.ReadFile(filepath.Join("testdata", "matmul.py"))
	if err != nil {
		t.Fatal(err)
	}
	program := strings.Replace(string(source), "found = ", "if args.process == 1:\n    raise ValueError(\"boom\")\nfound = ", 1)
	o, marker := options(t, 2)
	o.Python = python
	x := tensor.FromFloats(dtype.F32, []int64{4, 16}, make([]float64, 64)...)
	y := tensor.FromFloats(dtype.F32, []int64{16, 2}, make([]float64, 32)...)
	_, err = Run(t.Context(), []byte(program), []*tensor.Tensor{&x, &y}, o)
	if !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), "process 1 of 2 failed: ValueError: boom") {
		t.Errorf("got %v", err)
	}
	noSurvivors(t, marker)
}

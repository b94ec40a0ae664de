package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"autoshard/benchmarks/site"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// peer measures MLIR the way measureHere measures this repository.
//
//go:embed peer.py
var peer string

// measurement is what one side needs for one file: seconds of the fastest round, and bytes.
type measurement struct {
	Parse float64 `json:"parse"` // reads and verifies
	Print float64 `json:"print"`
	Peak  int64   `json:"peak"` // memory of the process that the first reading added, above the text
	Live  int64   `json:"live"` // what the finished module holds; 0 where it is not known
	Text  int     `json:"text"` // bytes printed
	Peer  string  `json:"peer"` // version of the peer
}

// row is one file.
type row struct {
	name       string
	bytes      int64
	here, mlir measurement
}

func measureBoth(file string, rounds int) (row, error) {
	info, err := os.Stat(file)
	if err != nil {
		return row{}, err
	}
	r := row{name: filepath.Base(file), bytes: info.Size()}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	if r.here, err = measure(self, "-child", file, "-rounds", strconv.Itoa(rounds)); err != nil {
		return r, err
	}
	python, err := site.Python()
	if err != nil {
		return r, err
	}
	r.mlir, err = measure(python, "-c", peer, file, strconv.Itoa(rounds))
	return r, err
}

// measure runs a command that writes one measurement.
func measure(name string, args ...string) (m measurement, err error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return m, json.Unmarshal(out, &m)
}

// measureHere reads, verifies and prints a file with this repository's packages.
func measureHere(w io.Writer, file string, rounds int) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var m measurement
	debug.FreeOSMemory()
	heap := heapInUse()
	before, err := resetPeak()
	if err != nil {
		return err
	}
	module, err := read(src)
	if err != nil {
		return err
	}
	peak, err := status("VmHWM")
	if err != nil {
		return err
	}
	m.Peak, m.Live = peak-before, heapInUse()-heap
	for range rounds {
		start := time.Now()
		if module, err = read(src); err != nil {
			return err
		}
		m.Parse = site.Fastest(m.Parse, start)
	}
	for range rounds {
		start := time.Now()
		m.Text = len(mlir.Print(module, mlir.PrintOptions{}))
		m.Print = site.Fastest(m.Print, start)
	}
	return json.NewEncoder(w).Encode(m)
}

func read(src []byte) (*ir.Module, error) {
	m, err := mlir.Parse(context.Background(), src, mlir.Options{})
	if err != nil {
		return nil, err
	}
	return m, ir.Verify(context.Background(), m)
}

// heapInUse returns the bytes of live objects.
func heapInUse() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// resetPeak makes the kernel forget the most memory that the process has had so far, and returns what it has now.
func resetPeak() (int64, error) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return 0, err
	}
	return status("VmRSS")
}

// status returns a size that the kernel tells about this process, in bytes.
func status(key string) (int64, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if name, value, _ := strings.Cut(line, ":"); name == key {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no %s", key)
}

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"autoshard/benchmarks/site"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/pass"
	"autoshard/passes"
	"autoshard/propagate"
)

// leastTime is how long rounds go on where they are short.
const leastTime = 2 * time.Second

const pipeline = "sdy-propagation-pipeline"

// peerScript measures Shardy the way this command measures this repository.
//
//go:embed peer.py
var peerScript string

// row is one program.
type row struct {
	program
	ops   int
	here  float64 // seconds of the fastest round
	cpu   float64 // seconds of processor time of the cheapest round, garbage collection included
	run   float64 // of it in the propagation itself
	again float64 // seconds of a propagation in which nothing changes any more
	bytes float64 // allocated by propagation, for each operation
	live  float64 // of them what is left at the end, the trace
	setup float64 // allocations for each operation of a run in which nothing changes
	peer  peerTimes
	ran   bool // the peer gave an answer
	same  bool // both print the same program
	limit time.Duration
}

// peerTimes is what the peer writes.
type peerTimes struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
	Version string  `json:"version"`
}

func measure(p program, file string, rounds int, limit time.Duration) (row, error) {
	r := row{program: p, limit: limit}
	text, err := p.text()
	if err != nil {
		return r, err
	}
	m, err := mlir.Parse(context.Background(), text, mlir.Options{})
	if err != nil {
		return r, err
	}
	m.Walk(m.Body(), func(ir.OpID) { r.ops++ })
	out, err := r.measureHere(m, rounds)
	if err != nil || !p.peer {
		return r, err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return r, err
	}
	defer os.Remove(file)
	return r, r.measurePeer(file, out, rounds)
}

// measureHere times the pipeline and, by itself, the propagation in it.
func (r *row) measureHere(m *ir.Module, rounds int) ([]byte, error) {
	p, err := passes.Table().Parse(pipeline, "pipeline")
	if err != nil {
		return nil, err
	}
	var out []byte
	begin := time.Now()
	for i := 0; i < rounds || time.Since(begin) < leastTime; i++ {
		c := m.Clone()
		runtime.GC()
		start, used := time.Now(), cpuTime()
		if _, err := p.Run(context.Background(), c, pass.Hooks{SkipVerify: true}); err != nil {
			return nil, err
		}
		if used = cpuTime() - used; r.cpu == 0 || used < r.cpu {
			r.cpu = used
		}
		r.here = site.Fastest(r.here, start)
		if out == nil {
			out = mlir.Print(c, mlir.PrintOptions{})
		}
	}
	return out, r.measureRun(m, rounds)
}

// measureRun measures propagation alone, and once more where nothing changes any more.
func (r *row) measureRun(m *ir.Module, rounds int) error {
	for range rounds {
		c := m.Clone()
		if err := ir.InlineCalls(context.Background(), c); err != nil {
			return err
		}
		if err := propagate.Import(context.Background(), c); err != nil {
			return err
		}
		before := memory()
		start := time.Now()
		trace, err := propagate.Run(context.Background(), c, propagate.Options{})
		if err != nil {
			return err
		}
		r.run = site.Fastest(r.run, start)
		first := memory()
		runtime.KeepAlive(trace)
		start = time.Now()
		if _, err := propagate.Run(context.Background(), c, propagate.Options{}); err != nil {
			return err
		}
		r.again = site.Fastest(r.again, start)
		second := memory()
		n := float64(c.NumOps())
		r.bytes = float64(first.TotalAlloc-before.TotalAlloc) / n
		r.live = max(0, float64(first.HeapAlloc)-float64(before.HeapAlloc)) / n
		r.setup = float64(second.Mallocs-first.Mallocs) / n
	}
	return nil
}

func memory() (s runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s
}

// cpuTime returns the seconds of processor time that this process has used, in all threads.
func cpuTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// measurePeer times the peer in a process of its own, and compares what it prints.
func (r *row) measurePeer(file string, here []byte, rounds int) error {
	python, err := site.Python()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", peerScript, file, pipeline, strconv.Itoa(rounds), fmt.Sprint(leastTime.Seconds()))
	var times bytes.Buffer
	cmd.Stderr = &times
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil // over the limit, which the table says
	}
	if err != nil {
		return fmt.Errorf("peer: %w: %s", err, times.String())
	}
	r.ran = true
	r.same = bytes.Equal(bytes.TrimSpace(out), bytes.TrimSpace(here))
	return json.Unmarshal(times.Bytes()[bytes.LastIndexByte(bytes.TrimSpace(times.Bytes()), '\n')+1:], &r.peer)
}

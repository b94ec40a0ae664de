// Package peer asks real peers what StableHLO programs compute: XLA for CPU, and the reference evaluator of StableHLO, both in jaxlib.
//
//	python := peer.Python(t)
//	replies, err := peer.Ask(t.Context(), python, peer.XLA, []peer.Program{{Text: text, Args: args}})
//
// One process of Python runs all programs. A program that ends it, as the evaluator does with what it does not know, is refused like any
// other, and the next one gets a new process.
package peer

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// Name is a peer.
type Name string

// The peers.
const (
	XLA       Name = "xla"       // XLA for CPU, as JAX compiles for it
	Evaluator Name = "evaluator" // the reference evaluator of StableHLO
)

//go:embed peer.py
var script string

// Array is a tensor: little-endian elements of whole bytes.
type Array struct {
	Type  dtype.Type
	Shape []int64
	Data  []byte
}

// Program is a module, whose function main takes arguments.
type Program struct {
	Text string
	Args []Array
}

// Reply is what came of a program.
type Reply struct {
	Results []Array
	Refusal string // why there are none
}

// Python returns the Python with jaxlib that AUTOSHARD_PYTHON names, and skips the test without one.
func Python(t testing.TB) string {
	t.Helper()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python 3.12 with jax, whose XLA and evaluator are compared with")
	}
	return python
}

// Ask runs programs on a peer and returns a reply for each.
func Ask(ctx context.Context, python string, name Name, programs []Program) ([]Reply, error) {
	var replies []Reply
	for len(replies) < len(programs) {
		some, err := session(ctx, python, name, programs[len(replies):])
		if replies = append(replies, some...); err != nil {
			return replies, err
		}
	}
	return replies, nil
}

// session runs programs in one process until it ends, and returns the replies: at least one.
func session(ctx context.Context, python string, name Name, programs []Program) ([]Reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", script, string(name))
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		send(in, programs)
	}()
	replies, err := receive(bufio.NewReader(out), len(programs))
	died := err == nil && len(replies) < len(programs)
	in.Close()
	cmd.Wait() // of a process that died it says nothing new
	<-written
	if died && ctx.Err() == nil {
		replies = append(replies, Reply{Refusal: "crashed: " + cause(said.String())})
	}
	if err == nil {
		err = ctx.Err()
	}
	return replies, err
}

// cause returns the line that says why a process died.
func cause(said string) string {
	for line := range strings.Lines(said) {
		for _, sign := range []string{"Check failed", "LLVM ERROR", "*** SIG", "Assertion"} {
			if strings.Contains(line, sign) {
				return strings.TrimSpace(line)
			}
		}
	}
	return "without a word"
}

type arrayJSON struct {
	DType string   `json:"dtype"`
	Shape []int64  `json:"shape"`
	Data  []byte   `json:"data"`
	Texts []string `json:"texts,omitempty"`
}

// send writes programs until the process takes no more.
func send(in io.WriteCloser, programs []Program) {
	defer in.Close()
	for _, p := range programs {
		args := []arrayJSON{}
		for _, a := range p.Args {
			args = append(args, arrayJSON{DType: a.Type.String(), Shape: append([]int64{}, a.Shape...), Data: a.Data})
		}
		line, _ := json.Marshal(map[string]any{"text": p.Text, "args": args})
		if _, err := in.Write(append(line, '\n')); err != nil {
			return
		}
	}
}

// receive reads replies, fewer than there should be where the process ends.
func receive(out *bufio.Reader, n int) (replies []Reply, err error) {
	decoder := json.NewDecoder(out)
	for range n {
		var r struct {
			Results []arrayJSON `json:"results"`
			Error   string      `json:"error"`
		}
		if decoder.Decode(&r) != nil {
			return replies, nil
		}
		reply := Reply{Refusal: r.Error}
		for _, a := range r.Results {
			x, err := a.array()
			if err != nil {
				return replies, err
			}
			reply.Results = append(reply.Results, x)
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

func (a *arrayJSON) array() (Array, error) {
	if len(a.Texts) > 0 {
		return fromTexts(a.Texts)
	}
	t, ok := dtype.Parse(a.DType)
	if !ok {
		return Array{}, fmt.Errorf("unknown type %q", a.DType)
	}
	fill(t, a.Data) // NumPy leaves the upper bits open
	return Array{t, a.Shape, a.Data}, nil
}

// fill makes elements of less than a byte fill it, as those of package tensor do.
func fill(t dtype.Type, data []byte) {
	if t.Bits() >= 8 {
		return
	}
	for i, b := range data {
		data[i] = b & (1<<t.Bits() - 1)
		if t.Kind() == dtype.Signed {
			data[i] = byte(dtype.Wrap(t, int64(b)))
		}
	}
}

// fromTexts reads a constant, or one of complex numbers from its parts.
func fromTexts(texts []string) (Array, error) {
	var parts []Array
	for _, text := range texts {
		m := ir.NewModule()
		attr, err := mlir.ParseAttr(m, text, diag.Position{})
		if err != nil {
			return Array{}, err
		}
		d, ok := attr.(*ir.Dense)
		if !ok {
			return Array{}, fmt.Errorf("no constant: %s", text)
		}
		t := m.TypeOf(d.Type)
		data := bytes.Clone(d.Data)
		fill(t.DType, data)
		if d.Splat {
			data = bytes.Repeat(data, int(t.Elements()))
		}
		parts = append(parts, Array{t.DType, t.Dims, data})
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	whole := Array{Type: dtype.ComplexOf(parts[0].Type), Shape: parts[0].Shape}
	for size, at := parts[0].Type.Bytes(), 0; at < len(parts[0].Data); at += size {
		whole.Data = append(append(whole.Data, parts[0].Data[at:at+size]...), parts[1].Data[at:at+size]...)
	}
	return whole, nil
}

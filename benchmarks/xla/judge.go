package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"autoshard/benchmarks/site"
)

// peer is the process that compiles and runs.
//
//go:embed peer.py
var peer string

// request asks what XLA makes of a program.
type request struct {
	File     string `json:"file"`
	Devices  int64  `json:"devices"`
	Inputs   string `json:"inputs"`
	Expected string `json:"expected"`
}

// made is what XLA made of a program.
type made struct {
	Failed      string  `json:"failed"` // why there is none
	Sent        float64 `json:"sent"`   // bytes of one device in a step, on rings
	Memory      int64   `json:"memory"` // bytes of one device: arguments, results and what is held between
	Error       float64 `json:"error"`  // of outputs, relative to their largest magnitude
	Collectives []flow  `json:"collectives"`
}

// flow is a collective of XLA's program.
type flow struct {
	Kind    string `json:"kind"`
	Group   int64  `json:"group"`
	Operand int64  `json:"operand_bytes"` // of one device
	Count   int64  `json:"count"`
}

// judge is a process of XLA, which is started again where a program ends it.
type judge struct {
	ctx     context.Context
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func newJudge(ctx context.Context) (*judge, error) {
	j := &judge{ctx: ctx}
	return j, j.start()
}

func (j *judge) start() error {
	python, err := site.Python()
	if err != nil {
		return err
	}
	oracle, err := site.Shared("oracle/xla.py")
	if err != nil {
		return err
	}
	j.command = exec.CommandContext(j.ctx, python, "-c", peer, filepath.Dir(oracle[0]))
	j.command.Env = append(os.Environ(), "TF_CPP_MIN_LOG_LEVEL=3")
	if j.in, err = j.command.StdinPipe(); err != nil {
		return err
	}
	out, err := j.command.StdoutPipe()
	if err != nil {
		return err
	}
	j.out = bufio.NewReader(out)
	return j.command.Start()
}

// ask returns what XLA makes of a program. A program that ends the process failed.
func (j *judge) ask(r request) (made, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return made{}, err
	}
	if _, err := j.in.Write(append(line, '\n')); err != nil {
		return made{}, err
	}
	reply, err := j.out.ReadBytes('\n')
	if err != nil {
		ended := j.command.Wait()
		return made{Failed: fmt.Sprintf("the process of XLA ended: %v", ended)}, j.start()
	}
	var m made
	return m, json.Unmarshal(reply, &m)
}

// close ends the process.
func (j *judge) close() error {
	err := j.in.Close()
	if ended := j.command.Wait(); err == nil {
		err = ended
	}
	return err
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"autoshard"
	"autoshard/benchmarks/site"
)

// service is a process that serves, with one slot.
type service struct {
	cmd *exec.Cmd
	url string
}

// serve starts the service.
func (r *runner) serve(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, r.self, "serve", "--listen", "127.0.0.1:0", "--max-concurrent", "1")
	addresses, err := site.Serve(cmd, "listening")
	if err != nil {
		return err
	}
	r.service = &service{cmd, "http://" + addresses[0]}
	return nil
}

// stop ends the service as an interrupt does; its exit code must be 0.
func (r *runner) stop() error {
	if err := r.service.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := r.service.cmd.Wait(); err != nil {
		return fmt.Errorf("the service ends: %w", err)
	}
	return nil
}

// small is a request that takes no time.
const small = `{"text": "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> { return %a : tensor<8xf32> }", "mesh": [{"name": "x", "size": 2}]}`

// plan asks for a plan within a deadline. The slot must be free soon after it: a small request waits for that.
func (s *service) plan(ctx context.Context, t *trial) result {
	request, err := t.request()
	if err != nil {
		return result{err: err}
	}
	due := time.Now().Add(t.after)
	planned, err := s.call(ctx, "Plan", request, t.after)
	propagated, failed := s.call(ctx, "Propagate", []byte(small), patience)
	late := time.Since(due)
	if err := errors.Join(err, failed); err != nil {
		return result{err: err}
	}
	a := judge(ctx, t, planned)
	a.late, a.timed = late, true
	if _, code, err := read(propagated); err != nil || code != "" {
		a.err = errors.Join(a.err, fmt.Errorf("the service answers %s to a small request (%w)", code, err))
	}
	return a
}

// message is JSON for the service.
type message map[string]any

// request is what a trial asks for.
func (t *trial) request() ([]byte, error) {
	text, err := site.ReadText(t.job.file)
	if err != nil {
		return nil, err
	}
	var mesh []message
	for axis := range strings.SplitSeq(t.job.mesh, ",") {
		name, size, _ := strings.Cut(axis, "=")
		mesh = append(mesh, message{"name": name, "size": size})
	}
	return json.Marshal(message{"text": string(text), "hardware": "tpu-v5p", "memory": t.memory, "searchMemory": t.search, "mesh": mesh})
}

// call sends a request with a deadline, and returns the reply.
func (s *service) call(ctx context.Context, method string, request []byte, within time.Duration) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/autoshard.v1.AutoshardService/"+method, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Connect-Timeout-Ms", fmt.Sprint(within.Milliseconds()))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// read returns the plan of a reply, if it has one, or the code of the error that it is.
func read(reply []byte) (plan []byte, failure string, err error) {
	var parts struct {
		Plan json.RawMessage
		Code string
	}
	err = json.Unmarshal(reply, &parts)
	return parts.Plan, parts.Code, err
}

// judge says what an answer is, and what is wrong with it.
func judge(ctx context.Context, t *trial, reply []byte) result {
	plan, failure, err := read(reply)
	switch {
	case err != nil:
		return result{err: err}
	case failure == "":
		p, err := autoshard.ReadPlan(ctx, "reply", plan)
		if err != nil {
			return result{err: err}
		}
		return result{outcome: "plan, " + p.Certificate.Status, err: valid(ctx, t, p)}
	case failure == "deadline_exceeded":
		return result{outcome: "no plan in time"}
	case failure == "failed_precondition" && t.memory < t.job.peaks[0]:
		return result{outcome: "none fits"}
	}
	return result{err: fmt.Errorf("the service answers %s", failure)}
}

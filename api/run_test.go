package api

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/program/inputs"
)

// ran returns what a run came to, and what was seen meanwhile.
func ran(t *testing.T, c autoshardv1connect.AutoshardServiceClient, r *autoshardv1.RunRequest) (result *autoshardv1.RunResult,
	sights []*autoshardv1.Sight, stages []string, err error) {
	t.Helper()
	stream, err := c.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for stream.Receive() {
		m := stream.Msg()
		switch {
		case result != nil:
			t.Error("something comes after the result")
		case m.GetProgress() != nil:
			stages = append(stages, m.GetProgress().GetStage())
		case m.GetSight() != nil:
			sights = append(sights, m.GetSight())
		default:
			result = m.GetResult()
		}
	}
	return result, sights, stages, stream.Err()
}

func example(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", "examples"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A plan runs with recorded arrays, is compared with recorded outputs, and gives the same outputs as a run that is only measured.
func TestRunPlan(t *testing.T) {
	c := client(t, start(t, Options{}, nil))
	made, err := c.Plan(t.Context(), trained(t))
	if err != nil {
		t.Fatal(err)
	}
	request := &autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Plan{Plan: made.Plan}, Inputs: example(t, "mlp_train.in.npz"),
		Expected: example(t, "mlp_train.out.npz"), Outputs: true}
	proved, _, stages, err := ran(t, c, request)
	if err != nil {
		t.Fatal(err)
	}
	if v := proved.GetVerification(); !v.GetPassed() || v.GetProof().GetValues() == 0 || !proved.AsPredicted || len(stages) == 0 {
		t.Errorf("result is %v after %v", proved.Verification, stages)
	}
	if len(proved.Collectives) == 0 || proved.Collectives[0].Counted == 0 || !strings.Contains(proved.Text, "verified") {
		t.Errorf("collectives are %v, text %s", proved.Collectives, proved.Text)
	}
	request.Profile = true
	measured, _, _, err := ran(t, c, request)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(measured.Outputs, proved.Outputs) || len(measured.Outputs) == 0 || !strings.Contains(measured.Trace, "traceEvents") {
		t.Errorf("%d and %d bytes of outputs, trace %.100s", len(measured.Outputs), len(proved.Outputs), measured.Trace)
	}
	if v := measured.GetVerification(); !v.GetPassed() || v.GetProof() != nil {
		t.Errorf("a measured run: %v", v)
	}
	request.Expected, request.Relative = example(t, "mlp_train.in.npz"), new(0.0)
	if _, _, _, err := ran(t, c, request); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("inputs as outputs: %v", err)
	}
}

const summed = `shard_map @summed mesh=(i=2, j=2)
  in_specs=(P('i', 'j'),)
  out_specs=(P('i', None),)
lambda x:f32[2,2]
  y:f32[2,2] = psum[axes=(j,)] x
  return y
`

// A shard_map program shows what devices hold, with the seed's arrays; limits and wrong names are errors of their own.
func TestRunShows(t *testing.T) {
	c := client(t, start(t, Options{}, nil))
	request := &autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Text{Text: summed}, FileName: "summed.shardmap", Seed: 3, Print: true,
		Outputs: true}
	result, sights, _, err := ran(t, c, request)
	if err != nil {
		t.Fatal(err)
	}
	if len(sights) != 2 || sights[0].Moment != "before" || sights[0].Values[0] != "x" || len(sights[0].Devices) != 4 ||
		!strings.HasPrefix(sights[1].Text, "AFTER psum") {
		t.Errorf("sights are %v", sights)
	}
	held, err := inputs.Arrays("block", sights[0].Devices[3].Blocks[0])
	if err != nil || len(held) != 1 || len(held[0].Tensor.Shape) != 2 || sights[0].Devices[3].Coordinates[1] != 1 {
		t.Errorf("device 3 holds %v at %v, error %v", held, sights[0].Devices[3].Coordinates, err)
	}
	if !result.AsPredicted || len(result.Collectives) != 1 || result.Verification != nil {
		t.Errorf("result is %v", result)
	}
	request.Print, request.Printed = false, []string{"y"}
	again, sights, _, err := ran(t, c, request)
	if err != nil || len(sights) != 1 || sights[0].Values[0] != "y" || !bytes.Equal(again.Outputs, result.Outputs) {
		t.Errorf("sights are %v, error %v", sights, err)
	}
	for name, change := range map[string]func(*autoshardv1.RunRequest){
		"name":    func(r *autoshardv1.RunRequest) { r.Printed = []string{"z"} },
		"memory":  func(r *autoshardv1.RunRequest) { r.MaxMemory = 8 },
		"text":    func(r *autoshardv1.RunRequest) { r.Program = &autoshardv1.RunRequest_Text{Text: "shard_map @"} },
		"nothing": func(r *autoshardv1.RunRequest) { r.Program = nil },
		"inputs":  func(r *autoshardv1.RunRequest) { r.Inputs = []byte("x") },
	} {
		wrong := &autoshardv1.RunRequest{Program: request.Program, FileName: "summed.shardmap"}
		change(wrong)
		want := connect.CodeInvalidArgument
		if name == "memory" {
			want = connect.CodeResourceExhausted
		}
		if _, _, _, err := ran(t, c, wrong); connect.CodeOf(err) != want || len(diagnostics(t, err)) == 0 {
			t.Errorf("%s: %v with %v", name, err, diagnostics(t, err))
		}
	}
}

// diagnostics returns those of an error.
func diagnostics(t *testing.T, err error) (out []*autoshardv1.Diagnostic) {
	t.Helper()
	var e *connect.Error
	if !asConnect(err, &e) {
		return nil
	}
	for _, detail := range e.Details() {
		if value, err := detail.Value(); err == nil {
			if d, ok := value.(*autoshardv1.Diagnostic); ok {
				out = append(out, d)
			}
		}
	}
	return out
}

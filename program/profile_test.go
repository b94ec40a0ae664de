package program_test

import (
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// halves is a program of two devices that exchange sums.
const halves = `shard_map @halves mesh=(i=2,) in_specs=(P('i'),) out_specs=(P(),)
lambda x:f32[4]
  y:f32[4] = stablehlo.sine x
  z:f32[4] = psum[axes=(i,)] y
  return z
`

func readHalves(t *testing.T) *program.Program {
	t.Helper()
	p, err := program.ReadShardMap(t.Context(), "halves.shardmap", []byte(halves))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A run that is measured has every op once for each device, its waits, and what devices hold, in sums and as a trace.
func TestProfile(t *testing.T) {
	p := readHalves(t)
	x := tensor.FromFloats(dtype.F32, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	var now atomic.Int64
	clock := func() time.Duration { return time.Duration(now.Add(1)) * time.Microsecond }
	result, err := p.RunWith(t.Context(), []*tensor.Tensor{&x}, program.RunOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int64{}
	for _, k := range result.Profile.Kinds {
		runs[k.Name] = k.Runs
		if k.Name == "sine" && k.Bytes != 2*2*16 {
			t.Errorf("sines read and write %d bytes", k.Bytes)
		}
	}
	if runs["sine"] != 2 || runs["all_reduce"] != 2 || len(result.Profile.Devices) != 2 || result.Profile.Devices[1].PeakBytes == 0 {
		t.Errorf("%+v", result.Profile)
	}
	text, err := result.Profile.Trace()
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		Events []struct {
			Name, Ph string
			Pid      int
			Ts, Dur  float64
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range trace.Events {
		seen[e.Name]++
	}
	if seen["process_name"] != 2 || seen["sine"] != 2 || seen["all_reduce"] != 2 || seen["wait for device 0"] == 0 || seen["held"] == 0 {
		t.Errorf("%v", seen)
	}
}

// Runs end where a device would hold more than it may, or an op makes NaN of numbers.
func TestRunsAreBounded(t *testing.T) {
	p := readHalves(t)
	x := tensor.FromFloats(dtype.F32, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	if _, err := p.RunWith(t.Context(), []*tensor.Tensor{&x}, program.RunOptions{MaxBytes: 24}); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("with 24 bytes: %v", err)
	}
	small := p.Within(48) // of both devices
	if _, err := small.RunWith(t.Context(), []*tensor.Tensor{&x}, program.RunOptions{MaxBytes: 1 << 62}); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("within 48 bytes: %v", err)
	}
	if _, err := p.Within(1<<20).Run(t.Context(), []*tensor.Tensor{&x}); err != nil {
		t.Errorf("within a megabyte: %v", err)
	}
	x.Data[3] = 0x7f // sin of an infinite number
	x.Data[2] = 0x80
	if _, err := p.RunWith(t.Context(), []*tensor.Tensor{&x}, program.RunOptions{CheckNaNs: true}); !errors.Is(err, diag.ErrFinding) {
		t.Errorf("the sine of infinity: %v", err)
	}
}

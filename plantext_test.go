package autoshard

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanText(t *testing.T) {
	p := &Plan{
		Model: "m", Mesh: []MeshAxis{{"data", 4}, {"model", 2}}, Hardware: "tpu-v5e", Memory: 16 << 30,
		Inputs:  []Tensor{{Name: "x", Type: "f32[8,4]", LocalType: "f32[2,4]", Spec: "P('data', None)", Bytes: 32, User: true}},
		Outputs: []Tensor{{Name: "y", Type: "f32[]", LocalType: "f32[]", Bytes: 4}},
		Collectives: []Collective{
			{Kind: "all_gather", Axes: []string{"data"}, Count: 1, Bytes: 10, Seconds: 1e-6},
			{Kind: "all_reduce", Axes: []string{"data", "model"}, Count: 2, Bytes: 300, Seconds: 4e-6},
			{Kind: "all_gather", Axes: []string{"data"}, Count: 3, Bytes: 30, Seconds: 1e-6},
		},
		Estimate: Estimate{Seconds: 7e-6, ComputeSeconds: 1e-6, CollectiveSeconds: 6e-6, PeakBytes: 1536, SentBytes: 340},
		Baselines: []Baseline{
			{Name: "replicated", Estimate: Estimate{Seconds: 2, ComputeSeconds: 2, PeakBytes: 1 << 40}},
			{Name: "data parallel", Note: "no input has a batch dimension"},
		},
		Certificate: Certificate{Cost: 8_000_000, Bound: 6_000_000, Gap: 0.25, Status: "feasible", Steps: 12, Seed: 3},
	}
	want := `plan of m on data=4,model=2 (8 devices, tpu-v5e), at most 16 GiB per device

input  name  type      sharding           block     bytes per device
    0  x     f32[8,4]  P('data', None) *  f32[2,4]                32
* the user's sharding

output  name  type   sharding  block  bytes per device
     0  y     f32[]  -         f32[]                 4

collective  axes        places  count  bytes sent  time
all_reduce  data,model       1      2         300  4 us
all_gather  data             2      4          40  2 us

               step time  compute  collectives  peak memory  bytes sent  fits
this plan           7 us     1 us         6 us      1.5 KiB         340   yes
replicated           2 s      2 s         0 ps        1 TiB           0    no
data parallel          -        -            -            -           -     -
data parallel: no input has a batch dimension

search: feasible after 12 steps, cost 8 us, lower bound 6 us, gap 25.00% (seed 3)
`
	if d := cmp.Diff(want, p.Text()); d != "" {
		t.Error(d)
	}
}

func TestCheckText(t *testing.T) {
	c := &Check{
		Outputs: []OutputCheck{
			{Index: 0, Name: "y", Exact: true, ExpectedError: 1e-7, Passed: true},
			{Index: 1, Name: "z", UnshardedError: math.Inf(1), ExpectedError: 0.5},
		},
		Collectives: []CollectiveCheck{{Kind: "all_gather", Predicted: 10, Counted: 10}, {Kind: "all_gather", Predicted: 20, Counted: 21}},
	}
	want := `verified: 1 of 2 outputs pass, 1 equal bit for bit; largest relative error +Inf against the unsharded run, 0.5 against expected outputs
output  name  unsharded error  expected error
     1  z                +Inf             0.5
collective  places  equal  predicted bytes  counted bytes
all_gather       2      1               30             31
`
	if d := cmp.Diff(want, c.Text()); d != "" {
		t.Error(d)
	}
}

func TestFormatUnits(t *testing.T) {
	for s, want := range map[float64]string{0: "0 ps", 5e-13: "0.5 ps", 4.66e-8: "46.6 ns", 1.5e-3: "1.5 ms", 12.345: "12.3 s"} {
		if got := formatSeconds(s); got != want {
			t.Errorf("formatSeconds(%v) = %q, want %q", s, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 16e9: "14.9 GiB", 999 << 40: "999 TiB", math.MaxInt64: "8192 PiB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("formatBytes(%d) = %q, want %q", n, got, want)
		}
	}
}

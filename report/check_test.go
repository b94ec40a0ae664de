package report_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/answer"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/program"
	"autoshard/report"
)

// The text says what was compared and nothing of what was not.
func TestCheckText(t *testing.T) {
	figure := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		check program.Check
		want  string
	}{
		{program.Check{
			Outputs: []program.OutputCheck{
				{Index: 0, Name: "y", Exact: true, UnshardedError: figure(0), ExpectedError: figure(1e-7), Passed: true},
				{Index: 1, Name: "z", UnshardedError: figure(math.MaxFloat64), ExpectedError: figure(0.5),
					Wrong: &program.Wrong{Reference: "unsharded run", Elements: 3, Index: []int64{0, 12}, Got: "NaN", Want: "2.5", Allowed: "0"}},
			},
			Proof: &program.Proof{Values: 40, Exact: 30, Nearest: 0.125, Wrong: 2,
				Faults: []program.Fault{{Source: "m.mlir:7:3", Message: "stablehlo.add: it is wrong"}}},
			Collectives: []program.CollectiveCheck{{Kind: "all_gather", Predicted: 10, Counted: 10},
				{Kind: "all_gather", Predicted: 20, Counted: 21}},
		}, `verified: 1 of 2 outputs pass, 1 equal bit for bit; largest relative error +Inf against the unsharded run, 0.5 against expected outputs
proved op by op: 38 of 40 values that the devices computed are right, 30 bit for bit, the others within 0.12 of what rounding allows
  m.mlir:7:3: stablehlo.add: it is wrong
  and 1 more
output  name  differs from the  elements  worst at  got  want  allowed difference
     1  z     unsharded run            3  [0,12]    NaN   2.5                   0
collective  places  equal  predicted bytes  counted bytes
all_gather       2      1               30             31
`},
		{program.Check{Outputs: []program.OutputCheck{{Name: "y", Exact: true, UnshardedError: figure(0), Passed: true}},
			Proof: &program.Proof{Values: 4, Exact: 4}},
			`verified: 1 of 1 outputs pass, 1 equal bit for bit; largest relative error 0 against the unsharded run
proved op by op: 4 of 4 values that the devices computed are right, 4 bit for bit
no collectives
`},
		{program.Check{Outputs: []program.OutputCheck{{Name: "y", ExpectedError: figure(0.25), Passed: true}}, Note: "no unsharded run",
			Result: &program.Result{Uncounted: true}},
			`verified: 1 of 1 outputs pass; largest relative error 0.25 against expected outputs
no unsharded run
bytes that collectives moved are counted by the mesh backend only
`},
	} {
		if d := cmp.Diff(c.want, report.Check(&c.check)); d != "" {
			t.Error(d)
		}
	}
}

// The run of an interpreter shows the checks that hold and the outputs, where there are any.
func TestInterpretedText(t *testing.T) {
	x := tensor.FromFloats(dtype.F32, []int64{2}, 1, 2.5)
	outputs := []answer.Tensor{{Name: "y", Type: "f32[2]"}}
	want := "1 check holds\n\noutput  name  type    least  mean  greatest\n     0  y     f32[2]      1  1.75       2.5\n"
	if got := report.Interpreted(&program.Result{Outputs: []*tensor.Tensor{&x}, Checks: 1}, outputs); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := report.Interpreted(&program.Result{Checks: 3}, nil); got != "3 checks hold\n" {
		t.Errorf("got %q", got)
	}
}

// A profile shows what took longest by kind of op, line and device, and how many rows it leaves out.
func TestMeasuredText(t *testing.T) {
	p := &program.Profile{Seconds: 2e-3, Dropped: 5,
		Kinds:   []program.ProfileRow{{Name: "add", Runs: 3, Seconds: 1e-3, Waiting: 5e-4, Bytes: 4096}},
		Lines:   slices.Repeat([]program.ProfileRow{{Name: "m.mlir:3", Runs: 1, Seconds: 1e-6, Bytes: 8}}, 12),
		Devices: []program.DeviceProfile{{Device: 0, Seconds: 1e-3, Waiting: 5e-4, PeakBytes: 2048}},
	}
	got := report.Measured(p)
	for _, want := range []string{"measured: 2 ms\n", "5 more", "add     3      1 ms  500 us             4 KiB\n", "and 2 more\n",
		"     0      1 ms  500 us         2 KiB\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

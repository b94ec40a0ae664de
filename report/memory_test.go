package report_test

import (
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/program"
	"autoshard/report"
)

// A page says where the peak is, what is held there by class, and what the largest values are.
func TestMemory(t *testing.T) {
	m := &program.Memory{Program: "step", Mesh: []answer.MeshAxis{{Name: "x", Size: 4}}, Hardware: "h100", PeakBytes: 3 << 20, Ops: 12,
		At: program.Place{Number: 7, Kind: "dot_general", Type: "f32[8,8]", Source: "net.py:3"}, Donated: 1 << 20,
		Classes: []string{"parameters", "results", "gathered blocks"}, AtPeak: []int64{1 << 20, 0, 2 << 20},
		Again: []*program.Recompute{nil, nil, {Values: 2, SavedBytes: 1 << 20, Seconds: 1e-3}},
		Largest: []program.HeldValue{{Name: "all_gather", Type: "f32[8,8]", Bytes: 1 << 20, Class: "gathered blocks", From: 1, To: 9,
			Recompute: &program.Recompute{Values: 1, SavedBytes: 1 << 19, Seconds: 5e-4}}}}
	const want = `step on x=4, h100: at most 3 MiB of 80 GiB on a device
reached at op 7 of 12: dot_general f32[8,8] of net.py:3

at the peak      bytes   share  made again behind it
parameters       1 MiB  33.3 %
gathered blocks  2 MiB  66.7 %  2 values: saves 1 MiB for 1 ms
inputs of 1 MiB are donated: their memory is free once they are read

largest     type      bytes  from op  to op  class            made again                source
all_gather  f32[8,8]  1 MiB        1      9  gathered blocks  saves 512 KiB for 500 us
`
	if got := report.Memory(m, 80<<30); got != want {
		t.Errorf("the report is\n%s", got)
	}
	m.Padding = 1 << 20
	if got := report.Memory(m, 80<<30); !strings.Contains(got, "\ntiles of 8 x 128 elements would take 1 MiB more") {
		t.Errorf("the report is\n%s", got)
	}
}

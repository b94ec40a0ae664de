package report_test

import (
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/program"
	"autoshard/report"
)

// A page says what a step waits for, the longest first, and counts the ops that it leaves out.
func TestBreakdown(t *testing.T) {
	b := &program.Breakdown{Program: "p", Mesh: []answer.MeshAxis{{Name: "x", Size: 4}}, Hardware: "h100",
		Estimate: program.Estimate{Seconds: 4e-3, CollectiveSeconds: 3e-3, PeakBytes: 1 << 20, SentBytes: 2048},
		Shares:   []program.Share{{Resource: cost.ResourceNetwork, Seconds: 3e-3, Doubled: 2.5e-3}}}
	b.Overlap = program.Overlap{Seconds: 3e-3, Hidden: 1e-3, Busy: []program.LinkBusy{{Links: "level node", Seconds: 3e-3}},
		Stalls: []program.Stall{{Kind: "all_gather", Axes: "x,y", Type: "f32[8]", Places: 2, Seconds: 2e-3, Sources: []string{"net.py:3"}}}}
	b.Groups = append(b.Groups, program.OpGroup{Kind: "all_gather", Axes: "x,y", Type: "f32[8]", Places: 2, Runs: 6, Seconds: 3e-3,
		Resource: cost.ResourceNetwork, Sources: []string{"net.py:3", ""}})
	for range 12 {
		b.Groups = append(b.Groups, program.OpGroup{Kind: "add", Type: "f32[8]", Places: 1, Runs: 1, Seconds: 1e-4, Resource: cost.ResourceMemory,
			Sources: []string{""}})
	}
	text := report.Breakdown(b, false)
	for _, want := range []string{
		"p on x=4, h100: 4 ms a step, of which collectives 3 ms; 1 MiB a device, 2 KiB sent\n",
		"network    3 ms   75 %         2.5 ms  37.5 %\n",
		"all_gather over x,y  f32[8]       2     6    3 ms   75 %  network    net.py:3\n",
		"3 more ops that take 300 us: --all\n",
		"with collectives beside other ops: 3 ms a step, 25 % less; links are busy: level node 3 ms\n",
		"all_gather over x,y  f32[8]       2  2 ms  net.py:3\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report is\n%s\nand has no\n%s", text, want)
		}
	}
	if all := report.Breakdown(b, true); strings.Contains(all, "--all") {
		t.Errorf("all ops are\n%s", all)
	}
}

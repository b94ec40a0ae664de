package report_test

import (
	"testing"

	"autoshard/program"
	"autoshard/report"
)

// A row for each program, with what it sends, and why there is none.
func TestDerivatives(t *testing.T) {
	rows := []program.Communication{
		{Name: "forward", Checked: true, Problem: "the check of the program is off"},
		{Name: "vjp", Collectives: []string{"2 psum(i)", "ppermute(j)"}, Places: 3, Estimate: program.Estimate{Seconds: 1e-5, SentBytes: 2048}},
		{Name: "vjp", Checked: true},
	}
	want := `program  check  collectives  bytes sent   time  sends
forward  on                                     there is none: the check of the program is off
vjp      off              3       2 KiB  10 us  2 psum(i), ppermute(j)
vjp      on               0         0 B   0 ps  nothing
`
	if got := report.Derivatives(rows); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}

package report_test

import (
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/report"
)

// A profile shows each number with its unit and where it is from; a source that is cited again keeps its number.
func TestProfile(t *testing.T) {
	p, err := cost.ReadProfile("mine.yaml", []byte(`matrix: {bf16: {value: 1e12, kind: nominal, source: a}}
vectorFLOPs: {value: 2e11, kind: guessed, source: b}
hbmBytes: 8e9
hbmBandwidth: {value: 1.5e11, kind: nominal, source: a}
dispatch: 5e-6
torus: {link: 1e9, shape: {value: [4, 8], kind: measured, source: b}, wrap: full}
sources: {a: a sheet, b: a run}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `mine: no summary

number              value  kind      source
matrix.bf16     1 TFLOP/s  nominal   [1]
vectorFLOPs   200 GFLOP/s  guessed   [2]
hbmBytes             8 GB
hbmBandwidth     150 GB/s  nominal   [1]
dispatch             5 us
torus.link         1 GB/s
torus.shape         4 x 8  measured  [2]
torus.wrap           full

[1] a sheet
[2] a run
`
	if got := report.Profile(p); got != want {
		t.Errorf("the report is\n%s", got)
	}
	if got := report.ProfileSummary(p); got != "hardware mine, 8 values: 2 nominal, 2 measured, 1 guessed, 3 of unknown origin" {
		t.Errorf("summary %q", got)
	}
	if got := report.Profiles([]*cost.Profile{p}); !strings.Contains(got, "mine  1 TFLOP/s    8 GB   150 GB/s  4 x 1 GB/s") {
		t.Errorf("list\n%s", got)
	}
	if j := report.NewProfile(p); j.Name != "mine" || j.Schema != report.ProfileSchema || len(j.Facts) != len(p.Facts) {
		t.Errorf("json %+v", j)
	}
}

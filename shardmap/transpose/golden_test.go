package transpose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
)

// TestGolden runs the files of testdata/golden. The directives take a program as text and print the result:
//
//	transpose in=(NAME, ...) [times=N]   of times > 1, the inputs of the later ones are the first ones
//	jvp wrt=(NAME, ...)
//	vjp wrt=(NAME, ...)
//	gradient wrt=(NAME, ...)
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			q, err := golden(t, d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			roundTrip(t, q)
			return q.String()
		})
	})
}

func golden(t *testing.T, d *datadriven.TestData) (*typed.Program, error) {
	p, err := typed.Parse(d.Input, "")
	if err != nil {
		return nil, err
	}
	var inputs []int
	for _, arg := range d.CmdArgs {
		if arg.Key != "in" && arg.Key != "wrt" {
			continue
		}
		for _, name := range arg.Vals {
			inputs = append(inputs, slices.IndexFunc(p.Params, func(p typed.Param) bool { return p.Name == name }))
		}
	}
	switch d.Cmd {
	case "jvp":
		return transpose.JVP(p, inputs)
	case "vjp":
		return transpose.VJP(p, inputs)
	case "gradient":
		return transpose.Gradient(p, inputs)
	case "transpose":
		times := 1
		if d.HasArg("times") {
			d.ScanArgs(t, "times", &times)
		}
		for range times {
			n := len(p.Results)
			if p, err = transpose.Linear(p, inputs); err != nil {
				return nil, err
			}
			inputs = first(n)
		}
		return p, nil
	}
	return nil, fmt.Errorf("no directive %s", d.Cmd)
}

// first returns the numbers below n.
func first(n int) []int {
	out := make([]int, n)
	for k := range out {
		out[k] = k
	}
	return out
}

// roundTrip checks that a program is typed as it says and can be read back.
func roundTrip(t tester, p *typed.Program) {
	t.Helper()
	if err := p.Typecheck(typed.Options{}); err != nil {
		t.Errorf("%v in\n%s", err, p)
	}
	q, err := typed.Parse(p.String(), "")
	if err != nil {
		t.Fatalf("%v in\n%s", err, p)
	}
	if strings.TrimSpace(q.String()) != strings.TrimSpace(p.String()) {
		t.Errorf("printed\n%s\nread and printed\n%s", p, q)
	}
}

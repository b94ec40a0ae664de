package propagate_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/propagate"
	"autoshard/subaxis"
	"autoshard/trace"

	"github.com/cockroachdb/datadriven"
)

// TestGolden runs small programs. Commands: "propagate" prints the program after Import, Run and Close; "trace" prints
// what moved and what did not; "pass" with names runs single passes; "pipeline" runs the passes of its first line, with
// their options. Options of the first two: strategy=basic, no-op-priority, no-user-priority, conservative.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := golden(d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

// TestGoldenAgainstShardy: what "pipeline" tests expect is what real Shardy says, unless it is an error.
func TestGoldenAgainstShardy(t *testing.T) {
	p := shardy(t)
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "pipeline" || strings.HasPrefix(d.Expected, "error: ") {
				return d.Expected
			}
			pipeline, text, _ := strings.Cut(d.Input, "\n")
			r, err := p.ask(text, pipeline)
			if err != nil || !r.ok {
				t.Fatalf("Shardy has no answer: %v %s", err, r.problem)
			}
			return r.text
		})
	})
}

func golden(d *datadriven.TestData) (string, error) {
	if d.Cmd == "pipeline" {
		pipeline, text, _ := strings.Cut(d.Input, "\n")
		return runPipeline(text, pipeline)
	}
	m, err := mlir.Parse(context.Background(), []byte(d.Input), mlir.Options{})
	if err != nil {
		return "", err
	}
	if d.Cmd == "pass" {
		for _, a := range d.CmdArgs {
			if err := runPasses(m, a.Key); err != nil {
				return "", err
			}
		}
		return string(mlir.Print(m, mlir.PrintOptions{})), nil
	}
	if err := propagate.Import(context.Background(), m); err != nil {
		return "", err
	}
	tr, err := propagate.Run(context.Background(), m, goldenOptions(d))
	if err != nil {
		return "", err
	}
	if d.Cmd == "trace" {
		return traceText(m, tr), nil
	}
	if err := propagate.Close(context.Background(), m); err != nil {
		return "", err
	}
	return string(mlir.Print(m, mlir.PrintOptions{})), nil
}

// traceText is a trace with its refusals as text.
func traceText(m *ir.Module, tr *trace.Trace) string {
	doc, _ := tr.Describe(context.Background(), &names{m, mlir.ValueNames(m)}, trace.Options{Round: -1, Refusals: true})
	return doc.Text(-1)
}

func goldenOptions(d *datadriven.TestData) propagate.Options {
	o := propagate.Options{NoOpPriority: d.HasArg("no-op-priority"), NoUserPriority: d.HasArg("no-user-priority"),
		Conservative: d.HasArg("conservative")}
	for _, a := range d.CmdArgs {
		if a.Key == "strategy" {
			o.Strategy, _ = propagate.ParseStrategy(a.Vals[0])
		}
	}
	return o
}

// names gives the trace the words of the printed program.
type names struct {
	m      *ir.Module
	values []string
}

// Op implements trace.Names.
func (n *names) Op(op, factor int32) string {
	if op == 0 {
		return "func.return"
	}
	if factor == trace.NoFactor {
		return n.m.OpName(ir.OpID(op))
	}
	return n.m.OpName(ir.OpID(op)) + " along " + ir.FactorName(factor)
}

// Place implements trace.Names.
func (n *names) Place(p trace.Place) string {
	name := "result " + strconv.Itoa(int(^p.Value))
	if p.Value >= 0 {
		name = n.values[p.Value]
	}
	if p.Dim < 0 {
		return name
	}
	return name + "[" + strconv.Itoa(int(p.Dim)) + "]"
}

// Axes implements trace.Names.
func (n *names) Axes(mesh int32, axes []subaxis.Ref) string {
	return n.m.Mesh(ir.MeshID(mesh)).FormatList(axes)
}

// Kind implements trace.Names.
func (n *names) Kind(op int32) string { return n.m.OpName(ir.OpID(op)) }

// Source implements trace.Names: the cases have no lines.
func (n *names) Source(int32, trace.Place) string { return "" }

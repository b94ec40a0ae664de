package search

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestGolden runs the files of testdata/golden. The input of every command is a problem, one part per line:
//
//	node LO HI COST:USAGE ...     COST may be x, forbidden
//	edge FIRST SECOND ROW / ROW   of costs
//	limit USAGE
//
// solve prints the solution, reduce what the reductions leave, peak the least peak, evaluate the cost of the solution x=(...).
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := parseProblem(d.Input)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			switch d.Cmd {
			case "solve":
				return goldenSolve(p)
			case "reduce":
				return goldenReduce(p)
			case "peak":
				r, err := MinPeak(context.Background(), p, Options{})
				if err != nil {
					return "error: " + err.Error() + "\n"
				}
				return fmt.Sprintf("%v peak %d bound %d cost %d %s\n", r.Solution, r.Peak, r.Bound, r.Cost, r.Status)
			case "evaluate":
				var x []int32
				for _, v := range d.CmdArgs[0].Vals {
					n, err := strconv.Atoi(v)
					if err != nil {
						d.Fatalf(t, "%v", err)
					}
					x = append(x, int32(n))
				}
				cost, peak, err := p.Evaluate(x)
				if err != nil {
					return "error: " + err.Error() + "\n"
				}
				return fmt.Sprintf("cost %d peak %d\n", cost, peak)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func goldenSolve(p *Problem) string {
	r, err := Solve(context.Background(), p, Options{})
	var inf *InfeasibleError
	if errors.As(err, &inf) {
		return fmt.Sprintf("error: %v\nproven %v, nodes %v\n", err, inf.Proven, inf.Nodes)
	}
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	return fmt.Sprintf("%v cost %d bound %d peak %d %s\n", r.Solution, r.Cost, r.Bound, r.Peak, r.Status)
}

// goldenReduce prints the log and what is left.
func goldenReduce(p *Problem) string {
	w := newWork(context.Background(), p)
	w.reduce(context.Background())
	var b strings.Builder
	for _, s := range w.log {
		switch s.kind {
		case stepRestrict:
			fmt.Fprintf(&b, "restrict %d to %v\n", s.node, s.table)
		case stepMerge:
			fmt.Fprintf(&b, "merge %d into %d by %v\n", s.node, s.left, s.table)
		case stepEliminate:
			fmt.Fprintf(&b, "eliminate %d given %d, %d: %v\n", s.node, s.left, s.right, s.table)
		}
	}
	if w.failed != nil {
		fmt.Fprintf(&b, "no solution: %+v\n", *w.failed)
		return b.String()
	}
	fmt.Fprintf(&b, "constant %d base %v\n", w.constant, w.base)
	for i := range w.cells {
		if c := &w.cells[i]; !c.dead {
			fmt.Fprintf(&b, "node %d costs %v items %v\n", i, c.unary, c.items)
		}
	}
	for e := range w.links {
		if l := &w.links[e]; !l.dead {
			fmt.Fprintf(&b, "edge %d %d %v\n", l.a, l.b, w.dense(l))
		}
	}
	return b.String()
}

func parseProblem(text string) (*Problem, error) {
	b := NewBuilder()
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "node":
			var costs, usages []int64
			for _, s := range f[3:] {
				c, u, _ := strings.Cut(s, ":")
				costs, usages = append(costs, number(c)), append(usages, number(u))
			}
			b.AddNode(costs, usages, int32(number(f[1])), int32(number(f[2])))
		case "edge":
			rows := strings.Split(strings.Join(f[3:], " "), "/")
			var m []int64
			for _, row := range rows {
				for _, c := range strings.Fields(row) {
					m = append(m, number(c))
				}
			}
			b.AddEdge(int32(number(f[1])), int32(number(f[2])), b.AddMatrix(len(rows), len(m)/len(rows), m))
		case "limit":
			b.SetLimit(number(f[1]))
		}
	}
	return b.Build()
}

func number(s string) int64 {
	if s == "x" {
		return Inf
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

package iopddl

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/search"
)

// edge is an edge with its matrix, whatever its number.
type edge struct {
	a, b int32
	cost string
}

// edgesOf returns the edges of a problem with their matrices.
func edgesOf(p *search.Problem) []edge {
	var out []edge
	for e := range p.EA {
		var cost strings.Builder
		for _, v := range p.EdgeCosts(e) {
			cost.WriteString(strconv.FormatInt(v, 10) + " ")
		}
		out = append(out, edge{p.EA[e], p.EB[e], cost.String()})
	}
	return out
}

// checkEqual demands that two problems are the same but for the numbers of matrices.
func checkEqual(t rapid.TB, want, got *search.Problem) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(search.Problem{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(search.Problem{}, "EMat", "MatOff", "MatVal", "MatRows", "MatCols")); d != "" {
		t.Errorf("the problem changes:\n%s", d)
	}
	if d := cmp.Diff(edgesOf(want), edgesOf(got), cmp.AllowUnexported(edge{})); d != "" {
		t.Errorf("the edges change:\n%s", d)
	}
}

// draw draws a problem.
func draw(t *rapid.T) *search.Problem {
	b := search.NewBuilder()
	cost := rapid.OneOf(rapid.Int64Range(-9, 9), rapid.Int64Range(-1<<50, 1<<50), rapid.Just(search.Inf))
	n := rapid.IntRange(0, 6).Draw(t, "nodes")
	sizes := make([]int, n)
	for i := range n {
		sizes[i] = rapid.IntRange(1, 4).Draw(t, "strategies")
		costs := rapid.SliceOfN(cost, sizes[i], sizes[i]).Draw(t, "costs")
		usages := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), sizes[i], sizes[i]).Draw(t, "usages")
		lo := rapid.Int32Range(0, 10).Draw(t, "lo")
		hi := rapid.Int32Range(lo+1, 20).Draw(t, "hi")
		if rapid.Bool().Draw(t, "dead") {
			lo, hi = 0, 0
		}
		b.AddNode(costs, usages, lo, hi)
	}
	for range rapid.IntRange(0, n*3).Draw(t, "edges") {
		x, y := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
		size := sizes[x] * sizes[y]
		b.AddEdge(int32(x), int32(y), b.AddMatrix(sizes[x], sizes[y], rapid.SliceOfN(cost, size, size).Draw(t, "matrix")))
	}
	b.AddConstant(rapid.Int64Range(-3, 3).Draw(t, "constant"))
	if rapid.Bool().Draw(t, "limited") {
		b.SetLimit(rapid.Int64Range(-1, 1<<42).Draw(t, "limit"))
	}
	p, err := b.Build()
	if err != nil {
		t.Skip(err)
	}
	return p
}

// What is written reads back equal, also once more.
func TestWriteReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, name := draw(t), rapid.String().Draw(t, "name")
		var first, second bytes.Buffer
		if err := Write(&first, name, p); err != nil {
			t.Fatal(err)
		}
		text := first.String()
		inst, err := Read(&first, "first")
		if err != nil {
			t.Fatal(err)
		}
		checkEqual(t, p, inst.Problem)
		if inst.Name != name || inst.N != p.NumNodes() {
			t.Errorf("name is %q, want %q; %d nodes", inst.Name, name, inst.N)
		}
		if err := Write(&second, inst.Name, inst.Problem); err != nil || second.String() != text {
			t.Errorf("written again it is\n%s\nnot\n%s\n%v", second.String(), text, err)
		}
	})
}

// An instance is written as it was read; what cannot be written is an error.
func TestWriteTiny(t *testing.T) {
	inst, err := Read(strings.NewReader(tiny), "tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := Write(&got, inst.Name, inst.Problem); err != nil {
		t.Fatal(err)
	}
	want := `{"problem": {"name": "tiny",
"nodes": {
"intervals": [[0,2],[1,3]],
"costs": [[1,2],[3]],
"usages": [[5,4],[6]]},
"edges": {
"nodes": [[0,1]],
"costs": [[7,8]]},
"usage_limit": 10}}
`
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Error(d)
	}
	if err := Write(broken{}, "", inst.Problem); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("writing fails with %v", err)
	}
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

// The shared instances read back equal.
func TestWriteInstances(t *testing.T) {
	for _, name := range []string{"example.json", "asplos-2025-iopddl-G.json.gz"} {
		inst := shared(t, name)
		var text bytes.Buffer
		if err := Write(&text, inst.Name, inst.Problem); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&text, name)
		if err != nil {
			t.Fatal(err)
		}
		checkEqual(t, inst.Problem, again.Problem)
		if d := cmp.Diff(inst.Problem, again.Problem, cmpopts.IgnoreUnexported(search.Problem{})); d != "" {
			t.Errorf("numbers of matrices change: %s", d)
		}
	}
}

// checkEvaluation compares the cost and the peak of a result with those of the file's evaluator.
func checkEvaluation(t testing.TB, data []byte, r search.Result, p *search.Problem) {
	t.Helper()
	d, err := Options{}.decode(bytes.NewReader(data), "f.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &Solution{}
	for _, a := range r.Solution[:d.costs.len] {
		s.Strategies = append(s.Strategies, int64(a))
	}
	e, err := Options{}.Evaluate(bytes.NewReader(data), "f.json", s)
	if err != nil || !e.Feasible() || e.Cost.Int64() != r.Cost || e.Peak.Int64() != r.Peak || e.HasLimit != p.HasLimit {
		t.Errorf("cost %d, peak %d; evaluated %+v, %v", r.Cost, r.Peak, e, err)
	}
}

// A solution is judged with numbers of any size: its cost, its peak and when, forbidden entries and how often it is over the limit.
func TestEvaluate(t *testing.T) {
	const problem = `{"problem":{"nodes":{"intervals":[[0,2],[1,4],[3,3],[2,3]],
		"costs":[[1,1000000000000000000],[2,1000000000000000000],[4,9223372036854775807],[8]],"usages":[[5,9223372036854775807],[6,9223372036854775807],[7,7],[1]]},
		"edges":{"nodes":[[],[0],[1,1],[2,0],[0,1,2]],"costs":[[100],[10,20],[1,50,50,2],[0,5,6,7],[1,2,3,4,5,6,7,1000000000000000000]]},"usage_limit":10}}`
	for _, test := range []struct {
		solution, cost, peak     string
		forbidden                int
		peakTime, over, overTime int64
		feasible                 bool
	}{
		{"[0,0,0,0]", "127", "11", 0, 1, 1, 1, false},
		{"# comment\n[9]\n[0, 0, 1, 0]\n", "9223372036854775937", "11", 1, 1, 1, 1, false},
		{`{"cost": 5, "solution": [1,1,1,0]}`, "12223372036854775944", "18446744073709551614", 4, 1, 4, 0, false},
	} {
		s, err := ReadSolution(strings.NewReader(test.solution), "s")
		if err != nil {
			t.Fatal(err)
		}
		e, err := Options{}.Evaluate(strings.NewReader(problem), "p", s)
		if err != nil {
			t.Fatal(err)
		}
		if e.Cost.String() != test.cost || e.Peak.String() != test.peak || e.Forbidden != test.forbidden || e.PeakTime != test.peakTime ||
			e.Over != test.over || e.OverTime != test.overTime || e.Feasible() != test.feasible {
			t.Errorf("%s: %+v", test.solution, e)
		}
	}
}

// A solution that does not fit its problem is refused where it is wrong.
func TestBadSolutions(t *testing.T) {
	for _, test := range []struct{ solution, want string }{
		{"[1]", "s: solution has 1 strategies, the problem has 2 nodes"},
		{"[0,\n 1]", "s:2:2: node 1: strategy 1 out of range, it has 1"},
		{"[-1, 0]", "s:1:2: node 0: strategy -1 out of range, it has 2"},
		{"[0, 0.5]", "s:1:5: byte 4: integer expected"},
		{"[0, 0", "s:1:6: syntax error at byte 5: the file ends too early"},
		{"[0, 0] x", "s:1:8: byte 7: list expected"},
		{"", `s:1:1: no list of strategies, alone or under the key "solution"`},
		{"# cost 5\n", `s:1:1: no list of strategies, alone or under the key "solution"`},
		{`{"cost": 5}`, `s:1:1: no list of strategies, alone or under the key "solution"`},
		{"# c\n[0,0]\nnull", "s:3:1: byte 10: list expected"},
	} {
		s, err := ReadSolution(strings.NewReader(test.solution), "s")
		if err == nil {
			_, err = Options{}.Evaluate(strings.NewReader(tiny), "p", s)
		}
		if err == nil || err.Error() != test.want || !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%q: error is %v, want %s", test.solution, err, test.want)
		}
	}
}

// A solution is written as a list of numbers.
func TestAppendSolution(t *testing.T) {
	for want, x := range map[string][]int32{"[]": nil, "[7]": {7}, "[0, 10, 2147483647]": {0, 10, math.MaxInt32}} {
		if got := string(AppendSolution(nil, x)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

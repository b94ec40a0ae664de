package iopddl

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
	"autoshard/search"
)

const tiny = `{"problem": {"name": "tiny", "extra": [{"nodes": null}, -1.5e3, "a\"]"],
	"edges": {"costs": [[7, 8]], "nodes": [[0, 1]]},
	"nodes": {"costs": [[1, 2], [3]], "usages": [[5, 4], [6]], "intervals": [[0, 2], [1, 3]]},
	"usage_limit": 10}}`

// shared reads an instance from the folder that AUTOSHARD_SHARED names.
func shared(t testing.TB, name string) *Instance {
	t.Helper()
	root := os.Getenv("AUTOSHARD_SHARED")
	if root == "" {
		t.Skip("AUTOSHARD_SHARED is not set")
	}
	f, err := os.Open(filepath.Join(root, "iopddl", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inst, err := Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func compressed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadTiny(t *testing.T) {
	plain, err := Read(iotest.OneByteReader(strings.NewReader(tiny)), "tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := Read(bytes.NewReader(compressed(t, tiny)), "tiny.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, inst := range []*Instance{plain, zipped} {
		p := inst.Problem
		if inst.Name != "tiny" || inst.N != 2 || p.NumEdges() != 1 || p.Limit != 10 || !p.HasLimit {
			t.Errorf("%+v", inst)
		}
		cost, peak, err := p.Evaluate([]int32{1, 0})
		if d := cmp.Diff([]int64{13, 10}, []int64{cost, peak}); d != "" || err != nil {
			t.Errorf("%s %v", d, err)
		}
	}
}

func TestUnusualEdges(t *testing.T) {
	inst, err := Read(strings.NewReader(`{"problem": {
		"nodes": {"intervals": [[0,1],[0,1],[3,0]], "costs": [[1,2],[3,4],[5,6]], "usages": [[1,1],[1,1],[9,9]]},
		"edges": {"nodes": [[], [0], [1,1], [1,0], [0,1,2]], "costs": [[100], [10,20], [1,50,50,2], [0,5,6,7], [1,2,3,4,5,6,7,8]]},
		"usage_limit": null}}`), "edges.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := search.Solve(context.Background(), inst.Problem, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// All at 0: constant 100, nodes 1+3+5, unary 10, diagonal 1, pair 0, triple 1.
	if d := cmp.Diff([]int32{0, 0, 0}, r.Solution[:inst.N]); d != "" || r.Cost != 121 || r.Status != search.Optimal || inst.Problem.HasLimit {
		t.Errorf("cost %d %s %s", r.Cost, r.Status, d)
	}
}

func TestMalformed(t *testing.T) {
	file := func(nodes, edges, rest string) string {
		return `{"problem":{"nodes":{` + nodes + `},"edges":{` + edges + `}` + rest + `}}`
	}
	nodes := `"intervals":[[0,1],[0,1]],"costs":[[1,2],[3]],"usages":[[1,2],[3]]`
	edges := `"nodes":[[0,1]],"costs":[[1,2]]`
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "syntax error at byte 0"},
		{"truncated", file(nodes, edges, "")[:40], "syntax error at byte 40"},
		{"trailing", file(nodes, edges, "") + " x", "syntax error at byte 133"},
		{"zero byte", file(nodes, edges, "") + "\x00", "syntax error at byte 132"},
		{"not an object", "[1]", "syntax error at byte 0"},
		{"no problem", `{"a":1}`, `missing "problem"`},
		{"no costs", file(`"intervals":[],"usages":[]`, edges, ""), `missing "nodes.costs"`},
		{"no edges", `{"problem":{"nodes":{` + nodes + `}}}`, `missing "edges.nodes"`},
		{"lengths", file(`"intervals":[[0,1]],"costs":[[1,2],[3]],"usages":[]`, edges, ""), "nodes: 1 intervals, 2 costs, 0 usages"},
		{"inner lengths", file(`"intervals":[[0,1],[0,1]],"costs":[[1,2],[3]],"usages":[[1,2],[3,4]]`, edges, ""), "node 1: 1 costs, 2 usages"},
		{"no strategies", file(`"intervals":[[0,1]],"costs":[[]],"usages":[[]]`, `"nodes":[],"costs":[]`, ""), "node 0: no strategies"},
		{"no strategies, edge", file(`"intervals":[[0,1]],"costs":[[]],"usages":[[]]`, `"nodes":[[0,0]],"costs":[[]]`, ""), "node 0: no strategies"},
		{"interval", file(strings.Replace(nodes, "[0,1]", "[0,1,2]", 1), edges, ""), "node 0: interval has 3 numbers"},
		{"negative start", file(strings.Replace(nodes, "[0,1]", "[-1,1]", 1), edges, ""), "node 0: interval [-1, 1] is not within 0 and 2147483647"},
		{"late end", file(strings.Replace(nodes, "[0,1]", "[0,99999999999]", 1), edges, ""), "node 0: interval [0, 99999999999] is not within 0 and 2147483647"},
		{"fraction", file(strings.Replace(nodes, "[1,2]", "[1.0,2]", 1), edges, ""), "byte 57: integer expected"},
		{"exponent", file(strings.Replace(nodes, "[1,2]", "[1e3,2]", 1), edges, ""), "byte 57: integer expected"},
		{"nan", file(strings.Replace(nodes, "[1,2]", "[NaN,2]", 1), edges, ""), "byte 57: integer expected"},
		{"string", file(strings.Replace(nodes, "[1,2]", `["1",2]`, 1), edges, ""), "byte 57: integer expected"},
		{"out of range", file(strings.Replace(nodes, "[1,2]", "[9223372036854775808,2]", 1), edges, ""), "byte 57: integer out of range"},
		{"huge", file(strings.Replace(nodes, "[1,2]", "["+strings.Repeat("9", 99)+",2]", 1), edges, ""), "byte 57: integer out of range"},
		{"negative usage", file(strings.Replace(nodes, `"usages":[[1`, `"usages":[[-1`, 1), edges, ""), "node 0: negative usage"},
		{"missing node", file(nodes, `"nodes":[[0,99]],"costs":[[1,2]]`, ""), "edge 0: node 99 out of range"},
		{"negative node", file(nodes, `"nodes":[[0,-1]],"costs":[[1,2]]`, ""), "edge 0: node -1 out of range"},
		{"edge costs", file(nodes, `"nodes":[[0,1]],"costs":[[1,2,3]]`, ""), "edge 0: 3 costs, wants 2"},
		{"edge lists", file(nodes, `"nodes":[[0,1]],"costs":[]`, ""), "edges: 1 node lists, 0 cost lists"},
		{"arity", file(nodes, `"nodes":[[0,0,0,0,0,0,0,0,0,0,0,0,0]],"costs":[[]]`, ""), "edge 0: arity 13 not supported at this size, more than 4096 combinations"},
		{"duplicate key", file(nodes+`,"costs":[]`, edges, ""), `duplicate key "costs" at byte 95`},
		{"limit a string", file(nodes, edges, `,"usage_limit":"5"`), "byte 145: integer expected"},
		{"limit a float", file(nodes, edges, `,"usage_limit":5.5`), "byte 145: integer expected"},
		{"sum of costs", file(strings.ReplaceAll(nodes, "[1,2],[3]", "[1,99999999999999999],[99999999999999999]"), `"nodes":[[0,1]],"costs":[[1,99999999999999999]]`, ""),
			"costs too large: the sum of maxima reaches 250000000000000000"},
		{"nested", `{"a":` + strings.Repeat("[", 5000), "byte 1006: nested too deeply"},
		{"bad word", `{"a":nul}`, "syntax error at byte 8"},
		{"gzip", "\x1f\x8b\x00", "gzip: unexpected EOF"},
		{"gzip, corrupt", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", "cannot read: flate: corrupt input before offset 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.text), "f.json")
			if err == nil {
				t.Fatal("no error")
			}
			if d := cmp.Diff("f.json: "+test.want, err.Error()); d != "" {
				t.Error(d)
			}
			var e *diag.Error
			if !errors.As(err, &e) {
				t.Errorf("%T is not a diagnostic", err)
			}
		})
	}
}

func TestSolveExample(t *testing.T) {
	inst := shared(t, "example.json")
	for _, test := range []struct {
		p    *search.Problem
		want int64
	}{{inst.Problem, 445}, {inst.Problem.WithoutLimit(), 415}} {
		r, err := search.Solve(context.Background(), test.p, search.Options{})
		if err != nil || r.Cost != test.want || r.Bound != test.want || r.Status != search.Optimal {
			t.Errorf("cost %d, bound %d, %s, %v, want %d", r.Cost, r.Bound, r.Status, err, test.want)
		}
	}
}

func TestSolveContest(t *testing.T) {
	for name, want := range map[string]int64{"A": 6_548_553_650, "G": 217_039} {
		t.Run(name, func(t *testing.T) {
			inst := shared(t, "asplos-2025-iopddl-"+name+".json.gz")
			r, err := search.Solve(context.Background(), inst.Problem, search.Options{})
			if err != nil || r.Cost != want || r.Status != search.Optimal {
				t.Errorf("cost %d, bound %d, %s, %v, want %d", r.Cost, r.Bound, r.Status, err, want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(tiny[:100]))
	f.Add(compressed(f, tiny))
	f.Add([]byte(`{"problem":{"nodes":{"intervals":[[0,0]],"costs":[[1000000000000000000]],"usages":[[0]]},"edges":{"nodes":[[0,0,0]],"costs":[[-5]]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		inst, err := Read(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		p := inst.Problem
		r, err := search.Solve(context.Background(), p, search.Options{Steps: 100_000})
		if err != nil {
			return
		}
		if cost, _, err := p.Evaluate(r.Solution); err != nil || cost != r.Cost || r.Bound > cost || cost > math.MaxInt64/4 {
			t.Errorf("cost %d, bound %d, evaluated %d %v", r.Cost, r.Bound, cost, err)
		}
	})
}

// BenchmarkSolve reports the cost and the gap on the contest's instances at the default budget.
func BenchmarkSolve(b *testing.B) {
	for _, name := range []string{"A", "G", "M", "S"} {
		b.Run(name, func(b *testing.B) {
			inst := shared(b, "asplos-2025-iopddl-"+name+".json.gz")
			for b.Loop() {
				r, err := search.Solve(context.Background(), inst.Problem, search.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Cost), "cost")
				b.ReportMetric(100*r.Gap(), "%gap")
			}
		})
	}
}

package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/answer"
	"autoshard/explain"
	"autoshard/plan"
	"autoshard/program"
)

// layered is a plan of a model with 12 named layers, whose weights are cut along one axis and whose batch along the other.
func layered() *plan.Plan {
	p := &plan.Plan{
		Model: "gpt", Mesh: []answer.MeshAxis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}, Hardware: "tpu-v5e", Memory: 16 << 30,
		Estimate: program.Estimate{Seconds: 7e-3, ComputeSeconds: 1e-3, CollectiveSeconds: 6e-3, PeakBytes: 3 << 29, SentBytes: 340 << 20},
		Baselines: []plan.Baseline{
			{Name: "replicated", Estimate: program.Estimate{Seconds: 28e-3, ComputeSeconds: 2, PeakBytes: 1 << 40}},
			{Name: "data parallel", Note: "no input has a batch dimension that the mesh divides"},
			{Name: "annotations only", Fits: true, Estimate: program.Estimate{Seconds: 14e-3, PeakBytes: 2 << 30, SentBytes: 400}},
		},
		Certificate: plan.Certificate{Cost: 7e9, Bound: 6e9, Gap: 1. / 7, Status: "feasible", Steps: 12, Seed: 3},
		Merged:      &plan.Merging{Collectives: 30, Into: 12, SavedSeconds: 18e-6},
	}
	add := func(name, role, typ, spec, block string, whole, local int64, axes ...string) {
		i := len(p.Inputs)
		t := answer.Tensor{Index: i, Name: name, Role: role, Type: typ, Spec: spec, LocalType: block, WholeBytes: whole, Bytes: local, Axes: axes}
		p.Inputs = append(p.Inputs, t)
		if role == "" {
			t.Replaces = &i
			p.Outputs = append(p.Outputs, t)
		}
	}
	for l := range 12 {
		add(fmt.Sprintf("params['h'][%d]['w']", l), "", "f32[64,64]", "P('model', None)", "f32[32,64]", 16384, 8192, "model")
		if l < 10 {
			add(fmt.Sprintf("params['h'][%d]['up']", l), "", "f32[64,16]", "P('model', None)", "f32[32,16]", 4096, 2048, "model")
		} else {
			add(fmt.Sprintf("params['h'][%d]['up']", l), "", "f32[64,16]", "P(None, None)", "f32[64,16]", 4096, 4096)
		}
	}
	add("tokens", "batch", "i32[8,16]", "P('data', None)", "i32[2,16]", 512, 128, "data")
	p.Inputs[len(p.Inputs)-1].User = true
	p.Outputs = append(p.Outputs, answer.Tensor{Index: len(p.Outputs), Name: "result[1]", Type: "f32[]", LocalType: "f32[]", Spec: "P()",
		Bytes: 4, WholeBytes: 4})
	for l := range 12 {
		p.Collectives = append(p.Collectives,
			plan.Collective{Kind: "all_reduce", Axes: []string{"data"}, Type: "f32[32,64]", Count: 1, Bytes: 24 << 20, Seconds: 4e-4,
				Source: "gpt.py:12"},
			plan.Collective{Kind: "all_gather", Axes: []string{"model"}, Type: "f32[32,16]", Count: 2, Bytes: 1 << 20, Seconds: 1e-4,
				Source: fmt.Sprintf("gpt.py:%d", 20+l)})
	}
	return p
}

// A report says first what is cut and what that gains, then what proves it, and then collectives, inputs and outputs with equal layers
// in one row.
func TestPlan(t *testing.T) {
	want := `gpt on data=4,model=2 (8 devices, tpu-v5e): batch along data; params (12 layers) 97 % along model, 3 % whole
step time   7 ms               replicated 28 ms (does not fit)  data parallel -  annotations only 14 ms (2x)
memory      1.5 GiB of 16 GiB  replicated 1 TiB                                  annotations only 2 GiB
bytes sent  340 MiB            replicated 0 B                                    annotations only 400 B
proof       no plan of the whole batch that computes nothing twice costs less than 6 ms, 14.29 % below this one (feasible)` +
		`; not run, --verify runs and compares it

data parallel: no input has a batch dimension that the mesh divides

collective  axes   block       places  count  bytes sent    time  source
all_reduce  data   f32[32,64]      12     12     288 MiB  4.8 ms  gpt.py:12
all_gather  model  f32[32,16]      12     24      12 MiB  1.2 ms  gpt.py:20, gpt.py:21 and 10 more
30 of 42 collectives are sent as 12, which saves 18 us of a step

input                           type        sharding         block       per device
params['h'][*]['w'] x 12        f32[64,64]  P('model', None)    f32[32,64]      96 KiB
params['h'][0-9]['up'] x 10     f32[64,16]  P('model', None)    f32[32,16]      20 KiB
params['h'][10,11]['up'] x 2    f32[64,16]  P(None, None)       f32[64,16]       8 KiB
tokens                          i32[8,16]   P('data', None) *   i32[2,16]        128 B
* the user's sharding

output     type   sharding  block  per device
result[1]  f32[]  P()       f32[]         4 B
24 outputs take the place of inputs and are cut like them
`
	if d := cmp.Diff(squeeze(want), squeeze(Plan(layered(), Options{}))); d != "" {
		t.Error(d)
	}
}

// squeeze makes runs of spaces one, for comparisons that do not depend on column widths.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}

// A page counts what it leaves out, and --all shows it.
func TestPage(t *testing.T) {
	p := layered()
	p.Inputs, p.Collectives = nil, nil
	for i := range 100 {
		p.Inputs = append(p.Inputs, answer.Tensor{Index: i, Name: fmt.Sprintf("p['a%d']", i), Type: "f32[1]", LocalType: "f32[1]", Bytes: 4,
			WholeBytes: 4})
		p.Collectives = append(p.Collectives, plan.Collective{Kind: "all_reduce", Type: fmt.Sprintf("f32[%d]", i), Bytes: 1024, Count: 1})
	}
	p.Outputs = nil
	page, all := Plan(p, Options{}), Plan(p, Options{All: true})
	for _, want := range []string{"84 more inputs, 336 B per device: --all", "92 more collectives that send 92 KiB: --all"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if lines := strings.Count(page, "\n"); lines > 45 {
		t.Errorf("a page has %d lines", lines)
	}
	if strings.Contains(all, "--all") || strings.Count(all, "all_reduce") != 100 || strings.Count(all, "p['a") != 100 {
		t.Errorf("not everything is in\n%s", all)
	}
}

// The line about the proof says how good the plan is under the cost model, and what a run of it gave.
func TestProof(t *testing.T) {
	p := layered()
	p.Baselines = nil
	passed := &program.Check{Passed: true, Outputs: make([]program.OutputCheck, 3)}
	for want, c := range map[string]plan.Certificate{
		"no plan of the whole batch that computes nothing twice costs less under the cost model": {Cost: 7, Bound: 7, Status: "optimal"},
		"no lower bound is known (early)": {Cost: 7, Gap: 1, Status: "early"},
	} {
		p.Certificate = c
		want += "; run: 3 of 3 outputs agree with the unsharded run"
		if got := proof(p, Options{Check: passed}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	p.Certificate = plan.Certificate{Cost: 4e6, Bound: 3e6, Gap: 0.25, Status: "feasible"}
	want := "no plan of the whole batch that computes nothing twice costs less than 3 us, 25.00 % below this one (feasible); not run, " +
		"--verify runs and compares it"
	if got := proof(p, Options{}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := proof(p, Options{Check: &program.Check{Outputs: make([]program.OutputCheck, 3)}}); !strings.HasSuffix(got,
		"run: differs from the reference, see below") {
		t.Errorf("a run that differs: %q", got)
	}
}

// Where memory is short the line says which programs the bound is about.
func TestProofUnderMemory(t *testing.T) {
	again, below, parts, without := layered(), layered(), layered(), layered()
	again.Recomputed, below.Recomputed, parts.Microbatches = make([]plan.Recomputed, 1), make([]plan.Recomputed, 1), 4
	without.Options.Without = []string{"recompute-activations"}
	for _, test := range []struct {
		p            *plan.Plan
		status, want string
	}{
		{layered(), "optimal", "no plan of the whole batch that computes nothing twice costs less"},
		{again, "optimal", "no plan of the whole batch that saves no time by computing something twice costs less"},
		{below, "feasible", "no plan of the whole batch that computes nothing twice costs less"},
		{parts, "optimal", "no plan in 4 microbatches that computes nothing twice costs less"},
		{without, "optimal", "no plan of the whole batch costs less"},
	} {
		test.p.Certificate = plan.Certificate{Cost: 7, Bound: 7, Status: test.status}
		test.p.Baselines = []plan.Baseline{{Name: "replicated", Estimate: program.Estimate{PeakBytes: test.p.Memory + 1}}}
		if got := proof(test.p, Options{}); !strings.HasPrefix(got, test.want+" ") {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Only numbers that count layers or positions are folded: names that merely end in digits are different things.
func TestFold(t *testing.T) {
	for want, names := range map[string][]string{
		"['params']['Dense_*']['kernel'] x 3": {"['params']['Dense_0']['kernel']", "['params']['Dense_1']['kernel']",
			"['params']['Dense_2']['kernel']"},
		"x[*] x 2":              {"x[0]", "x[1]"},
		".blocks[*].attn.w x 2": {".blocks[0].attn.w", ".blocks[1].attn.w"},
		"ln1|ln2":               {"ln1", "ln2"},
		"arg0,2-4 x 4":          {"arg0", "arg2", "arg3", "arg4"},
		"p[*][7] x 2":           {"p[0][7]", "p[1][7]"},
		"x":                     {"x"},
	} {
		values := make([]answer.Tensor, len(names))
		for i, n := range names {
			values[i].Name = n
		}
		var got []string
		for _, f := range fold(values) {
			got = append(got, f.name)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%v become %v, want %s", names, got, want)
		}
	}
}

// The moments of an optimizer are cut like the parameters and stand in their rows; those that are not have rows of their own.
func TestAttach(t *testing.T) {
	var values []answer.Tensor
	for _, tree := range []string{"params", "opt[0].mu", "opt[0].nu"} {
		for _, leaf := range []string{"['h'][0]['w']", "['h'][1]['w']", "['e']"} {
			values = append(values, answer.Tensor{Name: tree + leaf, Type: "f32[8]", Spec: "P('x')", WholeBytes: 32})
		}
	}
	values[5].Spec = "P(None)"
	var got []string
	for _, f := range page(values) {
		got = append(got, f.label())
	}
	want := []string{"params['h'][*]['w'] x 2, opt x 4", "params['e'], opt x 1", "opt[0].mu['e']"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Sources of equal layers are one; folders and the outer scopes of a long one are left out.
func TestSources(t *testing.T) {
	for want, places := range map[string][]string{
		"block_*/attn/out (linear.py:3)": {"jvp(f)/block_0/attn/out (/lib/flax/linear.py:3)", "jvp(f)/block_1/attn/out (/lib/flax/linear.py:3)"},
		"gpt.mlir:3, gpt.mlir:4":         {"models/gpt.mlir:3", "", "models/gpt.mlir:4", "models/gpt.mlir:3"},
		"":                               {"", ""},
	} {
		if got := sources(places); got != want {
			t.Errorf("%q become %q, want %q", places, got, want)
		}
	}
}

// What propagation gives the inputs and outputs is a table of each, with a star behind what lies as the user wrote, and findings.
func TestPropagation(t *testing.T) {
	p := &explain.Propagation{
		Inputs: []answer.Tensor{
			{Name: "x", Type: "f32[4,8]", LocalType: "f32[2,8]", Spec: "P('data', None)", Bytes: 64, WholeBytes: 128, User: true},
			{Name: "w", Type: "f32[8,6]", LocalType: "f32[8,6]", Bytes: 192, WholeBytes: 192},
		},
		Outputs:  []answer.Tensor{{Name: "out0", Type: "f32[4,6]", LocalType: "f32[2,6]", Spec: "P('data', None)", Bytes: 48, WholeBytes: 96}},
		Findings: []answer.Finding{{Code: "uneven-sharding", Severity: "warning", Message: "6 is odd", File: "m.mlir", Line: 2, Column: 3}},
	}
	want := `input  type      sharding           block     per device
x      f32[4,8]  P('data', None) *  f32[2,8]        64 B
w      f32[8,6]  -                  f32[8,6]       192 B
* the user's sharding

output  type      sharding         block     per device
out0    f32[4,6]  P('data', None)  f32[2,6]        48 B

m.mlir:2:3: warning: 6 is odd [uneven-sharding]
`
	if d := cmp.Diff(squeeze(want), squeeze(Propagation(p, false))); d != "" {
		t.Error(d)
	}
}

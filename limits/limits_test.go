package limits_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/limits"
	"autoshard/plan"
	"autoshard/program"
)

// sample is a plan on four devices with something beyond every limit.
func sample() *plan.Plan {
	tensor := func(name, role, typ, local, spec string, axes []string, whole, block int64, user bool) answer.Tensor {
		return answer.Tensor{Name: name, Role: role, Type: typ, LocalType: local, Spec: spec, Axes: axes, WholeBytes: whole, Bytes: block,
			User: user}
	}
	return &plan.Plan{
		Mesh: []answer.MeshAxis{{Name: "data", Size: 4}, {Name: "idle", Size: 2}},
		Inputs: []answer.Tensor{
			tensor("tokens", "batch", "s32[8,16]", "s32[2,16]", "P('data', None)", []string{"data"}, 512, 128, false),
			tensor("mask", "batch", "s32[8,4]", "s32[8,1]", "P(None, 'data')", []string{"data"}, 128, 32, false),
			tensor("w", "param", "f32[1024,512]", "f32[1024,512]", "P(None, None)", nil, 2<<20, 2<<20, false),
			tensor("b", "param", "f32[1024,512]", "f32[1024,512]", "P(None, None)", nil, 2<<20, 2<<20, true),
			tensor("v", "param", "f32[5]", "f32[2]", "P('data')", []string{"data"}, 20, 8, true),
		},
		Collectives: []plan.Collective{
			{Kind: "all_gather", Axes: []string{"data"}, Count: 2, Bytes: 2 * 8 * (3 << 20), Source: "layer/dot (train.py:40)"},
			{Kind: "all_gather", Axes: []string{"data:(1)2"}, Count: 1, Bytes: 8 * (1 << 10), Source: "train.py:41"},
			{Kind: "all_reduce", Axes: []string{"data"}, Count: 1, Bytes: 1 << 30, Source: "train.py:42"},
		},
		Estimate: program.Estimate{PeakBytes: 3 << 30},
	}
}

// model has the inputs w, which a line of train.py uses, and tokens, of which only the text is known.
const model = `
func.func @main(%arg0: tensor<8x16xi32> loc("tokens"), %arg1: tensor<1024x512xf32> loc("w")) -> tensor<1024x512xf32> {
  %0 = stablehlo.tanh %arg1 : tensor<1024x512xf32> loc("train.py":7:9)
  %1 = stablehlo.abs %arg0 : tensor<8x16xi32>
  return %0 : tensor<1024x512xf32>
}`

func read(t *testing.T) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(model), mlir.Options{File: "model.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	m.LocateByText()
	return m
}

// Each limit finds what is beyond it, at the line that it comes from, and nothing where the plan keeps it.
func TestCheck(t *testing.T) {
	m := read(t)
	for _, c := range []struct{ limit, want string }{
		{"no-gather > 3MiB", "train.py:40 an all-gather along data leaves 4 MiB on every device, more than 3 MiB"},
		{"no-gather > 4MiB", ""},
		{"no-gather", "train.py:40 an all-gather along data leaves 4 MiB on every device; train.py:41 an all-gather along data:(1)2 leaves " +
			"2 KiB on every device"},
		{"no-replicate", "train.py:7 input w, f32[1024,512], is whole on every device, 2 MiB; model.mlir:2 input b, f32[1024,512], is whole " +
			"on every device, 2 MiB"},
		{"no-implicit-replicate", "train.py:7 input w, f32[1024,512], is whole on every device, 2 MiB, and nobody asked for it"},
		{"no-implicit-replicate > 2MiB", ""},
		{"peak < 2GiB", "model.mlir:2 a device holds up to 3 GiB in a step, more than 2 GiB"},
		{"peak <= 3GiB", ""},
		{"axis-unused", `model.mlir:2 nothing is cut along the axis "idle" of size 2: all devices along it do the same`},
		{"uneven-waste > 5 %", "model.mlir:2 37.5 % of the blocks of input v are padding, f32[5] in f32[2] along data, more than 5 %"},
		{"uneven-waste > 40%", ""},
		{"batch inputs disagree", "model.mlir:2 batch input mask is P(None, 'data'), and tokens is P('data', None): their first dimensions " +
			"lie on different devices"},
	} {
		limit, err := limits.Parse(c.limit)
		if err != nil {
			t.Fatal(err)
		}
		got := lists.Map(limits.Check(sample(), m, []limits.Limit{limit}), func(d diag.Diagnostic) string {
			return fmt.Sprintf("%s:%d %s", d.Pos.File, d.Pos.Line, d.Message)
		})
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s finds\n%s\nnot\n%s", c.limit, text, c.want)
		}
	}
	if found := limits.Check(sample(), nil, parse(t, "no-replicate")); len(found) != 2 || found[0].Pos.Line != 0 {
		t.Errorf("without the model: %+v", found)
	}
}

func parse(t *testing.T, list ...string) []limits.Limit {
	t.Helper()
	return lists.Map(list, func(text string) limits.Limit {
		l, err := limits.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}

// What is no limit is refused, with what is meant.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"no-gathers > 1MiB": "did you mean `no-gather`?", "peak": "needs a number", "axis-unused > 3": "takes no number",
		"peak < many": "size must be a number", "uneven-waste > 5": "number of percent", "uneven-waste > 120 %": "number of percent",
		"": "there is no rule",
	} {
		if _, err := limits.Parse(text); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A baseline leaves out what was known when it was written, wherever it stands now; a second finding of the kind is new.
func TestKnown(t *testing.T) {
	found := limits.Check(sample(), read(t), parse(t, "no-replicate", "peak < 2GiB"))
	known := limits.NewKnown(found[:2])
	moved := append([]diag.Diagnostic{found[0]}, found...)
	moved[1].Pos.Line = 99
	if fresh := known.New(moved); len(fresh) != 2 || fresh[0].Pos.Line != 99 || fresh[1].Code != "peak" {
		t.Errorf("new: %+v", fresh)
	}
	for _, text := range []string{"{}", "[", `{"schema":"autoshard.baseline/v1","extra":1}`} {
		if _, err := limits.ReadKnown("b.json", []byte(text)); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The page about limits has all of them.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range limits.Rules() {
		if row := fmt.Sprintf("| `%s` | %s. %s |", r.ID, r.Name, r.Text); !strings.Contains(string(page), row) {
			t.Errorf("docs/ci.md lacks %s", row)
		}
	}
}

// A team keeps its devices free for a second model.
func ExampleCheck() {
	limit, err := limits.Parse("peak < 14GiB")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &plan.Plan{Estimate: program.Estimate{PeakBytes: 15 << 30}}
	for _, d := range limits.Check(p, nil, []limits.Limit{limit}) {
		fmt.Println(d.Code, d.Message)
	}
	// Output: peak a device holds up to 15 GiB in a step, more than 14 GiB
}

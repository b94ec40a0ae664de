package review_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/review"
	"autoshard/subaxis"
)

const megatron = "../examples/transformer_train_megatron_priorities.mlir"

func propagated(t *testing.T, file string) *review.Document {
	t.Helper()
	model, err := autoshard.ReadModel(t.Context(), file, readFile(t, file))
	if err != nil {
		t.Fatal(err)
	}
	d, err := autoshard.ReviewPropagation(t.Context(), model, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func planned(t *testing.T, file string, o autoshard.PlanOptions) *review.Document {
	t.Helper()
	model, err := autoshard.ReadModel(t.Context(), file, readFile(t, file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := autoshard.PlanAsAnnotated(t.Context(), model, o)
	if err != nil {
		t.Fatal(err)
	}
	d, err := autoshard.ReviewPlan(t.Context(), p, o.Hardware)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func documents(t *testing.T) map[string]*review.Document {
	return map[string]*review.Document{
		"priorities": propagated(t, megatron),
		"megatron":   propagated(t, "../examples/transformer_train_megatron.mlir"),
		"plan":       planned(t, megatron, autoshard.PlanOptions{}),
		"unannotated": planned(t, "../examples/llama_train.mlir", autoshard.PlanOptions{Mesh: []subaxis.Axis{{Name: "x", Size: 4}},
			Hardware: hardware(t, "cpu")}),
	}
}

func hardware(t *testing.T, name string) cost.Hardware {
	t.Helper()
	hw, err := cost.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return hw
}

// Every number of a document names something that is there, and columns are of one length.
func TestNumbersAreInRange(t *testing.T) {
	for name, d := range documents(t) {
		check := func(what string, list []int32, least, most, length int) {
			t.Helper()
			if length >= 0 && len(list) != length {
				t.Errorf("%s: %d %s, want %d", name, len(list), what, length)
			}
			for i, n := range list {
				if int(n) < least || int(n) >= most {
					t.Errorf("%s: %s %d is %d, not from %d to %d", name, what, i, n, least, most)
					return
				}
			}
		}
		ops, values, scopes := len(d.Ops.Kind), len(d.Values.Op), len(d.Scopes.Name)
		check("kinds", d.Ops.Kind, 0, len(d.Strings), ops)
		check("scopes of ops", d.Ops.Scope, 0, scopes, ops)
		check("lines", d.Ops.Source, -1, len(d.Strings), ops)
		check("outer ops", d.Ops.Inside, -1, ops, ops)
		check("operands", d.Ops.Operands, -1, values, -1)
		check("first operands", d.Ops.First, 0, len(d.Ops.Operands)+1, ops+1)
		check("names", d.Values.Name, -1, len(d.Strings), values)
		check("types", d.Values.Type, 0, len(d.Types), values)
		check("shardings", d.Values.Sharding, 0, len(d.Shardings), values)
		check("makers", d.Values.Op, -2, ops, values)
		check("parents", d.Scopes.Parent, -1, scopes, scopes)
		check("likes", d.Scopes.Like, 0, scopes, scopes)
		for _, s := range d.Shardings {
			check("axes of dimensions", s.Dims, 0, len(d.Axes), -1)
		}
		if p := d.Propagation; p != nil {
			n := len(p.Kind)
			check("levels", p.Level, 0, len(p.Levels), n)
			check("ops of steps", p.Op, -1, ops, n)
			check("axes", p.Axes, 0, len(d.Axes), n)
			check("from", p.From, -1, values, n)
			check("to", p.To, -1, values, n)
			check("now", p.Now, 0, len(d.Axes), n)
			check("reasons", p.Reason, -1, len(d.Strings), n)
			check("against", p.Against, 0, len(d.Axes), n)
			check("others", p.Other, -1, values, n)
			check("changes", p.Change, -1, len(d.Strings), n)
			check("owners", p.Owner, 0, values, values)
		}
		if p := d.Plan; p != nil {
			n := len(p.Timeline.Name)
			check("names of events", p.Timeline.Name, 0, len(d.Strings), n)
			check("scopes of events", p.Timeline.Scope, -1, scopes, n)
			check("lines of events", p.Timeline.Source, -1, len(d.Strings), n)
			for _, on := range p.Timeline.On {
				check("tracks", on, 0, len(p.Timeline.Tracks), -1)
			}
		}
	}
}

// The steps lead from what was given to how values lie in the end, level by level, and groups have every step of a level once.
func TestStepsLeadToTheEnd(t *testing.T) {
	for _, file := range []string{megatron, "../examples/transformer_train_megatron.mlir"} {
		d := propagated(t, file)
		p := d.Propagation
		type place struct{ value, dim int32 }
		state := map[place]int32{}
		activated := map[place]bool{}
		for i, kind := range p.Kind {
			if kind == 1 {
				activated[place{p.To[i], p.ToDim[i]}] = true
			}
		}
		for _, g := range p.Given {
			if at := (place{g.Value, g.Dim}); !activated[at] {
				state[at] = g.Axes
			}
		}
		next := int32(0)
		for l, level := range p.Levels {
			if level.First != next {
				t.Errorf("%s: level %d begins at step %d, not %d", file, l, level.First, next)
			}
			next += level.Steps
			seen := map[int]bool{}
			for _, g := range level.Groups {
				for _, s := range g.Steps {
					if seen[s] || s < 0 || s >= int(level.Steps) {
						t.Errorf("%s: level %d has step %d twice, or does not have it", file, l, s)
					}
					seen[s] = true
				}
			}
			if len(seen) != int(level.Steps) {
				t.Errorf("%s: groups of level %d have %d of %d steps", file, l, len(seen), level.Steps)
			}
		}
		if int(next) != len(p.Kind) {
			t.Errorf("%s: levels have %d of %d steps", file, next, len(p.Kind))
		}
		for i, kind := range p.Kind {
			if kind != 3 {
				state[place{p.To[i], p.ToDim[i]}] = p.Now[i]
			}
		}
		for v, id := range d.Values.Sharding {
			if d.Values.Op[v] == -2 {
				continue // results are made divisible when they leave
			}
			for dim, axes := range d.Shardings[id].Dims {
				if got := state[place{p.Owner[v], int32(dim)}]; got != axes {
					t.Errorf("%s: dimension %d of %s is cut along %v in the end, steps lead to %v", file, dim, d.Strings[d.Values.Name[v]],
						d.Axes[axes], d.Axes[got])
				}
			}
		}
	}
}

// Bytes that would be gathered become fewer from the first op priority of a round to the last.
func TestGatheredFalls(t *testing.T) {
	first := map[int32]int64{}
	last := map[int32]int64{}
	for _, l := range propagated(t, megatron).Propagation.Levels {
		if l.Gathered == nil || l.Gathered.Note != "" {
			t.Fatalf("level %+v", l)
		}
		sum := int64(0)
		for _, n := range l.Gathered.Each {
			sum += n
		}
		if sum != l.Gathered.Bytes || len(l.Gathered.Each) != len(l.Gathered.Values) {
			t.Errorf("%d bytes, %d in all", sum, l.Gathered.Bytes)
		}
		if _, ok := first[l.UserPriority]; !ok {
			first[l.UserPriority] = l.Gathered.Bytes
		}
		last[l.UserPriority] = l.Gathered.Bytes
	}
	for round := range first {
		if last[round] >= first[round] {
			t.Errorf("user priority %d: %d bytes in the end, %d behind its first op priority", round, last[round], first[round])
		}
	}
}

// scopesText shows parts with their operations, and which are alike.
func scopesText(d *review.Document) string {
	count := make([]int, len(d.Scopes.Name))
	for _, s := range d.Ops.Scope {
		for ; s >= 0; s = d.Scopes.Parent[s] {
			count[s]++
		}
	}
	depth := make([]int, len(d.Scopes.Name))
	var b strings.Builder
	for s := range d.Scopes.Name {
		if p := d.Scopes.Parent[s]; p >= 0 {
			depth[s] = depth[p] + 1
		}
		fmt.Fprintf(&b, "%s%s: %d", strings.Repeat("  ", depth[s]), d.Strings[d.Scopes.Name[s]], count[s])
		if d.Scopes.Like[s] != int32(s) {
			b.WriteString(" alike")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Layers are found where the program does not say them: forwards, backwards and in the optimizer.
func TestLayersByRepetition(t *testing.T) {
	const layer = `
  %a# = stablehlo.dot_general PREVIOUS, %arg1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b# = stablehlo.tanh %a# : tensor<8x8xf32>
  %c# = stablehlo.dot_general %b#, %arg2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %d# = stablehlo.exponential %c# : tensor<8x4xf32>
  %e# = stablehlo.dot_general %d#, %arg2, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>`
	text, previous := `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x4xf32>) -> tensor<8x8xf32> {
  %s = stablehlo.sine %arg0 : tensor<8x8xf32>`, "%s"
	for i := range 4 {
		text += strings.NewReplacer("#", fmt.Sprint(i), "PREVIOUS", previous).Replace(layer)
		previous = fmt.Sprintf("%%e%d", i)
	}
	text += "\n  return " + previous + " : tensor<8x8xf32>\n}\n"
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := autoshard.ReviewPropagation(t.Context(), model, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `m: 22
  ops 1 – 1: 1
  4 layers: 20
    layer 1: 5
    layer 2: 5 alike
    layer 3: 5 alike
    layer 4: 5 alike
  ops 22 – 22: 1
`
	if got := scopesText(d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Where locations say the structure, parts are what they say.
func TestScopesByName(t *testing.T) {
	const text = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32> loc("jit(f)/layer_0/mlp/tanh")
  %1 = stablehlo.sine %0 : tensor<8x8xf32> loc("jit(f)/layer_0/mlp/sin")
  %2 = stablehlo.tanh %1 : tensor<8x8xf32> loc("jit(f)/layer_1/mlp/tanh")
  %3 = stablehlo.sine %2 : tensor<8x8xf32> loc("jit(f)/layer_1/mlp/sin")
  %4 = stablehlo.add %3, %3 : tensor<8x8xf32> loc("jit(f)/out/add")
  return %4 : tensor<8x8xf32>
}`
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := autoshard.ReviewPropagation(t.Context(), model, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `m: 6
  layer_0: 2
    mlp: 2
  layer_1: 2 alike
    mlp: 2
  out: 1
`
	if got := scopesText(d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A model without shardings has a document, too, with empty columns: lists are never null.
func TestNothingMoves(t *testing.T) {
	const text = `func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}`
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	mesh := []subaxis.Axis{{Name: "x", Size: 2}}
	d, err := autoshard.ReviewPropagation(t.Context(), model, autoshard.PropagateOptions{Mesh: mesh})
	if err != nil {
		t.Fatal(err)
	}
	p, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{Mesh: mesh})
	if err != nil {
		t.Fatal(err)
	}
	of, err := autoshard.ReviewPlan(t.Context(), p, hardware(t, p.Hardware))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*review.Document{d, of} {
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		written = again.ReplaceAll(written, nil)
		if i := strings.Index(string(written), "null"); i >= 0 {
			t.Errorf("null at %s", written[max(0, i-60):i+4])
		}
	}
}

// again are classes of which it cannot be said what making their values again would change, which is null in plans, too.
var again = regexp.MustCompile(`"again":\[[^]]*]`)

// The same input gives the same bytes, which are recognised as a document.
func TestDocumentsAreDeterministic(t *testing.T) {
	for name, d := range documents(t) {
		first, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		second, err := json.Marshal(documents(t)[name])
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Errorf("%s differs from one time to the next", name)
		}
		if !review.Is(first) || review.Is([]byte(`{"schema":"autoshard.plan/v1"}`)) {
			t.Errorf("%s is not recognised", name)
		}
	}
}

// A simulated step ends when its last event does, and the events of a track do not overlap but for what is in loops and branches.
func TestTimeline(t *testing.T) {
	line := planned(t, megatron, autoshard.PlanOptions{}).Plan.Timeline
	end := make([]float64, len(line.Tracks))
	last := 0.0
	for i := range line.Name {
		for _, track := range line.On[i] {
			if line.Start[i] < end[track]-1e-9 {
				t.Errorf("event %d of track %s begins at %g, before %g", i, line.Tracks[track], line.Start[i], end[track])
			}
			end[track] = line.Start[i] + line.Length[i]
		}
		last = max(last, line.Start[i]+line.Length[i])
	}
	if d := last - line.Seconds*1e6; d > 1e-6 || d < -1e-6 {
		t.Errorf("the last event ends at %g us, the step takes %g s", last, line.Seconds)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

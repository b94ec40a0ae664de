package explain_test

import (
	"os"
	"slices"
	"testing"

	"autoshard/answer"
	"autoshard/explain"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
	"autoshard/trace"
)

// record propagates a text.
func record(t *testing.T, text string) *explain.Recording {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "m.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	m.LocateByText()
	e, err := explain.NewExplainer(t.Context(), &answer.Source{Name: "m", Module: m}, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e.Recording()
}

const product = `
sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("a"),
    %arg1: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x16xf32>
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}`

// Where nothing has moved yet, the first operation would gather its operand; in the end nobody gathers anything.
func TestGathered(t *testing.T) {
	r := record(t, product)
	state := map[trace.Place][]subaxis.Ref{}
	for _, g := range r.Given {
		state[g.At] = g.Axes
	}
	gathered := func() (bytes int64) {
		t.Helper()
		list, err := r.Gathered(t.Context(), func(p trace.Place) []subaxis.Ref { return state[p] })
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range list {
			if r.Label(g.Value) == "" {
				t.Errorf("value %d has no name", g.Value)
			}
			bytes += g.Bytes
		}
		return bytes
	}
	if got := gathered(); got != 8*16*4*3/4 {
		t.Errorf("in the beginning %d bytes", got)
	}
	for _, e := range r.Trace.Events() {
		if e.Kind == trace.Move {
			state[e.To] = trace.Extend(slices.Clone(state[e.To]), r.Trace.Axes(e.Axes), e.Apart)
		}
	}
	if got := gathered(); got != 0 {
		t.Errorf("in the end %d bytes", got)
	}
}

// Each step goes on from earlier ones that brought its axes to where it takes them from or, where there are none, from what was given
// there; only refusals say what would have to change.
func TestCauses(t *testing.T) {
	r := record(t, string(readFile(t, "../examples/transformer_train_megatron_priorities.mlir")))
	given := map[trace.Place]bool{}
	for _, g := range r.Given {
		given[g.At] = len(g.Axes) > 0
	}
	events, refusals := r.Trace.Events(), 0
	for i, causes := range r.Causes() {
		e := &events[i]
		for _, c := range causes {
			from := &events[c]
			if int(c) >= i || from.To != e.From || len(trace.Common(r.Trace.Axes(e.Axes), r.Trace.Axes(from.Axes))) == 0 {
				t.Errorf("step %d is no cause of step %d", c, i)
			}
		}
		if len(causes) == 0 && e.Kind != trace.Activate && !given[e.From] {
			t.Errorf("step %d has no cause: %s", i, r.Names().Place(e.From))
		}
		if change := r.Change(e); (change != "") != (e.Kind == trace.Refusal) {
			t.Errorf("step %d of kind %d: %q", i, e.Kind, change)
		} else if change != "" {
			refusals++
		}
	}
	if refusals == 0 {
		t.Error("no refusals: the test shows nothing")
	}
}

// A recording names values, places and who gave what.
func TestRecordingNames(t *testing.T) {
	r := record(t, product)
	arg := r.Module.BlockArgs(r.Module.MainFunc().Body)[0]
	place, ok := r.Place(arg, 0)
	by, at := r.Giver(place)
	if !ok || r.Label(arg) != "a" || r.Names().Place(place) != "a[0]" || by != "as annotated at argument 0" || at != "m.mlir:3" {
		t.Errorf("%v, %q, %q, %q, %q", ok, r.Label(arg), r.Names().Place(place), by, at)
	}
	if got := r.Results(); !slices.Equal(got, []string{"result 0"}) {
		t.Errorf("results %q", got)
	}
	if _, ok := r.Place(ir.ValueID(0), 0); ok {
		t.Error("no value has a place")
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

package modelexplorer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/review/modelexplorer"
)

var rewrite = flag.Bool("rewrite", false, "write golden files anew")

const megatron = "../../examples/transformer_train_megatron_priorities.mlir"

func read(t *testing.T, file string, text []byte) *autoshard.Model {
	t.Helper()
	model, err := autoshard.ReadModel(t.Context(), file, text)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func propagated(t *testing.T, model *autoshard.Model, of autoshard.NodeDataOf) *autoshard.NodeData {
	t.Helper()
	d, err := autoshard.PropagationNodeData(t.Context(), model, autoshard.PropagateOptions{}, of)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// asAnnotated returns the plan of a model as its user sharded it.
func asAnnotated(t *testing.T, model *autoshard.Model) *autoshard.Plan {
	t.Helper()
	p, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func planned(t *testing.T, model *autoshard.Model, p *autoshard.Plan, of autoshard.NodeDataOf) *autoshard.NodeData {
	t.Helper()
	d, err := autoshard.PlanNodeData(t.Context(), model, p, cost.Hardware{}, of)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The file that Model Explorer opens, of a propagation and of a plan.
func TestGolden(t *testing.T) {
	model := read(t, "regions.mlir", readFile(t, "testdata/regions.mlir"))
	golden(t, "testdata/sharding.json", propagated(t, model, autoshard.NodeSharding))
	golden(t, "testdata/memory.json", propagated(t, model, autoshard.NodeMemory))
	located := read(t, "located.mlir", readFile(t, "testdata/located.mlir"))
	p := asAnnotated(t, located)
	golden(t, "testdata/time.json", planned(t, located, p, autoshard.NodeTime))
	golden(t, "testdata/sent.json", planned(t, located, p, autoshard.NodeSent))
}

func golden(t *testing.T, file string, d *autoshard.NodeData) {
	t.Helper()
	text, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", " "); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := readFile(t, file); !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s has changed: go test ./review/modelexplorer -rewrite; it would be\n%s", file, got.Bytes())
	}
}

// All nodes that Model Explorer's adapter makes of the sample, as it recorded them, have data, but for those of elements: bodies of
// reductions and comparators, and what these take. What nothing reads has none either.
func TestNodesAreThoseOfTheAdapter(t *testing.T) {
	d := propagated(t, read(t, "regions.mlir", readFile(t, "testdata/regions.mlir")), autoshard.NodeSharding)
	given := map[string]bool{}
	for g, of := range d.Graphs {
		for n := range of.Results {
			given[g+" "+n] = true
		}
	}
	var without []string
	for line := range strings.Lines(string(readFile(t, "testdata/regions.nodes.txt"))) {
		f := strings.Fields(line)
		if at := f[0] + " " + f[1]; given[at] {
			delete(given, at)
		} else if f[3] != "0" {
			without = append(without, at+" "+f[2])
		}
	}
	if len(given) > 0 {
		t.Errorf("the adapter makes no nodes %v", slices.Sorted(maps.Keys(given)))
	}
	want := []string{"main pid14_arg0 input_of_stablehlo.case", "main pid19_arg0 input_of_stablehlo.reduce",
		"main pid19_arg1 input_of_stablehlo.reduce", "main 20 stablehlo.add", "main pid23_arg0 input_of_stablehlo.sort",
		"main pid23_arg1 input_of_stablehlo.sort", "main 24 stablehlo.compare"}
	if !slices.Equal(without, want) {
		t.Errorf("without data are\n%s", strings.Join(without, "\n"))
	}
}

// The nodes of a plan add up to the step and to the bytes that it predicts; what arguments take is what its inputs do.
func TestNodesAddUp(t *testing.T) {
	model := read(t, megatron, readFile(t, megatron))
	p := asAnnotated(t, model)
	for of, want := range map[autoshard.NodeDataOf]float64{
		autoshard.NodeTime: 1e6 * p.Estimate.Seconds, autoshard.NodeSent: float64(p.Estimate.SentBytes),
	} {
		d := planned(t, model, p, of)
		sum := 0.0
		for _, g := range d.Graphs {
			for _, r := range g.Results {
				sum += number(t, r.Value)
			}
		}
		if d.Elsewhere > 0.001 || math.Abs(sum-want*(1-d.Elsewhere)) > 1e-3*want || want == 0 {
			t.Errorf("%s: nodes add up to %v, and %v of it is elsewhere; the plan says %v", of, sum, d.Elsewhere, want)
		}
	}
	memory, spec := planned(t, model, p, autoshard.NodeMemory), planned(t, model, p, autoshard.NodeSharding)
	for i := range p.Inputs {
		node := fmt.Sprintf("arg%d", i)
		if got := number(t, memory.Graphs["main"].Results[node].Value); got != float64(p.Inputs[i].Bytes) {
			t.Errorf("%s takes %v bytes, the input %d", node, got, p.Inputs[i].Bytes)
		}
		if got := spec.Graphs["main"].Results[node].Value; got != p.Inputs[i].Spec {
			t.Errorf("%s lies as %v, the input as %s", node, got, p.Inputs[i].Spec)
		}
	}
}

func number(t *testing.T, v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	t.Fatalf("%v is no number", v)
	return 0
}

// A plan knows the nodes of a model by its locations, which several operations may share, and those of functions that are called twice. It
// says the same of them as of the model without locations, where every operation has a place of its own.
func TestLocations(t *testing.T) {
	text := readFile(t, "testdata/located.mlir")
	plain := regexp.MustCompile(`(?m)^#loc.*\n| loc\([^)]*\)`).ReplaceAll(text, nil)
	if bytes.Contains(plain, []byte("loc(")) {
		t.Fatalf("locations are left:\n%s", plain)
	}
	located, without := read(t, "located.mlir", text), read(t, "located.mlir", plain)
	p, q := asAnnotated(t, located), asAnnotated(t, without)
	for _, of := range modelexplorer.Quantities() {
		got, want := planned(t, located, p, of), planned(t, without, q, of)
		for g := range want.Graphs {
			if !maps.Equal(got.Graphs[g].Results, want.Graphs[g].Results) {
				t.Errorf("%s of @%s with locations:\n%v\nwithout:\n%v", of, g, got.Graphs[g].Results, want.Graphs[g].Results)
			}
		}
		if got.Shared != 0 {
			t.Errorf("%s: %d nodes share their places", of, got.Shared)
		}
	}
}

// Model Explorer takes what has one colour for one, so that shardings that differ have colours that do, and what is whole has none.
func TestColours(t *testing.T) {
	d := propagated(t, read(t, megatron, readFile(t, megatron)), autoshard.NodeSharding)
	texts := map[string]string{}
	for _, g := range d.Graphs {
		for n, r := range g.Results {
			text, whole := r.Value.(string), !strings.Contains(r.Value.(string), "'")
			if whole != (r.Back == "") {
				t.Errorf("%s, which lies as %s, has the colour %q", n, text, r.Back)
			}
			if other, ok := texts[r.Back]; ok && other != text && !whole {
				t.Errorf("%s and %s have one colour", text, other)
			}
			texts[r.Back] = text
		}
	}
	if len(texts) < 8 {
		t.Errorf("only %d colours", len(texts))
	}
}

// What cannot be shown is an error that says why.
func TestErrors(t *testing.T) {
	model := read(t, "regions.mlir", readFile(t, "testdata/regions.mlir"))
	other := read(t, "located.mlir", readFile(t, "testdata/located.mlir"))
	_, err := autoshard.PropagationNodeData(t.Context(), model, autoshard.PropagateOptions{}, autoshard.NodeTime)
	refused(t, err, "a propagation takes no time and sends nothing")
	_, err = autoshard.PropagationNodeData(t.Context(), model, autoshard.PropagateOptions{}, "colour")
	refused(t, err, "there are no node data called `colour`")
	p := asAnnotated(t, other)
	_, err = autoshard.PlanNodeData(t.Context(), other, p, cost.Hardware{}, "colour")
	refused(t, err, "there are no node data called `colour`")
	_, err = autoshard.PlanNodeData(t.Context(), model, p, cost.Hardware{}, autoshard.NodeTime)
	refused(t, err, "this is not the model that the plan was made from")
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, autoshard.ErrInvalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, not %q", err, want)
	}
}

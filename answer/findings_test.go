package answer_test

import (
	"slices"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/subaxis"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "m.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// called has an argument that a function changes, one with a name that is cut, and a sum of both.
const called = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<6x4xf32>, %b: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>} loc("params['w']")) -> (tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = call @f(%a) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.add %0, %b : tensor<6x4xf32> loc("block/add"("model.py":7:1))
  return %1 : tensor<6x4xf32>
}
func.func private @f(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.tanh %a : tensor<6x4xf32> loc("model.py":3:1)
  return %0 : tensor<6x4xf32>
}
`

// What is added to a clone is not in the other, whichever grows first.
func TestClonedFindings(t *testing.T) {
	f := answer.Findings{Module: parsed(t, called)}
	f.Add("first", 0, "", "first")
	c := f.Clone()
	f.Add("mine", 0, "", "mine")
	c.Add("other", 0, "", "other")
	for name, list := range map[string][]answer.Finding{"mine": f.Sorted(), "other": c.Sorted()} {
		if len(list) != 2 || list[0].Code != "first" || list[1].Code != name {
			t.Errorf("%s: %v", name, list)
		}
	}
}

// Findings come in the order of the text, each once, and the same again; those about another form of the program join them.
func TestFindingsAreSorted(t *testing.T) {
	m := parsed(t, called)
	f, other := answer.Findings{Module: m}, answer.Findings{Module: m}
	main, _ := m.Main()
	ops := slices.Collect(m.Ops(m.Func(main).Body))
	f.Add("late", ops[1], "", "a sum of %d", 2)
	f.Add("early", 0, "arg0", "an argument")
	f.Add("late", ops[1], "", "another sum")
	other.Add("late", ops[1], "", "a sum of 2")
	other.Add("late", ops[0], "", "a call")
	f.Join(&other)
	for range 2 {
		var got []string
		for _, x := range f.Sorted() {
			got = append(got, x.Message)
		}
		if d := cmp.Diff([]string{"an argument", "a call", "a sum of 2", "another sum"}, got); d != "" {
			t.Error(d)
		}
	}
	if none := (&answer.Findings{Module: m}).Sorted(); none == nil || len(none) > 0 {
		t.Errorf("no findings are %#v", none)
	}
}

// A finding is a warning at the place of its operation in the model, with the line of the program that the model comes from;
// one that lint made keeps all of that.
func TestFindingsAreDiagnostics(t *testing.T) {
	m := parsed(t, called)
	main, _ := m.Main()
	sum := m.DefiningOp(m.Operand(m.LastOp(m.Func(main).Body), 0))
	f, again := answer.Findings{Module: m}, answer.Findings{Module: m}
	f.Add("uneven-sharding", sum, "arg1", "dimension %d", 1)
	x := f.Sorted()[0]
	d := x.Diagnostic()
	want := diag.Diagnostic{Severity: diag.SeverityWarning, Code: "uneven-sharding", Pos: diag.Position{File: "m.mlir", Line: 4, Col: 8},
		Message: "dimension 1", Notes: []diag.Note{{Message: "it comes from model.py:7"}}}
	if e := cmp.Diff(want, d); e != "" || x.Position() != want.Pos || x.Value != "arg1" {
		t.Errorf("%+v is %s", x, e)
	}
	d.Notes = []diag.Note{{Pos: diag.Position{File: "model.py", Line: 7}, Message: "it comes from here"}} // as lint says it
	again.Adopt([]diag.Diagnostic{d})
	if got := again.Sorted()[0].Diagnostic(); cmp.Diff(want, got) != "" {
		t.Errorf("adopted, it is %+v", got)
	}
	again.Platform(&answer.Source{})
	again.Platform(&answer.Source{Platform: "tpu"})
	if got := again.Sorted(); len(got) != 2 || !strings.Contains(got[0].Message, "this is for tpu") {
		t.Errorf("findings about the platform: %+v", got)
	}
}

// Findings name arguments and results as the program does, and other values by their numbers, with the operations that make them.
func TestPlaces(t *testing.T) {
	m := parsed(t, called)
	f := answer.Findings{Module: m}
	main, _ := m.Main()
	ops := slices.Collect(m.Ops(m.Func(main).Body))
	var got []string
	for _, p := range []answer.Place{f.Place(m.BlockArgs(m.Func(main).Body)[1]), f.Place(m.Result(ops[1], 0)), f.Result(0)} {
		got = append(got, p.Name+", "+p.What+", at "+m.OpPos(p.Op).String())
	}
	mesh := m.Mesh(ir.MeshID(1))
	at := f.Place(m.BlockArgs(m.Func(main).Body)[0])
	y := mesh.Full(1)
	half := subaxis.Ref{Axis: 1, Pre: 1, Size: 2}
	got = append(got, answer.Uneven(mesh, at, 0, []subaxis.Ref{y}, nil), answer.Uneven(mesh, at, 0, []subaxis.Ref{y}, []subaxis.Ref{half}),
		answer.Scoped(m, m.OpLoc(ops[1]))+"; "+answer.Line(m, m.OpLoc(ops[1]))+"; "+answer.Line(m, m.OpLoc(ops[0])),
		answer.NumberedResult(3),
		strings.Join(answer.FormatRefs(&mesh.Mesh, []subaxis.Ref{y, half}), ", "))
	want := []string{
		"params['w'], argument 1 (params['w']), at m.mlir:2:1",
		"%1, %1 (`stablehlo.add`), at m.mlir:4:8",
		"out0, result 0, at m.mlir:2:1",
		`dimension 0 of argument 0 has size 6, no multiple of the 4 devices along "y", and stays whole`,
		`dimension 0 of argument 0 has size 6, no multiple of the 4 devices along "y", and is cut along "y":(1)2 alone`,
		"block/add (model.py:7); model.py:7; ",
		"result 3",
		"y, y:(1)2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

package autoshard_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard"
	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// A manual computation that leaves an axis free costs what the same program costs without it, on any hardware: the free axis cuts its body,
// and what moves values along it takes the same way.
func TestFreeAxesCutBodies(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the cases")
	}
	read := func(file string) *autoshard.Model { return readModel(t, filepath.Join(shared, "cases", file)) }
	const order = ", device_ids=[0, 5, 1, 4, 2, 7, 3, 6]"
	cases := map[string][2]*autoshard.Model{
		"product": {read("free_axis.mlir"), read("free_axis_plain.mlir")},
		"layer":   {twoProducts(t, true, ""), twoProducts(t, false, "")},
		"order":   {twoProducts(t, true, order), twoProducts(t, false, order)},
	}
	for name, models := range cases {
		for _, hardware := range cost.Profiles() {
			var costs [2]autoshard.Estimate
			for i, m := range models {
				p, err := autoshard.PlanAsAnnotated(t.Context(), m, autoshard.PlanOptions{Hardware: hardware.Hardware})
				if err != nil {
					t.Fatal(err)
				}
				costs[i] = p.Estimate
			}
			got, want := &costs[0], &costs[1]
			if math.Abs(got.Seconds-want.Seconds) > 0.01*want.Seconds || got.PeakBytes > want.PeakBytes || got.SentBytes != want.SentBytes {
				t.Errorf("%s on %s: with a free axis a step costs %+v, without a manual computation %+v", name, hardware.Hardware.Name, *got, *want)
			}
		}
	}
}

// twoProducts is a layer of two products that are cut along y, in a manual computation along x that leaves y free, or without one. The mesh
// may list its devices in another order.
func twoProducts(t *testing.T, manual bool, ids string) *autoshard.Model {
	body := func(x, w, v, rows string) string {
		h := "tensor<" + rows + "x4096xf32>"
		return `    %p = stablehlo.dot_general ` + x + ", " + w + `, contracting_dims = [1] x [0] : (` + h + `, tensor<4096x4096xf32>) -> ` + h + `
    %h = stablehlo.tanh %p : ` + h + `
    %q = stablehlo.dot_general %h, ` + v + `, contracting_dims = [1] x [0] : (` + h + `, tensor<4096x4096xf32>) -> ` + h + "\n"
	}
	text := `sdy.mesh @mesh = <["x"=4, "y"=2]` + ids + `>
func.func @main(%x: tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %v: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
`
	if manual {
		text += `  %r = sdy.manual_computation(%x, %w, %v) in_shardings=[<@mesh, [{"x"}, {?}]>, <@mesh, [{?}, {?}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%a: tensor<2048x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<4096x4096xf32>) {
` + body("%a", "%b", "%c", "2048") + `    sdy.return %q : tensor<2048x4096xf32>
  } : (tensor<8192x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>
  return %r : tensor<8192x4096xf32>
}`
	} else {
		text += body("%x", "%w", "%v", "8192") + "    return %q : tensor<8192x4096xf32>\n}"
	}
	m, err := autoshard.ReadModel(t.Context(), "layer.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A manual computation in another one costs what one along the axes of both does: what the inner one leaves free cuts its body, too.
func TestFreeAxesCutInnerBodies(t *testing.T) {
	const layer = `%p = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0] :
          (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
        %h = stablehlo.tanh %p {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"y", ?}]>]>} : tensor<1024x4096xf32>`
	const types = `: (tensor<8192x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>`
	var costs [2]autoshard.Estimate
	for i, body := range []string{`  %r = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{"x", "z", ?}, {?}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{"x", "z", ?}, {?}]>] manual_axes={"x", "z"} (%b: tensor<1024x4096xf32>, %v: tensor<4096x4096xf32>) {
        ` + layer + `
    sdy.return %h : tensor<1024x4096xf32>
  } `, `  %r = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{"x", ?}, {?}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%a: tensor<2048x4096xf32>, %u: tensor<4096x4096xf32>) {
    %i = sdy.manual_computation(%a, %u) in_shardings=[<@mesh, [{"z", ?}, {?}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{"z", ?}, {?}]>] manual_axes={"z"} (%b: tensor<1024x4096xf32>, %v: tensor<4096x4096xf32>) {
        ` + layer + `
      %none = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"y"} () {
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        sdy.return %one : tensor<f32>
      } : () -> tensor<f32>
      %ones = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<1024x4096xf32>
      %q = stablehlo.multiply %h, %ones : tensor<1024x4096xf32>
      sdy.return %q : tensor<1024x4096xf32>
    } : (tensor<2048x4096xf32>, tensor<4096x4096xf32>) -> tensor<2048x4096xf32>
    sdy.return %i : tensor<2048x4096xf32>
  } `} {
		m, err := autoshard.ReadModel(t.Context(), "inner.mlir", []byte(`sdy.mesh @mesh = <["x"=4, "z"=2, "y"=2]>
func.func @main(%x: tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z"}, {}]>}, %w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z"}, {"y"}]>}) {
`+body+types+`
  return %r : tensor<8192x4096xf32>
}`))
		if err != nil {
			t.Fatal(err)
		}
		p, err := autoshard.PlanAsAnnotated(t.Context(), m, autoshard.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		costs[i] = p.Estimate
	}
	if got, want := costs[1], costs[0]; math.Abs(got.Seconds-want.Seconds) > 0.01*want.Seconds || got.SentBytes != want.SentBytes {
		t.Errorf("one in another costs %+v, one along the axes of both %+v", got, want)
	}
}

// Random bodies of manual computations compute on blocks along the axes that are left free what they compute as a whole, where inputs and
// values have random shardings along those, and with collectives of the user.
func TestFreeAxesComputeTheSame(t *testing.T) {
	cut := 0
	rapid.Check(t, func(t *rapid.T) {
		m := programs.Draw(t, programs.Spec{Inputs: 2, Ops: 6, Rank: 3, Sizes: []int64{2, 3, 4, 8}, Indices: true, Windows: true, Loops: true})
		inputs := programs.Inputs(t, m)
		want := unsharded(t, m, inputs)
		text := inManual(t, m)
		model, err := autoshard.ReadModel(t.Context(), "random.mlir", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		plan, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if strings.Contains(plan.Program, `manual_axes={"m", `) {
			cut++
		}
		program, err := plan.Lowered(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		result, err := program.Run(t.Context(), inputs)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, text, plan.Program)
		}
		for i, got := range result.Outputs {
			if !equalButRounding(got.Floats(), want[i].Floats()) {
				t.Fatalf("output %d is %v, want %v\n%s\n%s", i, got.Floats(), want[i].Floats(), text, plan.Program)
			}
		}
		for _, c := range result.Collectives {
			if !c.Agrees() {
				t.Fatalf("%s moved %d bytes, predicted %d\n%s", c.Kind, c.Counted, c.Predicted, plan.Program)
			}
		}
	})
	t.Logf("%d bodies are cut", cut)
}

// equalButRounding says whether numbers differ by no more than sums in another order do.
func equalButRounding(got, want []float64) bool {
	largest := 0.0
	for _, x := range want {
		largest = max(largest, math.Abs(x))
	}
	return slices.EqualFunc(got, want, func(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-5*largest })
}

// unsharded runs a program on one device.
func unsharded(t *rapid.T, m *ir.Module, inputs []*tensor.Tensor) []*tensor.Tensor {
	in, err := interp.New(m, interp.Options{WholeWindows: true})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	out, err := in.Run(t.Context(), main, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inManual writes a program as the body of a manual computation along an axis m, which takes the maximum over m of whole inputs that are
// equal on all devices. Inputs and values get shardings along the axes that are left free.
func inManual(t *rapid.T, m *ir.Module) string {
	f := m.MainFunc()
	mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "m", Size: 2}, {Name: "a", Size: 2}, {Name: "b", Size: 2}}}
	id := m.AddMesh("mesh", mesh, nil, 0)
	shard := func(v ir.ValueID) {
		if m.ValueType(v).Kind == ir.TensorKind && rapid.Bool().Draw(t, "sharded") {
			l := programs.Anywhere(t, m.Shape(v), mesh.All()[1:])
			m.SetSharding(v, m.InternSharding(l.Sharding(id)))
		}
	}
	for op := range m.Ops(f.Body) {
		for _, v := range m.Results(op) {
			shard(v)
		}
	}
	text := string(mlir.Print(m, mlir.PrintOptions{}))
	body := text[strings.Index(text, "{\n    ")+2 : strings.LastIndex(text, "return ")]
	last := strings.TrimRight(text[strings.LastIndex(text, "return "):], "} \n")
	if strings.Count(text, "func.func") > 1 {
		t.Skip("the program has more than one function")
	}
	var w manualText
	for _, arg := range m.BlockArgs(f.Body) {
		shard(arg)
		w.input(m, arg)
	}
	for _, r := range f.ResultTypes {
		w.output(m.FormatType(r), len(m.TypeOf(r).Dims))
	}
	ids := rapid.SampledFrom([]string{"", ", device_ids=[0, 4, 2, 6, 1, 5, 3, 7]", ", device_ids=[5, 2, 7, 0, 1, 6, 3, 4]"}).Draw(t, "order")
	return `sdy.mesh @mesh = <["m"=2, "a"=2, "b"=2]` + ids + ">\n" + w.program(body, last)
}

// manualText collects the parts of a program with a manual computation.
type manualText struct {
	params, operands, inTypes, ins, args, maxima []string
	types, outs, values                          []string
}

func (w *manualText) input(m *ir.Module, arg ir.ValueID) {
	i, typ, scalar := len(w.params), m.FormatType(m.Type(arg)), "tensor<"+m.ValueType(arg).DType.String()+">"
	param := fmt.Sprintf("%%in%d: %s", i, typ)
	if s := m.Sharding(arg); s != 0 {
		param += " {sdy.sharding = #sdy.sharding" + m.FormatSharding(s) + "}"
	}
	w.params, w.operands, w.inTypes = append(w.params, param), append(w.operands, fmt.Sprintf("%%in%d", i)), append(w.inTypes, typ)
	w.ins, w.args = append(w.ins, anywhere(len(m.Shape(arg)))), append(w.args, fmt.Sprintf("%%block%d: %s", i, typ))
	w.maxima = append(w.maxima, fmt.Sprintf(`%%arg%[1]d = "stablehlo.all_reduce"(%%block%[1]d) <{channel_handle =
  #stablehlo.channel_handle<handle = %[2]d, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes =
  [#stablehlo.axis_ref<name = "m">]>, use_global_device_ids}> ({
^bb0(%%l: %[3]s, %%r: %[3]s):
  %%most = stablehlo.maximum %%l, %%r : %[3]s
  stablehlo.return %%most : %[3]s
}) : (%[4]s) -> %[4]s`, i, i+1, scalar, typ))
}

func (w *manualText) output(typ string, rank int) {
	w.values = append(w.values, fmt.Sprintf("%%out#%d", len(w.types)))
	w.types, w.outs = append(w.types, typ), append(w.outs, anywhere(rank))
}

// anywhere is the sharding of a tensor that may be cut along any free axes.
func anywhere(rank int) string {
	return "<@mesh, [" + strings.Join(slices.Repeat([]string{"{?}"}, rank), ", ") + "]>"
}

func (w *manualText) program(body, last string) string {
	list := func(texts []string) string { return strings.Join(texts, ", ") }
	return fmt.Sprintf(`func.func @main(%s) -> (%s) {
%%out:%d = sdy.manual_computation(%s) in_shardings=[%s] out_shardings=[%s] manual_axes={"m"} (%s) {
%s
%s
sdy.%s
} : (%s) -> (%s)
return %s : %s
}`, list(w.params), list(w.types), len(w.types), list(w.operands), list(w.ins), list(w.outs), list(w.args), strings.Join(w.maxima, "\n"),
		body, last, list(w.inTypes), list(w.types), list(w.values), list(w.types))
}

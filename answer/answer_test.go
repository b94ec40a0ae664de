package answer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/subaxis"

	"github.com/google/go-cmp/cmp"
)

// A type is read back as it is written; dimensions of any size and what is no tensor have no shape.
func TestShapeOfType(t *testing.T) {
	for _, c := range []struct {
		typ ir.Type
		ok  bool
	}{
		{ir.Type{Kind: ir.TensorKind, DType: dtype.BF16, Dims: []int64{128, 1, 512}}, true},
		{ir.Type{Kind: ir.TensorKind, DType: dtype.C64, Dims: []int64{}}, true},
		{ir.Type{Kind: ir.TensorKind, DType: dtype.I1, Dims: []int64{0}}, true},
		{ir.Type{Kind: ir.TensorKind, DType: dtype.F32, Dims: []int64{2, ir.Dynamic}}, false},
		{ir.Type{Kind: ir.TokenKind}, false},
	} {
		x := answer.Tensor{Type: answer.FormatType(&c.typ, c.typ.Dims)}
		if dt, dims, ok := x.Shape(); ok != c.ok || ok && (dt != c.typ.DType || !slices.Equal(dims, c.typ.Dims)) {
			t.Errorf("%s is read as %s%v, %t", x.Type, dt, dims, ok)
		}
	}
}

// What pads a dimension is said with how much of it is wasted, and what the first and the last device have: nothing, if there are too many.
func TestPadded(t *testing.T) {
	mesh := &ir.MeshDecl{Mesh: subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 8}}}}
	for n, want := range map[int64]string{
		50257: "padded to 50264: 0.0139 % of that is wasted; the first device has 6283 of it, the last 6276",
		30:    "padded to 32: 6.25 % of that is wasted; the first device has 4 of it, the last 2",
		9:     "padded to 16: 43.8 % of that is wasted; the first device has 2 of it, the last 0",
	} {
		got := answer.Padded(mesh, answer.Place{What: "argument 0", Dims: []int64{n}}, 0, []subaxis.Ref{mesh.Full(0)})
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Inputs and outputs are described in their shardings: blocks along the axes make up the whole.
func TestTensors(t *testing.T) {
	m := parsed(t, called)
	inputs, outputs := answer.Tensors(m, func(arg, result int) bool { return arg == 1 })
	var got []string
	for _, x := range append(inputs, outputs...) {
		got = append(got, strings.Join([]string{x.Name, x.Type, x.LocalType, x.Spec, strings.Join(x.Axes, "+")}, " "))
		if x.User != (x.Name == "params['w']") {
			t.Errorf("%s is the user's: %t", x.Name, x.User)
		}
	}
	want := []string{"arg0 f32[6,4] f32[6,4]  ", "params['w'] f32[6,4] f32[3,2] P('x', 'y':(1)2) x+y:(1)2",
		"out0 f32[6,4] f32[6,1] P(None, 'y') y"}
	if d := cmp.Diff(want, got); d != "" || inputs[1].Bytes*4 != inputs[1].WholeBytes || outputs[0].Bytes*4 != outputs[0].WholeBytes {
		t.Error(d)
	}
}

// What lies along the same axes is as the user wrote it; what the user did not write is not.
func TestWritten(t *testing.T) {
	before := parsed(t, called)
	after := before.Clone()
	main, _ := after.Main()
	args := after.BlockArgs(after.Func(main).Body)
	for _, changed := range []bool{false, true} {
		if changed {
			s := after.ShardingOf(after.Sharding(args[1])).Clone()
			s.Dims[0].Axes = nil
			after.SetSharding(args[1], after.InternSharding(s))
		}
		written := answer.Written(before, after)
		if written(0, -1) || written(1, -1) == changed || !written(-1, 0) {
			t.Errorf("changed %t: inputs %t and %t, output %t", changed, written(0, -1), written(1, -1), written(-1, 0))
		}
	}
}

// The program that an answer is about has no calls; the one that was read stays as it is.
func TestInlined(t *testing.T) {
	source := &answer.Source{Name: "m", Module: parsed(t, called)}
	text := string(mlir.Print(source.Module, mlir.PrintOptions{}))
	m, _, err := source.Inlined(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	inlined := string(mlir.Print(m, mlir.PrintOptions{}))
	if strings.Contains(inlined, "call @f") || !strings.Contains(inlined, "stablehlo.tanh") {
		t.Errorf("inlined:\n%s", inlined)
	}
	if again := string(mlir.Print(source.Module, mlir.PrintOptions{})); again != text {
		t.Errorf("the source became\n%s", again)
	}
}

// Shardings of GSPMD are over the mesh that is asked for, or over one without names, of which a finding says so.
func TestShardyOfGSPMD(t *testing.T) {
	source := &answer.Source{Name: "m", Module: parsed(t, `
func.func @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}`)}
	for _, axes := range [][]subaxis.Axis{nil, {{Name: "x", Size: 4}}} {
		m, said, err := source.Shardy(t.Context(), axes)
		if err != nil {
			t.Fatal(err)
		}
		found := answer.Findings{Module: m}
		found.Unnamed(said)
		text, want, findings := string(mlir.Print(m, mlir.PrintOptions{})), `[{"axis"}]`, 1
		if axes != nil {
			want, findings = `[{"x"}]`, 0
		}
		if !strings.Contains(text, want) || len(found.Sorted()) != findings {
			t.Errorf("%v in\n%s", found.Sorted(), text)
		}
	}
}

// The mesh of a plan is that of the shardings, else the one that was asked for; propagation takes it too, and may do with the
// first of several.
func TestChooseMesh(t *testing.T) {
	const two = "sdy.mesh @a = <[\"x\"=2]>\nsdy.mesh @b = <[\"x\"=4]>\n"
	used := func(mesh string) string {
		return "func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@" + mesh + ", [{\"x\"}]>}) { return }\n"
	}
	axes := func(size int64) []subaxis.Axis { return []subaxis.Axis{{Name: "x", Size: size}} }
	const none = "func.func @main() { return }\n"
	for _, c := range []struct {
		text      string
		requested []subaxis.Axis
		plan      string // the axes of the mesh, or the class of the error
		propagate string
	}{
		{none, nil, "invalid", "invalid"},
		{none, axes(3), "x=3", "x=3"},
		{none, axes(0), "invalid", "invalid"},
		{two + none, nil, "unsupported", "x=2"},
		{two + none, axes(4), "x=4", "x=4"},
		{two + none, axes(3), "unsupported", "unsupported"},
		{two + used("b"), nil, "x=4", "x=4"},
		{two + used("b"), axes(2), "invalid", "invalid"},
		{two + used("b"), axes(4), "x=4", "x=4"},
	} {
		for _, choice := range []struct {
			choose func(*ir.Module, []subaxis.Axis) (ir.MeshID, error)
			want   string
		}{{answer.ChooseMesh, c.plan}, {answer.PropagationMesh, c.propagate}} {
			m := parsed(t, c.text)
			got := ""
			switch id, err := choice.choose(m, c.requested); {
			case errors.Is(err, diag.ErrInvalid):
				got = "invalid"
			case errors.Is(err, diag.ErrUnsupported):
				got = "unsupported"
			default:
				got = answer.FormatAxes(m.Mesh(id).Axes)
			}
			if got != choice.want {
				t.Errorf("%s asked for %v: %s, want %s", c.text, c.requested, got, choice.want)
			}
		}
	}
}

// The mesh of a plan of a model over several meshes is the one that all are put over, which is said; meshes that cannot be one, and other
// meshes that are asked for, are refused. Where there is one mesh, it is that of ChooseMesh, and nothing is said.
func TestCommonMesh(t *testing.T) {
	program := func(second string) string {
		return "sdy.mesh @a = <[\"x\"=4, \"y\"=2]>\nsdy.mesh @b = <[\"z\"=" + second + "]>\n" +
			`func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}]>}) { return }`
	}
	const one = "sdy.mesh @a = <[\"x\"=2]>\nfunc.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{\"x\"}]>}) { return }\n"
	for _, c := range []struct {
		text, want, said string
		requested        []subaxis.Axis
	}{
		{text: one, want: "x=2"},
		{text: program("8"), want: "x=4,y=2", said: "the model names its devices by several meshes: the plan is over @a (x=4,y=2), where z of " +
			"@b is (x, y)"},
		{text: program("8"), want: "x=4,y=2", said: "the model names its devices by several meshes: the plan is over @a (x=4,y=2), where z of " +
			"@b is (x, y)", requested: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}},
		{text: program("8"), want: "invalid", requested: []subaxis.Axis{{Name: "z", Size: 8}}},
		{text: program("16"), want: "unsupported"},
	} {
		m := parsed(t, c.text)
		id, said, err := answer.CommonMesh(m, c.requested)
		got := ""
		switch {
		case errors.Is(err, diag.ErrInvalid):
			got = "invalid"
		case errors.Is(err, diag.ErrUnsupported):
			got = "unsupported"
		default:
			got = answer.FormatAxes(m.Mesh(id).Axes)
		}
		if got != c.want || said != c.said {
			t.Errorf("%s\nasked for %v: %s, %q; want %s, %q", c.text, c.requested, got, said, c.want, c.said)
		}
	}
}

// Axes of a mesh have different names and sizes from one, and a bound on the devices of all.
func TestCheckAxes(t *testing.T) {
	for text, c := range map[string]struct {
		axes  []subaxis.Axis
		class error
	}{
		"x=2,y=1":                   {[]subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 1}}, nil},
		"=2":                        {[]subaxis.Axis{{Size: 2}}, diag.ErrInvalid},
		"x=0":                       {[]subaxis.Axis{{Name: "x"}}, diag.ErrInvalid},
		"x=2,x=2":                   {[]subaxis.Axis{{Name: "x", Size: 2}, {Name: "x", Size: 2}}, diag.ErrInvalid},
		"x=1048576,y=1":             {[]subaxis.Axis{{Name: "x", Size: 1 << 20}, {Name: "y", Size: 1}}, nil},
		"x=1048576,y=2":             {[]subaxis.Axis{{Name: "x", Size: 1 << 20}, {Name: "y", Size: 2}}, diag.ErrTooLarge},
		"x=4294967296,y=4294967296": {[]subaxis.Axis{{Name: "x", Size: 1 << 32}, {Name: "y", Size: 1 << 32}}, diag.ErrTooLarge},
	} {
		if err := answer.CheckAxes(c.axes); !errors.Is(err, c.class) || answer.FormatAxes(c.axes) != text {
			t.Errorf("%s: %v, want %v", answer.FormatAxes(c.axes), err, c.class)
		}
	}
}

// What was taken out of a module, as private functions are when their calls are inlined, names no mesh of it.
func TestMeshesOfWhatIsThere(t *testing.T) {
	m := parsed(t, `sdy.mesh @grid = <["x"=4, "y"=2]>
sdy.mesh @cube = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{"a"}]>]>} : tensor<8xf32>
  return %x : tensor<8xf32>
}`)
	ir.EraseDead(m)
	id, err := answer.ChooseMesh(m, nil)
	if err != nil || m.Mesh(id).Name != "grid" {
		t.Errorf("the mesh is @%s, %v", m.Mesh(id).Name, err)
	}
}

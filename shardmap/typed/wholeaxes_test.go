package typed_test

import (
	"errors"
	"strings"
	"testing"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// overParts returns a per-device program on x=12 whose input is cut along a part of x, with a psum along parts of x, or in groups
// of devices.
func overParts(t *testing.T, input subaxis.Ref, axes []subaxis.Ref, groups ir.Attr) *shardmap.Program {
	m, err := mlir.Parse(t.Context(), []byte(`func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	p := &shardmap.Program{Module: m, Main: main, Mesh: subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 12}}}}
	op := m.FirstOp(m.Func(main).Body)
	m.SetKind(op, ir.OpShardMapPsum)
	m.SetAttrs(op, ir.MakeAttrs(ir.NamedAttr{Name: "axes", Value: &ir.AxesAttr{Mesh: m.AddMesh("", p.Mesh, nil, 0), Axes: axes}}))
	if groups != nil {
		m.SetAttrs(op, m.OpAttrs(op).With("groups", groups))
	}
	p.Inputs = []shardmap.Port{{Dims: []int64{4 * int64(input.Size)}, Layout: collectives.Layout{Dims: [][]subaxis.Ref{{input}}}}}
	p.Outputs = []shardmap.Port{{Dims: []int64{4}, Layout: collectives.Layout{Dims: [][]subaxis.Ref{nil}}}}
	return p
}

// Parts of axes that inputs are cut along, that collectives run along and that groups of devices run along become whole axes
// of a finer mesh; what has no common refinement with them runs in groups along all axes, and an input is refused.
func TestRefining(t *testing.T) {
	half, third, all := subaxis.Ref{Pre: 1, Size: 2}, subaxis.Ref{Pre: 1, Size: 3}, subaxis.Ref{Pre: 1, Size: 12}
	listed := ir.ArrayAttr{ir.Ints{0, 1, 2, 3, 4, 5}, ir.Ints{6, 7, 8, 9, 10, 11}}
	for _, c := range []struct {
		name        string
		input, axes subaxis.Ref
		groups      ir.Attr
		mesh        int // axes of the finer mesh
		want        string
	}{
		{"a part", subaxis.Ref{Pre: 2, Size: 2}, half, nil, 3, `axes = #sdy<axis_ref_list{"x_0"}>`},
		{"groups along a part", half, all, listed, 2, `axes = #sdy<axis_ref_list{"x_1"}>`},
		{"a part at odds", third, half, nil, 2, `axes = #sdy<axis_ref_list{"x_0", "x_1"}>, groups = `},
	} {
		p := overParts(t, c.input, []subaxis.Ref{c.axes}, c.groups)
		r := typed.NewRefining(p.Mesh)
		if err := r.CutPorts(p, typed.Names{}); err != nil {
			t.Fatal(err)
		}
		body := p.Module.Func(p.Main).Body
		r.CutGroups(p.Module, body)
		r.CutBody(p.Module, body)
		fine := r.Finish()
		program, err := r.Program(p.Module, p.Main, body)
		if err != nil {
			t.Fatal(err)
		}
		text := string(mlir.Print(program.Module, mlir.PrintOptions{}))
		if len(fine.Fine.Axes) != c.mesh || !strings.Contains(text, c.want) {
			t.Errorf("%s: on %v\n%s\nwant %s", c.name, fine.Fine.Axes, text, c.want)
		}
	}
	p := overParts(t, third, []subaxis.Ref{half}, nil)
	r := typed.NewRefining(p.Mesh)
	if err := r.Cut(diag.Position{}, "a collective", []subaxis.Ref{half}); err != nil {
		t.Fatal(err)
	}
	err := r.CutPorts(p, typed.Names{Inputs: []string{"a"}})
	if !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), "input 0 (a): ") ||
		!strings.Contains(err.Error(), "E_SUBAXIS_CONFLICT") {
		t.Errorf("inputs at odds: %v", err)
	}
	if got := r.Finish(); len(got.Fine.Axes) != 2 {
		t.Errorf("a refused cut changed the mesh: %v", got.Fine.Axes)
	}
	if s := r.Spec([][]subaxis.Ref{{half}, nil}).String(); s != "P('x_0')" {
		t.Errorf("the spec is %s", s)
	}
}

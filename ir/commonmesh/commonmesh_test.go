package commonmesh_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/commonmesh"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Every device keeps its block of every tensor, whatever the meshes: of axes of many sizes, with the devices in the same order or in that
// of axes that were turned around.
func TestDevicesKeepTheirBlocks(t *testing.T) {
	done := 0
	rapid.Check(t, func(t *rapid.T) {
		devices := rapid.SampledFrom([]int64{6, 8, 12, 16, 24}).Draw(t, "devices")
		m := ir.NewModule()
		typ := m.TensorType(dtype.F32, 48, 48)
		f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: slices.Repeat([]ir.TypeID{typ}, 6)}))
		m.BuilderAtEnd(f.Body).Op(ir.OpReturn, nil, nil)
		values := m.BlockArgs(f.Body)
		for i := 0; i < len(values); i += 2 {
			id := m.AddMesh(string(rune('a'+i)), drawMesh(t, devices), nil, 0)
			m.SetSharding(values[i], drawSharding(t, m, id))
			m.SetSharding(values[i+1], drawSharding(t, m, id))
		}
		before := blocks(m, values)
		renamed, several, err := commonmesh.Unify(m)
		if err != nil {
			if !strings.Contains(err.Error(), "cannot be one") {
				t.Fatal(err)
			}
			return
		}
		if several {
			done++
		}
		if after := blocks(m, values); !slices.EqualFunc(before, after, slices.Equal) {
			t.Fatalf("blocks were %v and are %v, with %v\n%s", before, after, renamed, mlir.Print(m, mlir.PrintOptions{}))
		}
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
	})
	if done == 0 {
		t.Error("no meshes became one")
	}
}

// drawMesh draws a mesh of that many devices, sometimes with two of its axes turned around in the order of devices.
func drawMesh(t *rapid.T, devices int64) subaxis.Mesh {
	mesh := subaxis.Mesh{}
	for left := devices; left > 1; {
		var sizes []int64
		for n := int64(2); n <= left; n++ {
			if left%n == 0 {
				sizes = append(sizes, n)
			}
		}
		n := rapid.SampledFrom(sizes).Draw(t, "size")
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('x' + len(mesh.Axes))), Size: n})
		left /= n
	}
	if len(mesh.Axes) > 1 && rapid.Bool().Draw(t, "turned") {
		rows, cols := mesh.Axes[0].Size, devices/mesh.Axes[0].Size
		for c := range cols {
			for r := range rows {
				mesh.DeviceIDs = append(mesh.DeviceIDs, r*cols+c)
			}
		}
	}
	return mesh
}

// drawSharding draws one of a matrix, in which an axis, or the major or minor part of one, cuts each dimension.
func drawSharding(t *rapid.T, m *ir.Module, id ir.MeshID) ir.ShardingID {
	refs := m.Mesh(id).All()
	s := ir.Sharding{Mesh: id, Dims: make([]ir.DimSharding, 2)}
	for d := range s.Dims {
		s.Dims[d].Priority = ir.NoPriority
		if len(refs) == 0 {
			continue
		}
		i := rapid.IntRange(0, len(refs)-1).Draw(t, "axis")
		r := refs[i]
		refs = slices.Delete(refs, i, i+1)
		if r.Size%2 == 0 && r.Size > 2 && rapid.Bool().Draw(t, "part") {
			r.Size /= 2
			if rapid.Bool().Draw(t, "minor") {
				r.Pre = 2
			}
		}
		s.Dims[d].Axes = ir.ShardAxes{r}
	}
	return m.InternSharding(s)
}

// blocks returns for every value which block each device has, by the device's id.
func blocks(m *ir.Module, values []ir.ValueID) [][]int64 {
	var out [][]int64
	for _, v := range values {
		s := m.ShardingOf(m.Sharding(v))
		mesh := m.Mesh(s.Mesh)
		of := make([]int64, mesh.Devices())
		for p := range mesh.Devices() {
			for _, dim := range s.Dims {
				of[mesh.DeviceID(p)] = of[mesh.DeviceID(p)]*48 + mesh.ShardIndex(p, dim.Axes)
			}
		}
		out = append(out, of)
	}
	return out
}

// Meshes of other devices, and axes that cut each other, cannot be one; the module stays as it is. Axes that nothing but a collective or a
// manual computation names are found, too, axes of size 1 stay, and meshes that are equal are one from the beginning.
func TestUnify(t *testing.T) {
	for _, c := range []struct{ name, first, second, arg, want string }{
		{"other devices", `["a"=4]`, `["x"=8]`, `{"x"}`, "error: the model uses the meshes @first (a=4) and @second (x=8), which cannot be one: " +
			"they do not have the same devices"},
		{"cut each other", `["a"=2, "b"=3]`, `["x"=3, "y"=2]`, `{"x"}`, "error: the model uses the meshes @first (a=2, b=3) and @second (x=3, y=2), " +
			"which cannot be one: no mesh has axes of which those of both consist"},
		{"equal", `["a"=4]`, `["a"=4]`, `{"a"}`, "one"},
		{"parts", `["a"=2, "b"=4]`, `["x"=4, "y"=2]`, `{"x"}`, `@mesh ["a"=2, "b_0"=2, "y"=2]: b of @first is (b_0, y); x of @second is (a, b_0)`},
		{"one device", `["a"=4]`, `["x"=1]`, `{"x"}`, "one"},
		{"size one", `["a"=8]`, `["x"=8, "one"=1]`, `{"x"}`, `@second ["x"=8, "one"=1]: a of @first is x`},
		{"another order", `["a"=4, "b"=2]`, `["x"=2, "y"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]`, `{"x"}`, `@first ["a"=4, "b"=2]: x of @second is b; y of @second is a`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "sdy.mesh @first = <" + c.first + ">\nsdy.mesh @second = <" + c.second + `>
func.func @main(%arg0: tensor<48xf32> {sdy.sharding = #sdy.sharding<@first, [{"a"}]>}) -> tensor<48xf32> {
  %0 = sdy.sharding_constraint %arg0 <@second, [` + c.arg + `]> : tensor<48xf32>
  return %0 : tensor<48xf32>
}
`
			m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			before := string(mlir.Print(m, mlir.PrintOptions{}))
			if got := unified(t, m); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if after := string(mlir.Print(m, mlir.PrintOptions{})); !strings.HasPrefix(c.want, "@") && after != before {
				t.Errorf("the module has changed to\n%s", after)
			}
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Error(err)
			}
		})
	}
}

// unified says what has become of a module's meshes.
func unified(t *testing.T, m *ir.Module) string {
	t.Helper()
	renamed, several, err := commonmesh.Unify(m)
	switch {
	case err != nil:
		if !errors.Is(err, diag.ErrUnsupported) {
			t.Errorf("the error is of another class: %v", err)
		}
		return "error: " + diag.Diagnostics(err)[0].Message
	case !several:
		return "one"
	}
	var meshes []string
	for id := range m.NamedMeshes() {
		axes := lists.Joined(m.Mesh(id).Axes, func(a subaxis.Axis) string { return fmt.Sprintf("%q=%d", a.Name, a.Size) })
		meshes = append(meshes, "@"+m.Mesh(id).Name+" ["+axes+"]")
	}
	return strings.Join(meshes, " ") + ": " + strings.Join(renamed, "; ")
}

package shardmap_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// onlyCollective parses a function of one collective and returns that.
func onlyCollective(t *testing.T, text string) (*ir.Module, ir.OpID) {
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	return m, m.FirstOp(m.Func(main).Body)
}

// Groups are places in the mesh, not device ids; a shorter one is filled up with -1 in the text; a device that the mesh does not
// have, and one that stands there twice, are refused by name.
func TestGroupsOf(t *testing.T) {
	mesh := &subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}}, DeviceIDs: []int64{3, 2, 1, 0}}
	for _, c := range []struct {
		groups, shape string
		want          [][]int64
		problem       string
	}{
		{"[[0, 1], [2, 3]]", "2x2", [][]int64{{3, 2}, {1, 0}}, ""},
		{"[[0, 1, 2], [3, -1, -1]]", "2x3", [][]int64{{3, 2, 1}, {0}}, ""},
		{"[[0, 4]]", "1x2", nil, "names device 4, which the mesh does not have"},
		{"[[0, 1], [1, 2]]", "2x2", nil, "names device 1 twice"},
	} {
		m, op := onlyCollective(t, `func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_broadcast"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<`+
			c.groups+`> : tensor<`+c.shape+`xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}`)
		groups, err := shardmap.GroupsOf(m, op, mesh)
		switch {
		case c.problem == "" && (err != nil || !cmp.Equal(groups, c.want)):
			t.Errorf("%s: %v, %v, want %v", c.groups, groups, err, c.want)
		case c.problem != "" && (!errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v, want %q", c.groups, err, c.problem)
		}
	}
}

// A permutation along axes, written out as pairs of places in all groups, is found again; one of a single group is not.
func TestPermAlong(t *testing.T) {
	mesh := &deviceMeshes[0]
	rapid.Check(t, func(t *rapid.T) {
		axes := []subaxis.Ref{mesh.Full(rapid.IntRange(0, 1).Draw(t, "axis"))}
		groups := mesh.Groups(axes)
		n := len(groups[0])
		targets := rapid.Permutation([]int{0, 1, 2, 3}[:n]).Draw(t, "targets")
		pairs := map[[2]int64]bool{}
		var want [][2]int64
		for source, target := range targets {
			want = append(want, [2]int64{int64(source), int64(target)})
			for _, g := range groups {
				pairs[[2]int64{g[source], g[target]}] = true
			}
		}
		if perm, ok := shardmap.PermAlong(mesh, axes, pairs); !ok || !cmp.Equal(perm, want) {
			t.Fatalf("%v, %v, want %v", perm, ok, want)
		}
		delete(pairs, [2]int64{groups[0][0], groups[0][targets[0]]})
		if perm, ok := shardmap.PermAlong(mesh, axes, pairs); ok {
			t.Fatalf("found %v in %v", perm, pairs)
		}
	})
}

// A reduction of partial values becomes the op over axes of its name, and LowerAxes gives that a region which computes it.
func TestAllReduce(t *testing.T) {
	for reduction, name := range map[ir.Reduction]string{ir.ReduceSum: "psum", ir.ReduceMax: "pmax", ir.ReduceMin: "pmin"} {
		kind := shardmap.AllReduce(reduction)
		if kind.ShardMapName() != name {
			t.Errorf("%s becomes %s", reduction, kind)
		}
		m, op := onlyCollective(t, `func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}`)
		mesh := deviceMeshes[1]
		m.SetKind(op, kind)
		m.SetAttrs(op, ir.MakeAttrs(ir.NamedAttr{Name: "axes", Value: &ir.AxesAttr{Mesh: m.AddMesh("", mesh, nil, 0), Axes: mesh.All()}}))
		main, _ := m.Main()
		if err := shardmap.LowerAxes(t.Context(), &shardmap.Program{Module: m, Main: main, Mesh: mesh}); err != nil {
			t.Fatal(err)
		}
		if got, ok := ir.ReductionOf(m, op, 0); !ok || got != reduction {
			t.Errorf("the region of %s computes %s, %v", name, got, ok)
		}
	}
}

// No hint for the partitioner is left, at whatever depth, and what it stood for is used in its place.
func TestDropHints(t *testing.T) {
	m, _ := onlyCollective(t, `sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4xf32>
  sdy.sharding_group %0 group_id=1 : tensor<4xf32>
  %1 = "stablehlo.if"(%p) ({
    %2 = sdy.reshard %0 <@mesh, [{}]> : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }, {
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}`)
	main, _ := m.Main()
	body := m.Func(main).Body
	shardmap.DropHints(m, body)
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	uses := 0
	for range m.Uses(m.BlockArgs(body)[0]) {
		uses++
	}
	if text := string(mlir.Print(m, mlir.PrintOptions{})); uses != 2 || strings.Count(text, "sdy.") != 1 { // the mesh
		t.Errorf("%d uses\n%s", uses, text)
	}
}

package space_test

import (
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// readTwice is a value that two ops read, with the problem of two axes and its solution in which nothing is cut.
func readTwice(t *testing.T) (*ir.Module, *space.Space, []int32) {
	t.Helper()
	m, mesh, model := parsed(t, `sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = stablehlo.negate %x : tensor<64xf32>
  %1 = stablehlo.tanh %x : tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}`, []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}})
	s := space.New(m, mesh, model)
	s.PinResult(1, parse(t, m, `[{}]`))
	return m, s, make([]int32, 4)
}

// Both ops come to read the value in one layout, in each of those that there are but the one in which they do.
func TestOneCopy(t *testing.T) {
	_, s, x := readTwice(t)
	p, err := s.Relaxed(t.Context(), 0, &space.Effort{}, space.Kept)
	if err != nil {
		t.Fatal(err)
	}
	var layouts []string
	for _, change := range s.OneCopy(p) {
		changed := change(x)
		if changed == nil {
			continue
		}
		first, _ := s.Layouts(1, int(changed[1]))
		second, _ := s.Layouts(2, int(changed[2]))
		if !first[0].Equal(&second[0]) || changed[0] != x[0] {
			t.Errorf("changed to %v: read as %v and %v", changed, first, second)
		}
		layouts = append(layouts, way(first))
	}
	slices.Sort(layouts)
	if len(layouts) != 3 || len(slices.Compact(layouts)) != 3 {
		t.Errorf("read together in %v, want 3 layouts", layouts)
	}
}

// An op that reads the value elsewhere comes to read it where it lies.
func TestInPlace(t *testing.T) {
	_, s, x := readTwice(t)
	p, err := s.Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	_, lies := s.Layouts(0, int(x[0]))
	elsewhere := map[int]bool{}
	for node := 1; node <= 2; node++ {
		for x[node] = 0; ; x[node]++ {
			if read, _ := s.Layouts(node, int(x[node])); !read[0].Equal(&lies[0]) {
				break
			}
		}
		elsewhere[node] = true
	}
	for _, change := range s.InPlace(p, x) {
		if changed := change(x); changed != nil {
			x = changed
		}
		for node := 1; node <= 2; node++ {
			if read, _ := s.Layouts(node, int(x[node])); read[0].Equal(&lies[0]) {
				delete(elsewhere, node)
			}
		}
	}
	if len(elsewhere) > 0 {
		t.Errorf("nodes %v still read the value elsewhere", elsewhere)
	}
}

// What an op makes can be kept in all layouts, and a result that the user did not write follows its value.
func TestKeep(t *testing.T) {
	m, s, x := readTwice(t)
	if _, err := s.Build(t.Context(), 0, &space.Effort{}); err != nil {
		t.Fatal(err)
	}
	sent := s.Sent()
	if len(sent) != 2 {
		t.Fatalf("%d values can be sent on, want 2", len(sent))
	}
	for i, v := range sent {
		if len(v.Layouts) != 4 || v.Node != 1+i {
			t.Errorf("value %d of node %d can be kept in %d layouts", v.Value, v.Node, len(v.Layouts))
		}
		for _, l := range v.Layouts {
			to := m.Clone()
			s.Apply(to, x)
			pinned := to.MainFunc().ResultShardings[1]
			s.Keep(to, v.Value, &l)
			want := to.InternSharding(l.Sharding(ir.MeshID(to.NumMeshes() - 1)))
			if got := to.MainFunc().ResultShardings; to.Sharding(v.Value) != want || got[1] != pinned || i == 0 && got[0] != want {
				t.Errorf("kept in %v: value %d is %s, the results %s and %s", l.Dims, v.Value, to.FormatSharding(to.Sharding(v.Value)),
					to.FormatSharding(got[0]), to.FormatSharding(got[1]))
			}
		}
	}
}

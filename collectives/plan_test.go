package collectives

import (
	"fmt"
	"slices"
	"testing"

	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// ring prices bytes as a ring does, with a fixed start-up time per step.
type ring struct{}

func (ring) Price(kind Kind, axes []subaxis.Ref, bytes int64) int64 {
	n := subaxis.Product(axes)
	switch kind {
	case AllSlice:
		return 0
	case AllGather:
		return 1000 + (n-1)*bytes
	case ReduceScatter, AllToAll:
		return 1000 + (n-1)*bytes/n
	case AllReduce:
		return 2000 + 2*(n-1)*bytes/n
	}
	return 1000 + bytes
}

var mesh = &subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}}

func full(name string) subaxis.Ref {
	r, _ := mesh.Lookup(name)
	return r
}

func layout(dims ...[]subaxis.Ref) Layout { return Layout{Dims: dims} }

func axes(refs ...subaxis.Ref) []subaxis.Ref { return refs }

func describe(steps []Step) string {
	out := ""
	for _, s := range steps {
		out += fmt.Sprintf("%s {%s} %d", s.Kind, mesh.FormatList(s.Axes), s.Dim)
		if s.Kind == AllToAll {
			out += fmt.Sprintf("->%d", s.To)
		}
		out += "; "
	}
	return out
}

// The steps from one layout to another are the cheapest ones: nothing moves that can stay, and what several axes do is one step.
func TestPlan(t *testing.T) {
	x, y, z := full("x"), full("y"), full("z")
	x1, x2 := subaxis.Ref{Axis: 0, Pre: 1, Size: 2}, subaxis.Ref{Axis: 0, Pre: 2, Size: 2}
	partial := func(l Layout, refs ...subaxis.Ref) Layout {
		l.Unreduced = refs
		return l
	}
	for _, c := range []struct {
		name     string
		from, to Layout
		want     string
	}{
		{"same", layout(axes(x), nil), layout(axes(x), nil), ""},
		{"gather", layout(axes(x), nil), layout(nil, nil), `all_gather {"x"} 0; `},
		{"slice", layout(nil, nil), layout(axes(x), axes(y)), `all_slice {"x"} 0; all_slice {"y"} 1; `},
		{"move between dimensions", layout(axes(x), nil), layout(nil, axes(x)), `all_to_all {"x"} 0->1; `},
		{"move the minor axis", layout(axes(x, y), nil), layout(axes(x), axes(y)), `all_to_all {"y"} 0->1; `},
		{"reorder", layout(axes(x, y), nil), layout(axes(y, x), nil), `collective_permute {"x", "y"} 0; `},
		{"exchange axes", layout(axes(y), nil), layout(axes(z), nil), `collective_permute {"y", "z"} 0; `},
		{"reduce", partial(layout(axes(y), axes(z)), x), layout(axes(y), axes(z)), `all_reduce {"x"} 0; `},
		{"reduce into a dimension", partial(layout(axes(y, z), nil), x), layout(axes(y, z), axes(x)), `reduce_scatter {"x"} 1; `},
		{"idle axes help to reduce", partial(layout(nil, nil), x), layout(nil, nil),
			`all_slice {"y", "z"} 0; reduce_scatter {"x"} 0; all_gather {"y", "z", "x"} 0; `},
		{"a major axis comes in without a gather", layout(axes(x), nil), layout(axes(y, x), nil),
			`all_slice {"y"} 0; collective_permute {"x", "y"} 0; `},
		{"slice before a gather", layout(axes(x), nil), layout(nil, axes(y)), `all_slice {"y"} 1; all_gather {"x"} 0; `},
		{"part of an axis", layout(axes(x), nil), layout(axes(x1), axes(x2)), `all_to_all {"x":(2)2} 0->1; `},
		{"several axes at once", layout(axes(x, y), nil), layout(nil, nil), `all_gather {"x", "y"} 0; `},
	} {
		r := &Reshard{Shape: []int64{16, 16}, Bytes: 1 << 20, From: c.from, To: c.to}
		if got := describe(NewPlanner(ring{}, mesh.Axes).Cheapest(r)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A device's part of a tensor in the simulation below: for each element of the block, which element of the whole
// tensor it is and which devices' partial values it sums.
type block map[int]uint64

func blocks(l Layout, dims []int64) []block {
	n := mesh.Devices()
	out := make([]block, n)
	for d := range n {
		out[d] = block{}
		for e := range elements(dims) {
			if owns(l, dims, d, e) {
				mask := uint64(0)
				if len(l.Unreduced) > 0 {
					mask = 1 << mesh.ShardIndex(d, l.Unreduced)
				}
				out[d][e] = mask
			}
		}
	}
	return out
}

func elements(dims []int64) int { return int(dims[0] * dims[1]) }

func owns(l Layout, dims []int64, device int64, e int) bool {
	at := []int64{int64(e) / dims[1], int64(e) % dims[1]}
	for d := range dims {
		size := dims[d] / subaxis.Product(l.Dims[d])
		if at[d]/size != mesh.ShardIndex(device, l.Dims[d]) {
			return false
		}
	}
	return true
}

// Every step must be what its kind says: the blocks after it are made only from blocks of the step's own groups,
// partial values are complete when their axes disappear, and a permute moves whole blocks.
func TestPlanMovesTheRightBlocks(t *testing.T) {
	dims := []int64{16, 16}
	rapid.Check(t, func(t *rapid.T) {
		from, to := drawLayout(t, "from", true), drawLayout(t, "to", false)
		p := NewPlanner(ring{}, mesh.Axes)
		way := p.Way(p.Tensor(dims, 1024), p.Intern(from), p.Intern(to))
		at, total := from, int64(0)
		for _, s := range way.Steps() {
			total += ring{}.Price(s.Kind, s.Axes, 1024/at.Shards())
			at = s.After
		}
		if total != way.Price() {
			t.Fatalf("steps cost %d, the way %d", total, way.Price())
		}
		checkSteps(t, from, to, way.Steps(), dims)
	})
}

// So do the steps in Shardy's order.
func TestShardyMovesTheRightBlocks(t *testing.T) {
	dims := []int64{16, 16}
	rapid.Check(t, func(t *rapid.T) {
		r := &Reshard{Shape: dims, Bytes: 1024, From: drawLayout(t, "from", true), To: drawLayout(t, "to", false)}
		checkSteps(t, r.From, r.To, Shardy(r), dims)
	})
}

// checkSteps demands that the steps lead from one layout to another.
func checkSteps(t *rapid.T, from, to Layout, steps []Step, dims []int64) {
	for _, s := range steps {
		checkStep(t, from, s, dims)
		from = s.After
	}
	if got, want := blocks(from, dims), blocks(to, dims); !slices.EqualFunc(got, want, sameElements) {
		t.Fatalf("%s does not end at the goal", describe(steps))
	}
}

func sameElements(a, b block) bool {
	if len(a) != len(b) {
		return false
	}
	for e := range a {
		if _, ok := b[e]; !ok {
			return false
		}
	}
	return true
}

func checkStep(t *rapid.T, before Layout, s Step, dims []int64) {
	have, want := blocks(before, dims), blocks(s.After, dims)
	for _, group := range mesh.Groups(s.Axes) {
		for _, device := range group {
			sources := 0
			for e := range want[device] {
				found := false
				for _, peer := range group {
					_, ok := have[peer][e]
					found = found || ok
				}
				if !found {
					t.Fatalf("%s of %v: element %d of device %d is nowhere in its group", s.Kind, before, e, device)
				}
			}
			for _, peer := range group {
				if sameElements(have[peer], want[device]) {
					sources++
				}
			}
			if s.Kind == Permute && sources == 0 {
				t.Fatalf("permute to %v changes blocks", s.After)
			}
			if s.Kind == AllSlice {
				for e := range want[device] {
					if _, ok := have[device][e]; !ok {
						t.Fatalf("slice needs element %d from another device", e)
					}
				}
			}
		}
	}
	gone := subaxis.Difference(before.Unreduced, s.After.Unreduced)
	if reduces := s.Kind == AllReduce || s.Kind == ReduceScatter; reduces != (len(gone) > 0) {
		t.Fatalf("%s reduces %v", s.Kind, gone)
	} else if reduces && len(subaxis.Difference(gone, s.Axes)) > 0 {
		t.Fatalf("%s over %v cannot reduce %v", s.Kind, s.Axes, gone)
	}
}

// drawLayout cuts a 16x16 tensor by random axes and halves of axis x, some of them perhaps unreduced.
func drawLayout(t *rapid.T, name string, partial bool) Layout {
	pool := axes(subaxis.Ref{Axis: 0, Pre: 1, Size: 2}, subaxis.Ref{Axis: 0, Pre: 2, Size: 2}, full("y"), full("z"))
	pool = rapid.Permutation(pool).Draw(t, name+" order")
	l := Layout{Dims: make([][]subaxis.Ref, 2)}
	places := 3
	if partial {
		places = 4
	}
	for _, r := range pool {
		switch rapid.IntRange(0, places-1).Draw(t, name+" place") {
		case 0:
			l.Dims[0] = subaxis.AppendMerge(l.Dims[0], r)
		case 1:
			l.Dims[1] = subaxis.AppendMerge(l.Dims[1], r)
		case 3:
			l.Unreduced = append(l.Unreduced, r)
		}
	}
	l.Unreduced = subaxis.SortMerge(l.Unreduced)
	return l
}

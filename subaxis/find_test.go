package subaxis_test

import (
	"slices"
	"testing"

	"autoshard/internal/lists"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Numbers along a list of parts, and the groups of devices along it, are found to be along a list that means the same.
func TestFindInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh := &subaxis.Mesh{}
		for i, n := range rapid.SliceOfN(rapid.SampledFrom(sizes[:6]), 1, 3).Draw(t, "mesh") {
			mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('x' + i)), Size: n})
		}
		var refs []subaxis.Ref
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			axis := rapid.IntRange(0, len(mesh.Axes)-1).Draw(t, "axis")
			r := rapid.SampledFrom(parts(mesh.Axes[axis].Size)).Draw(t, "part")
			r.Axis = int32(axis)
			if !slices.ContainsFunc(refs, func(o subaxis.Ref) bool { return o.Axis == r.Axis && (!o.CanCoexist(r) || o.Overlaps(r)) }) {
				refs = append(refs, r)
			}
		}
		numbers := func(refs []subaxis.Ref) []int64 {
			return lists.Of(int(mesh.Devices()), func(d int) int64 { return mesh.ShardIndex(int64(d), refs) })
		}
		if found, ok := mesh.Find(numbers(refs)); !ok || !slices.Equal(numbers(found), numbers(refs)) {
			t.Fatalf("the numbers along %s of %v are found to be along %s", mesh.FormatList(refs), mesh.Axes, mesh.FormatList(found))
		}
		if found, ok := mesh.FindGroups(mesh.Groups(refs)); !ok || !slices.EqualFunc(mesh.Groups(found), mesh.Groups(refs), slices.Equal) {
			t.Fatalf("the groups along %s of %v are found to be along %s", mesh.FormatList(refs), mesh.Axes, mesh.FormatList(found))
		}
	})
}

// A list of numbers that is no numbering along axes is not taken for one.
func TestFindRefuses(t *testing.T) {
	mesh := &subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}}}
	for _, table := range [][]int64{{0, 1, 1, 0}, {0, 0, 0, 1}, {1, 0, 1, 0}, {0, 2, 0, 2}, {0, 1}, {0, 2, 1, 4}} {
		if refs, ok := mesh.Find(table); ok {
			t.Errorf("%v is found along %s", table, mesh.FormatList(refs))
		}
	}
	for _, groups := range [][][]int64{{{0, 1}}, {{0, 1}, {3, 2}}, {{0, 3}, {1, 2}}, {{0, 0}, {1, 1}}, {{0, 1, 2}, {3}}, {{0, 9}, {1, 2}}} {
		if refs, ok := mesh.FindGroups(groups); ok {
			t.Errorf("%v are found along %s", groups, mesh.FormatList(refs))
		}
	}
}

package refine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// parts returns all parts of the axes of a mesh, the whole axes among them.
func parts(mesh *subaxis.Mesh) (list []subaxis.Ref) {
	for i, a := range mesh.Axes {
		for pre := int64(1); pre <= a.Size; pre++ {
			for size := int64(1); pre*size <= a.Size; size++ {
				if a.Size%(pre*size) == 0 && (size > 1 || a.Size == 1) {
					list = append(list, subaxis.Ref{Axis: int32(i), Pre: int32(pre), Size: int32(size)})
				}
			}
		}
	}
	return list
}

var meshes = []subaxis.Mesh{
	{Axes: []subaxis.Axis{{Name: "x", Size: 4}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 12}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 8}, {Name: "z", Size: 2}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 6}, {Name: "one", Size: 1}, {Name: "x_0", Size: 4}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 4}}, DeviceIDs: []int64{3, 2, 1, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15,
		14}},
}

// places returns the number of every device along parts: which slice of a dimension it holds.
func places(mesh *subaxis.Mesh, refs []subaxis.Ref) []int64 {
	out := make([]int64, mesh.Devices())
	for d := range out {
		out[d] = mesh.ShardIndex(int64(d), refs)
	}
	return out
}

func whole(mesh *subaxis.Mesh, axes []int) (refs []subaxis.Ref) {
	for _, a := range axes {
		refs = append(refs, mesh.Full(a))
	}
	return refs
}

// checkRefined compares the slices of all devices, their groups and their numbers before and after refinement, and
// goes back.
func checkRefined(t interface{ Fatalf(string, ...any) }, mesh *subaxis.Mesh, m *refine.Mesh, refs []subaxis.Ref) {
	axes := m.Axes(refs)
	fine := whole(&m.Fine, axes)
	if d := cmp.Diff(places(mesh, refs), places(&m.Fine, fine)); d != "" {
		t.Fatalf("slices along %s of %v and along %v of %v differ: %s", mesh.FormatList(refs), mesh.Axes, m.Names(axes), m.Fine.Axes, d)
	}
	if d := cmp.Diff(mesh.Groups(refs), m.Fine.Groups(fine)); d != "" {
		t.Fatalf("groups along %s and along %v differ: %s", mesh.FormatList(refs), m.Names(axes), d)
	}
	var merged []subaxis.Ref
	for _, r := range refs {
		merged = subaxis.AppendMerge(merged, r)
	}
	if back := m.Parts(axes); !slices.Equal(back, merged) {
		t.Fatalf("%s is %v, and that is %s", mesh.FormatList(refs), m.Names(axes), mesh.FormatList(back))
	}
}

// Every two parts of small meshes have either a common refinement, in which all devices keep their slices, or none: then
// neither size of the cuts of one axis divides the other.
func TestPairs(t *testing.T) {
	conflicts := 0
	for i := range meshes {
		mesh := &meshes[i]
		for _, a := range parts(mesh) {
			for _, b := range parts(mesh) {
				cuts := refine.New(*mesh)
				if err := cuts.Add(a); err != nil {
					t.Fatal(err)
				}
				err := cuts.Add(b)
				chain := true
				for _, x := range []int64{int64(a.Pre), a.Next()} {
					for _, y := range []int64{int64(b.Pre), b.Next()} {
						chain = chain && (a.Axis != b.Axis || x%y == 0 || y%x == 0)
					}
				}
				if (err == nil) != chain {
					t.Errorf("%s and %s: %v", mesh.Format(a), mesh.Format(b), err)
				}
				if err != nil {
					conflicts++
					if !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), mesh.Format(b)) {
						t.Errorf("%s and %s: %v", mesh.Format(a), mesh.Format(b), err)
					}
				}
				m := cuts.Mesh()
				checkRefined(t, mesh, m, []subaxis.Ref{a})
				if err == nil {
					checkRefined(t, mesh, m, []subaxis.Ref{b})
				}
				names := map[string]bool{}
				for _, axis := range m.Fine.Axes {
					names[axis.Name] = true
				}
				if m.Fine.Devices() != mesh.Devices() || len(names) != len(m.Fine.Axes) || !slices.Equal(m.Fine.DeviceIDs, mesh.DeviceIDs) {
					t.Errorf("%v is refined to %v", mesh.Axes, m.Fine.Axes)
				}
			}
		}
	}
	if conflicts == 0 {
		t.Error("no two parts conflict")
	}
}

// Lists of parts keep their slices whatever their order.
func TestLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh := &meshes[rapid.IntRange(0, len(meshes)-1).Draw(t, "mesh")]
		all := parts(mesh)
		cuts := refine.New(*mesh)
		var lists [][]subaxis.Ref
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			var refs []subaxis.Ref
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				r := rapid.SampledFrom(all).Draw(t, "part")
				if !slices.ContainsFunc(refs, func(o subaxis.Ref) bool { return o.Axis == r.Axis && (o.Overlaps(r) || !o.CanCoexist(r)) }) {
					refs = append(refs, r)
				}
			}
			if cuts.Add(refs...) == nil {
				lists = append(lists, refs)
			}
		}
		m := cuts.Mesh()
		for _, refs := range lists {
			checkRefined(t, mesh, m, refs)
		}
	})
}

// The examples of the specification, and names that are taken.
func TestNames(t *testing.T) {
	mesh := meshes[3] // x=6, one=1, x_0=4
	cuts := refine.New(mesh)
	if err := cuts.Add(subaxis.Ref{Axis: 0, Pre: 2, Size: 3}, subaxis.Ref{Axis: 2, Pre: 1, Size: 2}); err != nil {
		t.Fatal(err)
	}
	m := cuts.Mesh()
	want := []subaxis.Axis{{Name: "x_0_", Size: 2}, {Name: "x_1", Size: 3}, {Name: "one", Size: 1}, {Name: "x_0_0", Size: 2},
		{Name: "x_0_1", Size: 2}}
	if d := cmp.Diff(want, m.Fine.Axes); d != "" {
		t.Error(d)
	}
	if got := m.Names(m.Axes([]subaxis.Ref{mesh.Full(1), mesh.Full(0)})); !slices.Equal(got, []string{"one", "x_0_", "x_1"}) {
		t.Error(got)
	}
	err := cuts.Add(subaxis.Ref{Axis: 0, Pre: 1, Size: 3})
	if err == nil || !strings.Contains(err.Error(), `the parts "x":(2)3 and "x":(1)3 of axis `+"`x`"+` have no common refinement`) ||
		!strings.Contains(err.Error(), "E_SUBAXIS_CONFLICT") {
		t.Error(err)
	}
}

package subaxis_test

import (
	"fmt"

	"autoshard/subaxis"
)

// Half of an axis of size four, its other half, and the devices that differ along one of them.
func Example() {
	mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}}
	major := subaxis.Ref{Axis: 0, Pre: 1, Size: 2}
	minor := subaxis.Ref{Axis: 0, Pre: 2, Size: 2}
	fmt.Println(mesh.Format(major), mesh.Format(minor), major.Overlaps(minor))
	if major.CanMerge(minor) {
		fmt.Println(mesh.Format(major.Merge(minor)))
	}
	fmt.Println(mesh.Groups([]subaxis.Ref{minor}))
	// Output:
	// "x":(1)2 "x":(2)2 false
	// "x"
	// [[0 2] [1 3] [4 6] [5 7]]
}

// Groups of devices that somebody listed are found to run along an axis, here the minor of two.
func ExampleMesh_FindGroups() {
	mesh := &subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}}}
	refs, ok := mesh.FindGroups([][]int64{{0, 1}, {2, 3}})
	fmt.Println(mesh.FormatList(refs), ok)
	_, ok = mesh.FindGroups([][]int64{{0, 3}, {1, 2}})
	fmt.Println(ok)
	// Output:
	// "y" true
	// false
}

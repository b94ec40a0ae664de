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

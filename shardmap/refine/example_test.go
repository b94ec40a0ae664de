package refine_test

import (
	"fmt"

	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// A dimension is cut along the middle factor of an axis of eight devices, which shard_map cannot name. In the refined mesh that
// factor is a whole axis.
func Example() {
	mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 8}}}
	middle := subaxis.Ref{Axis: 0, Pre: 2, Size: 2}
	cuts := refine.New(mesh)
	if err := cuts.Add(middle); err != nil {
		fmt.Println(err)
		return
	}
	fine := cuts.Mesh()
	axes := fine.Axes([]subaxis.Ref{middle})
	fmt.Println(mesh.Format(middle), "of", mesh.Axes, "is", fine.Names(axes), "of", fine.Fine.Axes)
	fmt.Println(mesh.FormatList(fine.Parts([]int{1, 2})))
	// Output:
	// "x":(2)2 of [x=8] is [x_1] of [x_0=2 x_1=2 x_2=2]
	// "x":(2)4
}

package rule_test

import (
	"fmt"

	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// A dimension of 12 that consists of factors of 4 and 3 is cut by an axis of 8: the first factor takes its major part of 4
// and is cut to single elements, the second cannot take the rest.
func ExampleAxes() {
	mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 8}}}
	axes := rule.AxesOf([]subaxis.Ref{mesh.Full(0)})
	first, left := axes.Dividing(nil, 4)
	second, _ := axes.Dividing(nil, 3)
	fmt.Println(mesh.FormatList(first), left, mesh.FormatList(second), mesh.FormatList(axes.Rest(nil, 0)))
	// Output: "x":(1)4 1  "x":(4)2
}

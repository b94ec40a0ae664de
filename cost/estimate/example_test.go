package estimate_test

import (
	"fmt"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/subaxis"
)

// A megabyte is added up over the devices of a row, and over those of a column, of a mesh of two by eight.
func ExampleModel_Price() {
	hw, err := cost.Lookup("h100")
	if err != nil {
		fmt.Println(err)
		return
	}
	mesh := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "data", Size: 2}, {Name: "model", Size: 8}}}
	model, err := estimate.New(hw, mesh)
	if err != nil {
		fmt.Println(err)
		return
	}
	for a := range mesh.Axes {
		axes := []subaxis.Ref{mesh.Full(a)}
		fmt.Println(mesh.FormatList(axes), model.Price(collectives.AllReduce, axes, 1<<20)/1_000_000, "us")
	}
	// Output:
	// "data" 40 us
	// "model" 38 us
}

package notation_test

import (
	"fmt"

	"autoshard/cost/notation"
	"autoshard/subaxis"
)

func ExampleParseProduct() {
	mesh := &subaxis.Mesh{Axes: []subaxis.Axis{{Name: "X", Size: 4}, {Name: "Y", Size: 2}}}
	p, err := notation.ParseProduct("PRODUCT", "A[I_X,J_Y] * B[J_Y,K] -> C[I_X,K]{U_Y}", mesh)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.A.Format(mesh), p.B.Format(mesh), p.C.Format(mesh))
	// Output: A[I_X, J_Y] B[J_Y, K] C[I_X, K]{U_Y}
}

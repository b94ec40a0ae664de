package pricing_test

import (
	"fmt"

	"autoshard/cost"
	"autoshard/pricing"
	"autoshard/subaxis"
)

func ExampleMatmul() {
	hw, err := cost.Lookup("tpu-v5p")
	if err == nil {
		hw, err = hw.On("4:ring") // the book takes axes for rings
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := pricing.Matmul(&pricing.MatmulRequest{Product: "A[I, J] · B[J_X, K] -> C[I, K]", Setting: pricing.Setting{
		Mesh: []subaxis.Axis{{Name: "X", Size: 4}}, Hardware: hw, Sizes: "I=1024,J=8192,K=32768", Book: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range a.Strategies {
		fmt.Printf("%s: %s of %s, %.0f us, %s bound\n", s.Name, s.Steps[0].Kind, s.Steps[0].Array, 1e6*s.Seconds, s.Bound)
	}
	// Output:
	// X 2b: all_reduce of C, 746 us, network bound
	// X 2a: all_gather of B, 2983 us, network bound
}

package minplus_test

import (
	"fmt"

	"autoshard/search/minplus"
)

// What two values of a node cost, and what each costs beside each of three values of another: the cheapest for each of these.
func ExampleColumns() {
	out := make([]float64, 3)
	minplus.Columns(out, []float64{0, 1}, []float32{
		5, 6, 0,
		3, 9, 2,
	})
	fmt.Println(out)
	// Output: [4 6 0]
}

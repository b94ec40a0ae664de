package rewrites_test

import (
	"fmt"

	"autoshard/rewrites"
)

// Rewrites are switched off by name.
func ExampleParse() {
	without, _ := rewrites.Parse([]string{"hoist-reshards"})
	for _, r := range rewrites.All()[:5] {
		fmt.Println(r, !without.Has(r))
	}
	_, unknown := rewrites.Parse([]string{"hoist"})
	fmt.Println("unknown:", unknown)
	// Output:
	// microbatches true
	// share-reshards true
	// defer-reductions true
	// sink-reshards true
	// hoist-reshards false
	// unknown: hoist
}

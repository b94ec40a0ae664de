package localform_test

import (
	"fmt"

	"autoshard/localform"
)

// Three devices hold four of ten elements each, the last one two. Each computes the mean of every element and its neighbours, for
// which it fetches one element from both sides.
func ExampleFetch_Exchange() {
	f := localform.Fetch{Blocks: localform.Blocks{N: 10, K: 3}, Lo: []int64{-1, 3, 7}, Rows: 6, Live: 3}
	for _, round := range f.Exchange().Rounds {
		fmt.Println("rows:", round.Rows, "from and to:", round.Pairs)
	}
	// Output:
	// rows: 1 from and to: [[0 1] [1 2]]
	// rows: 1 from and to: [[1 0] [2 1]]
}

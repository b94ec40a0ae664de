package search_test

import (
	"context"
	"fmt"

	"autoshard/search"
)

// Two nodes, each of which can be cheap or dear, and an edge that is dear where both choose alike.
func Example() {
	b := search.NewBuilder()
	x := b.AddNode([]int64{0, 3}, []int64{0, 0}, 0, 1)
	y := b.AddNode([]int64{0, 4}, []int64{0, 0}, 0, 1)
	b.AddEdge(x, y, b.AddMatrix(2, 2, []int64{10, 0, 0, 10}))
	p, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := search.Solve(context.Background(), p, search.Options{})
	fmt.Println(r.Solution, r.Cost, r.Bound, r.Status, err)
	// Output: [1 0] 3 3 optimal <nil>
}

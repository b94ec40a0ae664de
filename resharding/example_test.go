package resharding_test

import (
	"context"
	"fmt"

	"autoshard/resharding"
	"autoshard/subaxis"
)

// A matrix that is cut by rows and whose blocks are partial sums is to be cut by columns.
func ExampleFind() {
	a, err := resharding.Find(context.Background(), &resharding.Request{Mesh: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}},
		Tensor: "f32[1024,1024]", From: "P('x', unreduced={'y'})", To: "P(None, 'y')"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range a.Steps {
		fmt.Println(s.Kind, s.Axes, s.Spec, s.Block)
	}
	fmt.Println("block 0 lies on", a.To.Blocks[0].Copies)
	// Output:
	// reduce_scatter [y] P('x', 'y') f32[256,512]
	// all_gather [x] P(None, 'y') f32[1024,512]
	// block 0 lies on [[0] [2] [4] [6]]
}

package iopddl_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"autoshard/search"
	"autoshard/search/iopddl"
)

// An instance is read, solved and written again.
func Example() {
	const tiny = `{"problem": {"name": "tiny",
	  "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[1, 2], [3]], "usages": [[5, 4], [6]]},
	  "edges": {"nodes": [[0, 1]], "costs": [[7, 8]]}, "usage_limit": 10}}`
	in, err := iopddl.Read(strings.NewReader(tiny), "tiny.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := search.Solve(context.Background(), in.Problem, search.Options{})
	fmt.Println(in.Solution(r.Solution), r.Cost, err)
	if err := iopddl.Write(os.Stdout, in.Name, in.Problem); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [1 0] 13 <nil>
	// {"problem": {"name": "tiny",
	// "nodes": {
	// "intervals": [[0,2],[1,3]],
	// "costs": [[1,2],[3]],
	// "usages": [[5,4],[6]]},
	// "edges": {
	// "nodes": [[0,1]],
	// "costs": [[7,8]]},
	// "usage_limit": 10}}
}

package certify_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"autoshard/search"
	"autoshard/search/certify"
	"autoshard/search/iopddl"
)

// A solver proves its bound on a problem, and somebody else checks the proof against the problem's text alone.
func ExampleVerify() {
	const problem = `{"problem": {"name": "pair", "nodes": {"intervals": [[0, 1], [0, 1]], "costs": [[0, 3], [0, 4]], "usages": [[1, 1], [1, 1]]},
  "edges": {"nodes": [[0, 1]], "costs": [[10, 0, 0, 10]]}, "usage_limit": 9}}`
	instance, err := iopddl.Read(strings.NewReader(problem), "pair.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := search.Solve(context.Background(), instance.Problem, search.Options{Certify: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Certificate.SHA256 = sha256.Sum256([]byte(problem))
	proof := r.Certificate.AppendJSON(nil)
	fmt.Println(certify.Verify([]byte(problem), proof))
	_, err = certify.Verify([]byte(strings.Replace(problem, "10, 0, 0, 10", "1, 0, 0, 1", 1)), proof)
	fmt.Println(err != nil)
	// Output:
	// {3 3 true} <nil>
	// true
}

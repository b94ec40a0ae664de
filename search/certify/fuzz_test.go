package certify_test

import (
	"math/rand/v2"
	"testing"

	"autoshard/search/certify"
)

// triple is a problem with an edge of three nodes, parallel and self edges, forbidden entries and a tight limit.
const triple = `{"problem":{"nodes":{"intervals":[[0,2],[1,3],[1,2]],"costs":[[0,3],[5,0],[1,1000000000000000000]],"usages":[[2,1],[1,3],[1,9]]},
	"edges":{"nodes":[[0,1],[1,0],[0,1,2],[2,2],[1],[]],
	"costs":[[10,0,0,10],[1,2,100000000000000000,0],[4,0,1,2,0,0,3,1],[1,1,1,1],[0,2],[-7]]},"usage_limit":5}}`

// FuzzCertificate feeds the verifier texts in place of a certificate's members, for two problems: it never panics, and what it accepts is
// no more than the optimum.
func FuzzCertificate(f *testing.F) {
	for _, members := range []string{
		`"log":[["b",0]],` + zero + `,"claim":"0"`,
		`"upper":3,"solution":[0,1],"log":[["r"],["e",1],["b",0],["c",3]],` + zero + `,"claim":"3"`,
		`"log":[["h",0,0,1,0,1],["b",0]],"blocks":[{"q":1,"lambda":[[1,1]],"mu":[[0,1,[0,-5],[5,0]]]}],"claim":"3"`,
		cases(`[0],[1]`, `[["d",1,0,"mem",0],["b",0]]`, `[["b",0]]`) + `,"claim":"-9"`,
		`"log":[["d",3,1,"row",2],["d",3,3,"row",2],["m",3,1],["s",0,3],["d",0,1,"dom",0],["f",1]],` + zero + `,"claim":"-9"`,
	} {
		f.Add(members)
	}
	f.Fuzz(func(t *testing.T, members string) {
		for _, p := range []struct {
			problem string
			best    int64
		}{{pair, 3}, {triple, 5}} {
			if r, err := certify.Verify([]byte(p.problem), certificateOf(p.problem, members)); err == nil && r.Bound > p.best {
				t.Fatalf("proves %d, the optimum is %d\n%s", r.Bound, p.best, members)
			}
		}
	})
}

// FuzzProblem feeds the verifier texts in place of a problem: it never panics.
func FuzzProblem(f *testing.F) {
	f.Add(pair)
	f.Add(triple)
	f.Add(string(draw(rand.New(rand.NewPCG(1, 5)), shapes[1]).json(f)))
	f.Fuzz(func(t *testing.T, problem string) {
		log := `"log":[["d",0,0,"row",1],["m",0,1],["b",0]],` + zero + `,"claim":"-99"`
		if r, err := certify.Verify([]byte(problem), certificateOf(problem, log)); err == nil && r.HasCost {
			t.Fatal("a cost without a solution")
		}
	})
}

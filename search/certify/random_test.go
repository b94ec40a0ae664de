package certify_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/search"
	"autoshard/search/certify"
	"autoshard/search/iopddl"
)

// instance is a problem in the format of the contest.
type instance struct {
	Problem struct {
		Name  string `json:"name"`
		Nodes struct {
			Intervals [][2]int64 `json:"intervals"`
			Costs     [][]int64  `json:"costs"`
			Usages    [][]int64  `json:"usages"`
		} `json:"nodes"`
		Edges struct {
			Nodes [][]int   `json:"nodes"`
			Costs [][]int64 `json:"costs"`
		} `json:"edges"`
		Limit *int64 `json:"usage_limit,omitempty"`
	} `json:"problem"`
}

func (in *instance) json(t tb) []byte {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// evaluate returns the cost and the peak of a solution; cost is 10^18 if it uses a forbidden entry.
func (in *instance) evaluate(x []int) (cost, peak int64) {
	p := &in.Problem
	var use [16]int64
	hard := false
	for i, a := range x {
		cost += p.Nodes.Costs[i][a]
		hard = hard || p.Nodes.Costs[i][a] >= search.Forbidden
		for t := p.Nodes.Intervals[i][0]; t < p.Nodes.Intervals[i][1]; t++ {
			use[t] += p.Nodes.Usages[i][a]
			peak = max(peak, use[t])
		}
	}
	for e, nodes := range p.Edges.Nodes {
		at := 0
		for _, i := range nodes {
			at = at*len(p.Nodes.Costs[i]) + x[i]
		}
		cost += p.Edges.Costs[e][at]
		hard = hard || p.Edges.Costs[e][at] >= search.Forbidden
	}
	if hard {
		cost = search.Inf
	}
	return cost, peak
}

// optimum enumerates all solutions: the least cost within the limit (math.MaxInt64 if there is none) and the least peak of those that use
// no forbidden entry.
func (in *instance) optimum() (best, peak int64) {
	costs := in.Problem.Nodes.Costs
	x := make([]int, len(costs))
	best, peak = math.MaxInt64, math.MaxInt64
	for i := 0; i < len(x); {
		c, u := in.evaluate(x)
		if in.Problem.Limit == nil || u <= *in.Problem.Limit || u == 0 {
			best = min(best, c)
		}
		if c < search.Forbidden {
			peak = min(peak, u)
		}
		for i = 0; i < len(x); i++ {
			if x[i]++; x[i] < len(costs[i]) {
				break
			}
			x[i] = 0
		}
	}
	return best, peak
}

// cheapest returns a solution of least cost that uses no forbidden entry, nil if there is none.
func (in *instance) cheapest() []int {
	costs, best := in.Problem.Nodes.Costs, int64(search.Forbidden)
	var solution []int
	x := make([]int, len(costs))
	for i := 0; i < len(x); {
		if c, u := in.evaluate(x); c < best && (in.Problem.Limit == nil || u <= *in.Problem.Limit || u == 0) {
			best, solution = c, slices.Clone(x)
		}
		for i = 0; i < len(x); i++ {
			if x[i]++; x[i] < len(costs[i]) {
				break
			}
			x[i] = 0
		}
	}
	return solution
}

// shape says what random instances look like.
type shape struct {
	nodes, strategies int
	forbidden         float64 // largest share of forbidden entries
	tight             bool    // every node is live most of the time, and cheap strategies use much
	arity             int     // most nodes of an edge
}

// draw draws an instance: forbidden entries, functional, parallel, self and larger edges, empty intervals with usage, ties, negative costs,
// and limits from hopeless to loose.
func draw(rng *rand.Rand, s shape) *instance {
	in := &instance{}
	p := &in.Problem
	n := 1 + rng.IntN(s.nodes)
	scale := []int64{3, 50, 1 << 40}[rng.IntN(3)]
	if s.tight {
		n, scale = s.nodes-rng.IntN(2), 50
	}
	forbid := s.forbidden * rng.Float64() * rng.Float64()
	cost := func() int64 {
		if rng.Float64() < forbid {
			return 1_000_000_000_000_000_000
		}
		if s.tight {
			return rng.Int64N(scale)
		}
		return rng.Int64N(scale) - scale/4
	}
	p.Nodes.Costs = [][]int64{}
	for i := range n {
		k := 1 + rng.IntN(s.strategies)
		if s.tight {
			k = s.strategies
		}
		costs, usages := make([]int64, k), make([]int64, k)
		for a := range k {
			costs[a], usages[a] = cost(), rng.Int64N(10)
		}
		lo, length := rng.Int64N(8), rng.Int64N(6)-1
		if s.tight {
			lo, length = int64(i/2), 3
			for a := range k {
				usages[a] = 60 - costs[a]%64 + rng.Int64N(20)
			}
		}
		p.Nodes.Costs, p.Nodes.Usages = append(p.Nodes.Costs, costs), append(p.Nodes.Usages, usages)
		p.Nodes.Intervals = append(p.Nodes.Intervals, [2]int64{lo, lo + length})
	}
	p.Edges.Nodes, p.Edges.Costs = [][]int{}, [][]int64{}
	edges := rng.IntN(2*n + 1)
	if s.tight {
		edges = n + rng.IntN(3*n)
	}
	for range edges {
		nodes, size := make([]int, min(rng.IntN(5)+1, s.arity, 2+rng.IntN(s.arity))), 1
		for j := range nodes {
			nodes[j] = rng.IntN(n)
			size *= len(p.Nodes.Costs[nodes[j]])
		}
		costs, functional := make([]int64, size), rng.IntN(4) == 0 && len(nodes) == 2
		for e := range costs {
			costs[e] = cost()
			if k := len(p.Nodes.Costs[nodes[len(nodes)-1]]); functional && e/k%k != e%k {
				costs[e] = 200_000_000_000_000_000
			}
		}
		p.Edges.Nodes, p.Edges.Costs = append(p.Edges.Nodes, nodes), append(p.Edges.Costs, costs)
	}
	_, least := in.optimum()
	if least == math.MaxInt64 {
		least = 10
	}
	limit := least + least*rng.Int64N(8)/20
	switch rng.IntN(6) {
	case 0:
		return in
	case 1:
		limit = rng.Int64N(20)
	case 2:
		limit = least
	}
	p.Limit = &limit
	return in
}

// solved is a certificate with the result it belongs to.
type solved struct {
	problem     []byte
	certificate []byte
	result      search.Result
}

// solve solves an instance with a certificate, and without one for comparison; nil if no solution was found.
func solve(t tb, raw []byte, opt search.Options) *solved {
	t.Helper()
	in, err := iopddl.Read(bytes.NewReader(raw), "")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := search.Solve(context.Background(), in.Problem, opt)
	if errors.Is(err, diag.ErrInfeasible) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	opt.Certify = true
	r, err := search.Solve(context.Background(), in.Problem, opt)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Bound != r.Bound || plain.Cost != r.Cost || plain.Steps != r.Steps || !slices.Equal(plain.Solution, r.Solution) {
		t.Fatalf("cost %d bound %d steps %d with a certificate, %d, %d and %d without", r.Cost, r.Bound, r.Steps, plain.Cost, plain.Bound,
			plain.Steps)
	}
	r.Certificate.SHA256 = sha256.Sum256(raw)
	return &solved{raw, r.Certificate.AppendJSON(nil), r}
}

var shapes = []shape{
	{nodes: 7, strategies: 4, forbidden: 0.7, arity: 2},
	{nodes: 5, strategies: 3, forbidden: 0.4, arity: 4},
	{nodes: 8, strategies: 3, tight: true, arity: 2},
	{nodes: 9, strategies: 3, forbidden: 0.1, tight: true, arity: 2},
}

// Texts that show what a certificate makes use of.
var features = []string{"row", "mem", "dom", `["h"`, `["m"`, `["s"`, `["e"`, `["r"`, `["p"`, `["b"`, `["c"`, `"lambda":[[`,
	`"mu":[` + "\n["}

// The verifier's bound is what the solver claims, and no more than the optimum.
func TestRandom(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	used := map[string]int{}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := draw(rng, shapes[seed%uint64(len(shapes))])
		raw := in.json(t)
		s := solve(t, raw, search.Options{Seed: seed, Steps: []int64{1, 100, 1000, 5000, 100_000}[rng.IntN(5)]})
		if s == nil {
			continue
		}
		for _, text := range features {
			used[text] += strings.Count(string(s.certificate), text)
		}
		got, err := certify.Verify(raw, s.certificate)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, raw, s.certificate)
		}
		if best, _ := in.optimum(); got.Bound > best || got.Bound != s.result.Bound || got.Cost != s.result.Cost || !got.HasCost {
			t.Fatalf("seed %d: verified %+v, solver cost %d bound %d, optimum %d\n%s\n%s", seed, got, s.result.Cost, s.result.Bound, best, raw,
				s.certificate)
		}
	}
	for _, text := range features {
		if used[text] == 0 {
			t.Errorf("no certificate has %s", text)
		}
	}
}

// Problems that are too large to enumerate: the proof goes on by cases, and still what is verified is what the solver claims.
func TestRandomTrees(t *testing.T) {
	trees := 0
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 6))
		in := drawLarge(rng, 24, 5)
		raw := in.json(t)
		s := solve(t, raw, search.Options{Seed: seed, Steps: []int64{3_000_000, 30_000_000}[seed%2]})
		if s == nil {
			continue
		}
		trees += strings.Count(string(s.certificate), `"node"`)
		got, err := certify.Verify(raw, s.certificate)
		if err != nil || got.Bound != s.result.Bound || got.Cost != s.result.Cost {
			t.Errorf("seed %d: verified %+v, %v, solver cost %d bound %d", seed, got, err, s.result.Cost, s.result.Bound)
		}
	}
	if trees == 0 {
		t.Error("no certificate goes on by cases")
	}
	t.Logf("%d splits", trees)
}

// drawLarge draws a layered problem in which cheap strategies use much memory, with a tight limit.
func drawLarge(rng *rand.Rand, n, k int) *instance {
	in := &instance{}
	p := &in.Problem
	p.Edges.Nodes, p.Edges.Costs = [][]int{}, [][]int64{}
	use := make([]int64, n/4+2)
	for i := range n {
		costs, usages := make([]int64, k), make([]int64, k)
		for a := range k {
			costs[a] = rng.Int64N(50)
			usages[a] = 60 - costs[a] + rng.Int64N(20)
		}
		p.Nodes.Costs, p.Nodes.Usages = append(p.Nodes.Costs, costs), append(p.Nodes.Usages, usages)
		p.Nodes.Intervals = append(p.Nodes.Intervals, [2]int64{int64(i / 4), int64(i/4) + 2})
		for t := i / 4; t < i/4+2; t++ {
			use[t] += slices.Min(usages)
		}
		for j := max(0, i-6); j < i; j++ {
			if rng.IntN(2) == 0 {
				m := make([]int64, k*k)
				for e := range m {
					m[e] = rng.Int64N(40)
				}
				p.Edges.Nodes, p.Edges.Costs = append(p.Edges.Nodes, []int{j, i}), append(p.Edges.Costs, m)
			}
		}
	}
	limit := slices.Max(use) * 13 / 10
	p.Limit = &limit
	return in
}

// tb is what tests of both kinds have.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

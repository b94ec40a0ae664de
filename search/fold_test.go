package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// stacked returns a problem of equal layers, one after the other, with a node before and one behind. Each node of a layer has so many
// edges to earlier ones, and one to the next layer. Strategies share rows.
func stacked(seed uint64, layers, degree int) *Problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	const strategies, rows = 12, 5
	width := 6 * degree
	numbers := func(n int, most int64) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = rng.Int64N(most)
		}
		return out
	}
	b := NewBuilder()
	var costs, uses [][]int64
	for range width {
		costs, uses = append(costs, numbers(strategies, 1000)), append(uses, numbers(strategies, 100))
	}
	to := make([]int32, strategies)
	for i := range to {
		to[i] = rng.Int32N(rows)
	}
	type edge struct {
		from, to int // in one layer, or from one to the next
		next     bool
		matrix   MatrixID
	}
	var edges []edge
	for i := range width {
		edges = append(edges, edge{i, rng.IntN(width), true, b.AddMatrix(rows, rows, numbers(rows*rows, 500))})
		for range min(i, degree) {
			edges = append(edges, edge{i, rng.IntN(i), false, b.AddMatrix(rows, rows, numbers(rows*rows, 500))})
		}
	}
	end := func(at int32) int32 { return b.AddNode(numbers(strategies, 1000), make([]int64, strategies), at, at+1) }
	before := end(0)
	for l := range layers {
		for i := range width {
			b.AddNode(costs[i], uses[i], int32(l*width+i), int32((l+1)*width+i))
		}
		for _, e := range edges {
			a, c := int32(1+l*width+e.from), int32(1+l*width+e.to)
			switch {
			case !e.next:
				b.AddEdgeThrough(a, c, e.matrix, to, to)
			case l > 0:
				b.AddEdgeThrough(a-int32(width), c, e.matrix, to, to)
			}
		}
	}
	behind := end(int32(layers * width))
	m := b.AddMatrix(rows, rows, numbers(rows*rows, 500))
	b.AddEdgeThrough(before, 1, m, to, to)
	b.AddEdgeThrough(int32(layers*width), behind, m, to, to)
	p, err := b.Build()
	if err != nil {
		panic(err)
	}
	return p
}

// Nodes of layers far from the ends are folded into one each, and a solution of the folded problem costs what it costs in the whole one.
func TestFold(t *testing.T) {
	for seed := range uint64(20) {
		p := stacked(seed, 60, 1)
		of := alike(t.Context(), p)
		if of == nil {
			t.Fatal("nothing is folded")
		}
		if a, b := 1+29*6, 1+30*6; !slices.Equal(of[a:a+6], of[b:b+6]) {
			t.Errorf("seed %d: layers in the middle are %v and %v", seed, of[a:a+6], of[b:b+6])
		}
		f, err := fold(t.Context(), p, of)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 2))
		x := make([]int32, f.problem.NumNodes())
		for i := range x {
			x[i] = rng.Int32N(int32(f.problem.NumStrategies(i)))
		}
		got, _, err := f.problem.Evaluate(x)
		if err != nil {
			t.Fatal(err)
		}
		if want, _, err := p.Evaluate(f.lift(x)); err != nil || got != want {
			t.Errorf("seed %d: a folded solution costs %d, lifted %d, %v", seed, got, want, err)
		}
	}
}

// A rough search that folds finds a solution, a bound that holds, and one of the solutions that treat nodes alike; a quick one is content
// with such a solution.
func TestFoldedSearch(t *testing.T) {
	for seed := range uint64(20) {
		p := stacked(seed, 60, 1)
		best, err := Solve(t.Context(), p, Options{})
		if err != nil || best.Status != Optimal {
			t.Fatalf("seed %d: %v, %v", seed, best.Status, err)
		}
		var messages Messages
		rough, err := Solve(t.Context(), p, Options{Rough: true, Messages: &messages})
		if err != nil {
			t.Fatal(err)
		}
		if rough.Bound > best.Cost || rough.Cost < best.Cost || rough.Reached < rough.Bound {
			t.Errorf("seed %d: cost %d, bound %d, alike %d; the optimum is %d", seed, rough.Cost, rough.Bound, rough.Reached, best.Cost)
		}
		quick, err := Solve(t.Context(), p, Options{Rough: true, Quick: true, Messages: &messages})
		if err != nil {
			t.Fatal(err)
		}
		if of := messages.alike; quick.Cost < best.Cost || quick.Cost > rough.Reached*101/100 ||
			!slices.Equal(quick.Solution, pick(pick(quick.Solution, firsts(of, int(slices.Max(of))+1)), of)) {
			t.Errorf("seed %d: a quick solution costs %d, alike nodes at least %d", seed, quick.Cost, rough.Reached)
		}
	}
}

// The dual begins with the messages of the folded problem: after one step their bound is nearer to what that reached than without.
func TestFoldedMessages(t *testing.T) {
	with, without := int64(0), int64(0)
	for seed := range uint64(10) {
		p := stacked(seed, 40, 3)
		missing := func(folds bool) int64 {
			s := newSolver(t.Context(), p, Options{Rough: true, Messages: &Messages{}})
			if !s.beginFolded() {
				t.Fatal("nothing is folded")
			}
			if !folds {
				s.folded = nil
			}
			w := newWork(t.Context(), p)
			w.rough = true
			g := s.begin(w)
			g.ascend(1)
			if g.bound > s.cost {
				t.Errorf("the bound is %d, a solution costs %d", g.bound, s.cost)
			}
			return s.reached - g.bound
		}
		with, without = with+missing(true), without+missing(false)
	}
	if 4*with > 3*without {
		t.Errorf("%d are missing with messages, %d without", with, without)
	}
}

// Where memory is too short for the folded solution, the search goes on without.
func TestFoldedLimit(t *testing.T) {
	p := stacked(1, 60, 1)
	free, err := Solve(t.Context(), p, Options{Rough: true, Messages: &Messages{}})
	if err != nil {
		t.Fatal(err)
	}
	short := p.WithLimit(free.Peak - 1)
	r, err := Solve(t.Context(), short, Options{Rough: true, Quick: true, Messages: &Messages{}})
	if err != nil || r.Peak > short.Limit {
		t.Errorf("peak %d of %d, %v", r.Peak, short.Limit, err)
	}
}

// A problem without nodes has nothing to fold.
func TestFoldNothing(t *testing.T) {
	p, err := NewBuilder().Build()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Solve(t.Context(), p, Options{Rough: true, Messages: &Messages{}}); err != nil || r.Cost != 0 {
		t.Errorf("cost %d, %v", r.Cost, err)
	}
}

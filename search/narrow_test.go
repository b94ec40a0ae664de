package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A narrow search of a problem whose costs have changed a little finds about what a full one finds, for less work, leaves the messages as
// they are and proves nothing that does not hold.
func TestNarrow(t *testing.T) {
	var steps, fullSteps int64
	for seed := range uint64(6) {
		p := layered(seed, 300, 20, 10)
		var messages Messages
		solve := func(p *Problem, o Options) Result {
			o.Steps, o.Rough, o.Messages = 40_000_000, true, &messages
			r, err := Solve(t.Context(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		known := solve(p, Options{})
		changed := changedCosts(p, seed)
		before := slices.Clone(messages.loss)
		narrow := solve(changed, Options{Narrow: true, Initial: [][]int32{known.Solution}})
		if !slices.Equal(messages.loss, before) || messages.ends == nil {
			t.Errorf("seed %d: the messages are not what they were", seed)
		}
		full := solve(changed, Options{Initial: [][]int32{known.Solution}})
		if narrow.Bound > full.Cost || narrow.Reached < narrow.Bound || narrow.Reached > narrow.Cost {
			t.Errorf("seed %d: bound %d, reached %d, cost %d; a full search found %d", seed, narrow.Bound, narrow.Reached, narrow.Cost, full.Cost)
		}
		if 100*narrow.Cost > 101*full.Cost {
			t.Errorf("seed %d: cost %d, a full search found %d", seed, narrow.Cost, full.Cost)
		}
		steps, fullSteps = steps+narrow.Steps, fullSteps+full.Steps
	}
	if 2*steps > fullSteps {
		t.Errorf("%d steps, full searches take %d", steps, fullSteps)
	}
}

// changedCosts returns a problem of which some costs differ by up to a tenth.
func changedCosts(p *Problem, seed uint64) *Problem {
	rng := rand.New(rand.NewPCG(seed, 2))
	q := *p
	q.Cost = slices.Clone(p.Cost)
	for i, c := range q.Cost {
		if c < Inf && rng.IntN(4) == 0 {
			q.Cost[i] = c - c*rng.Int64N(11)/100
		}
	}
	return &q
}

// Values that are gone lose what is said of them, others what they lost as they were numbered last; of eliminated nodes nothing is known.
func TestLosses(t *testing.T) {
	p := layered(1, 40, 6, 4)
	s := newSolver(t.Context(), p, Options{Rough: true, Messages: &Messages{}})
	w := s.model()
	w.prune(3, func(a int) bool { return a == 1 }, nil)
	g := s.begin(w)
	g.ascend(2)
	loss := g.dual.losses(p, w.log)
	of := func(i int) []float64 { return loss[p.Off[i]:p.Off[i+1]] }
	at := slices.Index(g.m.node, 3)
	if at < 0 {
		t.Fatal("node 3 was eliminated")
	}
	kept := slices.Delete(slices.Clone(of(3)), 1, 2)
	if !slices.Equal(kept, g.left[g.m.off[at]:g.m.off[at+1]]) || of(3)[1] <= slices.Max(kept) {
		t.Errorf("node 3 has losses %v, of its live values %v", of(3), g.left[g.m.off[at]:g.m.off[at+1]])
	}
	if slices.Min(of(3)) != 0 {
		t.Errorf("the best value loses %g", slices.Min(of(3)))
	}
}

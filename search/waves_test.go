package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainForward and plainBackward pass messages node by node, in order: what sweeps over waves must equal bit for bit.
func plainForward(s *messages) {
	for i := range int32(len(s.m.node)) {
		for _, id := range s.m.forward[i] {
			s.send(&s.cores[0], s.gather(&s.cores[0], i), &s.m.arcs[id], i)
		}
	}
}

func plainBackward(s *messages) float64 {
	bound := 0.0
	for i := int32(len(s.m.node)) - 1; i >= 0; i-- {
		d := s.gather(&s.cores[0], i)
		bound += subtractLeast(d)
		for _, id := range s.m.backward[i] {
			bound += float64(s.m.arcs[id].t.least) + s.send(&s.cores[0], d, &s.m.arcs[id], i)
		}
	}
	return bound
}

// Sweeps by any number of cores leave the messages and the bound of sweeps node by node, with short tables up to their precision.
func TestWaves(t *testing.T) {
	for seed := range uint64(200) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 11)))
		w := newWork(t.Context(), p)
		if w.arcConsistent(); w.failed != nil {
			continue
		}
		m := compile(w)
		plain := newMessages(t.Context(), m)
		var bound float64
		for range 3 {
			plainForward(plain)
			bound = plainBackward(plain)
		}
		for _, cores := range []int{1, 2, 5} {
			s := newMessages(t.Context(), m)
			s.use(cores)
			var got float64
			for range 3 {
				s.forward(nil)
				got = s.backward()
			}
			if got != bound || !slices.Equal(s.msg, plain.msg) {
				t.Fatalf("seed %d, %d cores: bound %g, node by node %g", seed, cores, got, bound)
			}
		}
		w.rough = true
		s := newMessages(t.Context(), compile(w))
		for range 3 {
			s.forward(nil)
			s.backward()
		}
		if got := s.sum(); math.Abs(got-bound) > 1e-4*math.Abs(bound)+1e-4 {
			t.Errorf("seed %d: bound %g, with short tables %g", seed, bound, got)
		}
	}
}

// Every node comes once, with all its arcs after it, and after the stretches with the nodes that send it messages.
func TestWavesOrder(t *testing.T) {
	for seed := range uint64(100) {
		w := newWork(context.Background(), randomProblem(rand.New(rand.NewPCG(seed, 12))))
		if w.arcConsistent(); w.failed != nil {
			continue
		}
		m := compile(w)
		stretchOf := make([]int, len(m.node))
		arcs := 0
		for i, s := range m.onward.stretches {
			for _, task := range m.onward.tasks[s.from:s.to] {
				if arcs++; task.arc < 0 {
					arcs, stretchOf[task.node] = arcs-1, i+1
				}
			}
		}
		if slices.Contains(stretchOf, 0) || arcs != len(m.arcs) {
			t.Fatalf("seed %d: not every node comes, or %d of %d arcs", seed, arcs, len(m.arcs))
		}
		for i := range m.arcs {
			e := &m.arcs[i]
			if after := m.onward.stretches[stretchOf[e.b]-1].after; int(after) < stretchOf[e.a] {
				t.Errorf("seed %d: node %d does not wait for node %d", seed, e.b, e.a)
			}
		}
	}
}

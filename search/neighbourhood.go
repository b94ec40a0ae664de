package search

import (
	"context"
	"math/rand/v2"
)

const (
	regionMin   = 8 // nodes in a neighbourhood
	regionMax   = 150
	regionTable = 1 << 15 // entries of its largest table
)

// neighbourhood is large-neighbourhood search: a connected region of nodes is solved exactly while the rest keeps its labels
// (solver.md section 4.8 d).
type neighbourhood struct {
	m      *model
	region *region
	unary  []int64 // priced
	in     []bool
	round  int
}

func newNeighbourhood(ctx context.Context, m *model) *neighbourhood {
	return &neighbourhood{m: m, region: newRegion(ctx, m), in: make([]bool, len(m.node))}
}

// step improves the state by one region if it can. Solutions of equal cost are taken too, so that the search drifts. It returns the labels
// that did not fit, for recombination, or nil.
func (h *neighbourhood) step(st *state, price []float64, rng *rand.Rand) []int32 {
	if h.round%50 == 0 {
		h.unary = priced(h.m, price, rng)
	}
	h.round++
	nodes := h.grow(rng, regionMin+rng.IntN(regionMax-regionMin))
	labels, value, ok := h.region.solve(nodes, st.x, h.unary, regionTable)
	if !ok || value >= Inf {
		return nil
	}
	y := make([]int32, len(st.x))
	copy(y, st.x)
	for j, i := range nodes {
		y[i] = labels[j]
	}
	gain := st.gainOf(nodes, y, h.in)
	if gain > 0 {
		return nil
	}
	old := st.switchTo(nodes, y)
	if st.fits() {
		st.cost += gain
		return nil
	}
	st.switchBack(nodes, old)
	return y
}

// grow returns a connected region around a random node, or several where components are small: neighbours join in random order.
func (h *neighbourhood) grow(rng *rand.Rand, size int) []int32 {
	n := len(h.m.node)
	size = min(size, n)
	nodes := make([]int32, 0, size)
	var border []int32
	add := func(i int32) {
		if !h.in[i] {
			h.in[i] = true
			nodes = append(nodes, i)
			h.m.each(i, func(j int32) {
				if !h.in[j] && len(border) < 64*size {
					border = append(border, j)
				}
			})
		}
	}
	for len(nodes) < size {
		if len(border) == 0 {
			add(h.seed(rng))
			continue
		}
		at := rng.IntN(len(border))
		i := border[at]
		border[at] = border[len(border)-1]
		border = border[:len(border)-1]
		add(i)
	}
	for _, i := range nodes {
		h.in[i] = false
	}
	return nodes
}

// seed returns a random node outside the region.
func (h *neighbourhood) seed(rng *rand.Rand) int32 {
	i := int32(rng.IntN(len(h.m.node)))
	for h.in[i] {
		i = (i + 1) % int32(len(h.m.node))
	}
	return i
}

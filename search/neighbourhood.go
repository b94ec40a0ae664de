package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	regionMin      = 8 // nodes in a connected neighbourhood
	regionMax      = 150
	regionTable    = 1 << 15 // entries of its largest table
	scatteredTable = 1 << 12 // and of that of a scattered one
	repricing      = 10      // steps with the same prices
)

// neighbourhood is large-neighbourhood search: a region of nodes is solved exactly while the rest keeps its labels (solver.md section
// 4.8 d). Regions are by turns connected and scattered over the whole model. A connected one is small and thorough. A scattered one has
// half of the nodes, most of them in trees or nearly so that cross the model: what it finds changes hundreds of nodes together.
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

// step improves the state by a region if it can. Solutions of equal cost are taken too where the region is connected, so that the search
// drifts. It returns labels for recombination with the state, or nil.
func (h *neighbourhood) step(st *state, price []float64, rng *rand.Rand) []int32 {
	if h.round%repricing == 0 {
		h.unary = priced(h.m, price, math.Exp(0.5*rng.NormFloat64()))
	}
	if h.round++; h.round%2 == 0 {
		return h.solve(h.scatter(rng), st.x, h.unary, scatteredTable)
	}
	nodes := h.grow(rng, regionMin+rng.IntN(regionMax-regionMin))
	y := h.solve(nodes, st.x, h.unary, regionTable)
	if y == nil {
		return nil
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

// solve returns the labels x with the best ones for some nodes at the given unary costs, or nil if there are none.
func (h *neighbourhood) solve(nodes, x []int32, unary []int64, limit int64) []int32 {
	labels, value, ok := h.region.solve(nodes, x, unary, limit)
	if !ok || value >= Inf {
		return nil
	}
	return relabelled(x, nodes, labels)
}

// relabelled returns labels x with those of some nodes replaced.
func relabelled(x, nodes, labels []int32) []int32 {
	y := slices.Clone(x)
	for j, i := range nodes {
		y[i] = labels[j]
	}
	return y
}

// scatter returns a random half of the nodes.
func (h *neighbourhood) scatter(rng *rand.Rand) []int32 {
	nodes := make([]int32, 0, len(h.m.node))
	for i := range int32(len(h.m.node)) {
		if rng.IntN(2) == 0 {
			nodes = append(nodes, i)
		}
	}
	return nodes
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

package search

import "slices"

// Filled returns a labelling in which nodes without a strategy, -1, have got one: in the order of the nodes the cheapest, with the edges to
// nodes that have one.
func (p *Problem) Filled(x []int32) []int32 {
	out := slices.Clone(x)
	edges := p.edgesOf(func(i int32) bool { return x[i] < 0 })
	for i := range int32(len(out)) {
		if out[i] >= 0 {
			continue
		}
		costs := slices.Clone(p.Cost[p.Off[i]:p.Off[i+1]])
		for _, e := range edges[i] {
			other := p.EA[e] + p.EB[e] - i
			if out[other] < 0 {
				continue
			}
			for a := range costs {
				first, second := int32(a), out[other]
				if p.EA[e] != i {
					first, second = second, first
				}
				costs[a] = addCost(costs[a], p.edgeCost(e, first, second))
			}
		}
		out[i] = int32(slices.Index(costs, slices.Min(costs)))
	}
	return out
}

// edgesOf returns the edges of the nodes that are asked for.
func (p *Problem) edgesOf(asked func(i int32) bool) map[int32][]int {
	edges := map[int32][]int{}
	for e := range p.EA {
		for _, i := range []int32{p.EA[e], p.EB[e]} {
			if asked(i) {
				edges[i] = append(edges[i], e)
			}
		}
	}
	return edges
}

// Around returns the nodes that some nodes reach over a number of edges at most, themselves too.
func (p *Problem) Around(nodes []int32, edges int) []bool {
	in := make([]bool, p.NumNodes())
	for _, i := range nodes {
		in[i] = true
	}
	for range edges {
		before := slices.Clone(in)
		for e := range p.EA {
			if a, b := p.EA[e], p.EB[e]; before[a] || before[b] {
				in[a], in[b] = true, true
			}
		}
	}
	return in
}

// Within returns the problem in which only some nodes choose: all others keep the strategy of a solution, which is their only one. The
// function lift makes solutions of that ones of the problem.
func (p *Problem) Within(x []int32, free []bool) (part *Problem, lift func(solution []int32) []int32) {
	q := *p
	q.Off, q.Cost, q.Use = make([]int32, 1, len(p.Off)), nil, nil
	for i := range int32(p.NumNodes()) {
		from, to := p.Off[i], p.Off[i+1]
		if !free[i] {
			from, to = from+x[i], from+x[i]+1
		}
		q.Cost, q.Use = append(q.Cost, p.Cost[from:to]...), append(q.Use, p.Use[from:to]...)
		q.Off = append(q.Off, int32(len(q.Cost)))
	}
	q.ERow, q.ECol = slices.Clone(p.ERow), slices.Clone(p.ECol)
	for e := range p.EA {
		if i := p.EA[e]; !free[i] {
			q.ERow[e] = []int32{through(p.ERow[e], x[i])}
		}
		if i := p.EB[e]; !free[i] {
			q.ECol[e] = []int32{through(p.ECol[e], x[i])}
		}
	}
	return &q, func(solution []int32) []int32 {
		out := slices.Clone(x)
		for i, is := range free {
			if is {
				out[i] = solution[i]
			}
		}
		return out
	}
}

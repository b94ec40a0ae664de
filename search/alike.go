package search

import (
	"context"
	"slices"
)

// alikeWithin is how far around two nodes, in edges, everything has to be alike for them to be.
const alikeWithin = 5

// alike returns for each node of a problem the number of those that are alike; nil if there are so few of them that folding leaves more
// than half of the strategies.
func alike(ctx context.Context, p *Problem) []int32 {
	c := newColours(p)
	for range alikeWithin {
		if ctx.Err() != nil || !c.refine() {
			break
		}
	}
	strategies := 0
	for _, i := range firsts(c.of, c.count) {
		strategies += p.NumStrategies(int(i))
	}
	if ctx.Err() != nil || 2*strategies > len(p.Cost) {
		return nil
	}
	return c.of
}

// firsts returns the first node of each number.
func firsts(of []int32, count int) []int32 {
	first := make([]int32, count)
	for i, to := range slices.Backward(of) {
		first[to] = int32(i)
	}
	return first
}

// folds says whether nodes that are alike in one problem have as many strategies in another one.
func folds(of []int32, p *Problem) bool {
	if len(of) == 0 || len(of) != p.NumNodes() {
		return false
	}
	first := firsts(of, int(slices.Max(of))+1)
	for i, to := range of {
		if p.NumStrategies(i) != p.NumStrategies(int(first[to])) {
			return false
		}
	}
	return true
}

// colours tell nodes apart that are not alike.
type colours struct {
	p     *Problem
	of    []int32 // per node
	count int
	kind  []uint64 // per edge: its matrix, and which strategies share rows and columns
}

// newColours tells nodes apart by their costs.
func newColours(p *Problem) *colours {
	c := &colours{p: p, of: make([]int32, p.NumNodes()), kind: make([]uint64, p.NumEdges())}
	maps := map[*int32]uint64{}
	number := func(to []int32) uint64 {
		at := identity(to)
		if _, ok := maps[at]; !ok {
			maps[at] = uint64(len(maps))
		}
		return maps[at]
	}
	for e := range p.EA {
		c.kind[e] = mix(uint64(p.EMat[e])<<32 ^ mix(number(p.ERow[e])<<32|number(p.ECol[e])))
	}
	known := map[uint64][]int32{} // the first nodes of colours, by a hash of their costs
	for i := range c.of {
		costs := p.Cost[p.Off[i]:p.Off[i+1]]
		h := hashMatrix(1, len(costs), costs)
		at := slices.IndexFunc(known[h], func(j int32) bool { return slices.Equal(costs, p.Cost[p.Off[j]:p.Off[j+1]]) })
		if at >= 0 {
			c.of[i] = c.of[known[h][at]]
			continue
		}
		c.of[i] = int32(c.count)
		known[h] = append(known[h], int32(i))
		c.count++
	}
	return c
}

// refine tells nodes of a colour apart that have other edges, or neighbours of other colours. It reports whether there are any.
func (c *colours) refine() bool {
	around := make([]uint64, len(c.of))
	for e := range c.p.EA {
		a, b := c.p.EA[e], c.p.EB[e]
		kind := c.kind[e]
		around[a] += mix(kind ^ mix(uint64(c.of[b])<<1))
		around[b] += mix(kind ^ mix(uint64(c.of[a])<<1|1))
	}
	type seen struct {
		colour int32
		around uint64
	}
	next := map[seen]int32{}
	for i, colour := range c.of {
		s := seen{colour, around[i]}
		id, ok := next[s]
		if !ok {
			id = int32(len(next))
			next[s] = id
		}
		c.of[i] = id
	}
	more := len(next) > c.count
	c.count = len(next)
	return more
}

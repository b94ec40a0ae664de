package space

import (
	"slices"

	"autoshard/ir"
)

// What comes of the result of a reduction is never reduced together with it: such reductions are sent one after the other, however long the
// first may wait, as those of the mean and the variance of a normalization are, and those of equal layers.

// findChains finds of each node which reduction it comes of: of all of them that which comes of most others one after the other. Summands
// that are reduced as one are behind the sum.
func (s *Space) findChains() {
	s.comesOf = slices.Repeat([]int32{-1}, len(s.nodes))
	c := chains{s, make([]int32, len(s.nodes)), slices.Repeat([]int32{-1}, s.m.NumValues())}
	c.walk(s.m.MainFunc().Body)
}

// chains is the reductions of which values come.
type chains struct {
	*Space
	length []int32 // per node: of the chain of reductions that ends with it
	latest []int32 // per value: the node at the end of the longest chain, -1 for none
}

// longer returns the one of two nodes, -1 for none, at which the longer chain ends.
func (c *chains) longer(a, b int32) int32 {
	if b >= 0 && (a < 0 || c.length[b] > c.length[a]) {
		return b
	}
	return a
}

// walk goes through a block, and returns what that hands back comes of. Nothing in a region begins before all operands of its op are there,
// nor the body of a loop before its condition is known.
func (c *chains) walk(b ir.BlockID) (at int32) {
	m := c.m
	for op := range m.Ops(b) {
		at = -1
		for _, v := range m.Operands(op) {
			at = c.longer(at, c.latest[v])
		}
		for r := range m.NumRegions(op) {
			inside := m.RegionBlock(op, r)
			for _, arg := range m.BlockArgs(inside) {
				c.latest[arg] = at
			}
			at = c.longer(at, c.walk(inside))
		}
		at = c.reduced(op, at)
		for _, v := range m.Results(op) {
			c.latest[v] = at
			for _, summand := range c.later.sums[v] {
				c.latest[v] = c.longer(c.latest[v], summand)
			}
		}
	}
	return at
}

// reduced adds the reduction of an op, if there is one, to the longest chain of which its operands come, and returns what its results
// come of.
func (c *chains) reduced(op ir.OpID, at int32) int32 {
	if c.m.NumResults(op) == 0 {
		return at
	}
	i := c.nodeOf[c.m.Result(op, 0)]
	if i < 0 || c.nodes[i].op != op || !c.nodes[i].class.reduces {
		return at
	}
	c.comesOf[i], c.length[i] = at, 1
	if at >= 0 {
		c.length[i] += c.length[at]
	}
	if c.nodes[i].delay.sum != 0 {
		return at
	}
	return i
}

// antichain is the most that reductions pay together of which none comes of another.
type antichain struct {
	comesOf  []int32
	own      []int64 // per node: what it pays
	children []int64 // per node: the most that those pay together that come of it
	most     int64
}

func (s *Space) antichain() *antichain {
	return &antichain{s.comesOf, make([]int64, len(s.nodes)), make([]int64, len(s.nodes)), 0}
}

// set says what a node pays.
func (a *antichain) set(node int32, part int64) {
	before := max(a.own[node], a.children[node])
	a.own[node] = part
	for {
		change := max(a.own[node], a.children[node]) - before
		if change == 0 {
			return
		}
		if node = a.comesOf[node]; node < 0 {
			a.most += change
			return
		}
		before = max(a.own[node], a.children[node])
		a.children[node] += change
	}
}

package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
)

// Separate gives every node a class of its own from now on: its strategies are enumerated and priced for it alone.
func (s *Space) Separate() { s.classes.apart = true }

// Classes returns how many classes the nodes of a problem that was built have.
func (s *Space) Classes() int {
	seen := map[*class]bool{}
	for i := range s.nodes {
		seen[s.nodes[i].class] = true
	}
	return len(seen)
}

// Layouts returns in which layouts a strategy of a node reads its operands and keeps its values.
func (s *Space) Layouts(node, strategy int) (reads, keeps []collectives.Layout) {
	c := s.nodes[node].class
	for _, list := range c.operands {
		reads = append(reads, s.layouts[s.lists.all[list].of(int32(strategy))])
	}
	for _, list := range c.kept {
		keeps = append(keeps, s.layouts[s.lists.all[list].of(int32(strategy))])
	}
	return reads, keeps
}

// Part returns runs/among of a price.
func Part(runs, among, price int64) int64 { return share{runs, among}.of(price) }

// InnermostShares adds up the parts of the regions of a block that have none inside.
func (s *Space) InnermostShares(b ir.BlockID) float64 {
	var sum func(b ir.BlockID, sure share) float64
	sum = func(b ir.BlockID, sure share) float64 {
		total, inside := 0.0, false
		for op := range s.m.Ops(b) {
			for r := range s.m.NumRegions(op) {
				total, inside = total+sum(s.m.RegionBlock(op, r), s.surely(op, r, sure)), true
			}
		}
		if !inside {
			return float64(sure.runs) / float64(sure.among)
		}
		return total
	}
	return sum(b, share{1, 1})
}

// Chains returns, for each op that may reduce its result, the op whose reduction that comes of last in its chain; 0 for none.
func (s *Space) Chains() map[ir.OpID]ir.OpID {
	out := map[ir.OpID]ir.OpID{}
	for i := range s.nodes {
		if n := &s.nodes[i]; n.op != 0 && n.class.reduces {
			out[n.op] = 0
			if before := s.comesOf[i]; before >= 0 {
				out[n.op] = s.nodes[before].op
			}
		}
	}
	return out
}

// MostOf returns the most of some parts that no two have of which one comes of the other.
func MostOf(comesOf []int32, parts []int64) int64 {
	a := antichain{comesOf, make([]int64, len(parts)), make([]int64, len(parts)), 0}
	for i := range parts {
		a.set(int32(i), parts[i]+1)
		a.set(int32(i), parts[i])
	}
	return a.most
}

// AsSupposed says whether the program of a solution takes on the fly, and writes over others, what problems suppose that it does.
func (s *Space) AsSupposed(solution []int32) bool {
	t, supposed := s.timeOf(solution), s.moments()
	return slices.Equal(t.ends, supposed.ends) && slices.Equal(t.held, supposed.held) && slices.Equal(t.over, supposed.over) &&
		!slices.ContainsFunc(t.flows, func(f read) bool { return t.until[f.from] != supposed.until[f.from] })
}

package space

import (
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

package space

import "autoshard/collectives"

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

package space

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

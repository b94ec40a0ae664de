package space

import (
	"unsafe"

	"autoshard/search"
)

// What the parts of a space take, in bytes.
const (
	// A strategy of a class, with its factors and what keeps it apart from others while the class is made.
	classBytes = int64(unsafe.Sizeof(strategy{})) + 90
	nodeBytes  = int64(unsafe.Sizeof(node{})) + 40
	linkBytes  = int64(unsafe.Sizeof(link{})) + 20
	pairBytes  = int64(unsafe.Sizeof(price{})) // of layouts
)

// relaxedEntries is how many entries relaxed problems have for one of the problem: products tell columns apart.
const relaxedEntries = 2.2

// size returns that of the problem, known once links are.
func (s *Space) size() search.Size {
	z := search.Size{Nodes: int64(len(s.nodes)), Edges: int64(len(s.links)), Strategies: int64(s.count), Entries: int64(s.entries)}
	type kind struct {
		key        matrixKey
		rows, cols int32
	}
	seen := map[kind]bool{}
	for i := range s.links {
		l := &s.links[i]
		if k := (kind{s.key(i, false), l.rows, l.cols}); !seen[k] {
			seen[k] = true
			z.Pairs += int64(len(s.lists.all[l.rows].unique)) * int64(len(s.lists.all[l.cols].unique))
		}
	}
	return z
}

// Bytes returns what the space takes beside its problems and the ways between layouts, which are forgotten once they are priced.
func (s *Space) Bytes() int64 {
	total := classBytes*int64(s.kinds) + nodeBytes*int64(len(s.nodes)) + linkBytes*int64(len(s.links))
	for i := range s.lists.all {
		total += 4 * int64(len(s.lists.all[i].unique)+len(s.lists.all[i].at))
	}
	for _, list := range s.priced {
		total += pairBytes * int64(len(list))
	}
	return total
}

// afford gives up where the problem and its search would take more memory than there is.
func (s *Space) afford() {
	z := s.size()
	s.need(s.Bytes() + pairBytes*int64(s.entries) + z.Bytes() + z.Solving())
}

// need gives up where so many bytes are more than there are.
func (s *Space) need(bytes int64) bool {
	if s.effort.Need = max(s.effort.Need, bytes); s.err == nil && s.effort.Memory != 0 && bytes > s.effort.Memory {
		s.err = ErrMemory
	}
	return s.err == nil
}

// affordRelaxed gives up where a relaxed problem and its search would take more memory than there is, beside the problem that they bound.
func (s *Space) affordRelaxed() {
	z := s.size()
	held := s.Bytes() + z.Bytes()
	z.Entries = int64(relaxedEntries * float64(z.Entries))
	s.need(held + z.Bytes() + z.Solving())
}

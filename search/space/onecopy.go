package space

import "autoshard/search"

// OneCopy returns changes after which all ops that read a value, and may, read it in one layout, for each value that several read and each
// layout: of the ways to read it so each op takes the one with which the problem's solution costs least. The problem is one of the space
// that watches nothing.
func (s *Space) OneCopy(p *search.Problem) []Change {
	byCopy := map[int32][]*link{}
	for i := range s.links {
		l := &s.links[i]
		byCopy[l.copy] = append(byCopy[l.copy], l)
	}
	var out []Change
	for i := range s.links {
		l := &s.links[i]
		readers := byCopy[l.copy]
		if readers[0] != l || len(readers) < 2 {
			continue
		}
		seen := map[layoutID]bool{}
		for _, r := range readers {
			for _, layout := range s.lists.all[r.cols].unique {
				if !seen[layout] {
					out = append(out, func(solution []int32) []int32 { return s.oneCopy(p, solution, readers, layout) })
				}
				seen[layout] = true
			}
		}
	}
	return out
}

// oneCopy returns the change after which readers read a value in a layout; nil for none.
func (s *Space) oneCopy(p *search.Problem, solution []int32, readers []*link, layout layoutID) []int32 {
	x := append([]int32(nil), solution...)
	changes := false
	for _, r := range readers {
		read := &s.lists.all[r.cols]
		if read.of(x[r.to]) == layout {
			continue
		}
		if y := s.reading(p, x, r, layout); y != nil {
			x, changes = y, true
		}
	}
	if !changes {
		return nil
	}
	return x
}

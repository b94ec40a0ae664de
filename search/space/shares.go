package space

// wholeCopy is the price of a copy in the parts that its uses pay.
const wholeCopy = 1 << 20

// copies are what the uses of values pay in the relaxed problem for copies that they may share. Whatever the parts of the uses
// of one copy are, as long as they are no more than the whole, the problem's optimum is a bound; the nearer they are to who
// makes the copy in the end, the higher it is.
type copies struct {
	parts [][]int64 // per link and different layout that it reads, of wholeCopy; nil where the link is alone
	id    []int32   // per link: equal for equal parts
	told  int64     // solutions that have been seen
}

// copied is a copy that links may read in a layout.
type copied struct {
	of     int32
	layout layoutID
}

// Unsettle forgets the solutions that were seen: all uses of a copy pay the same again, and all reductions that can be sent as one.
func (s *Space) Unsettle() {
	if s.links != nil {
		s.equalParts()
		s.paying.forget()
		clear(s.later.parts)
	}
}

// equalParts lets all uses of a copy pay the same.
func (s *Space) equalParts() {
	s.copies = copies{parts: make([][]int64, len(s.links)), id: make([]int32, len(s.links))}
	for i := range s.links {
		if l := &s.links[i]; l.uses > 1 {
			parts := make([]int64, len(s.lists.all[l.cols].unique))
			for j := range parts {
				parts[j] = wholeCopy / l.uses
			}
			s.copies.parts[i] = parts
		}
	}
	s.internParts()
}

// internParts numbers the parts.
func (s *Space) internParts() {
	ids := map[string]int32{}
	for i, parts := range s.copies.parts {
		key := keyOf(parts)
		if _, ok := ids[key]; !ok {
			ids[key] = int32(len(ids))
		}
		s.copies.id[i] = ids[key]
	}
}

// Settle moves what uses pay for a copy towards those that make it in a solution of the problem or of its relaxation: after the first
// solution they pay all of it, after the k-th the parts move 2/(k+1) of the way (Frank and Wolfe's method). What reductions that can be
// sent as one, or be made as one, pay moves half of the way to those that are.
func (s *Space) Settle(solution []int32) {
	makers := map[copied]int64{}
	for i := range s.links {
		if l := &s.links[i]; l.uses > 1 && s.moves(l, solution) {
			makers[copied{l.copy, s.readIn(l, solution)}]++
		}
	}
	for i := range s.links {
		l := &s.links[i]
		if l.uses < 2 {
			continue
		}
		read, made := s.readIn(l, solution), s.moves(l, solution)
		for j, layout := range s.lists.all[l.cols].unique {
			n := makers[copied{l.copy, layout}]
			if n == 0 {
				continue
			}
			part := int64(0)
			if made && read == layout {
				part = wholeCopy / n
			}
			if n := s.copies.told; n > 0 {
				part = (2*part + n*s.copies.parts[i][j]) / (n + 2)
			}
			s.copies.parts[i][j] = part
		}
	}
	s.copies.told++
	s.internParts()
	s.pay(solution)
	s.settleSums(solution)
}

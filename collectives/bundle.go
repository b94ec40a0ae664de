package collectives

import (
	"math"

	"autoshard/search/minplus"
)

// The length of a way is its price, and in the lowest bits the number of its steps: of ways of one price that with fewer steps is shorter.
// Of steps that take more than an hour the lengths say no more than that, so that no sum of them is too large; their prices do.
const (
	stepBits       = 5
	dearest  int64 = 1 << 52
	nowhere  int64 = math.MaxInt64 / 2
)

func lengthOf(price int64) int64 { return min(price, dearest)<<stepBits + 1 }

// bundle is the shortest ways to some goals from all vertices of a table. Lengths of the ways from one vertex lie side by side, so that a
// processor compares many ways at a time.
type bundle struct {
	*table
	goals   []int32
	lengths []int64 // per place of a vertex and goal, nowhere if there is no way
	next    []int32 // likewise: the number, from 1, of the road that the way takes from there; 0 if unknown yet
	found   int     // the parts of the table's order whose ways are found
}

func (b *bundle) row(place int) []int64 {
	return b.lengths[place*len(b.goals) : (place+1)*len(b.goals)]
}

// at returns where the way from a vertex to a goal is.
func (b *bundle) at(v int32, goal int) int { return int(b.places[v]-1)*len(b.goals) + goal }

// extend finds the ways from the vertices that the table has by now.
func (b *bundle) extend() {
	if b.found == len(b.parts) {
		return
	}
	begin, n := len(b.lengths)/len(b.goals), len(b.order)
	more := (n - begin) * len(b.goals)
	b.next, b.lengths = append(b.next, make([]int32, more)...), append(b.lengths, make([]int64, more)...)
	for i := begin * len(b.goals); i < len(b.lengths); i++ {
		b.lengths[i] = nowhere
	}
	s := sweeper{bundle: b, changed: make([]int32, n), looked: make([]int32, n)}
	for j, g := range b.goals {
		if at, ok := b.place(g); ok {
			b.row(at)[j], s.changed[at] = 0, 1
		}
	}
	for at := range begin {
		s.changed[at] = 1
	}
	for ; b.found < len(b.parts); b.found++ {
		s.settle(begin, b.parts[b.found])
		begin = b.parts[b.found]
	}
}

// sweeper shortens ways until they are the shortest.
type sweeper struct {
	*bundle
	now             int32
	changed, looked []int32 // per place: when ways from there became shorter last, and when they were compared with others
}

// settle finds the ways from a part of the vertices. Most cut a tensor further first and gather it last: one sweep from larger to smaller
// blocks and one back find those.
func (s *sweeper) settle(from, to int) {
	for more := true; more; {
		more = false
		for at := from; at < to; at++ {
			more = s.shorten(at) || more
		}
		for at := to - 1; at >= from; at-- {
			more = s.shorten(at) || more
		}
	}
}

// shorten lets the ways from a vertex go over others from which ways became shorter since it was done last.
func (s *sweeper) shorten(at int) bool {
	row, shorter := s.row(at), false
	s.now++
	for _, r := range s.roads[s.order[at]] {
		if over := int(s.places[r.to] - 1); s.changed[over] > s.looked[at] {
			shorter = minplus.Through(row, s.row(over), r.length) || shorter
		}
	}
	if s.looked[at] = s.now; shorter {
		s.changed[at] = s.now + 1
	}
	return shorter
}

// after returns the road that the way from a vertex to a goal takes. Of ways of one length that wins whose vertices, told from the goal
// back, come first.
func (b *bundle) after(v int32, goal int) *road {
	at, roads := b.at(v, goal), b.roads[v]
	if b.next[at] == 0 {
		best := -1
		for i := range roads {
			r := &roads[i]
			if b.lengths[b.at(r.to, goal)]+r.length == b.lengths[at] && (best < 0 || b.before(r.to, roads[best].to, goal)) {
				best = i
			}
		}
		b.next[at] = int32(best + 1)
	}
	return &roads[b.next[at]-1]
}

// before says whether of the ways to a goal from two vertices, which have as many steps, that of the first comes first.
func (b *bundle) before(x, y int32, goal int) bool {
	if x == y {
		return false
	}
	if x1, y1 := b.after(x, goal).to, b.after(y, goal).to; x1 != y1 {
		return b.before(x1, y1, goal)
	}
	return b.graph.vertices[x].key < b.graph.vertices[y].key
}

package space

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"autoshard/collectives"
	"autoshard/subaxis"
)

// A reduction that is made later may be one over all axes, or several, each over some of them and scattered or not. Whatever it is, each of
// its steps begins.

// beginning is what a step of a reduction takes at least before it sends anything, and the numbers of the all-reduces and reduce-scatters
// with which it may be sent as one.
type beginning struct {
	time  int64
	overs []int32
}

// mostLaterAxes bounds the axes of reductions whose ways are gone through.
const mostLaterAxes = 3

// laterWays returns the number of the ways to reduce over some axes, each a list of steps; 0 where they are too many, or where layouts may
// scatter the result over parts of an axis.
func (s *Space) laterWays(axes []subaxis.Ref) int32 {
	if len(axes) > mostLaterAxes || slices.ContainsFunc(axes, s.splits) {
		return 0
	}
	key := s.m.Mesh(s.mesh).FormatList(axes)
	if known, ok := s.later.waysOf[key]; ok {
		return known
	}
	var ways [][]beginning
	for _, steps := range partitions(axes) {
		var way []beginning
		for _, over := range steps {
			way = append(way, s.beginningOf(over))
		}
		ways = append(ways, way)
	}
	s.later.ways = append(s.later.ways, ways)
	s.later.waysOf[key] = int32(len(s.later.ways))
	return s.later.waysOf[key]
}

// beginningOf returns that of a step over some axes, in whatever order they are.
func (s *Space) beginningOf(axes []subaxis.Ref) beginning {
	b := beginning{time: math.MaxInt64}
	l := s.latencies
	l.Lock()
	defer l.Unlock()
	for _, order := range combin.Permutations(len(axes), len(axes)) {
		var ordered []subaxis.Ref
		for _, at := range order {
			ordered = append(ordered, axes[at])
		}
		for _, kind := range []collectives.Kind{collectives.AllReduce, collectives.ReduceScatter} {
			b.time = min(b.time, s.model.Start(kind, ordered))
			b.overs = append(b.overs, l.number(kind, s.m.Mesh(s.mesh).FormatList(ordered)))
		}
	}
	return b
}

// partitions returns the ways to divide axes into lists.
func partitions(axes []subaxis.Ref) (out [][][]subaxis.Ref) {
	if len(axes) == 0 {
		return [][][]subaxis.Ref{nil}
	}
	for set := range 1 << (len(axes) - 1) {
		first, rest := []subaxis.Ref{axes[0]}, []subaxis.Ref(nil)
		for i, a := range axes[1:] {
			if set>>i&1 > 0 {
				first = append(first, a)
			} else {
				rest = append(rest, a)
			}
		}
		for _, others := range partitions(rest) {
			out = append(out, append([][]subaxis.Ref{first}, others...))
		}
	}
	return out
}

// splits says whether there are layouts along parts of some axis.
func (s *Space) splits(r subaxis.Ref) bool {
	mesh := s.m.Mesh(s.mesh)
	if s.later.parted == nil {
		s.later.parted = make([]bool, len(mesh.Axes))
		for _, l := range s.layouts {
			for _, part := range slices.Concat(l.Dims...) {
				s.later.parted[part.Axis] = s.later.parted[part.Axis] || !mesh.IsFull(part)
			}
		}
	}
	return s.later.parted[r.Axis]
}

// leastBeginning returns what a node surely pays of what a reduction takes before it sends anything, of some ways to make it later.
func (s *Space) leastBeginning(i, ways int32) int64 {
	if ways == 0 {
		return 0
	}
	least := int64(math.MaxInt64)
	for _, way := range s.later.ways[ways-1] {
		total := int64(0)
		for _, step := range way {
			paid := int64(wholeCopy)
			for _, over := range step.overs {
				paid = min(paid, s.paid(i, over, s.nodes[i].delay.behind))
			}
			total += portion(step.time, paid)
		}
		least = min(least, total)
	}
	return least
}

package collectives

import (
	"container/heap"
	"encoding/binary"
	"slices"

	"autoshard/subaxis"
)

// Planner finds cheapest sequences of steps between layouts on one mesh and remembers them.
// It must not be used by two goroutines at once.
type Planner struct {
	pricer Pricer
	memo   map[string]planned
	key    []byte
}

type planned struct {
	steps []Step
	price int64
}

// NewPlanner returns a planner with prices for one mesh.
func NewPlanner(pricer Pricer) *Planner {
	return &Planner{pricer: pricer, memo: map[string]planned{}}
}

// Cheapest is the order of the cheapest steps.
func (p *Planner) Cheapest(r *Reshard) []Step {
	steps, _ := p.Plan(r.From, r.To, r.Bytes)
	return steps
}

// Plan returns the cheapest sequence of steps from one layout to another of a tensor with that many bytes in all,
// and its price in picoseconds. Both layouts must cut the tensor into equal blocks along independent axes, and every unreduced
// axis of to must be one of from. Among equally cheap sequences the first in a fixed order wins.
func (p *Planner) Plan(from, to Layout, bytes int64) ([]Step, int64) {
	p.key = binary.AppendVarint(p.key[:0], bytes)
	p.key = appendLayout(appendLayout(p.key, &from), &to)
	if done, ok := p.memo[string(p.key)]; ok {
		return done.steps, done.price
	}
	key := string(p.key)
	done := p.search(from, to, bytes)
	p.memo[key] = done
	return done.steps, done.price
}

func appendLayout(b []byte, l *Layout) []byte {
	b = append(b, byte(l.Reduction))
	b = appendAxes(b, l.Unreduced)
	for _, axes := range l.Dims {
		b = appendAxes(b, axes)
	}
	return b
}

func appendAxes(b []byte, axes []subaxis.Ref) []byte {
	b = append(b, byte(len(axes)))
	for _, r := range axes {
		b = append(b, byte(r.Axis))
		b = binary.AppendUvarint(b, uint64(r.Pre))
		b = binary.AppendUvarint(b, uint64(r.Size))
	}
	return b
}

// search is Dijkstra's algorithm over layouts whose axes are cut into the atoms that both ends can be made of.
func (p *Planner) search(from, to Layout, bytes int64) planned {
	if from.Equal(&to) {
		return planned{}
	}
	if !coexist(from, to) {
		return p.viaReplicated(from, to, bytes)
	}
	cuts := cutPoints(from, to)
	start, goal := refine(from, cuts), refine(to, cuts)
	s := &route{planner: p, goal: goal, bytes: bytes, known: map[string]int{}}
	return s.run(start)
}

// viaReplicated handles sub-axes that no common refinement has, such as "x":(1)2 and "x":(1)3 of an axis of size 6.
func (p *Planner) viaReplicated(from, to Layout, bytes int64) planned {
	none := Layout{Dims: make([][]subaxis.Ref, len(from.Dims))}
	first, a := p.Plan(from, none, bytes)
	second, b := p.Plan(none, to, bytes)
	return planned{append(slices.Clone(first), second...), a + b}
}

func coexist(a, b Layout) bool {
	all := append(allAxes(&a), allAxes(&b)...)
	for i, r := range all {
		for _, o := range all[:i] {
			if !r.CanCoexist(o) {
				return false
			}
		}
	}
	return true
}

func allAxes(l *Layout) []subaxis.Ref {
	all := slices.Clone(l.Unreduced)
	for _, axes := range l.Dims {
		all = append(all, axes...)
	}
	return all
}

// cutPoints returns per mesh axis the sorted pre-sizes at which some ref of the layouts starts or ends.
func cutPoints(layouts ...Layout) map[int32][]int64 {
	cuts := map[int32][]int64{}
	for i := range layouts {
		for _, r := range allAxes(&layouts[i]) {
			cuts[r.Axis] = append(cuts[r.Axis], int64(r.Pre), r.Next())
		}
	}
	for _, list := range cuts {
		slices.Sort(list)
	}
	return cuts
}

func refine(l Layout, cuts map[int32][]int64) Layout {
	out := Layout{Dims: make([][]subaxis.Ref, len(l.Dims)), Reduction: l.Reduction}
	out.Unreduced = refineAxes(l.Unreduced, cuts)
	for i, axes := range l.Dims {
		out.Dims[i] = refineAxes(axes, cuts)
	}
	return out
}

func refineAxes(axes []subaxis.Ref, cuts map[int32][]int64) []subaxis.Ref {
	var out []subaxis.Ref
	for _, r := range axes {
		pre := int64(r.Pre)
		for _, cut := range cuts[r.Axis] {
			if cut > pre && cut <= r.Next() {
				out = append(out, subaxis.Ref{Axis: r.Axis, Pre: int32(pre), Size: int32(cut / pre)})
				pre = cut
			}
		}
		if r.Size == 1 {
			out = append(out, r)
		}
	}
	return out
}

func merge(axes []subaxis.Ref) []subaxis.Ref { return subaxis.AppendMerge(nil, axes...) }

func merged(l *Layout) Layout {
	out := Layout{Dims: make([][]subaxis.Ref, len(l.Dims)), Reduction: l.Reduction}
	out.Unreduced = subaxis.SortMerge(slices.Clone(l.Unreduced))
	for i, axes := range l.Dims {
		out.Dims[i] = merge(axes)
	}
	return out
}

// route is one run of the shortest-path search.
type route struct {
	planner *Planner
	goal    Layout
	bytes   int64
	nodes   []node
	known   map[string]int // layout to node
	queue   frontier
	key     []byte
}

type node struct {
	layout Layout
	price  int64
	parent int
	step   Step // that led here, in atoms
	done   bool
}

type frontier []entry

type entry struct {
	price int64
	steps int
	node  int
}

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(i, j int) bool {
	a, b := f[i], f[j]
	switch {
	case a.price != b.price:
		return a.price < b.price
	case a.steps != b.steps:
		return a.steps < b.steps
	}
	return a.node < b.node
}
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(entry)) }
func (f *frontier) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}

func (s *route) run(start Layout) planned {
	s.reach(start, 0, -1, Step{})
	for s.queue.Len() > 0 {
		at := heap.Pop(&s.queue).(entry).node
		if s.nodes[at].done {
			continue
		}
		s.nodes[at].done = true
		if s.nodes[at].layout.Equal(&s.goal) {
			return s.path(at)
		}
		s.expand(at)
	}
	panic("collectives: no sequence of steps between two layouts")
}

func (s *route) reach(l Layout, price int64, parent int, step Step) {
	s.key = appendLayout(s.key[:0], &l)
	i, ok := s.known[string(s.key)]
	switch {
	case !ok:
		i = len(s.nodes)
		s.known[string(s.key)] = i
		s.nodes = append(s.nodes, node{layout: l, price: price, parent: parent, step: step})
	case price >= s.nodes[i].price:
		return
	default:
		s.nodes[i].price, s.nodes[i].parent, s.nodes[i].step = price, parent, step
	}
	heap.Push(&s.queue, entry{price, s.depth(i), i})
}

func (s *route) depth(i int) int {
	n := 0
	for i = s.nodes[i].parent; i >= 0; i = s.nodes[i].parent {
		n++
	}
	return n
}

func (s *route) path(at int) planned {
	price := s.nodes[at].price
	var steps []Step
	for i := at; s.nodes[i].parent >= 0; i = s.nodes[i].parent {
		step := s.nodes[i].step
		step.Axes = merge(step.Axes)
		step.After = merged(&s.nodes[i].layout)
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	joinSlices(steps)
	return planned{steps, price}
}

// joinSlices makes one op of slices that follow one another along different dimensions.
func joinSlices(steps []Step) {
	var sliced []int // the dimensions of the slices before
	for i := range steps {
		steps[i].Joint = steps[i].Kind == AllSlice && len(sliced) > 0 && !slices.Contains(sliced, steps[i].Dim)
		if !steps[i].Joint {
			sliced = nil
		}
		if steps[i].Kind == AllSlice {
			sliced = append(sliced, steps[i].Dim)
		}
	}
}

// add reaches the layout that a step makes of the node's.
func (s *route) add(at int, step Step, after Layout) {
	before := &s.nodes[at].layout
	local := s.bytes / before.Shards()
	price := s.nodes[at].price + s.planner.pricer.Price(step.Kind, merge(step.Axes), local)
	s.reach(after, price, at, step)
}

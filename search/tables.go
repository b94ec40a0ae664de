package search

import (
	"context"
	"slices"
)

// factor is a table over some variables of a region, in classes; entry (x0, x1, ..) is v[x0*stride[0] + x1*stride[1] + ..].
type factor struct {
	vars   []int32
	stride []int
	v      []int64
}

// region solves parts of a model exactly by eliminating one node after the other (bucket elimination, solver.md section 4.8 d). The nodes
// outside keep their labels. A variable of a region stands for a node: it takes a class of the node's values, those that have the same rows
// and columns in all arcs of the region. It is scratch that serves one model.
type region struct {
	ctx    context.Context
	m      *model
	at     []int32 // per node, its index in nodes, or -1
	nodes  []int32
	among  [][]int32 // per variable, the values that it may take; nil if all may take all of theirs
	x      []int32   // labels of the nodes outside and of those that stay fixed
	spent  int64
	number numbering

	class  [][]int32 // per variable, the class of every value; nil is the identity
	values [][]int32 // and a value of each class: the first, or the best once the region is solved
	near   [][]int32 // per variable, its neighbours that are not eliminated yet
	order  []int32
	rank   []int32 // per variable, its position in order; -1 if it stays fixed
	bucket [][]factor
	choice []choice
}

// choice is the best value of variable v for every assignment of scope.
type choice struct {
	v      int32
	scope  []int32
	stride []int
	best   []int32
}

func newRegion(ctx context.Context, m *model) *region {
	r := &region{ctx: ctx, m: m, at: make([]int32, len(m.node))}
	for i := range r.at {
		r.at[i] = -1
	}
	return r
}

// planSteps is the work of finding a node's place in the order of elimination.
const planSteps = 100

// solve returns labels for nodes (in the same order) that minimise unary plus arc costs given labels x elsewhere, and that minimum without
// the parts that do not touch the region; entries of Inf stay Inf. No table grows beyond limit entries: to achieve that some nodes keep
// their label in x; if x is nil, solve gives up instead and returns false.
func (r *region) solve(nodes, x []int32, unary []int64, limit int64) (labels []int32, value int64, ok bool) {
	r.nodes, r.x = nodes, x
	for v, i := range nodes {
		r.at[i] = int32(v)
	}
	defer func() {
		for _, i := range nodes {
			r.at[i] = -1
		}
	}()
	r.spent += planSteps * int64(len(nodes))
	r.connect()
	if !r.plan(limit) {
		return nil, 0, false
	}
	own := r.fill(unary)
	if value = r.run(own); r.ctx.Err() != nil {
		return nil, 0, false
	}
	labels = make([]int32, len(nodes))
	for v, i := range nodes {
		if r.rank[v] < 0 {
			labels[v] = x[i]
		}
	}
	for _, c := range slices.Backward(r.choice) {
		at := 0
		for j, u := range c.scope {
			at += int(labels[u]) * c.stride[j]
		}
		labels[c.v] = c.best[at]
	}
	for _, v := range r.order {
		labels[v] = r.values[v][labels[v]]
	}
	return labels, value, true
}

// solveAmong does what solve does where each node may take only some of its values.
func (r *region) solveAmong(nodes []int32, among [][]int32, x []int32, unary []int64, limit int64) (labels []int32, value int64, ok bool) {
	r.among = among
	defer func() { r.among = nil }()
	return r.solve(nodes, x, unary, limit)
}

// size returns the number of classes of variable v.
func (r *region) size(v int32) int { return len(r.values[v]) }

// takeSpent returns the entries visited since the last call.
func (r *region) takeSpent() int64 {
	n := r.spent
	r.spent = 0
	return n
}

func (r *region) connect() {
	r.near = make([][]int32, len(r.nodes))
	r.class, r.values = make([][]int32, len(r.nodes)), make([][]int32, len(r.nodes))
	for v, i := range r.nodes {
		var maps [][]int32
		var sizes []int
		for _, id := range r.m.forward[i] {
			if e := &r.m.arcs[id]; r.at[e.b] >= 0 {
				r.near[v] = append(r.near[v], r.at[e.b])
				maps, sizes = append(maps, e.pa), append(sizes, e.t.ka)
			}
		}
		for _, id := range r.m.backward[i] {
			if e := &r.m.arcs[id]; r.at[e.a] >= 0 {
				r.near[v] = append(r.near[v], r.at[e.a])
				maps, sizes = append(maps, e.pb), append(sizes, e.t.kb)
			}
		}
		slices.Sort(r.near[v])
		if r.among != nil {
			r.values[v] = r.among[v]
			continue
		}
		r.class[v], r.values[v] = r.number.common(maps, sizes, r.m.values(i))
	}
}

// weight returns the entries visited when v is eliminated now, capped above limit.
func (r *region) weight(v int32, limit int64) int64 {
	w := int64(r.size(v))
	for _, u := range r.near[v] {
		if w > limit {
			break
		}
		w *= int64(r.size(u))
	}
	return w
}

// plan finds an elimination order by least weight. It is false if a table would be too large and no node may stay fixed.
func (r *region) plan(limit int64) bool {
	n := int32(len(r.nodes))
	r.order, r.rank = r.order[:0], make([]int32, n)
	q := newMinQueue(n)
	for v := range n {
		q.set(v, r.weight(v, limit))
	}
	total := int64(0)
	for range n {
		best, weight := q.least()
		fixed := weight > limit
		if fixed {
			if r.x == nil {
				return false
			}
			best = r.widest(q, best)
			r.rank[best] = -1
		} else {
			r.rank[best] = int32(len(r.order))
			r.order = append(r.order, best)
			if total += weight; total > 16*limit && r.x == nil {
				return false
			}
		}
		q.drop(best)
		r.remove(best, !fixed)
		for _, u := range r.near[best] {
			q.set(u, r.weight(u, limit))
		}
	}
	return true
}

// widest returns the waiting variable with most neighbours.
func (r *region) widest(q *minQueue, best int32) int32 {
	for v := range r.near {
		if q.waits(int32(v)) && len(r.near[v]) > len(r.near[best]) {
			best = int32(v)
		}
	}
	return best
}

// remove takes v out of its neighbours' lists and, if join is set, makes them a clique.
func (r *region) remove(v int32, join bool) {
	for _, u := range r.near[v] {
		at, _ := slices.BinarySearch(r.near[u], v)
		r.near[u] = slices.Delete(r.near[u], at, at+1)
		if !join {
			continue
		}
		for _, t := range r.near[v] {
			if at, found := slices.BinarySearch(r.near[u], t); !found && t != u {
				r.near[u] = slices.Insert(r.near[u], at, t)
			}
		}
	}
}

// fill puts the arcs into buckets and returns the unary costs per variable, arcs to fixed nodes included: of every class the best value's.
func (r *region) fill(unary []int64) [][]int64 {
	r.bucket = make([][]factor, len(r.nodes))
	own := make([][]int64, len(r.nodes))
	for v, i := range r.nodes {
		if r.rank[v] < 0 {
			continue
		}
		costs := slices.Clone(unary[r.m.off[i]:r.m.off[i+1]])
		for _, id := range r.m.forward[i] {
			e := &r.m.arcs[id]
			if u := r.at[e.b]; u >= 0 && r.rank[u] >= 0 {
				r.put(factor{[]int32{int32(v), u}, []int{r.size(u), 1}, r.table(e, int32(v), u)})
				continue
			}
			r.spent += int64(len(costs))
			for x := range costs {
				costs[x] = min(costs[x]+e.cost(int32(x), r.x[e.b]), Inf)
			}
		}
		for _, id := range r.m.backward[i] {
			e := &r.m.arcs[id]
			if u := r.at[e.a]; u >= 0 && r.rank[u] >= 0 {
				continue // the other end puts it
			}
			r.spent += int64(len(costs))
			for y := range costs {
				costs[y] = min(costs[y]+e.cost(r.x[e.a], int32(y)), Inf)
			}
		}
		if r.among != nil {
			own[v] = pick(costs, r.among[v])
			continue
		}
		r.values[v], own[v] = lightest(r.class[v], r.size(int32(v)), costs)
	}
	return own
}

// table returns the costs of arc e for all classes of the variables v and u at its ends.
func (r *region) table(e *arc, v, u int32) []int64 {
	if e.pa == nil && e.pb == nil && r.among == nil {
		return e.t.v
	}
	out := make([]int64, 0, r.size(v)*r.size(u))
	r.spent += int64(cap(out))
	for _, x := range r.values[v] {
		row := e.t.v[int(through(e.pa, x))*e.t.kb:]
		for _, y := range r.values[u] {
			out = append(out, row[through(e.pb, y)])
		}
	}
	return out
}

// put files a factor under its variable that is eliminated first.
func (r *region) put(f factor) {
	first := f.vars[0]
	for _, v := range f.vars {
		if r.rank[v] < r.rank[first] {
			first = v
		}
	}
	r.bucket[first] = append(r.bucket[first], f)
}

// run eliminates all variables and returns the minimum.
func (r *region) run(own [][]int64) int64 {
	r.choice = r.choice[:0]
	sum := int64(0)
	for _, v := range r.order {
		if r.ctx.Err() != nil {
			break
		}
		f, c := r.join(v, own[v])
		r.choice = append(r.choice, c)
		if len(f.vars) == 0 {
			sum = addCost(sum, f.v[0])
			continue
		}
		r.put(f)
	}
	return sum
}

// join sums the factors of v's bucket with its unary costs and minimises over v.
func (r *region) join(v int32, own []int64) (factor, choice) {
	fs := r.bucket[v]
	var scope []int32
	for _, f := range fs {
		scope = append(scope, f.vars...)
	}
	slices.Sort(scope)
	scope = slices.DeleteFunc(slices.Compact(scope), func(u int32) bool { return u == v })
	stride, size := make([]int, len(scope)), 1
	for j := len(scope) - 1; j >= 0; j-- {
		stride[j] = size
		size *= r.size(scope[j])
	}
	steps := newSteps(fs, v, scope)
	out, best := make([]int64, size), make([]int32, size)
	acc, digit := make([]int64, len(own)), make([]int, len(scope))
	r.spent += int64(size * len(own) * max(len(fs), 1))
	for cell := range out {
		if cell&0xfff == 0xfff && r.ctx.Err() != nil {
			break
		}
		copy(acc, own)
		out[cell], best[cell] = steps.minimise(fs, acc)
		for j := len(scope) - 1; j >= 0; j-- {
			digit[j]++
			steps.move(j, 1)
			if digit[j] < r.size(scope[j]) {
				break
			}
			steps.move(j, -digit[j])
			digit[j] = 0
		}
	}
	return factor{scope, stride, out}, choice{v, scope, stride, best}
}

// steps walks several factors over the assignments of a scope: at is the offset in each factor, own its stride for the variable that is
// eliminated, by its strides for the scope.
type steps struct {
	at, own []int
	by      [][]int
}

func newSteps(fs []factor, v int32, scope []int32) *steps {
	s := &steps{make([]int, len(fs)), make([]int, len(fs)), make([][]int, len(fs))}
	for f := range fs {
		s.by[f] = make([]int, len(scope))
		for j, u := range fs[f].vars {
			if u == v {
				s.own[f] = fs[f].stride[j]
				continue
			}
			at, _ := slices.BinarySearch(scope, u)
			s.by[f][at] = fs[f].stride[j]
		}
	}
	return s
}

// move changes digit j of the assignment by n.
func (s *steps) move(j, n int) {
	for f := range s.at {
		s.at[f] += n * s.by[f][j]
	}
}

// minimise adds the factors at the current assignment to acc and returns the least sum and its index.
func (s *steps) minimise(fs []factor, acc []int64) (int64, int32) {
	for f := range fs {
		t, at, d := fs[f].v, s.at[f], s.own[f]
		for x := range acc {
			acc[x] = min(acc[x]+t[at], Inf)
			at += d
		}
	}
	a := 0
	for x, c := range acc {
		if c < acc[a] {
			a = x
		}
	}
	if acc[a] > Inf/2 { // a forbidden entry, less some negative costs
		return Inf, int32(a)
	}
	return acc[a], int32(a)
}

package search

import (
	"math"
	"slices"

	"autoshard/internal/diag"
)

// MatrixID names an interned cost matrix of a [Builder].
type MatrixID int32

// maxTotal bounds the sum of the largest absolute costs, and of the largest usages, so that no sum that the solver forms reaches Inf.
const maxTotal = Inf / 4

// Builder collects the parts of a [Problem]. Methods record the first error, and [Builder.Build] returns it.
type Builder struct {
	p      Problem
	intern map[uint64][]MatrixID // by content hash; used for look-ups only
	err    error
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder {
	return &Builder{p: Problem{Off: []int32{0}, MatOff: []int64{0}}, intern: map[uint64][]MatrixID{}}
}

// AddNode adds a node with the cost and the usage of each of its strategies, live in the time steps lo <= t < hi (none if hi <= lo), and
// returns its index. The slices are copied.
func (b *Builder) AddNode(costs, usages []int64, lo, hi int32) int32 {
	i := int32(b.p.NumNodes())
	switch {
	case len(costs) == 0:
		b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "node %d: no strategies", i))
	case len(costs) != len(usages):
		b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "node %d: %d costs, %d usages", i, len(costs), len(usages)))
	case lo < 0 && lo < hi:
		b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "node %d: interval starts before 0", i))
	case slices.Min(usages) < 0:
		b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "node %d: negative usage", i))
	case len(b.p.Cost)+len(costs) > math.MaxInt32:
		b.fail(diag.TooLarge(diag.InputTooLarge, diag.Position{}, "node %d: more than %d strategies in all", i, math.MaxInt32))
	}
	if b.err != nil {
		return i
	}
	b.p.Cost = appendCosts(b.p.Cost, costs)
	b.p.Use = append(b.p.Use, usages...)
	b.p.Off = append(b.p.Off, int32(len(b.p.Cost)))
	b.p.Lo, b.p.Hi = append(b.p.Lo, lo), append(b.p.Hi, hi)
	return i
}

// AddMatrix interns a rows x cols matrix of costs in row-major order: equal matrices get the same identity and are stored once. The slice
// is copied.
func (b *Builder) AddMatrix(rows, cols int, values []int64) MatrixID {
	if b.err == nil && (rows <= 0 || cols <= 0 || len(values)/rows != cols || len(values)%rows != 0) {
		b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "matrix: %d costs, wants %d x %d", len(values), rows, cols))
	}
	if b.err != nil {
		return 0
	}
	h := hashMatrix(rows, cols, values)
	for _, id := range b.intern[h] {
		if b.equalMatrix(id, rows, cols, values) {
			return id
		}
	}
	id := MatrixID(len(b.p.MatRows))
	b.p.MatVal = appendCosts(b.p.MatVal, values)
	b.p.MatOff = append(b.p.MatOff, int64(len(b.p.MatVal)))
	b.p.MatRows, b.p.MatCols = append(b.p.MatRows, int32(rows)), append(b.p.MatCols, int32(cols))
	b.intern[h] = append(b.intern[h], id)
	return id
}

// AddEdge adds an edge between two nodes that exist. The rows of the matrix are the strategies of the first node, the columns those of the
// second. Parallel edges add up. Of an edge from a node to itself only the diagonal can be selected; it joins the node's costs.
func (b *Builder) AddEdge(first, second int32, m MatrixID) {
	b.AddEdgeThrough(first, second, m, nil, nil)
}

// AddEdgeThrough adds an edge of which strategies share rows and columns: the cost of strategies s and t of the two nodes is in row rows[s]
// and column cols[t] of the matrix. A nil map is the identity. The maps are kept, not copied, and may be shared by edges. Message passing
// takes time for the rows and columns, not for pairs of strategies.
func (b *Builder) AddEdgeThrough(first, second int32, m MatrixID, rows, cols []int32) {
	n, e := int32(b.p.NumNodes()), b.p.NumEdges()
	if b.err != nil {
		return
	}
	for _, i := range []int32{first, second} {
		if i < 0 || i >= n {
			b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "edge %d: node %d out of range", e, i))
			return
		}
	}
	if m < 0 || int(m) >= len(b.p.MatRows) {
		b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "edge %d: matrix %d out of range", e, m))
		return
	}
	for _, end := range []struct {
		node int32
		to   []int32
		n    int32
		what string
	}{{first, rows, b.p.MatRows[m], "rows"}, {second, cols, b.p.MatCols[m], "columns"}} {
		if k := b.p.NumStrategies(int(end.node)); !selects(k, end.to, end.n) {
			b.fail(diag.Invalid(diag.BadModel, diag.Position{}, "edge %d: matrix has %d %s, the %d strategies of node %d select others",
				e, end.n, end.what, k, end.node))
			return
		}
	}
	b.p.EA, b.p.EB, b.p.EMat = append(b.p.EA, first), append(b.p.EB, second), append(b.p.EMat, int32(m))
	b.p.ERow, b.p.ECol = append(b.p.ERow, rows), append(b.p.ECol, cols)
	if first == second {
		b.foldDiagonal(e)
	}
}

// selects reports whether a map takes each of k strategies to one of n rows.
func selects(k int, to []int32, n int32) bool {
	if to == nil {
		return k == int(n)
	}
	return len(to) == k && !slices.ContainsFunc(to, func(row int32) bool { return row < 0 || row >= n })
}

// AddConstant adds to the cost of every solution.
func (b *Builder) AddConstant(cost int64) {
	if cost >= Forbidden || cost <= -Forbidden || b.p.Constant+cost >= Forbidden || b.p.Constant+cost <= -Forbidden {
		b.fail(diag.TooLarge(diag.InputTooLarge, diag.Position{}, "constant cost %d too large", cost))
		return
	}
	b.p.Constant += cost
}

// Entries returns how many matrix entries were added, equal matrices counted once.
func (b *Builder) Entries() int { return len(b.p.MatVal) }

// SetLimit sets the most usage allowed at any time step.
func (b *Builder) SetLimit(limit int64) { b.p.Limit, b.p.HasLimit = limit, true }

// Grow makes room for strategies and for matrix entries to come, so that adding them copies nothing.
func (b *Builder) Grow(strategies, entries int) {
	b.p.Cost, b.p.Use = slices.Grow(b.p.Cost, strategies), slices.Grow(b.p.Use, strategies)
	b.p.MatVal = slices.Grow(b.p.MatVal, entries)
}

// Build checks the sums and returns the problem, or the first error: diag.ErrInvalid for bad parts, diag.ErrTooLarge for sums that could
// overflow. The builder must not be used afterwards.
func (b *Builder) Build() (*Problem, error) {
	if b.err == nil {
		b.checkSums()
	}
	if b.err != nil {
		return nil, b.err
	}
	p := b.p
	p.compressTime()
	return &p, nil
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// foldDiagonal takes back edge e, of a node to itself, and adds its diagonal to the costs of the node.
func (b *Builder) foldDiagonal(e int) {
	p := &b.p
	i := p.EA[e]
	for a := range int32(p.NumStrategies(int(i))) {
		c := &p.Cost[p.Off[i]+a]
		d := p.edgeCost(e, a, a)
		switch {
		case *c >= Inf || d >= Inf:
			*c = Inf
		case abs(*c+d) >= Forbidden:
			b.fail(diag.TooLarge(diag.InputTooLarge, diag.Position{}, "node %d: cost %d too large", i, *c+d))
		default:
			*c += d
		}
	}
	p.EA, p.EB, p.EMat, p.ERow, p.ECol = p.EA[:e], p.EB[:e], p.EMat[:e], p.ERow[:e], p.ECol[:e]
}

func (b *Builder) checkSums() {
	p := &b.p
	cost, use := abs(p.Constant), int64(0)
	for i := range p.NumNodes() {
		cost = min(cost+maxFinite(p.Cost[p.Off[i]:p.Off[i+1]]), maxTotal)
		if p.Lo[i] < p.Hi[i] {
			use = addCapped(use, slices.Max(p.Use[p.Off[i]:p.Off[i+1]]))
		}
	}
	largest := make([]int64, len(p.MatRows))
	for m := range largest {
		largest[m] = maxFinite(p.MatVal[p.MatOff[m]:p.MatOff[m+1]])
	}
	for _, m := range p.EMat {
		cost = min(cost+largest[m], maxTotal)
	}
	if cost >= maxTotal {
		b.fail(diag.TooLarge(diag.InputTooLarge, diag.Position{}, "costs too large: the sum of maxima reaches %d", maxTotal))
	}
	if use >= maxTotal {
		b.fail(diag.TooLarge(diag.InputTooLarge, diag.Position{}, "usages too large: the sum of maxima reaches %d", maxTotal))
	}
}

// compressTime fills times, lo and hi.
func (p *Problem) compressTime() {
	n := p.NumNodes()
	p.lo, p.hi = make([]int32, n), make([]int32, n)
	for i := range n {
		if p.Lo[i] < p.Hi[i] {
			p.times = append(p.times, p.Lo[i], p.Hi[i])
		}
	}
	slices.Sort(p.times)
	p.times = slices.Compact(p.times)
	for i := range n {
		if p.Lo[i] < p.Hi[i] {
			lo, _ := slices.BinarySearch(p.times, p.Lo[i])
			hi, _ := slices.BinarySearch(p.times, p.Hi[i])
			p.lo[i], p.hi[i] = int32(lo), int32(hi)
		}
	}
}

func appendCosts(to, costs []int64) []int64 {
	for _, c := range costs {
		to = append(to, normal(c))
	}
	return to
}

// normal reads a cost: everything from Forbidden up means Inf.
func normal(c int64) int64 {
	if c >= Forbidden {
		return Inf
	}
	return c
}

func (b *Builder) equalMatrix(id MatrixID, rows, cols int, values []int64) bool {
	if int(b.p.MatRows[id]) != rows || int(b.p.MatCols[id]) != cols {
		return false
	}
	have := b.p.MatVal[b.p.MatOff[id]:b.p.MatOff[id+1]]
	for i, v := range values {
		if have[i] != normal(v) {
			return false
		}
	}
	return true
}

func hashMatrix(rows, cols int, values []int64) uint64 {
	h := [4]uint64{mix(uint64(rows)<<32 | uint64(cols)), 1, 2, 3} // four at a time, as none waits for the others
	for ; len(values) >= 4; values = values[4:] {
		for i := range h {
			h[i] = mix(h[i] ^ uint64(normal(values[i])))
		}
	}
	for i, v := range values {
		h[i] = mix(h[i] ^ uint64(normal(v)))
	}
	return mix(mix(h[0]^h[1]) ^ mix(h[2]^h[3]<<1))
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// maxFinite returns the largest absolute value below Inf, or Inf if it does not fit the sums.
func maxFinite(values []int64) int64 {
	most := int64(0)
	for _, v := range values {
		if v < Inf {
			most = max(most, abs(v))
		}
	}
	return most
}

// abs returns |v|, at most Inf.
func abs(v int64) int64 {
	if v < 0 {
		return -max(v, -Inf)
	}
	return min(v, Inf)
}

// addCapped adds two non-negative numbers of which the first is at most maxTotal, and caps the sum there.
func addCapped(a, b int64) int64 { return min(a+min(b, maxTotal), maxTotal) }

// addCost adds two costs, either of which may be Inf.
func addCost(a, b int64) int64 {
	if a >= Inf || b >= Inf {
		return Inf
	}
	return a + b
}

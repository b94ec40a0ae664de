package search

import (
	"runtime"
	"slices"

	"autoshard/internal/lists"
)

// exactTable bounds the tables when a whole model is solved by elimination.
const exactTable = 1 << 20

// stage proves bounds on one working model: message passing with prices, values and pairs that cost too much deleted on the way. The
// roundings that fall off are offered as solutions.
type stage struct {
	finder
	w      *work
	dual   *ascent
	region *region
	bound  int64
	tried  int64 // the incumbent's cost and the bound when values were last tried for deletion
	proven int64
	left   []float64 // reparametrised unaries of the last certified sweep

	messages *Messages // where those of the first model are kept, nil if nowhere
}

// newStage compiles the working model. bound is valid for it already; prices and, if not nil, messages are those of an earlier model.
func newStage(s *lane, w *work, bound int64, prices []pricedTime, from *carried) *stage {
	g := &stage{w: w, bound: bound, tried: Inf, proven: -Inf}
	g.s = s
	g.compile(prices, from)
	return g
}

// compile freezes the working model.
func (g *stage) compile(prices []pricedTime, from *carried) {
	m := compile(g.w)
	g.finder = newFinder(g.s, m)
	g.dual, g.region = newAscent(g.s.ctx, m), newRegion(g.s.ctx, m)
	g.left = nil
	if g.w.rough { // there is no other lane
		g.dual.msg.use(min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	}
	if from != nil {
		from.follow(g.w.log)
		g.dual.msg.load(from)
		g.dual.alpha = 0.2
	}
	g.dual.start(prices)
	g.s.charge(2 * m.entries)
}

// over reports whether there is nothing left to do: no solution of the model can be better than the incumbent, or the lane has to stop.
func (g *stage) over() bool { return g.closed() || g.s.done() }

func (g *stage) closed() bool { return g.bound >= Inf || g.s.found && g.bound >= g.s.cost }

func (g *stage) raise(bound int64) { g.bound = max(g.bound, bound) }

// exact solves the model by elimination without prices. The optimum is a bound; it is the solution if it fits. It reports whether the model
// is settled.
func (g *stage) exact(limit int64) bool {
	x, value, ok := g.region.solve(lists.Range[int32](len(g.m.node)), nil, g.m.unary, limit)
	g.s.charge(g.region.takeSpent())
	if !ok {
		return false
	}
	if value >= Inf {
		g.w.proveOrder(g.m, g.region.order, Inf)
		g.bound = Inf
		return true
	}
	g.w.proveOrder(g.m, g.region.order, value+g.m.constant)
	g.raise(value + g.m.constant)
	if g.m.usage(x, g.use) <= 0 {
		g.s.offer(g.m.solution(x), "elimination")
		return true
	}
	return g.closed()
}

// settle handles models that need no search: empty ones and those that elimination solves. It reports whether the model is settled.
func (g *stage) settle() bool {
	if len(g.m.node) == 0 {
		g.w.proveBound(g.m, nil, g.m.constant)
		g.raise(g.m.constant)
		g.s.offer(g.m.solution(nil), "reduction")
		return true
	}
	return g.exact(min(g.s.table, 64*g.m.entries+1024))
}

// ascend runs n steps of the dual, offers its roundings, in a rough search only the last one, and certifies the bound.
func (g *stage) ascend(n int) {
	for range n {
		if g.s.done() {
			break
		}
		g.dual.step(g.s.cost)
		g.s.charge(g.dual.spent)
		g.dual.spent = 0
		if !g.w.rough {
			g.consider(g.dual.x, "rounding")
		}
	}
	if g.w.rough && g.dual.iter > 0 {
		g.consider(g.dual.x, "rounding")
	}
	if g.s.ctx.Err() == nil || g.bound == -Inf {
		g.certify()
	}
}

// certify sweeps with the best prices so far and takes the integer bound; with an incumbent it also deletes what cannot lead to a better
// solution (rule P11).
func (g *stage) certify() {
	msg := g.dual.msg
	now := slices.Clone(msg.price)
	copy(msg.price, g.dual.prices)
	msg.setPrices()
	g.dual.sweep(nil)
	c := msg.certify()
	g.s.charge(g.dual.spent + 2*g.m.entries)
	g.dual.spent = 0
	g.left = msg.left
	copy(msg.price, now)
	msg.setPrices()
	if c == nil {
		return
	}
	g.w.proveBound(g.m, c, c.bound)
	g.raise(c.bound)
	if g.messages != nil {
		g.messages.keep(g.dual, g.s.p, g.w.log)
	}
	// Looking for what to delete costs as much as a sweep or two: only if the gap has closed by a fifth.
	if g.s.ctx.Err() == nil && !g.w.rough && g.s.found && !g.closed() && 5*(g.s.cost-c.bound) <= 4*(g.tried-g.proven) {
		g.tried, g.proven = g.s.cost, c.bound
		g.s.charge(2 * g.m.entries)
		g.fix(c)
	}
}

// fix deletes the values and pairs that cost more than the incumbent, and compiles anew, if that is worth it.
func (g *stage) fix(c *certificate) {
	x := c.exclude(g.s.ctx, g.s.cost)
	if x == nil || 20*x.values < len(x.value) && 8*x.pairs < x.finite {
		return
	}
	from := g.dual.msg.carry(g.m.node, len(g.w.cells), len(g.w.log))
	g.w.proveFix(g.s.cost)
	for id, gone := range x.pair {
		if gone != nil {
			e := &g.m.arcs[id]
			g.w.forbid(g.m.node[e.a], g.m.node[e.b], e, gone)
		}
	}
	for i, node := range g.m.node {
		gone := x.value[g.m.off[i]:g.m.off[i+1]]
		g.w.prune(node, func(a int) bool { return gone[a] }, nil)
	}
	g.reduce(from)
}

// forbid makes pairs of classes of an arc's values, which are those of the nodes a and b, forbidden.
func (w *work) forbid(a, b int32, e *arc, gone []bool) {
	v := slices.Clone(e.t.v)
	for entry := range v {
		if gone[entry] {
			v[entry] = Inf
		}
	}
	w.replace(w.pairs[pairKey(a, b)], link{a: a, b: b, m: &matrix{int32(e.t.kb), v}, ra: e.pa, rb: e.pb})
}

// reduce runs the reductions and compiles the model again.
func (g *stage) reduce(from *carried) {
	g.messages = nil
	g.s.reduce(g.w)
	switch {
	case g.s.cut || g.s.ctx.Err() != nil:
	case g.w.failed != nil:
		g.bound = Inf
	default:
		g.compile(g.dual.pricesByTime(), from)
		g.settle()
	}
}

package search

import (
	"cmp"
	"slices"

	"autoshard/internal/lists"
)

const (
	openBytes   = 1 << 30 // of the open nodes of the tree, if nothing else is said
	probeRounds = 12      // rounds of the dual at one visit of a node
	leastRounds = 2       // those that need not show progress
)

// openNodeBytes is what a cell or a link of an open node takes.
const openNodeBytes = 256

// treeNode is an open node of the tree: a working model, a bound that it inherits, and prices and messages to start from.
type treeNode struct {
	w      *work
	number int
	bound  int64
	prices []pricedTime
	from   *carried
	bytes  int64
}

// tree is branch and bound on a working model, best bound first, so that the bound of the whole rises with every node. The two lanes work
// on a node each.
type tree struct {
	s      *solver
	open   []*treeNode
	count  int
	closed int64 // least bound of the nodes that are done
	bytes  int64 // of the open nodes
	proof  int   // numbers recorded
}

// newTree makes a tree for what the stage has left open.
func newTree(s *solver, g *stage) *tree {
	root := g.w.compact()
	g.w.proveTree(root)
	same := lists.Range[int32](len(g.m.node))
	t := &tree{s: s, closed: Inf}
	t.push(&treeNode{w: root, bound: g.bound, prices: g.dual.pricesByTime(), from: g.dual.msg.carry(same, len(same), 0)})
	return t
}

// bound returns what the tree has proven: the least bound of its nodes.
func (t *tree) bound() int64 {
	least := t.closed
	for _, n := range t.open {
		least = min(least, n.bound)
	}
	return least
}

func (t *tree) push(n *treeNode) {
	n.number = t.count
	t.count++
	n.bytes = openNodeBytes * int64(len(n.w.links)+len(n.w.cells))
	t.bytes += n.bytes
	t.open = append(t.open, n)
	if n.w.proof != nil {
		n.w.proof.words = new(int) // lanes must not share a counter
	}
}

// pop takes out the node to work on next: that of least bound, or the newest while a solution is wanted or memory is short. It is nil if
// there is none.
func (t *tree) pop() *treeNode {
	if len(t.open) == 0 {
		return nil
	}
	deep := !t.s.found || t.bytes > t.s.memory
	n := slices.MinFunc(t.open, func(a, b *treeNode) int {
		newer := cmp.Compare(b.number, a.number)
		if deep {
			return newer
		}
		return cmp.Or(cmp.Compare(a.bound, b.bound), newer)
	})
	t.open = slices.DeleteFunc(t.open, func(o *treeNode) bool { return o == n })
	t.bytes -= n.bytes
	return n
}

// finish takes back a node that was visited: its children are open, or it is done.
func (t *tree) finish(n *treeNode, children []*treeNode) {
	if n == nil {
		return
	}
	if n.w.proof != nil {
		t.proof += *n.w.proof.words
	}
	for _, c := range children {
		t.push(c)
	}
	if len(children) == 0 {
		t.closed = min(t.closed, n.bound)
	}
}

// visit works on a node in a lane and returns its children: none if it is done, the node itself if the lane had to stop.
func (n *treeNode) visit(l *lane) []*treeNode {
	l.reduce(n.w)
	if n.w.failed != nil {
		n.bound = Inf
		return nil
	}
	if l.done() {
		return []*treeNode{n}
	}
	g := newStage(l, n.w, n.bound, n.prices, n.from)
	settled := g.settle() || len(g.m.node) == 0
	if !settled {
		settled = g.probe()
	}
	n.bound = g.bound
	if settled || g.closed() {
		return nil
	}
	n.prices = g.dual.pricesByTime()
	if l.done() {
		n.from = g.dual.msg.carry(g.m.node, len(g.w.cells), len(g.w.log))
		return []*treeNode{n}
	}
	return n.divide(g)
}

// probe runs the dual as long as it promises to close the model. It reports whether nothing is left to search.
func (g *stage) probe() bool {
	for round := range probeRounds {
		bound, m := g.bound, g.m
		g.ascend(10)
		if g.over() || len(g.m.node) == 0 {
			return g.closed() || len(g.m.node) == 0
		}
		if g.m == m && round >= leastRounds && (!g.s.found || g.bound-bound < (g.s.cost-g.bound)/8) {
			break
		}
	}
	return false
}

// divide splits the node in two.
func (n *treeNode) divide(g *stage) []*treeNode {
	cut := g.split(n.number)
	i, in := cut.node, cut.in
	near, far := g.w.compact(), g.w.compact()
	g.w.proveCases(g.m.node[i], in, near, far)
	g.s.charge(2 * cloneSteps * int64(len(near.cells)+len(near.links)))
	same := lists.Range[int32](len(g.m.node))
	child := func(w *work, keep bool) *treeNode {
		w.prune(i, func(a int) bool { return in[a] != keep }, nil)
		return &treeNode{w: w, bound: n.bound, prices: n.prices, from: g.dual.msg.carry(same, len(same), 0)}
	}
	return []*treeNode{child(far, false), child(near, true)}
}

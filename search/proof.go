package search

import "slices"

// proof records the reductions of a working model and the bounds proven of it, for a certificate (solver.md section 4.6). The methods of
// work that record do nothing if proof is nil.
type proof struct {
	times []int32 // of the problem
	words *int    // numbers recorded
	steps []proofStep
	// The proof may go on by cases: the values of node are divided into parts, with a proof each.
	node  int32
	parts [][]int32
	cases []*proof
}

// proofWords bounds the numbers that the proofs of one tree record. Beyond it branching stops.
const proofWords = 1 << 26

type proofKind uint8

const (
	proveRow      proofKind = iota // value n[1] of node n[0] has no partner in node n[2]
	proveMemory                    // value n[1] of node n[0] does not fit at time n[2]
	proveDominant                  // value n[1] of node n[0] is no better than n[2]
	provePair                      // values n[1] of node n[0] and n[3] of n[2] do not fit together at time n[4]
	proveMerge                     // node n[1] follows n[0]
	proveSeparate                  // the link of nodes n[0] and n[1] is a sum
	proveOut                       // node n[0] is eliminated
	proveImplied                   // what fits at time n[1] fits at time n[0]
	proveFull                      // nothing fits at time n[0]
	proveFix                       // by the bound before, values and pairs go that lead above cost
	proveBound                     // bound, by block; a nil block is the sum of the least entries
	proveOrder                     // bound, by eliminating the nodes of order
	proveTree                      // bound, by the proof tree
	proveNone                      // nothing is left
)

// proofStep is one entry of a proof, in nodes, values and times of the problem.
type proofStep struct {
	kind  proofKind
	n     [5]int32
	cost  int64
	bound int64
	block *proofBlock
	order []int32
	tree  *proof
}

// proofBlock is a certified bound of a model: messages and prices in the unit 2^-q.
type proofBlock struct {
	q     uint
	times []int32
	price []int64 // of times
	arcs  []proofArc
	mu    []int64
}

// proofArc is an arc between nodes of the problem, with the place of its messages.
type proofArc struct{ a, b, toA, toB, end int32 }

// prove starts to record. The working model must be as newWork made it.
func (w *work) prove(p *Problem) {
	w.proof = &proof{times: p.times, words: new(int)}
	w.proof.add(proofStep{kind: proveBound, bound: p.leastCost()})
	all := make([]int32, 0, len(p.Cost))
	for i := range w.cells {
		start := len(all)
		for a := range int32(p.NumStrategies(i)) {
			if p.Cost[p.Off[i]+a] < Inf {
				all = append(all, a)
			}
		}
		w.cells[i].name, w.cells[i].orig = int32(i), all[start:len(all):len(all)]
	}
	if w.failed != nil {
		w.proveFailed()
	}
}

// fork returns an empty proof that goes on where p ends; nil if p is nil.
func (p *proof) fork() *proof {
	if p == nil {
		return nil
	}
	return &proof{times: p.times, words: p.words}
}

func (p *proof) add(s proofStep) {
	p.steps = append(p.steps, s)
	*p.words++
}

func (w *work) step(kind proofKind, n ...int32) {
	s := proofStep{kind: kind}
	copy(s.n[:], n)
	w.proof.add(s)
}

func (w *work) time(t int32) int32 { return w.proof.times[w.point[t]] }

// proveRows records that the values without allowed entries in link e go.
func (w *work) proveRows(e int32, rows, cols []int32) {
	if w.proof == nil {
		return
	}
	a, b := &w.cells[w.links[e].a], &w.cells[w.links[e].b]
	for x, allowed := range rows {
		if allowed == 0 {
			w.step(proveRow, a.name, a.orig[x], b.name)
		}
	}
	for y, allowed := range cols {
		if allowed == 0 {
			w.step(proveRow, b.name, b.orig[y], a.name)
		}
	}
}

// proveNodes records a step that names one or two nodes.
func (w *work) proveNodes(kind proofKind, nodes ...int32) {
	if w.proof == nil {
		return
	}
	n := make([]int32, len(nodes))
	for j, i := range nodes {
		n[j] = w.cells[i].name
	}
	w.step(kind, n...)
}

// proveDominated records that value b of node i goes because a is as good.
func (w *work) proveDominated(i int32, b, a int) {
	if w.proof != nil {
		c := &w.cells[i]
		w.step(proveDominant, c.name, c.orig[b], c.orig[a])
	}
}

// proveFix records that all values and pairs of values go which, by the bound just recorded, lead to more than cost.
func (w *work) proveFix(cost int64) {
	if w.proof != nil {
		w.proof.add(proofStep{kind: proveFix, cost: cost})
	}
}

// proveOverfull records that the bad values of node i do not fit.
func (w *work) proveOverfull(i int32, bad []bool, top *rangeMax) {
	if w.proof == nil {
		return
	}
	c := &w.cells[i]
	for a := range bad {
		for _, it := range c.items {
			if worst := top.max(it.s, it.e); bad[a] && it.use[a] > w.limit-worst {
				w.step(proveMemory, c.name, c.orig[a], w.time(it.s+int32(slices.Index(w.base[it.s:it.e], worst))))
				break
			}
		}
	}
}

// proveCollision records that value x of node i and y of j do not fit together.
func (w *work) proveCollision(i int32, x int, j int32, y int, top *rangeMax) {
	if w.proof == nil {
		return
	}
	p, q := &w.cells[i], &w.cells[j]
	for _, f := range p.items {
		for _, g := range q.items {
			s, e := max(f.s, g.s), min(f.e, g.e)
			if s >= e {
				continue
			}
			if worst := top.max(s, e); f.use[x]+g.use[y] > w.limit-worst {
				w.step(provePair, p.name, p.orig[x], q.name, q.orig[y], w.time(s+int32(slices.Index(w.base[s:e], worst))))
				return
			}
		}
	}
}

// proveImplied records that whatever fits at time point k fits at t, too.
func (w *work) proveImplied(t, k int32) {
	if w.proof != nil {
		w.step(proveImplied, w.time(t), w.time(k))
	}
}

// proveFailed records that the model has no solution: a node ran out of values or, at a time point t >= 0, nothing fits.
func (w *work) proveFailed(t ...int32) {
	if w.proof == nil {
		return
	}
	for _, t := range t {
		w.step(proveFull, w.time(t))
	}
	w.proof.add(proofStep{kind: proveNone, bound: Inf})
}

// proveBound records a bound of the compiled model m; c is nil if the bound is the sum of its least entries. Of the bounds that no proveFix
// refers to only the best is kept.
func (w *work) proveBound(m *model, c *certificate, bound int64) {
	if w.proof == nil {
		return
	}
	s := proofStep{kind: proveBound, bound: bound}
	if c != nil {
		s.block = newProofBlock(w, m, c)
		*w.proof.words += len(c.mu)
	}
	steps := w.proof.steps
	if n := len(steps); n > 1 && steps[n-1].kind == proveBound && steps[n-2].kind == proveBound {
		drop := n - 1
		if steps[n-2].bound < steps[n-1].bound {
			drop = n - 2
		}
		if b := steps[drop].block; b != nil {
			*w.proof.words -= len(b.mu)
		}
		w.proof.steps = slices.Delete(steps, drop, drop+1)
	}
	w.proof.add(s)
}

func newProofBlock(w *work, m *model, c *certificate) *proofBlock {
	if m.proofArcs == nil {
		for i := range m.arcs {
			e := &m.arcs[i]
			m.proofArcs = append(m.proofArcs, proofArc{w.cells[m.node[e.a]].name, w.cells[m.node[e.b]].name, e.toA, e.toB, e.toB + int32(e.t.kb)})
		}
	}
	b := &proofBlock{q: c.q, arcs: m.proofArcs, mu: c.mu}
	for t := range m.base {
		if v := c.price[t+1] - c.price[t]; v > 0 {
			b.times, b.price = append(b.times, w.time(int32(t))), append(b.price, v)
		}
	}
	return b
}

// proveOrder records the optimum of model m without prices, by eliminating its nodes in an order.
func (w *work) proveOrder(m *model, order []int32, bound int64) {
	if w.proof == nil {
		return
	}
	s := proofStep{kind: proveOrder, bound: bound}
	for _, i := range order {
		s.order = append(s.order, w.cells[m.node[i]].name)
	}
	w.proof.add(s)
}

// proveCases records that the proof goes on in two copies of the working model: one where node i takes a value in the set, one where it
// does not.
func (w *work) proveCases(i int32, in []bool, one, other *work) {
	if w.proof == nil {
		return
	}
	c := &w.cells[i]
	w.proof.node, w.proof.cases, w.proof.parts = c.name, []*proof{one.proof, other.proof}, make([][]int32, 2)
	for a, name := range c.orig {
		part := 1
		if in[a] {
			part = 0
		}
		w.proof.parts[part] = append(w.proof.parts[part], name)
	}
}

// proveTree records what branching on a copy of the model has proven.
func (w *work) proveTree(tree *work) {
	if w.proof != nil {
		w.proof.add(proofStep{kind: proveTree, tree: tree.proof})
	}
}

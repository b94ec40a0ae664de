package iopddl

import (
	"autoshard/internal/diag"
	"autoshard/search"
)

// builder makes a problem of what a decoder has checked.
type builder struct {
	*decoder
	*search.Builder
	matrices []shaped // by number in the pool
	ties     map[tie]search.MatrixID
	nodes    []int64 // of the current edge
	values   []int64 // of the current list
}

// shaped is a list of costs as a matrix with this number of rows; 0 rows if it has not been one yet.
type shaped struct {
	rows int32
	id   search.MatrixID
}

// tie is the matrix between a node and an auxiliary node whose strategies are combinations: as the index of a combination grows by stride,
// the node's strategy grows by 1.
type tie struct{ combinations, stride, strategies int }

// build makes the problem. Edges with one node become part of the node's costs, those with none are constant.
func (d *decoder) build() (*search.Problem, error) {
	b := &builder{decoder: d, Builder: search.NewBuilder(), matrices: make([]shaped, len(d.matrices.pool.text)),
		ties: map[tie]search.MatrixID{}}
	d.matrices.pool.find = nil
	b.Grow(sum(d.costs.counts), sum(d.matrices.pool.counts))
	b.addNodes(b.unaryEdges())
	b.addEdges()
	if d.hasLimit {
		b.SetLimit(d.limit)
	}
	if d.err != nil {
		return nil, d.err
	}
	p, err := b.Build()
	if err != nil {
		return nil, diag.InFile(err, d.file)
	}
	return p, nil
}

func sum(counts []int32) int {
	total := 0
	for _, n := range counts {
		total += int(n)
	}
	return total
}

// unary is an edge of one node: where it stands, and its costs in the pool.
type unary struct {
	edge int
	at   int64
	id   int32
}

// unaryEdges returns the edges of one node, by node, and adds up those of none.
func (b *builder) unaryEdges() map[int64][]unary {
	out := map[int64][]unary{}
	pairs, matrices := b.pairs.cursor(), b.decoder.matrices.cursor()
	for e := range b.pairs.len {
		pairs.next()
		matrices.next()
		b.nodes = pairs.numbers(b.nodes[:0])
		switch len(b.nodes) {
		case 0:
			b.values = matrices.numbers(b.values[:0])
			b.AddConstant(b.values[0])
		case 1:
			out[b.nodes[0]] = append(out[b.nodes[0]], unary{e, matrices.at, matrices.id})
		}
	}
	return out
}

func (b *builder) addNodes(unaries map[int64][]unary) {
	intervals, costs, usages := b.intervals.cursor(), b.costs.cursor(), b.usages.cursor()
	var cost, usage []int64
	for i := range b.costs.len {
		intervals.next()
		costs.next()
		usages.next()
		span := intervals.numbers(b.values[:0])
		lo, hi := span[0], span[1]
		if lo >= hi {
			lo, hi = 0, 0
		}
		b.values = span
		cost, usage = costs.numbers(cost[:0]), usages.numbers(usage[:0])
		for _, u := range unaries[int64(i)] {
			b.addUnary(cost, u)
		}
		b.AddNode(cost, usage, int32(lo), int32(hi))
	}
	b.intervals.tape, b.costs.tape, b.usages.tape = tape{}, tape{}, tape{}
}

// addUnary adds the costs of an edge of one node to those of the node.
func (b *builder) addUnary(cost []int64, u unary) {
	b.values, _, _ = parseList(b.values[:0], b.decoder.matrices.pool.text[u.id])
	for a, c := range b.values {
		sum := cost[a] + c
		switch {
		case cost[a] >= search.Forbidden || c >= search.Forbidden:
			cost[a] = search.Inf
		case c <= -search.Forbidden || cost[a] <= -search.Forbidden || sum >= search.Forbidden:
			if b.err == nil {
				b.err = diag.TooLarge(diag.InputTooLarge, b.lines.position(b.file, u.at), "edge %d: cost %d too large", u.edge, c)
			}
		default:
			cost[a] = sum
		}
	}
}

func (b *builder) addEdges() {
	pairs, matrices := b.pairs.cursor(), b.decoder.matrices.cursor()
	for range b.pairs.len {
		pairs.next()
		matrices.next()
		b.nodes = pairs.numbers(b.nodes[:0])
		switch len(b.nodes) {
		case 0, 1:
		case 2:
			b.AddEdge(int32(b.nodes[0]), int32(b.nodes[1]), b.matrix(matrices, b.costs.counts[b.nodes[0]]))
		default:
			b.values = matrices.numbers(b.values[:0])
			b.addHyperedge()
		}
	}
}

// matrix returns the current list of costs as a matrix. A text that comes again with the same shape is not read again.
func (b *builder) matrix(c *cursor, rows int32) search.MatrixID {
	m := &b.matrices[c.id]
	if m.rows != rows {
		b.values = c.numbers(b.values[:0])
		*m = shaped{rows, b.AddMatrix(int(rows), len(b.values)/int(rows), b.values)}
	}
	return m.id
}

// addHyperedge adds an edge of three or more nodes as an auxiliary node that has a strategy for every combination, tied to each of the
// nodes by forbidding what does not agree. The last listed node is the fastest index.
func (b *builder) addHyperedge() {
	n := len(b.values)
	aux := b.AddNode(b.values, make([]int64, n), 0, 0)
	stride := n
	for _, i := range b.nodes {
		k := int(b.costs.counts[i])
		stride /= k
		b.AddEdge(aux, int32(i), b.tie(tie{n, stride, k}))
	}
}

// tie returns the matrix that forbids what does not agree.
func (b *builder) tie(t tie) search.MatrixID {
	id, known := b.ties[t]
	if !known {
		values := make([]int64, t.combinations*t.strategies)
		for c := range t.combinations {
			for a := range t.strategies {
				if c/t.stride%t.strategies != a {
					values[c*t.strategies+a] = search.Inf
				}
			}
		}
		id = b.AddMatrix(t.combinations, t.strategies, values)
		b.ties[t] = id
	}
	return id
}

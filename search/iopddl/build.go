package iopddl

import (
	"autoshard/internal/diag"
	"autoshard/search"
)

// maxCombinations bounds the strategies of an auxiliary node.
const maxCombinations = 4096

// build makes the problem. Edges with one node are part of the node's costs, those with none are constant.
func (d *decoder) build() (*Instance, error) {
	for e := range d.pairs.len() {
		if err := d.checkEdge(e); err != nil {
			return nil, err
		}
	}
	b := search.NewBuilder()
	if err := d.addUnary(b); err != nil {
		return nil, err
	}
	n := d.intervals.len()
	for i := range n {
		lo, hi := int32(0), int32(0)
		if iv := d.intervals.at(i); iv[0] < iv[1] {
			lo, hi = int32(iv[0]), int32(iv[1])
		}
		b.AddNode(d.costs.at(i), d.usages.at(i), lo, hi)
	}
	for e := range d.pairs.len() {
		switch nodes, costs := d.pairs.at(e), d.matrices.at(e); len(nodes) {
		case 0, 1:
		case 2:
			rows := len(d.costs.at(int(nodes[0])))
			b.AddEdge(int32(nodes[0]), int32(nodes[1]), b.AddMatrix(rows, len(costs)/rows, costs))
		default:
			d.addHyperedge(b, nodes, costs)
		}
	}
	if d.hasLimit {
		b.SetLimit(d.limit)
	}
	p, err := b.Build()
	if err != nil {
		return nil, err
	}
	return &Instance{d.name, p, n}, nil
}

// checkEdge checks the nodes and the number of costs of edge e.
func (d *decoder) checkEdge(e int) error {
	nodes, want := d.pairs.at(e), 1
	for _, i := range nodes {
		if i < 0 || i >= int64(d.costs.len()) {
			return diag.Invalid(diag.BadModel, diag.Position{}, "edge %d: node %d out of range", e, i)
		}
		k := len(d.costs.at(int(i)))
		if k == 0 {
			return diag.Invalid(diag.BadModel, diag.Position{}, "node %d: no strategies", i)
		}
		if want *= k; len(nodes) > 2 && want > maxCombinations {
			return diag.Unsupported(diag.NotSupported, diag.Position{}, "edge %d: arity %d not supported at this size, more than %d combinations",
				e, len(nodes), maxCombinations)
		}
	}
	if got := len(d.matrices.at(e)); got != want {
		return diag.Invalid(diag.BadModel, diag.Position{}, "edge %d: %d costs, wants %d", e, got, want)
	}
	return nil
}

// addUnary adds edges with at most one node.
func (d *decoder) addUnary(b *search.Builder) error {
	for e := range d.pairs.len() {
		nodes, costs := d.pairs.at(e), d.matrices.at(e)
		switch len(nodes) {
		case 0:
			b.AddConstant(costs[0])
		case 1:
			unary := d.costs.at(int(nodes[0]))
			for a, c := range costs {
				sum := unary[a] + c
				switch {
				case unary[a] >= search.Forbidden || c >= search.Forbidden:
					unary[a] = search.Inf
				case c <= -search.Forbidden || unary[a] <= -search.Forbidden || sum >= search.Forbidden:
					return diag.TooLarge(diag.InputTooLarge, diag.Position{}, "edge %d: cost %d too large", e, c)
				default:
					unary[a] = sum
				}
			}
		}
	}
	return nil
}

// addHyperedge adds an edge of three or more nodes as an auxiliary node that has a strategy for every combination, tied to each of the nodes
// by forbidding what does not agree. The last listed node is the fastest index.
func (d *decoder) addHyperedge(b *search.Builder, nodes, costs []int64) {
	aux := b.AddNode(costs, make([]int64, len(costs)), 0, 0)
	stride := len(costs)
	for _, i := range nodes {
		k := len(d.costs.at(int(i)))
		stride /= k
		tie := make([]int64, len(costs)*k)
		for c := range costs {
			for a := range k {
				if c/stride%k != a {
					tie[c*k+a] = search.Inf
				}
			}
		}
		b.AddEdge(aux, int32(i), b.AddMatrix(len(costs), k, tie))
	}
}

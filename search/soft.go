package search

import (
	"slices"

	"autoshard/internal/diag"
)

// Soft returns the problem in which a forbidden entry is not excluded but costs the given price, more than all other costs can differ
// together: its solutions of least cost use as few forbidden entries as possible and, among those, cost least (solver.md section 4.9). It
// is for formats in which forbidden entries are merely dear. The cost of a solution is its number of forbidden entries times the price
// plus the cost of the rest. It fails with diag.ErrTooLarge if the price of all nodes and edges together would overflow.
func (p *Problem) Soft() (soft *Problem, price int64, err error) {
	spread, places := int64(1), int64(p.NumNodes()+p.NumEdges())
	for i := range p.NumNodes() {
		spread += finiteSpread(p.Cost[p.Off[i]:p.Off[i+1]])
	}
	matrices := make([]int64, len(p.MatRows))
	for m := range matrices {
		matrices[m] = finiteSpread(p.MatVal[p.MatOff[m]:p.MatOff[m+1]])
	}
	for _, m := range p.EMat {
		spread += matrices[m]
	}
	if spread >= Forbidden || spread > maxTotal/(4*max(places, 1)) {
		return nil, 0, diag.TooLarge(diag.InputTooLarge, diag.Position{},
			"costs too large to count forbidden entries: they differ by up to %d in all", spread)
	}
	q := *p
	q.Cost, q.MatVal = pricedForbidden(p.Cost, spread), pricedForbidden(p.MatVal, spread)
	return &q, spread, nil
}

// finiteSpread returns the difference of the largest and the least allowed cost, counting at least 0 as allowed.
func finiteSpread(costs []int64) int64 {
	least, most := int64(0), int64(0)
	for _, c := range costs {
		if c < Inf {
			least, most = min(least, c), max(most, c)
		}
	}
	return most - least
}

func pricedForbidden(costs []int64, price int64) []int64 {
	out := slices.Clone(costs)
	for i, c := range out {
		if c >= Inf {
			out[i] = price
		}
	}
	return out
}

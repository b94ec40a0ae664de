package search

import (
	"slices"

	"autoshard/internal/diag"
)

// Inf is the cost of a forbidden strategy or pair of strategies. A [Builder] reads every cost of at least [Forbidden] as Inf
// (solver.md section 1.5). A solution that selects a forbidden entry is not a solution.
const Inf int64 = 1_000_000_000_000_000_000

// Forbidden is the smallest cost that a [Builder] reads as [Inf].
const Forbidden int64 = Inf / 10

// Problem is an immutable selection problem in flat arrays (solver.md section 4.2), made by a [Builder]; treat the fields as read-only.
//
// The strategies of node i are Off[i] to Off[i+1] of Cost and Use. Use counts in every time step t with Lo[i] <= t < Hi[i]. Edge e costs
// MatVal[MatOff[m] + r*MatCols[m] + c] with m = EMat[e] if node EA[e] takes a strategy of row r and node EB[e] one of column c: strategy
// a has row ERow[e][a], b column ECol[e][b], or their own numbers where the map is nil.
type Problem struct {
	Off       []int32
	Cost, Use []int64
	Lo, Hi    []int32

	EA, EB, EMat     []int32
	ERow, ECol       [][]int32
	MatOff           []int64
	MatVal           []int64
	MatRows, MatCols []int32

	Constant int64 // part of the cost of every solution
	Limit    int64 // most usage allowed at any time step; counts only if HasLimit
	HasLimit bool

	// Compressed time: times holds the distinct ends of non-empty intervals, and interval i is [lo[i], hi[i]) in indices of times.
	times  []int32
	lo, hi []int32
}

// NumNodes returns the number of nodes.
func (p *Problem) NumNodes() int { return len(p.Lo) }

// NumEdges returns the number of edges; parallel edges count one by one.
func (p *Problem) NumEdges() int { return len(p.EA) }

// NumStrategies returns the number of strategies of node i.
func (p *Problem) NumStrategies(i int) int { return int(p.Off[i+1] - p.Off[i]) }

// sharesRows reports whether an edge says which strategies share rows or columns.
func (p *Problem) sharesRows() bool {
	given := func(to []int32) bool { return to != nil }
	return slices.ContainsFunc(p.ERow, given) || slices.ContainsFunc(p.ECol, given)
}

// WithLimit returns the same problem with another usage limit. The arrays are shared.
func (p *Problem) WithLimit(limit int64) *Problem {
	q := *p
	q.Limit, q.HasLimit = limit, true
	return &q
}

// WithoutLimit returns the same problem without a usage limit. The arrays are shared.
func (p *Problem) WithoutLimit() *Problem {
	q := *p
	q.Limit, q.HasLimit = 0, false
	return &q
}

// Evaluate returns the exact cost of a solution and its peak, the largest usage at any time step. It fails with diag.ErrInvalid if the
// solution has the wrong length or an index out of range, and with diag.ErrInfeasible if it selects a forbidden entry. The limit is not
// checked: compare the peak with p.Limit. Sums cannot overflow because [Builder.Build] bounds them.
func (p *Problem) Evaluate(solution []int32) (cost, peak int64, err error) {
	if len(solution) != p.NumNodes() {
		return 0, 0, diag.Invalid(diag.BadInputs, diag.Position{}, "solution has %d entries, the problem has %d nodes", len(solution),
			p.NumNodes())
	}
	cost = p.Constant
	for i, a := range solution {
		if a < 0 || int(a) >= p.NumStrategies(i) {
			return 0, 0, diag.Invalid(diag.BadInputs, diag.Position{}, "node %d: strategy %d out of range, it has %d", i, a, p.NumStrategies(i))
		}
		c := p.Cost[p.Off[i]+a]
		if c >= Inf {
			return 0, 0, diag.Infeasible(diag.NoPlan, diag.Position{}, "node %d: strategy %d is forbidden", i, a)
		}
		cost += c
	}
	for e, a := range p.EA {
		c := p.edgeCost(e, solution[a], solution[p.EB[e]])
		if c >= Inf {
			return 0, 0, diag.Infeasible(diag.NoPlan, diag.Position{}, "edge %d: strategies %d of node %d and %d of node %d exclude each other",
				e, solution[a], a, solution[p.EB[e]], p.EB[e])
		}
		cost += c
	}
	return cost, slices.Max(append(p.profile(solution), 0)), nil
}

// EdgeCosts returns the costs of edge e for every pair of strategies of its ends, in row-major order.
func (p *Problem) EdgeCosts(e int) []int64 {
	ka, kb := p.NumStrategies(int(p.EA[e])), p.NumStrategies(int(p.EB[e]))
	costs := make([]int64, 0, ka*kb)
	for a := range int32(ka) {
		for b := range int32(kb) {
			costs = append(costs, p.edgeCost(e, a, b))
		}
	}
	return costs
}

func (p *Problem) edgeCost(e int, a, b int32) int64 {
	m := p.EMat[e]
	return p.MatVal[p.MatOff[m]+int64(through(p.ERow[e], a))*int64(p.MatCols[m])+int64(through(p.ECol[e], b))]
}

// through returns m[a]; a nil map is the identity.
func through(m []int32, a int32) int32 {
	if m == nil {
		return a
	}
	return m[a]
}

// profile returns the usage at every compressed time step.
func (p *Problem) profile(solution []int32) []int64 {
	use := make([]int64, len(p.times)+1)
	for i, a := range solution {
		if p.lo[i] < p.hi[i] {
			u := p.Use[p.Off[i]+a]
			use[p.lo[i]] += u
			use[p.hi[i]] -= u
		}
	}
	for t := 1; t < len(use); t++ {
		use[t] += use[t-1]
	}
	return use
}

// within reports whether a peak respects the limit.
func (p *Problem) within(peak int64) bool { return !p.HasLimit || len(p.times) == 0 || peak <= p.Limit }

// leastCost returns the sum of the least entries of all nodes and edges: a bound on every solution, if a weak one.
func (p *Problem) leastCost() int64 {
	least := func(costs []int64) int64 {
		if m := slices.Min(costs); m < Forbidden {
			return m
		}
		return 0
	}
	total := p.Constant
	for i := range p.NumNodes() {
		total += least(p.Cost[p.Off[i]:p.Off[i+1]])
	}
	matrices := make([]int64, len(p.MatRows))
	for m := range matrices {
		matrices[m] = least(p.MatVal[p.MatOff[m]:p.MatOff[m+1]])
	}
	for _, m := range p.EMat {
		total += matrices[m]
	}
	return total
}

package space

import (
	"math/bits"

	"autoshard/ir"
	"autoshard/search"
)

// share is runs/among: how often a step surely pays a price, where one of several branches runs.
type share struct{ runs, among int64 }

// of returns that part of a price, rounded down, which is at most what is forbidden.
func (h share) of(price int64) int64 {
	negative := price < 0
	if negative {
		price = -price
	}
	hi, lo := bits.Mul64(uint64(price), uint64(h.runs))
	part, rest := uint64(search.Forbidden), uint64(0)
	if hi < uint64(h.among) {
		part, rest = bits.Div64(hi, lo, uint64(h.among))
	}
	switch {
	case part >= uint64(search.Forbidden):
		part = uint64(search.Forbidden)
	case negative && rest > 0:
		part++
	}
	if negative {
		return -int64(part)
	}
	return int64(part)
}

// times returns a number of prices, or of runs, that is at most what is forbidden.
func times(price, runs int64) int64 {
	hi, lo := bits.Mul64(uint64(price), uint64(runs))
	if hi > 0 {
		return search.Forbidden
	}
	return int64(min(lo, uint64(search.Forbidden)))
}

// surely returns the part of the price of a region of an op that counts.
func (s *Space) surely(op ir.OpID, region int, sure share) share {
	if s.m.Kind(op) == ir.OpWhile {
		_, sure = s.inLoop(op, 1, sure)
		return sure
	}
	return s.inBranch(op, region, sure)
}

// inLoop returns how often what is inside a loop runs. A loop that runs no round still counts as one for the search.
func (s *Space) inLoop(op ir.OpID, runs int64, sure share) (int64, share) {
	trips := ir.Trips(s.m, op)
	sure.runs = times(sure.runs, trips)
	return times(runs, max(1, trips)), sure
}

// Of branches the dearest counts. It is not known which one that is, but no program takes less than any average of them. That which is the
// dearest where ops are cut evenly counts most, and each other one by a small part, one by branchParts, so that what is cheap there makes
// a difference. Deep inside branches, where parts would become too small to count with, it is the dearest alone.
const (
	branchParts = 1024
	mostAmong   = 1 << 40
)

// inBranch returns the part of the price of one branch of an op that counts, which a step surely pays with those of the others.
func (s *Space) inBranch(op ir.OpID, region int, sure share) share {
	others := int64(s.m.NumRegions(op) - 1)
	parts := max(branchParts, 2*others)
	switch dearest := region == s.dearest(op); {
	case others <= 0 || dearest && sure.among > mostAmong/parts:
		return sure
	case sure.among > mostAmong/parts:
		return share{0, 1}
	case dearest:
		return share{times(sure.runs, parts-others), sure.among * parts}
	}
	return share{sure.runs, sure.among * parts}
}

// dearest returns the first region of an op with branches that takes longest where ops are cut evenly.
func (s *Space) dearest(op ir.OpID) int {
	if at, ok := s.dearests[op]; ok {
		return at
	}
	at, most := 0, int64(-1)
	for r := range s.m.NumRegions(op) {
		if takes := s.floor(s.m.RegionBlock(op, r), share{1, 1}); takes > most {
			at, most = r, takes
		}
	}
	s.dearests[op] = at
	return at
}

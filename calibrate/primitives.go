package calibrate

import (
	"cmp"
	"slices"
)

// Primitives are the collectives that are compared, in the order of tables.
var Primitives = []Kind{AllGather, ReduceScatter, AllReduce, AllToAll}

// Round is what the primitives took for arrays of one size.
type Round struct {
	Bytes float64   // V: of the whole array
	Of    []*Sample // of each of Primitives; nil where its time was lost in noise
}

// Rounds sorts the samples of collectives by size.
func Rounds(samples []Sample) (list []Round) {
	for i := range samples {
		s := &samples[i]
		kind := slices.Index(Primitives, s.Kind)
		if kind < 0 {
			continue
		}
		at, found := slices.BinarySearchFunc(list, s.Amount, func(r Round, bytes float64) int { return cmp.Compare(r.Bytes, bytes) })
		if !found {
			list = slices.Insert(list, at, Round{Bytes: s.Amount, Of: make([]*Sample, len(Primitives))})
		}
		list[at].Of[kind] = s
	}
	return list
}

// Ratio returns the median, over sizes of at least so many bytes, of how many times as long as a gather a primitive took; 0 where none of
// these sizes has both.
func Ratio(rounds []Round, primitive int, least float64) float64 {
	var ratios []float64
	for _, r := range rounds {
		if gather, other := r.Of[0], r.Of[primitive]; r.Bytes >= least && gather != nil && other != nil {
			ratios = append(ratios, other.Seconds/gather.Seconds)
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

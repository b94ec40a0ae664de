// The book's loads of links and switches: vectors state their values, planning prices programs instead.

package cost_test

import (
	"math"

	"autoshard/collectives"
)

// RingLoad returns what one directed link of a ring of n chips carries during a collective over v bytes, with the
// shards walking in one direction or, split, in both (specification: cost.md section 2.2). Kinds other than
// AllGather, ReduceScatter, AllReduce and AllToAll put no load on it.
func RingLoad(kind collectives.Kind, n int64, v float64, bothWays bool) float64 {
	size, load := float64(n), 0.0
	switch kind {
	case collectives.AllGather, collectives.ReduceScatter:
		load = v * (1 - 1/size)
	case collectives.AllReduce:
		load = 2 * v * (1 - 1/size)
	case collectives.AllToAll:
		if bothWays {
			return v / 8 * (1 - float64(n%2)/(size*size))
		}
		load = v * (1 - 1/size) / 2
	}
	if bothWays {
		load /= 2
	}
	return load
}

// RaggedAllToAll returns the share of a dense all-to-all's asymptotic time V/(n*W) that remains where every device
// sends to k random ones of n destinations: the book's estimate and the expected value for independent choices
// (specification: cost.md section 2.5).
func RaggedAllToAll(n, k int64) (estimate, expected float64) {
	others := 1 - 1/float64(n)
	return others * min(float64(k)/float64(n), 1), others * (1 - math.Pow(others, float64(k)))
}

// SwitchTraffic is the bytes that switches take in and hand out (cost.md vectors G-16 and G-17).
type SwitchTraffic struct {
	NodeIn, NodeOut float64 // of the switches of one node
	LeafIn, LeafOut float64 // of the leaf switches above all nodes
}

// GatherTraffic returns what an all-gather of v bytes over nodes of some chips each puts on the switches.
func GatherTraffic(v float64, nodes, chips int64) SwitchTraffic {
	return SwitchTraffic{NodeIn: v, NodeOut: v * float64(chips), LeafIn: v, LeafOut: v * float64(nodes-1)}
}

// ReduceTraffic returns what an all-reduce of v bytes in the switches of one node puts on them.
func ReduceTraffic(v float64, chips int64) SwitchTraffic {
	return SwitchTraffic{NodeIn: v * float64(chips), NodeOut: v * float64(chips)}
}

// Seconds returns how long the links need that carry the traffic: node chips at egress bytes/s each, and the nodes'
// links at nodeEgress each.
func (s SwitchTraffic) Seconds(chips int64, egress float64, nodes int64, nodeEgress float64) float64 {
	return max(s.NodeOut/(float64(chips)*egress), s.LeafOut/(float64(nodes)*nodeEgress))
}

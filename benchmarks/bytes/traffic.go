package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"autoshard/collectives"
)

// way is a kind of collective among groups of as many devices.
type way struct {
	kind  string
	group int64 // 0 for permutes, whose pairs are not in groups
}

func newWay(kind string, group int64) way {
	if kind == collectives.Permute.String() {
		group = 0
	}
	return way{kind, group}
}

// String names the way as reasons do.
func (w way) String() string {
	if w.group == 0 {
		return w.kind
	}
	return fmt.Sprintf("%s of %d", w.kind, w.group)
}

// flow is what one device sends in one collective.
type flow struct {
	way
	purpose string // the op for which; not known of the peer
	bytes   float64
}

// traffic is what one device sends in a program.
type traffic []flow

// total returns its bytes.
func (t traffic) total() float64 {
	sum := 0.0
	for _, f := range t {
		sum += f.bytes
	}
	return sum
}

// reduced returns its bytes if every reduce-scatter were an all-reduce.
func (t traffic) reduced() float64 {
	sum := t.total()
	for _, f := range t {
		if f.kind == "reduce_scatter" {
			sum += f.bytes
		}
	}
	return sum
}

// largest returns the key under which most bytes fall, and how many these are.
func largest[K comparable](bytes map[K]float64, order func(a, b K) int) (K, float64) {
	keys := slices.SortedFunc(maps.Keys(bytes), order)
	best := slices.MaxFunc(keys, func(a, b K) int { return cmp.Compare(bytes[a], bytes[b]) })
	return best, bytes[best]
}

// difference returns the kind of collective of which a device sends most beyond what it sends of it in another program, how much that
// is, and the op for which most of it is sent.
func (t traffic) difference(other traffic) (w way, more float64, purpose string) {
	ways := map[way]float64{}
	for _, f := range t {
		ways[f.way] += f.bytes
	}
	for _, f := range other {
		ways[f.way] -= f.bytes
	}
	if len(ways) == 0 {
		return way{}, 0, ""
	}
	w, more = largest(ways, func(a, b way) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.group, b.group)) })
	purposes := map[string]float64{}
	for _, f := range t {
		if f.way == w {
			purposes[f.purpose] += f.bytes
		}
	}
	if len(purposes) > 0 {
		purpose, _ = largest(purposes, cmp.Compare[string])
	}
	return w, more, purpose
}

package cost

import (
	"fmt"
	"slices"
	"sync"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// order remembers where groups are that the network has to be asked for.
type order struct {
	sync.Mutex
	known map[string]placement // by axes, or by the groups themselves
}

// find returns where the groups of a name are.
func (o *order) find(name string, placement func() placement) placement {
	o.Lock()
	defer o.Unlock()
	p, ok := o.known[name]
	if !ok {
		p = placement()
		o.known[name] = p
	}
	return p
}

// placement is where groups of devices are on the network. What they send depends on which chips a group has, not on their order in it:
// it goes round rings of the network's own.
type placement struct {
	axes      []subaxis.Ref // along which groups of the same chips run where devices are in order
	scattered *scattered    // where there are none
}

// placed returns where the groups along some axes are.
func (t *Topology) placed(axes []subaxis.Ref) placement {
	if t.mesh.DeviceIDs == nil {
		return placement{axes: axes}
	}
	return t.order.find(t.mesh.FormatList(axes), func() placement { return t.placement(t.mesh.Groups(axes)) })
}

// among returns where groups are whose members are places in the mesh.
func (t *Topology) among(groups [][]int64) placement {
	return t.order.find(fmt.Sprint(groups), func() placement { return t.placement(groups) })
}

// placement finds out where such groups are.
func (t *Topology) placement(groups [][]int64) placement {
	chips := lists.Map(groups, func(members []int64) []int64 { return lists.Map(members, t.mesh.DeviceID) })
	for _, group := range chips {
		slices.Sort(group)
	}
	if axes, ok := t.mesh.FindGroups(chips); ok {
		return placement{axes: axes}
	}
	return placement{scattered: t.scatter(chips)}
}

// scattered is groups of chips that run along no axes of the network.
type scattered struct {
	size    int64   // chips of the largest group
	reaches []reach // of switches

	// of a torus, where each chip sends to both of its neighbours in its group, to all others, and to the one so many places on that takes
	// longest
	ring, exchange, shift routed
}

// routed is what the links of a torus carry where every transfer is of one byte.
type routed struct {
	seconds float64 // that the busiest one is sending
	hops    int64   // of the longest way
	links   []int   // the physical axes that are used
}

// largestOf returns how many members the largest group has.
func largestOf(groups [][]int64) int64 {
	most := 0
	for _, members := range groups {
		most = max(most, len(members))
	}
	return int64(most)
}

// scatter finds out how groups of chips reach each other.
func (t *Topology) scatter(groups [][]int64) *scattered {
	s := &scattered{size: largestOf(groups)}
	if t.hw.Torus == nil {
		s.reaches = t.reachesOf(groups)
		return s
	}
	last := int(s.size) - 1
	s.ring, s.exchange = t.route(groups, 1, last), t.route(groups, lists.Range[int](s.size)...)
	for k := range last {
		if r := t.route(groups, k+1); r.seconds > s.shift.seconds {
			s.shift = r
		}
	}
	return s
}

// route sends a byte from every chip to those that are some numbers of places after it in its group.
func (t *Topology) route(groups [][]int64, ahead ...int) routed {
	load, hops := newLinkLoad(t), int64(0)
	for _, chips := range groups {
		for _, k := range ahead {
			for i, from := range chips {
				hops = max(hops, load.send(from, chips[(i+k)%len(chips)], 1))
			}
		}
	}
	return routed{load.seconds(), hops, load.used()}
}

// times returns bandwidth seconds and hops of a collective of V bytes on a torus: rings through the chips of a group in the order of the
// network, in which chunks go both ways, and else the way from each chip to each.
func (s *scattered) times(kind collectives.Kind, v float64) (seconds float64, hops int64) {
	n := float64(s.size)
	round := s.size / 2 * s.ring.hops
	switch kind {
	case collectives.AllGather, collectives.ReduceScatter:
		return v * (1 - 1/n) / 2 * s.ring.seconds, round
	case collectives.AllReduce:
		return v * (1 - 1/n) * s.ring.seconds, 2 * round
	case collectives.Broadcast, collectives.Reduce:
		return v / 2 * s.ring.seconds, round
	case collectives.AllToAll:
		return v / (n * n) * s.exchange.seconds, s.exchange.hops
	case collectives.Permute:
		return v * s.shift.seconds, s.shift.hops
	}
	return 0, 0
}

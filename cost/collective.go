package cost

import (
	"autoshard/collectives"
	"autoshard/subaxis"
)

// Cost is what a communication takes.
type Cost struct {
	Seconds   float64 // in all
	Bandwidth float64 // seconds that the busiest link or chip is sending
	Latency   float64 // seconds of hops or steps
	Overhead  float64 // seconds before anything is sent
	Hops      int64   // to the farthest chip and, for reductions, back; steps on switches

	BytesPerDevice int64 // sent by one device of a group, rounded up
	TotalBytes     int64 // sent by all devices of the mesh together
}

// Collective returns the cost of a communication over groups along some axes, side by side in the whole mesh, for
// V bytes as [collectives.GroupBytes] counts them. A group of one device costs nothing. A permute is charged as the worst
// permutation of its group; [Topology.Permutation] knows better where the pairs are known.
//
// Axes must be parts of the topology's mesh that do not overlap; others are a mistake of the caller and panic or give
// a meaningless cost.
func (t *Topology) Collective(kind collectives.Kind, axes []subaxis.Ref, v int64) Cost {
	n := subaxis.Product(axes)
	if kind == collectives.AllSlice || n == 1 {
		return Cost{}
	}
	c := t.communication(kind, t.placed(axes), n, float64(v))
	group := collectives.SentBytes(kind, n, v)
	c.BytesPerDevice = ceilDiv(group, n)
	c.TotalBytes = collectives.Times(group, t.devices/n)
	return c
}

// Among returns the cost of a communication side by side in groups of devices, given as places in the mesh, each of which has so many bytes
// as its operand. Groups smaller than the largest take as long as that.
func (t *Topology) Among(kind collectives.Kind, groups [][]int64, operand int64) Cost {
	largest := largestOf(groups)
	if kind == collectives.AllSlice || largest <= 1 {
		return Cost{}
	}
	v := collectives.GroupBytes(kind, largest, operand)
	c := t.communication(kind, t.among(groups), largest, float64(v))
	c.BytesPerDevice = ceilDiv(collectives.SentBytes(kind, largest, v), largest)
	c.TotalBytes = collectives.SentAmong(kind, groups, operand)
	return c
}

// communication returns the times of a collective in groups of so many devices.
func (t *Topology) communication(kind collectives.Kind, p placement, n int64, v float64) Cost {
	var c Cost
	if kind == collectives.Permute {
		n = t.devices // as [Topology.Permutation] has it
	}
	if t.hw.Torus == nil {
		c.Bandwidth, c.Latency, c.Hops = t.switchedTimes(kind, t.reaches(p), v)
		return t.total(c, n)
	}
	if p.scattered != nil {
		c.Bandwidth, c.Hops = p.scattered.times(kind, v)
		c.Latency = float64(c.Hops) * t.hw.Torus.HopLatency
		return t.total(c, n)
	}
	rings, spanned := t.rings(p.axes)
	c.Bandwidth, c.Hops = t.torusTimes(kind, rings, v)
	c.Latency = float64(c.Hops) * t.hw.Torus.HopLatency
	if spanned > 1 {
		chips := subaxis.Product(p.axes) / spanned
		c.Bandwidth += t.dcnSeconds(kind, v, chips, spanned)
		c.Latency += dcnLatency
	}
	return t.total(c, n)
}

// dcnLatency is an assumed latency of the network between slices; cost.md gives none.
const dcnLatency = 1e-5

// dcnSeconds returns the bandwidth seconds of the part of a collective that runs between slices, for groups of some
// chips in each of some slices. Gathers and reductions first shrink to one share per chip inside the slices
// (specification: cost.md section 2.4).
func (t *Topology) dcnSeconds(kind collectives.Kind, v float64, chips, spanned int64) float64 {
	egress := t.dcnEgress()
	share := v / float64(chips)
	switch kind {
	case collectives.AllReduce:
		share *= 2
	case collectives.AllToAll:
		share /= float64(spanned)
	case collectives.Permute:
		return v / egress
	case collectives.Broadcast, collectives.Reduce:
		return share / egress
	}
	return share * t.kept(spanned, true) / egress
}

// dcnEgress returns bytes/s that a chip sends between slices, through its host.
func (t *Topology) dcnEgress() float64 {
	egress := t.hw.Torus.DCN
	if t.hw.PCIe > 0 {
		egress = min(egress, t.hw.PCIe)
	}
	return egress * t.eta.Ring
}

// total fills in what follows from bandwidth and latency, where so many devices take part.
func (t *Topology) total(c Cost, n int64) Cost {
	if t.options.Fitted {
		c.Overhead = t.hw.Dispatch + float64(float64(n-1)*t.hw.Meeting)
	}
	if t.options.Latency == MaxLatency {
		c.Seconds = c.Overhead + max(c.Latency, c.Bandwidth)
	} else {
		c.Seconds = c.Overhead + c.Latency + c.Bandwidth
	}
	return c
}

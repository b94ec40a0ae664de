package cost

import (
	"cmp"
	"slices"

	"autoshard/collectives"
	"autoshard/subaxis"
)

// ring is the chips of one group along one physical axis: a ring, or a line. Shared groups interleave on its links.
type ring struct {
	n      int64
	shared int64
	closed bool
	link   float64 // bytes/s of one direction of one link, efficiency included, shared by all interleaved groups
}

// ingress is what a chip receives at once: both neighbours of a ring, one at the end of a line.
func (r ring) ingress() float64 {
	b := r.link / float64(r.shared)
	if r.closed {
		return 2 * b
	}
	return b
}

// hops is the distance to the farthest chip.
func (r ring) hops() int64 {
	if r.closed {
		return r.n / 2 * r.shared
	}
	return (r.n - 1) * r.shared
}

// rings returns the physical rings and lines of the groups over some axes, and the number of slices they span.
func (t *Topology) rings(axes []subaxis.Ref) (rings []ring, slicesSpanned int64) {
	var parts []part
	for _, r := range axes {
		parts = append(parts, t.partsOf(r)...)
	}
	slicesSpanned = 1
	for _, p := range mergeParts(parts) {
		a := t.physical[p.axis]
		if a.dcn {
			slicesSpanned = p.size
			continue
		}
		r := ring{n: p.size, shared: p.stride, closed: a.wrap && p.stride*p.size == a.size && a.size > 2}
		r.link = t.hw.Torus.Link * t.eta.Line
		if r.closed {
			r.link = t.hw.Torus.Link * t.eta.Ring
		}
		rings = append(rings, r)
	}
	return rings, slicesSpanned
}

// partsOf returns the parts of a logical axis that a sub-axis covers. A sub-axis that cuts across parts counts as one
// line on the major of them.
func (t *Topology) partsOf(r subaxis.Ref) []part {
	var out []part
	at := int64(1)
	for _, p := range t.axes[r.Axis] {
		lo, hi := at, at*p.size
		at = hi
		from, to := max(lo, int64(r.Pre)), min(hi, r.Next())
		if from >= to {
			continue
		}
		if from%lo != 0 || to%from != 0 || hi%to != 0 {
			major := t.axes[r.Axis][0]
			return []part{{major.axis, max(1, major.stride*major.size/r.Next()), int64(r.Size)}}
		}
		out = append(out, part{p.axis, p.stride * (hi / to), to / from})
	}
	return out
}

// mergeParts joins the parts of every physical axis to one. Parts with a gap between them count as evenly spread.
func mergeParts(parts []part) []part {
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.axis, b.axis), cmp.Compare(a.stride, b.stride))
	})
	var out []part
	for _, p := range parts {
		if n := len(out); n > 0 && out[n-1].axis == p.axis {
			size := out[n-1].size * p.size
			out[n-1] = part{p.axis, max(1, p.stride*p.size/size), size}
			continue
		}
		out = append(out, p)
	}
	return out
}

// torusTimes returns bandwidth seconds and hops of a collective over rings of one slice, for V bytes
// (specification: cost.md section 2.1).
func (t *Topology) torusTimes(kind collectives.Kind, rings []ring, v float64) (seconds float64, hops int64) {
	n, b, closed := int64(1), 0.0, true
	for _, r := range rings {
		n *= r.n
		b += r.ingress()
		hops += r.hops()
		closed = closed && r.closed
	}
	if n == 1 {
		return 0, 0
	}
	switch kind {
	case collectives.AllGather, collectives.ReduceScatter:
		return v * t.kept(n, closed) / b, hops
	case collectives.Broadcast, collectives.Reduce: // in pieces that follow each other round the rings
		return v / b, hops
	case collectives.AllReduce:
		return 2 * v * t.kept(n, closed) / b, 2 * hops
	case collectives.AllToAll:
		for _, r := range rings {
			seconds = max(seconds, t.exchange(r, v*float64(r.n)/float64(n)))
		}
	case collectives.Permute:
		for _, r := range rings {
			seconds = max(seconds, v*farthest(r)*float64(r.shared)/r.link)
		}
	}
	return seconds, hops
}

// kept returns the share of the bytes that a chip does not already hold, (n-1)/n, or 1 where rings drop it.
func (t *Topology) kept(n int64, closed bool) float64 {
	if closed && t.options.Ring == Asymptotic {
		return 1
	}
	return 1 - 1/float64(n)
}

// exchange returns the bandwidth seconds of an all-to-all of v bytes along one ring or line: v/(4W) or v/(2W). Odd
// sizes move a little less (specification: cost.md section 2.2).
func (t *Topology) exchange(r ring, v float64) float64 {
	if r.n%2 == 1 && t.options.Ring == Exact {
		v *= 1 - 1/float64(r.n*r.n)
	}
	if !r.closed {
		v *= 2
	}
	return v * float64(r.shared) / (8 * r.link)
}

// farthest returns how many shards the busiest link of a ring or line carries, in one direction, when every chip sends
// one to the chip opposite: n/4 on a ring that uses both ways, n/2 in the middle of a line.
func farthest(r ring) float64 {
	if r.closed {
		return max(1, float64(r.n)/4)
	}
	return float64(r.n / 2)
}

package cost

import (
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// reach describes how the groups over some axes meet one level of switches.
type reach struct {
	level    *Level
	children int64   // of one switch that one group touches, D
	shared   float64 // groups that share a child's link
	spread   int64   // children that one group touches under all switches, M
}

// reaches returns how groups meet every level (specification: cost.md section 2.6, per-group form).
func (t *Topology) reaches(p placement) []reach {
	if p.scattered != nil {
		return p.scattered.reaches
	}
	n := subaxis.Product(p.axes)
	out := make([]reach, 0, len(t.hw.Levels))
	t.eachLevel(func(l *Level, child, parent int64) {
		inside := t.inside(p.axes, child)
		under := max(inside, t.inside(p.axes, parent))
		out = append(out, reach{l, ceilDiv(under, inside), float64(min(child, t.devices)) / float64(inside), ceilDiv(n, inside)})
	})
	return out
}

// eachLevel visits the levels with how many chips a child and a switch of it serve.
func (t *Topology) eachLevel(visit func(l *Level, child, parent int64)) {
	child := int64(1)
	for i := range t.hw.Levels {
		l := &t.hw.Levels[i]
		parent := child * l.Degree
		if i == len(t.hw.Levels)-1 || parent > t.devices {
			parent = t.devices
		}
		visit(l, child, parent)
		child *= l.Degree
	}
}

// reachesOf counts the same for groups of chips, in order: of those that leave a child, the one that most others share its link with, the
// most children of a switch, and the fewest children in all, with which each has most to send to the others.
func (t *Topology) reachesOf(groups [][]int64) []reach {
	out := make([]reach, 0, len(t.hw.Levels))
	t.eachLevel(func(l *Level, child, parent int64) {
		r := reach{level: l, children: 1, spread: 1}
		sharing := map[int64]float64{}
		for _, chips := range groups {
			children := slices.Compact(lists.Map(chips, func(chip int64) int64 { return chip / child }))
			spread := int64(len(children))
			if spread == 1 {
				continue
			}
			if r.spread == 1 || spread < r.spread {
				r.spread = spread
			}
			under := map[int64]int64{}
			for _, c := range children {
				sharing[c]++
				under[c*child/parent]++
				r.shared = max(r.shared, sharing[c])
				r.children = max(r.children, under[c*child/parent])
			}
		}
		out = append(out, r)
	})
	return out
}

// inside returns how many members of a group lie within the block of devices that a switch serves.
func (t *Topology) inside(axes []subaxis.Ref, block int64) int64 {
	n := int64(1)
	for _, r := range axes {
		if stride := t.mesh.Stride(r); stride < block {
			n *= min(int64(r.Size), ceilDiv(block, stride))
		}
	}
	return n
}

// levelTimes returns the bandwidth seconds of a collective at every level, for V bytes.
func (t *Topology) levelTimes(kind collectives.Kind, reaches []reach, v float64) []float64 {
	out := make([]float64, len(reaches))
	chipsReduce := t.ringReduction(reaches)
	for i, r := range reaches {
		if r.children == 1 && (i == 0 || kind != collectives.AllToAll && kind != collectives.Permute) || r.spread == 1 {
			continue
		}
		link := v * r.shared / (r.level.Bandwidth * t.eta.Ring)
		switch kind {
		case collectives.AllGather, collectives.ReduceScatter:
			out[i] = link * t.kept(r.children, true)
		case collectives.Broadcast, collectives.Reduce:
			out[i] = link
		case collectives.AllReduce:
			out[i] = 2 * link * t.kept(r.children, true)
			if !chipsReduce && t.options.Reduction == IdealReduction {
				out[i] = link
			} else if !chipsReduce {
				out[i] /= measuredGain
			}
		case collectives.AllToAll:
			out[i] = link * t.kept(r.spread, true) / float64(r.spread)
		case collectives.Permute:
			out[i] = link * float64(membersBelow(reaches, i))
		}
	}
	return out
}

// measuredGain is how much faster than a ring an all-reduce in the switches is in practice (cost.md section 2.5).
const measuredGain = 1.3

// ringReduction says whether chips alone reduce: the options ask for it, or a level that takes part cannot reduce.
func (t *Topology) ringReduction(reaches []reach) bool {
	if t.options.Reduction == RingReduction {
		return true
	}
	return slices.ContainsFunc(reaches, func(r reach) bool { return r.children > 1 && !r.level.Reduces })
}

// membersBelow returns how many members of a group lie below one child of level i.
func membersBelow(reaches []reach, i int) int64 {
	return ceilDiv(reaches[0].spread, reaches[i].spread)
}

// switchedTimes returns bandwidth seconds, latency seconds and steps of a collective over switches. Every level
// walks a ring of its children.
func (t *Topology) switchedTimes(kind collectives.Kind, reaches []reach, v float64) (bandwidth, latency float64, steps int64) {
	for _, s := range t.levelTimes(kind, reaches, v) {
		bandwidth = max(bandwidth, s)
	}
	times := int64(1)
	if kind == collectives.AllReduce && t.ringReduction(reaches) {
		times = 2
	}
	for _, r := range reaches {
		n := times * (r.children - 1)
		if kind == collectives.Permute {
			n = min(n, 1)
		}
		latency += float64(n) * r.level.Step
		steps += n
	}
	return bandwidth, latency, steps
}

// LevelTimes returns the bandwidth seconds that a collective of V bytes over some axes needs at every level of
// switches; the largest is the collective's. It returns nil on a torus.
func (t *Topology) LevelTimes(kind collectives.Kind, axes []subaxis.Ref, v int64) []float64 {
	if t.hw.Torus != nil {
		return nil
	}
	return t.levelTimes(kind, t.reaches(t.placed(axes)), float64(v))
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

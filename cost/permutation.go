package cost

import (
	"autoshard/collectives"
	"autoshard/subaxis"
)

// Pair is one transfer of a permute between logical devices.
type Pair struct {
	Source, Target int64
}

// Permutation returns the cost of sending v bytes from the source to the target of every pair at once. On a torus the
// bytes walk the physical axes in order, each the shorter way round, split where both are as long; the busiest
// directed link decides (specification: cost.md section 2.1). Pairs of a device with itself cost nothing.
func (t *Topology) Permutation(pairs []Pair, v int64) Cost {
	var c Cost
	moved := int64(0)
	load := newLinkLoad(t)
	for _, p := range pairs {
		if p.Source == p.Target {
			continue
		}
		moved++
		c.Hops = max(c.Hops, load.send(t.mesh.DeviceID(p.Source), t.mesh.DeviceID(p.Target), float64(v)))
	}
	if moved == 0 {
		return c
	}
	c.Bandwidth = load.seconds()
	c.Latency = load.latency(c.Hops)
	c = t.total(c, t.devices) // all meet, also those that send nothing
	c.BytesPerDevice = v
	c.TotalBytes = collectives.Times(moved, v)
	return c
}

// Shift returns the pairs that move every block k places up along a sub-axis, wrapping around.
func (t *Topology) Shift(r subaxis.Ref, k int64) []Pair {
	pairs := make([]Pair, t.devices)
	stride, size := t.mesh.Stride(r), int64(r.Size)
	for d := range pairs {
		source := int64(d)
		at := source / stride % size
		to := ((at+k)%size + size) % size
		pairs[d] = Pair{source, source + (to-at)*stride}
	}
	return pairs
}

// PointToPoint returns the cost of sending v bytes from one device to another with nothing else going on, split over
// all links that lead there: one along every physical axis on which they differ, two round a ring
// (specification: cost.md section 2.1).
func (t *Topology) PointToPoint(p Pair, v int64) Cost {
	if t.hw.Torus == nil || p.Source == p.Target {
		return t.Permutation([]Pair{p}, v)
	}
	var c Cost
	egress := 0.0
	from, to := t.chipAt(t.mesh.DeviceID(p.Source)), t.chipAt(t.mesh.DeviceID(p.Target))
	for i, a := range t.physical {
		if from[i] == to[i] {
			continue
		}
		if a.dcn {
			return t.Permutation([]Pair{p}, v)
		}
		r := ring{n: a.size, shared: 1, closed: a.wrap && a.size > 2, link: t.linkRate(a)}
		egress += r.ingress()
		_, hops := way(a, from[i], to[i])
		c.Hops += hops
	}
	c.Bandwidth = float64(v) / egress
	c.Latency = float64(c.Hops) * t.hw.Torus.HopLatency
	c = t.total(c, t.devices)
	c.BytesPerDevice, c.TotalBytes = v, v
	return c
}

// linkRate returns bytes/s of one direction of one link of a physical axis, efficiency included.
func (t *Topology) linkRate(a physical) float64 {
	if a.wrap && a.size > 2 {
		return t.hw.Torus.Link * t.eta.Ring
	}
	return t.hw.Torus.Link * t.eta.Line
}

// chipAt returns the position of a chip on every physical axis.
func (t *Topology) chipAt(chip int64) []int64 {
	at := make([]int64, len(t.physical))
	t.locate(chip, at)
	return at
}

// locate writes that position.
func (t *Topology) locate(chip int64, at []int64) {
	clear(at)
	for i := len(t.mesh.Axes) - 1; i >= 0; i-- {
		along := chip % t.mesh.Axes[i].Size
		chip /= t.mesh.Axes[i].Size
		for j := len(t.axes[i]) - 1; j >= 0; j-- {
			p := t.axes[i][j]
			at[p.axis] += along % p.size * p.stride
			along /= p.size
		}
	}
}

// way returns the direction of the shorter way along a physical axis, 0 where both are as long, and its hops.
func way(a physical, from, to int64) (direction, hops int64) {
	up := ((to-from)%a.size + a.size) % a.size
	switch {
	case a.dcn:
		return 1, 1
	case !a.wrap || a.size == 2:
		if to > from {
			return 1, to - from
		}
		return -1, from - to
	case 2*up < a.size:
		return 1, up
	case 2*up > a.size:
		return -1, a.size - up
	}
	return 0, up
}

// linkLoad sums what every directed link carries: of a chip along a physical axis of a torus, or of a child of a level of switches.
type linkLoad struct {
	t          *Topology
	bytes      []float64 // the links of a level together, of a child the one up before the one down
	children   int64     // of a level at most
	top        int       // of switches: the highest level crossed
	at, target []int64   // scratch
}

func newLinkLoad(t *Topology) *linkLoad {
	levels, children := len(t.hw.Levels), t.devices
	if t.hw.Torus != nil {
		levels, children = len(t.physical), 1
		for _, a := range t.physical {
			children *= a.size
		}
	}
	return &linkLoad{t: t, bytes: make([]float64, 2*int64(levels)*children), children: children,
		at: make([]int64, len(t.physical)), target: make([]int64, len(t.physical))}
}

// carry loads a link.
func (l *linkLoad) carry(level int, child int64, up bool, v float64) {
	i := 2 * (int64(level)*l.children + child)
	if !up {
		i++
	}
	l.bytes[i] += v
}

// send routes one transfer between chips and returns its hops.
func (l *linkLoad) send(source, target int64, v float64) int64 {
	if l.t.hw.Torus == nil {
		return l.sendUp(source, target, v)
	}
	at, to := l.at, l.target
	l.t.locate(source, at)
	l.t.locate(target, to)
	total := int64(0)
	for i, a := range l.t.physical {
		if at[i] == to[i] {
			continue
		}
		direction, hops := way(a, at[i], to[i])
		total += hops
		switch {
		case a.dcn:
			l.carry(i, l.t.chip(at), true, v)
		case direction == 0:
			l.walk(at, i, 1, hops, v/2)
			l.walk(at, i, -1, hops, v/2)
		default:
			l.walk(at, i, direction, hops, v)
		}
		at[i] = to[i]
	}
	return total
}

// walk loads the links from a place along one physical axis.
func (l *linkLoad) walk(from []int64, axis int, direction, hops int64, v float64) {
	start, size := from[axis], l.t.physical[axis].size
	for range hops {
		l.carry(axis, l.t.chip(from), direction > 0, v)
		from[axis] = (from[axis] + direction + size) % size
	}
	from[axis] = start
}

// chip numbers the places.
func (t *Topology) chip(at []int64) int64 {
	n := int64(0)
	for i, a := range t.physical {
		n = n*a.size + at[i]
	}
	return n
}

// sendUp loads the links of switches up to the level where source and target meet.
func (l *linkLoad) sendUp(source, target int64, v float64) int64 {
	level := 0
	for ; level < len(l.t.hw.Levels) && source != target; level++ {
		l.carry(level, source, true, v)
		l.carry(level, target, false, v)
		source /= l.t.hw.Levels[level].Degree
		target /= l.t.hw.Levels[level].Degree
	}
	l.top = max(l.top, level)
	return int64(level)
}

// seconds returns how long the busiest link is sending.
func (l *linkLoad) seconds() float64 {
	most := 0.0
	for i, v := range l.bytes {
		if v > 0 {
			most = max(most, v/l.rate(l.levelOf(i)))
		}
	}
	return most
}

// used returns the physical axes, or the levels, of which a link sends.
func (l *linkLoad) used() (levels []int) {
	for i, v := range l.bytes {
		if level := l.levelOf(i); v > 0 && (len(levels) == 0 || levels[len(levels)-1] < level) {
			levels = append(levels, level)
		}
	}
	return levels
}

// levelOf returns the physical axis, or the level, of a link.
func (l *linkLoad) levelOf(link int) int { return int(int64(link) / (2 * l.children)) }

func (l *linkLoad) rate(level int) float64 {
	if l.t.hw.Torus == nil {
		return l.t.hw.Levels[level].Bandwidth * l.t.eta.Ring
	}
	if a := l.t.physical[level]; !a.dcn {
		return l.t.linkRate(a)
	}
	return l.t.dcnEgress()
}

func (l *linkLoad) latency(hops int64) float64 {
	if l.t.hw.Torus != nil {
		return float64(hops) * l.t.hw.Torus.HopLatency
	}
	seconds := 0.0
	for _, level := range l.t.hw.Levels[:l.top] {
		seconds += level.Step
	}
	return seconds
}

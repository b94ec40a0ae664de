package cost

import "math"

// Ring says how the factor (n-1)/n of rings and switches counts (specification: cost.md section 0.4). Lines always
// keep it.
type Ring uint8

// The conventions for rings.
const (
	Exact      Ring = iota // keep (n-1)/n
	Asymptotic             // drop it, as the book does
)

// Latency says how latency and bandwidth combine to the time of a collective.
type Latency uint8

// The ways to combine.
const (
	AddLatency Latency = iota // T0 + hops*Tmin + bandwidth term: nearer to measurements
	MaxLatency                // T0 + max(hops*Tmin, bandwidth term)
)

// Combine says how times of different resources, or of collectives on different mesh axes, combine.
type Combine uint8

// The ways to combine.
const (
	Sum     Combine = iota // one after the other
	Largest                // all at once
)

// Reduction says how switches take part in an all-reduce, where the hardware's can.
type Reduction uint8

// The kinds of reduction.
const (
	RingReduction     Reduction = iota // only chips reduce
	IdealReduction                     // switches reduce: V/W instead of 2V/W
	MeasuredReduction                  // what is seen in practice: the ring's time divided by 1.3
)

// Options are the conventions of a prediction (specification: cost.md section 0.4).
type Options struct {
	Ring      Ring
	Latency   Latency
	Reduction Reduction
	Fitted    bool // apply the profile's efficiencies, dispatch and launch times; false: nominal rates
	Padded    bool // pad matrix dimensions to the profile's tile
}

// Planning returns the options to plan with. Exact rings and added latency are nearest to measurements; compute and
// collectives of one program run one after the other, so nothing overlaps.
func Planning() Options { return Options{Fitted: true, Padded: true} }

// Book returns the options of the book's reference values: nominal rates, no fixed overheads, asymptotic rings, and
// whatever can overlap does.
func Book() Options {
	return Options{Ring: Asymptotic, Latency: MaxLatency}
}

// efficiency returns the shares of the nominal rates that hold under the options.
func (h *Hardware) efficiency(o Options) Efficiency {
	e := h.Efficiency
	if !o.Fitted {
		e = Efficiency{}
	}
	return Efficiency{Math: orElse(e.Math, 1), HBM: orElse(e.HBM, 1), Ring: orElse(e.Ring, 1), Line: orElse(e.Line, 1)}
}

// Of combines the times of things that go on side by side or one after the other.
func (c Combine) Of(seconds ...float64) float64 {
	total, most := 0.0, 0.0
	for _, s := range seconds {
		total += s
		most = max(most, s)
	}
	if c == Largest {
		return most
	}
	return total
}

// Picoseconds converts seconds to the integer cost unit of the search, rounding to the nearest. Values beyond the
// range, infinity among them, become the largest int64; negative ones and NaN become 0.
func Picoseconds(seconds float64) int64 {
	ps := math.Round(seconds * 1e12)
	switch {
	case ps >= math.MaxInt64:
		return math.MaxInt64
	case ps > 0:
		return int64(ps)
	}
	return 0
}

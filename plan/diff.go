package plan

import (
	"cmp"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/program"
)

// DifferenceSchema identifies the JSON form of a Difference.
const DifferenceSchema = "autoshard.plandiff/v1"

// Difference says in what two plans differ. Times are in seconds, sizes in bytes.
type Difference struct {
	Schema  string        `json:"schema"`
	Same    bool          `json:"same"`    // shardings, programs and predictions are equal
	Asked   []Change      `json:"asked"`   // what the plans were made for, where it differs
	Figures []Figure      `json:"figures"` // predictions of both, in a fixed order
	Traffic []TrafficPair `json:"traffic"` // what collectives send by kind and axes, the largest change first
	Values  []ValuePair   `json:"values"`  // inputs and outputs that are cut otherwise, or are in one plan alone
	Program bool          `json:"program"` // the sharded programs differ
}

// Change is an option of two plans.
type Change struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Figure is a prediction of two plans.
type Figure struct {
	Name   string  `json:"name"` // seconds, collectiveSeconds, peakBytes, sentBytes, boundSeconds
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Traffic is what collectives of one kind over the same axes send in a step.
type Traffic struct {
	Places  int     `json:"places"` // in the program
	Bytes   int64   `json:"bytes"`  // of all devices together
	Seconds float64 `json:"seconds"`
}

// TrafficPair is the traffic of two plans.
type TrafficPair struct {
	Kind   string  `json:"kind"`
	Axes   string  `json:"axes"` // data,model
	Before Traffic `json:"before"`
	After  Traffic `json:"after"`
}

// ValuePair is an input or output of two plans.
type ValuePair struct {
	Name   string         `json:"name"`
	Output bool           `json:"output"`
	Before *answer.Tensor `json:"before,omitempty"` // absent where the first plan has none of the name
	After  *answer.Tensor `json:"after,omitempty"`
}

// Diff compares two plans, of one model or of two.
func Diff(before, after *Plan) *Difference {
	d := &Difference{Schema: DifferenceSchema, Asked: asked(before, after), Figures: figures(before, after), Traffic: traffic(before, after),
		Values: values(before, after), Program: before.Program != after.Program}
	d.Same = !d.Program && len(d.Values) == 0 && len(d.Traffic) == 0 &&
		!slices.ContainsFunc(d.Figures, func(f Figure) bool { return f.Before != f.After })
	return d
}

// asked lists the options that differ.
func asked(before, after *Plan) []Change {
	changes := []Change{}
	b, a := optionTexts(before), optionTexts(after)
	for i := range b {
		if b[i][1] != a[i][1] {
			changes = append(changes, Change{b[i][0], b[i][1], a[i][1]})
		}
	}
	return changes
}

func figures(before, after *Plan) []Figure {
	of := func(p *Plan) []float64 {
		return []float64{p.Estimate.Seconds, p.Estimate.ComputeSeconds, p.Estimate.CollectiveSeconds, float64(p.Estimate.PeakBytes),
			float64(p.Estimate.SentBytes), float64(p.Certificate.Bound) / program.Picoseconds}
	}
	b, a := of(before), of(after)
	var out []Figure
	for i, name := range []string{"seconds", "computeSeconds", "collectiveSeconds", "peakBytes", "sentBytes", "boundSeconds"} {
		out = append(out, Figure{name, b[i], a[i]})
	}
	return out
}

// traffic lists what differs between the collectives of two plans.
func traffic(before, after *Plan) []TrafficPair {
	pairs := []TrafficPair{}
	at := map[[2]string]int{}
	add := func(list []Collective, side func(*TrafficPair) *Traffic) {
		for i := range list {
			c := &list[i]
			key := [2]string{c.Kind, strings.Join(c.Axes, ",")}
			n, ok := at[key]
			if !ok {
				n = len(pairs)
				at[key] = n
				pairs = append(pairs, TrafficPair{Kind: key[0], Axes: key[1]})
			}
			t := side(&pairs[n])
			t.Places, t.Bytes, t.Seconds = t.Places+1, t.Bytes+c.Bytes, t.Seconds+c.Seconds
		}
	}
	add(before.Collectives, func(p *TrafficPair) *Traffic { return &p.Before })
	add(after.Collectives, func(p *TrafficPair) *Traffic { return &p.After })
	pairs = slices.DeleteFunc(pairs, func(p TrafficPair) bool { return p.Before == p.After })
	change := func(p *TrafficPair) int64 { return max(p.After.Bytes-p.Before.Bytes, p.Before.Bytes-p.After.Bytes) }
	slices.SortStableFunc(pairs, func(x, y TrafficPair) int { return cmp.Compare(change(&y), change(&x)) })
	return pairs
}

// values lists inputs, and then outputs, that are cut otherwise.
func values(before, after *Plan) []ValuePair {
	pairs := []ValuePair{}
	for _, output := range []bool{false, true} {
		b, a := before.Inputs, after.Inputs
		if output {
			b, a = before.Outputs, after.Outputs
		}
		named := map[string]*answer.Tensor{}
		for i := range a {
			named[a[i].Name] = &a[i]
		}
		for i := range b {
			if t := named[b[i].Name]; t == nil || t.Sharding != b[i].Sharding || t.Type != b[i].Type {
				pairs = append(pairs, ValuePair{b[i].Name, output, &b[i], t})
			}
			delete(named, b[i].Name)
		}
		for i := range a {
			if named[a[i].Name] != nil {
				pairs = append(pairs, ValuePair{a[i].Name, output, nil, &a[i]})
			}
		}
	}
	return pairs
}

package iopddl

import (
	"cmp"
	"io"
	"math/big"
	"slices"

	"autoshard/internal/diag"
	"autoshard/search"
)

// Evaluation is what a solution costs and uses. Sums are exact, whatever their size. All entries count as they stand in the file, those
// that forbid a strategy or a combination too (solver.md section 1.5).
type Evaluation struct {
	Cost      *big.Int
	Peak      *big.Int // largest usage at any time step
	PeakTime  int64    // first time step with that usage; 0 if no node is live at any time
	Limit     int64    // counts only if HasLimit
	HasLimit  bool
	Forbidden int   // selected entries of at least search.Forbidden
	Over      int64 // time steps whose usage is above the limit
	OverTime  int64 // the first of them
}

// Feasible reports whether the limit is kept and no forbidden entry is selected.
func (e *Evaluation) Feasible() bool { return e.Over == 0 && e.Forbidden == 0 }

// Evaluate reads a problem like [Options.Read] and evaluates a solution of it without package search: entries are taken from the lists of
// the file. Errors are those of reading, and of class diag.ErrInvalid with the place in the solution's file if it has the wrong length or a
// strategy out of range.
func (o Options) Evaluate(r io.Reader, file string, s *Solution) (*Evaluation, error) {
	d, err := o.decode(r, file)
	if err != nil {
		return nil, err
	}
	x, err := s.choose(d.costs.counts)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Cost: new(big.Int), Peak: new(big.Int), Limit: d.limit, HasLimit: d.hasLimit}
	events := d.addNodes(e, x)
	d.addEdges(e, x)
	e.sweep(events)
	return e, nil
}

// choose checks a solution against the number of strategies of each node.
func (s *Solution) choose(strategies []int32) ([]int, error) {
	if len(s.Strategies) != len(strategies) {
		return nil, diag.Invalid(diag.BadInputs, diag.Position{File: s.file}, "solution has %d strategies, the problem has %d nodes",
			len(s.Strategies), len(strategies))
	}
	x := make([]int, len(strategies))
	for i, k := range strategies {
		var err error
		if x[i], err = s.strategy(i, int(k)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (e *Evaluation) add(cost int64) {
	e.Cost.Add(e.Cost, big.NewInt(cost))
	if cost >= search.Forbidden {
		e.Forbidden++
	}
}

// change is usage that begins or, if negative, ends at a time step.
type change struct{ time, usage int64 }

// addNodes adds the costs of the nodes and returns the changes of usage.
func (d *decoder) addNodes(e *Evaluation, x []int) []change {
	intervals, costs, usages := d.intervals.cursor(), d.costs.cursor(), d.usages.cursor()
	var events []change
	for _, a := range x {
		intervals.next()
		costs.next()
		usages.next()
		d.scratch = costs.numbers(d.scratch[:0])
		e.add(d.scratch[a])
		d.scratch = usages.numbers(d.scratch[:0])
		usage := d.scratch[a]
		d.scratch = intervals.numbers(d.scratch[:0])
		if lo, hi := d.scratch[0], d.scratch[1]; lo < hi {
			events = append(events, change{lo, usage}, change{hi, -usage})
		}
	}
	return events
}

// addEdges adds the costs of the edges. The last listed node is the fastest index.
func (d *decoder) addEdges(e *Evaluation, x []int) {
	pairs, matrices := d.pairs.cursor(), d.matrices.cursor()
	var nodes []int64
	for range d.pairs.len {
		pairs.next()
		matrices.next()
		nodes = pairs.numbers(nodes[:0])
		at := 0
		for _, i := range nodes {
			at = at*int(d.costs.counts[i]) + x[i]
		}
		d.scratch = matrices.numbers(d.scratch[:0])
		e.add(d.scratch[at])
	}
}

// sweep finds the peak and the time steps above the limit.
func (e *Evaluation) sweep(events []change) {
	slices.SortFunc(events, func(a, b change) int { return cmp.Compare(a.time, b.time) })
	usage, limit := new(big.Int), big.NewInt(e.Limit)
	for i := 0; i < len(events); {
		t := events[i].time
		for ; i < len(events) && events[i].time == t; i++ {
			usage.Add(usage, big.NewInt(events[i].usage))
		}
		if i == len(events) {
			break // nothing is live from here on
		}
		if usage.Cmp(e.Peak) > 0 {
			e.Peak.Set(usage)
			e.PeakTime = t
		}
		if e.HasLimit && usage.Cmp(limit) > 0 {
			if e.Over == 0 {
				e.OverTime = t
			}
			e.Over += events[i].time - t
		}
	}
}

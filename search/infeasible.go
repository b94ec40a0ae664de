package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
)

// InfeasibleError says that a problem has no solution, or that none was found. errors.Is finds diag.ErrInfeasible.
type InfeasibleError struct {
	// Proven is false if the steps were spent before a solution or a proof was found.
	Proven bool
	// Memory says that the limit is to blame: without it there is a solution. Then Time is a time step where the limit is exceeded and
	// Nodes are the nodes live then that cannot do without memory, largest first; Need is the least usage possible at that step if that
	// alone is the proof, else 0; MinLimit is the smallest limit for which a solution is known, never below the true one.
	Memory   bool
	Time     int32
	Nodes    []int32
	Need     int64
	Limit    int64
	MinLimit int64
	// Node is a node that is left without a strategy, if that is the proof, else -1.
	Node int32
}

// Error names the smallest limit that works, or the node without a strategy.
func (e *InfeasibleError) Error() string {
	var b strings.Builder
	switch {
	case e.Memory:
		fmt.Fprintf(&b, "usage limit %d too small at time %d", e.Limit, e.Time)
		if e.Need > 0 {
			fmt.Fprintf(&b, " where at least %d is needed", e.Need)
		}
		fmt.Fprintf(&b, ": smallest limit known to work is %d", e.MinLimit)
	case e.Node >= 0:
		fmt.Fprintf(&b, "no solution: every strategy of node %d is forbidden or excluded by its neighbours", e.Node)
	case e.Proven:
		b.WriteString("no solution: the forbidden pairs exclude every choice")
	default:
		b.WriteString("no solution found within the step budget")
	}
	return b.String()
}

// Unwrap returns the class.
func (e *InfeasibleError) Unwrap() error { return diag.ErrInfeasible }

// explain is the end of a search without solution: it looks for the smallest limit that works, which may even be the limit itself.
func (s *solver) explain(c *conflict, proven bool) (Result, error) {
	out := &InfeasibleError{Proven: proven, Limit: s.p.Limit, Node: -1}
	if c != nil && !c.memory {
		out.Node = c.node
	}
	if !s.p.HasLimit || s.opt.Brief {
		return Result{Steps: s.steps()}, out
	}
	rest := s.budget
	if s.strict {
		rest -= s.work()
	}
	if rest <= 0 {
		return Result{Steps: s.steps()}, out
	}
	least, err := MinPeak(s.ctx, s.p, Options{Steps: rest, Seed: s.opt.Seed, Complete: !s.strict})
	s.lanes[0].charge(least.Steps)
	if err != nil {
		return Result{Steps: s.steps()}, cmp.Or(s.ctx.Err(), error(out))
	}
	if s.p.within(least.Peak) {
		s.lanes[0].offer(least.Solution, "least peak")
		s.merge()
		return s.result(), nil
	}
	out.Memory, out.MinLimit, out.Node = true, least.Peak, -1
	at := int32(0)
	if c != nil && c.memory {
		at, out.Need = c.time, c.need
	} else {
		use := s.p.profile(least.Solution)
		at = int32(slices.Index(use, slices.Max(use)))
	}
	if len(s.p.times) > 0 {
		out.Time = s.p.times[at]
		out.Nodes = s.p.heaviest(at)
	}
	return Result{Steps: s.steps()}, out
}

// heaviest returns the nodes live at a compressed time step whose every allowed strategy uses memory, by falling least usage.
func (p *Problem) heaviest(at int32) []int32 {
	var nodes []int32
	for i := range int32(p.NumNodes()) {
		if p.lo[i] <= at && at < p.hi[i] && p.leastUse(i) > 0 {
			nodes = append(nodes, i)
		}
	}
	slices.SortStableFunc(nodes, func(i, j int32) int { return cmp.Compare(p.leastUse(j), p.leastUse(i)) })
	return nodes
}

// leastUse returns the smallest usage of the allowed strategies of node i, 0 if there are none.
func (p *Problem) leastUse(i int32) int64 {
	least, found := int64(0), false
	for a := p.Off[i]; a < p.Off[i+1]; a++ {
		if p.Cost[a] < Inf && (!found || p.Use[a] < least) {
			least, found = p.Use[a], true
		}
	}
	return least
}

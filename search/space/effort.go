package space

import (
	"context"
	"errors"
	"slices"
)

// What building a problem counts, in the units of search.Options.Steps. They take longer than as many entries of a
// matrix, but all of them together are a small part of what a search visits.
const (
	layoutWork   = 10
	strategyWork = 100
	pairWork     = 30 // the price of the cheapest way from one layout to another
)

// The most that a problem may have, and the visits of one that splits axes: beyond it building takes more than ten seconds, and
// searching more than a gigabyte. A small one is built in a tenth of a second.
const (
	maxStrategiesInAll, smallStrategies = 4_000_000, 150_000
	maxEntries, smallEntries            = 3_000_000, 60_000 // of matrices that differ, a row for each layout
	maxVisits, splitVisits              = 150_000_000, 50_000_000
)

// mostVisits returns the most entries of all matrices together, each as often as there are edges with it, which is what a sweep of the
// search visits. Splitting axes gains a few percent, less than a search that has time to end.
func (s *Space) mostVisits() int {
	split := func(g group) bool { return len(g.majors) > 0 }
	if s.level.Apart || slices.ContainsFunc(s.groups, split) {
		return splitVisits
	}
	return maxVisits
}

// Effort is what building a problem may take and has taken.
type Effort struct {
	Steps  int64 // most work; 0: no limit
	Small  bool  // give up unless the problem is small
	Memory int64 // most bytes of the problem and the search of it, negative if there are none left; 0: no limit
	Spent  int64
	Need   int64 // bytes of the problem and the search of it, or, where building ended before they were known, that it has at least
	ctx    context.Context
}

// Reasons to give up building.
var (
	ErrSteps    = errors.New("the steps are spent")
	ErrTooLarge = errors.New("the problem is too large")
	ErrMemory   = errors.New("the problem needs more memory than there is")
)

// charge counts work, and reports whether building may go on.
func (s *Space) charge(work int64) bool {
	if s.err != nil {
		return false
	}
	s.effort.Spent += work
	if s.effort.Steps > 0 && s.effort.Spent >= s.effort.Steps {
		s.effort.Spent, s.err = s.effort.Steps, ErrSteps
	} else if err := s.effort.ctx.Err(); err != nil {
		s.err = err
	}
	return s.err == nil
}

// bounded gives up where a count exceeds its bound.
func (s *Space) bounded(count, most, small int) bool {
	if s.effort.Small {
		most = small
	}
	if s.err == nil && count > most {
		s.err = ErrTooLarge
	}
	return s.err == nil
}

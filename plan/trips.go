package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/shardmap"
)

// TripCount says how often a loop is taken to run whose end the data decides.
type TripCount struct {
	// line of the loop in the model's text, such as 12, the line of the exported program, such as
	// train.py:40, or the loop's scope there, such as solver/while; all such loops that no other entry names if empty
	Loop  string `json:"loop"`
	Count int64  `json:"count"` // at least 1
}

// MaxTripCount bounds the trip counts that can be asked for.
const MaxTripCount = 1_000_000_000

// assumeTrips gives the loops of a module whose trip count is not plain those that the user says. Errors are of class
// diag.ErrInvalid: a count out of range, or a loop that is not there or needs none.
func assumeTrips(m *ir.Module, counts []TripCount) error {
	loops := openLoops(m)
	used := make([]bool, len(counts))
	for i, c := range counts {
		if c.Count < 1 || c.Count > MaxTripCount {
			return diag.Invalid(diag.BadOption, diag.Position{}, "trip count %d must be a whole number from 1 to %d", c.Count, MaxTripCount)
		}
		used[i] = c.Loop == ""
	}
	for _, op := range loops {
		called := loopNames(m, op)
		at := slices.IndexFunc(counts, func(c TripCount) bool { return c.Loop != "" && slices.Contains(called, c.Loop) })
		if at < 0 {
			at = slices.IndexFunc(counts, func(c TripCount) bool { return c.Loop == "" })
		}
		if at >= 0 {
			used[at] = true
			ir.AssumeTrips(m, op, counts[at].Count)
		}
	}
	if at := slices.Index(used, false); at >= 0 {
		err := diag.Invalid(diag.BadOption, diag.Position{}, "no loop is called `%s` that the data ends", counts[at].Loop)
		for _, op := range loops {
			if called := loopNames(m, op); len(called) > 0 {
				err = err.WithNote(m.OpPos(op), "one is called %s", orList(called))
			}
		}
		return err
	}
	return nil
}

// openLoops returns the loops of a module whose trip count is not plain, in program order.
func openLoops(m *ir.Module) []ir.OpID {
	var out []ir.OpID
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) != ir.OpWhile {
			return
		}
		if _, ok := ir.TripCount(m, op); !ok {
			out = append(out, op)
		}
	})
	return out
}

// loopNames returns what a loop is called by: its line in the model's text, its scope and its line in the exported program.
func loopNames(m *ir.Module, op ir.OpID) []string {
	var called []string
	if pos := m.OpPos(op); pos.Line > 0 {
		called = append(called, strconv.Itoa(pos.Line))
	}
	if scope := names.Scope(m, m.OpLoc(op)); scope != "" {
		called = append(called, scope)
	}
	if at := answer.Line(m, m.OpLoc(op)); at != "" && m.FileLoc(m.OpLoc(op)).File != m.OpPos(op).File {
		called = append(called, at)
	}
	return called
}

func orList(list []string) string {
	n := len(list) - 1
	if n < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:n], ", ") + " or " + list[n]
}

// prices notes what makes the price of a per-device program uncertain: loops that the data ends, and branches, of which
// one runs.
func (f *findings) prices(program *shardmap.Program) {
	collectives := map[ir.OpID]bool{}
	for i := range program.Collectives {
		collectives[program.Collectives[i].Op] = true
	}
	f.Module.Walk(f.Module.Body(), func(op ir.OpID) {
		switch f.Module.Kind(op) {
		case ir.OpWhile:
			f.loop(op)
		case ir.OpIf, ir.OpCase:
			f.branches(op, collectives)
		}
	})
}

func (f *findings) loop(op ir.OpID) {
	m := f.Module
	if _, ok := ir.TripCount(m, op); ok {
		return
	}
	most := ""
	if n, ok := ir.TripBound(m, op); ok {
		most = fmt.Sprintf(", at most %d times", n)
	}
	if m.Attr(op, ir.TripCountAttr) != nil {
		f.Add(lint.LoopPrice, op, "", "the data decides how often this loop runs%s: it is priced for %d iterations, as asked for",
			most, ir.Trips(m, op))
		return
	}
	option := "--trip-count N"
	if called := loopNames(m, op); len(called) > 0 {
		option = "--trip-count " + called[len(called)-1] + "=N"
	}
	f.Add(lint.LoopPrice, op, "", "the data decides how often this loop runs%s: it is priced for one iteration; `%s` says how many",
		most, option)
}

// branches notes an op of which one region runs: the slowest is priced, but all of their collectives are.
func (f *findings) branches(op ir.OpID, collectives map[ir.OpID]bool) {
	m := f.Module
	sent, arrays := 0, false
	for b := range m.InnerBlocks(op) {
		m.Walk(b, func(inner ir.OpID) {
			if collectives[inner] {
				sent++
			}
			for _, v := range m.Results(inner) {
				arrays = arrays || m.Kind(inner) != ir.OpConstant && m.ValueType(v).Rank() > 0
			}
		})
	}
	switch {
	case sent > 0:
		f.Add(lint.BranchPrice, op, "", "one of %d branches runs: the time is that of the slowest, but collectives count in all of them, %d here",
			m.NumRegions(op), sent)
	case arrays:
		f.Add(lint.BranchPrice, op, "", "one of %d branches runs: the time is that of the slowest", m.NumRegions(op))
	}
}

package iopddl

import (
	"io"
	"math"
	"strconv"

	"autoshard/internal/diag"
)

// Solution is a list of strategies, one for each node, as read.
type Solution struct {
	Strategies []int64
	file       string
	lines      lines
	at         []int64 // offset of each
}

// ReadSolution reads a solution: a list of integers, alone or as the last line of the output of `autoshard solve`, where lines that begin
// with # and earlier lists are skipped; or an object with such a list under the key "solution". file names the source in errors, which are
// those of [Options.Read].
func ReadSolution(r io.Reader, file string) (*Solution, error) {
	d, err := Options{}.scanner(r, file)
	if err != nil {
		return nil, err
	}
	s := &Solution{file: file}
	found := false
	list := func() {
		s.read(d)
		found = true
	}
	for !d.skipComments() {
		if d.byte() == '{' {
			d.object(map[string]func(){"solution": list})
		} else {
			list()
		}
	}
	if !found {
		d.fail(diag.BadInputs, 0, `no list of strategies, alone or under the key "solution"`)
	}
	s.lines = d.lines
	return s, d.err
}

// skipComments skips white space and comments, and reports whether nothing else is left.
func (s *scanner) skipComments() bool {
	for s.peek() == '#' {
		for c := s.byte(); c != '\n' && !s.atEnd(); c = s.byte() {
			s.pos++
		}
	}
	return s.err != nil || s.atEnd()
}

// read reads a list of strategies.
func (s *Solution) read(d *decoder) {
	s.Strategies, s.at = s.Strategies[:0], s.at[:0]
	d.open('[', "list")
	d.elements(']', func() {
		d.peek()
		s.at = append(s.at, d.offset())
		s.Strategies = append(s.Strategies, d.integer())
	})
}

// fail returns an error about strategy i.
func (s *Solution) fail(i int, format string, args ...any) error {
	return diag.Invalid(diag.BadInputs, s.lines.position(s.file, s.at[i]), format, args...)
}

// AppendSolution appends a solution as JSON: a list in brackets, separated by a comma and a space.
func AppendSolution(to []byte, x []int32) []byte {
	to = append(to, '[')
	for i, a := range x {
		if i > 0 {
			to = append(to, ", "...)
		}
		to = strconv.AppendInt(to, int64(a), 10)
	}
	return append(to, ']')
}

// strategy returns strategy i, which must be one of k.
func (s *Solution) strategy(i, k int) (int, error) {
	a := s.Strategies[i]
	if a < 0 || a >= int64(min(k, math.MaxInt32)) {
		return 0, s.fail(i, "node %d: strategy %d out of range, it has %d", i, a, k)
	}
	return int(a), nil
}

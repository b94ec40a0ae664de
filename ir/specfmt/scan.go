package specfmt

import (
	"cmp"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// scanner reads one text from left to right. It remembers the axes in use, none of which may be used twice. After the
// first error nothing matches any more.
type scanner struct {
	mesh  *ir.MeshDecl
	text  string
	what  string // the form, for errors
	at    int
	start diag.Position
	used  []subaxis.Ref
	err   error
	// Lists of axes are not to be brought into their normal form: neighbours that are one part of an axis stay apart, sets unordered.
	verbatim bool
}

func (s *scanner) pos(at int) diag.Position {
	pos := s.start
	pos.Col += at
	return pos
}

func (s *scanner) fail(err error) {
	s.err = cmp.Or(s.err, err)
}

func (s *scanner) failf(code diag.Code, at int, format string, args ...any) {
	s.fail(diag.Invalid(code, s.pos(at), format, args...))
}

func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// peek returns the byte that follows, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// next consumes a word if it follows.
func (s *scanner) next(word string) bool {
	s.space()
	if s.err == nil && strings.HasPrefix(s.text[s.at:], word) {
		s.at += len(word)
		return true
	}
	return false
}

func (s *scanner) expect(word string) bool {
	if s.next(word) {
		return true
	}
	s.expected(strconv.Quote(word))
	return false
}

// expected fails at the place of the scanner.
func (s *scanner) expected(what string) {
	found := "the end"
	if s.at < len(s.text) {
		found = strconv.Quote(s.text[s.at:min(s.at+12, len(s.text))])
	}
	s.failf(diag.Syntax, s.at, "expected %s in the %s text, found %s", what, s.what, found)
}

// end demands that nothing follows.
func (s *scanner) end() {
	if s.space(); s.at < len(s.text) {
		s.expected("the end")
	}
}

// list reads elements between commas up to an end; a comma may stand behind the last one.
func (s *scanner) list(end string, element func()) {
	for first := true; s.err == nil && !s.next(end); first = false {
		if !first && (!s.expect(",") || s.next(end)) {
			return
		}
		element()
	}
}

// word reads letters, digits, underscores, dots and dollars.
func (s *scanner) word() string {
	s.space()
	from := s.at
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '$') {
			break
		}
	}
	return s.text[from:s.at]
}

// number reads a whole number without sign.
func (s *scanner) number(bits int) int64 {
	s.space()
	from := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	n, err := strconv.ParseInt(s.text[from:s.at], 10, bits)
	if err != nil {
		s.at = from
		s.expected("a number")
		return 0
	}
	return n
}

// quoted reads a string between quotes of one of the given kinds, with the escapes of Python that formatName writes.
func (s *scanner) quoted(quotes string) string {
	s.space()
	from := s.at
	quote := s.peek()
	if quote == 0 || strings.IndexByte(quotes, quote) < 0 {
		s.expected("the name of an axis in quotes")
		return ""
	}
	var name strings.Builder
	for s.at++; s.peek() != quote; {
		if s.peek() == 0 && s.at >= len(s.text) {
			s.failf(diag.Syntax, from, "the name of an axis does not end")
			return ""
		}
		if s.peek() != '\\' {
			name.WriteByte(s.text[s.at])
			s.at++
			continue
		}
		c, _, rest, err := strconv.UnquoteChar(s.text[s.at:], quote)
		if err != nil {
			if rest = s.text[min(s.at+2, len(s.text)):]; len(s.text)-s.at < 2 || strings.IndexByte(`'"`, s.text[s.at+1]) < 0 {
				s.expected("an escape sequence")
				return ""
			}
			c = rune(s.text[s.at+1])
		}
		if s.text[s.at+1] == 'x' {
			name.WriteByte(byte(c))
		} else {
			name.WriteRune(c)
		}
		s.at = len(s.text) - len(rest)
	}
	s.at++
	return name.String()
}

// axis reads the name of an axis and, behind :, the part of it: 'x' or 'x':(1)2.
func (s *scanner) axis(quotes string) subaxis.Ref {
	s.space()
	at := s.at
	name := s.quoted(quotes)
	r, ok := s.mesh.Lookup(name)
	if !ok {
		s.unknownAxis(at, name)
	}
	if s.next(":") {
		s.part(&r, at)
	}
	if s.err == nil {
		s.use(r, at)
	}
	return r
}

func (s *scanner) unknownAxis(at int, name string) {
	names := lists.Map(s.mesh.Axes, func(a subaxis.Axis) string { return a.Name })
	s.failf(diag.UnknownAxis, at, "the mesh %s has no axis %q%s", s.mesh.FormatContent(), name, diag.DidYouMean(name, names))
}

// part narrows an axis to the part written (pre-size)size.
func (s *scanner) part(r *subaxis.Ref, at int) {
	s.expect("(")
	pre := s.number(32)
	s.expect(")")
	size := s.number(32)
	if pre < 1 || size < 2 || int64(r.Size)%(pre*size) != 0 {
		s.failf(diag.BadSubAxis, at, "(%d)%d is not a part of axis %q of size %d", pre, size, s.mesh.Axes[r.Axis].Name, r.Size)
	}
	if s.verbatim && size == int64(r.Size) {
		s.failf(diag.BadSubAxis, at, "(%d)%d is all of axis %q, which is written without its size", pre, size, s.mesh.Axes[r.Axis].Name)
	}
	r.Pre, r.Size = int32(pre), int32(size)
}

// use notes that a ref is in use.
func (s *scanner) use(r subaxis.Ref, at int) {
	if other, ok := subaxis.Overlapping(s.used, r); ok {
		s.failf(diag.DuplicateAxis, at, "axis %s is used twice: it overlaps %s", s.mesh.Format(r), s.mesh.Format(other))
	}
	for _, other := range s.used {
		if other.Axis == r.Axis && !other.CanCoexist(r) {
			s.failf(diag.BadSubAxis, at, "no split of the axis has both %s and %s", s.mesh.Format(other), s.mesh.Format(r))
		}
	}
	s.used = append(s.used, r)
}

// axes reads the names of axes between commas up to an end. A last ? leaves the list open; neighbours that are one
// part of an axis become that, unless the list is read verbatim.
func (s *scanner) axes(end, quotes string) (refs ir.ShardAxes, closed bool) {
	closed = true
	s.list(end, func() {
		switch {
		case !closed:
			s.expected(strconv.Quote(end))
		case s.next("?"):
			closed = false
		case s.verbatim:
			refs = append(refs, s.axis(quotes))
		default:
			refs = subaxis.AppendMerge(refs, s.axis(quotes))
		}
	})
	return refs, closed
}

// set reads axes in braces, in any order.
func (s *scanner) set(quotes string) ir.ShardAxes {
	s.expect("{")
	at := s.at
	refs, closed := s.axes("}", quotes)
	if !closed {
		s.failf(diag.Syntax, at, "a set of axes cannot be open")
	}
	if s.verbatim {
		return refs
	}
	return subaxis.SortMerge(refs)
}

// reduction takes the word that was just read for a reduction.
func (s *scanner) reduction(into *ir.Reduction, word string) {
	r, ok := ir.ParseReduction(word)
	if !ok {
		s.at -= len(word)
		s.expected("sum, max or min")
	}
	*into = r
}

// pad gives a sharding the tensor's rank: dimensions that the text leaves out at the end are closed and whole.
func (s *scanner) pad(sharding *ir.Sharding, rank int) {
	if rank != AnyRank && len(sharding.Dims) > rank {
		s.failf(diag.BadShardingRank, 0, "the %s text has %d dimensions, the tensor has %d", s.what, len(sharding.Dims), rank)
	}
	for len(sharding.Dims) < rank {
		sharding.Dims = append(sharding.Dims, ir.DimSharding{Closed: true, Priority: ir.NoPriority})
	}
}

package specfmt

import (
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// scanner reads one text from left to right. It remembers the axes in use, none of which may be used twice.
type scanner struct {
	mesh  *ir.MeshDecl
	text  string
	what  string // the form, for errors
	at    int
	start diag.Position
	used  []subaxis.Ref
}

func (s *scanner) pos(at int) diag.Position {
	pos := s.start
	pos.Col += at
	return pos
}

func (s *scanner) errorf(code diag.Code, at int, format string, args ...any) error {
	return diag.Invalid(code, s.pos(at), format, args...)
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
	if strings.HasPrefix(s.text[s.at:], word) {
		s.at += len(word)
		return true
	}
	return false
}

func (s *scanner) expect(word string) error {
	if s.next(word) {
		return nil
	}
	return s.expected(strconv.Quote(word))
}

// expected is the error at the place of the scanner.
func (s *scanner) expected(what string) error {
	found := "the end"
	if s.at < len(s.text) {
		found = strconv.Quote(s.text[s.at:min(s.at+12, len(s.text))])
	}
	return s.errorf(diag.Syntax, s.at, "expected %s in the %s text, found %s", what, s.what, found)
}

// end demands that nothing follows.
func (s *scanner) end() error {
	if s.space(); s.at < len(s.text) {
		return s.expected("the end")
	}
	return nil
}

// list reads elements between commas up to an end; a comma may stand behind the last one.
func (s *scanner) list(end string, element func() error) error {
	for first := true; !s.next(end); first = false {
		if !first {
			if err := s.expect(","); err != nil {
				return err
			}
			if s.next(end) {
				break
			}
		}
		if err := element(); err != nil {
			return err
		}
	}
	return nil
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
func (s *scanner) number(bits int) (int64, error) {
	s.space()
	from := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	n, err := strconv.ParseInt(s.text[from:s.at], 10, bits)
	if err != nil {
		s.at = from
		return 0, s.expected("a number")
	}
	return n, nil
}

// quoted reads a string between quotes of one of the given kinds, with the escapes of Python that formatName writes.
func (s *scanner) quoted(quotes string) (string, error) {
	s.space()
	from := s.at
	quote := s.peek()
	if quote == 0 || strings.IndexByte(quotes, quote) < 0 {
		return "", s.expected("the name of an axis in quotes")
	}
	var name strings.Builder
	for s.at++; s.peek() != quote; {
		if s.peek() == 0 && s.at >= len(s.text) {
			return "", s.errorf(diag.Syntax, from, "the name of an axis does not end")
		}
		if s.peek() != '\\' {
			name.WriteByte(s.text[s.at])
			s.at++
			continue
		}
		c, _, rest, err := strconv.UnquoteChar(s.text[s.at:], quote)
		if err != nil {
			if rest = s.text[min(s.at+2, len(s.text)):]; len(s.text)-s.at < 2 || strings.IndexByte(`'"`, s.text[s.at+1]) < 0 {
				return "", s.expected("an escape sequence")
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
	return name.String(), nil
}

// axis reads the name of an axis and, behind :, the part of it: 'x' or 'x':(1)2.
func (s *scanner) axis(quotes string) (subaxis.Ref, error) {
	s.space()
	at := s.at
	name, err := s.quoted(quotes)
	if err != nil {
		return subaxis.Ref{}, err
	}
	r, ok := s.mesh.Lookup(name)
	if !ok {
		return r, s.unknownAxis(at, name)
	}
	if s.next(":") {
		if err := s.part(&r, at); err != nil {
			return r, err
		}
	}
	return r, s.use(r, at)
}

func (s *scanner) unknownAxis(at int, name string) error {
	var names []string
	for _, a := range s.mesh.Axes {
		names = append(names, a.Name)
	}
	hint := ""
	if near := diag.Nearest(name, names); near != "" {
		hint = ", did you mean `" + near + "`?"
	}
	return s.errorf(diag.UnknownAxis, at, "mesh %s has no axis %q%s", s.mesh.FormatRef(), name, hint)
}

// part narrows an axis to the part written (pre-size)size.
func (s *scanner) part(r *subaxis.Ref, at int) error {
	if err := s.expect("("); err != nil {
		return err
	}
	pre, err := s.number(32)
	if err != nil {
		return err
	}
	if err := s.expect(")"); err != nil {
		return err
	}
	size, err := s.number(32)
	if err != nil {
		return err
	}
	if pre < 1 || size < 2 || int64(r.Size)%(pre*size) != 0 {
		return s.errorf(diag.BadSubAxis, at, "(%d)%d is not a part of axis %q of size %d", pre, size, s.mesh.Axes[r.Axis].Name, r.Size)
	}
	r.Pre, r.Size = int32(pre), int32(size)
	return nil
}

// use notes that a ref is in use.
func (s *scanner) use(r subaxis.Ref, at int) error {
	if other, ok := subaxis.Overlapping(s.used, r); ok {
		return s.errorf(diag.DuplicateAxis, at, "axis %s is used twice: it overlaps %s", s.mesh.Format(r), s.mesh.Format(other))
	}
	for _, other := range s.used {
		if other.Axis == r.Axis && !other.CanCoexist(r) {
			return s.errorf(diag.BadSubAxis, at, "no split of the axis has both %s and %s", s.mesh.Format(other), s.mesh.Format(r))
		}
	}
	s.used = append(s.used, r)
	return nil
}

// axes reads the names of axes between commas up to an end. A last ? leaves the list open; neighbours that are one
// part of an axis become that.
func (s *scanner) axes(end, quotes string) (refs ir.ShardAxes, closed bool, err error) {
	closed = true
	err = s.list(end, func() error {
		if !closed {
			return s.expected(strconv.Quote(end))
		}
		if s.next("?") {
			closed = false
			return nil
		}
		r, err := s.axis(quotes)
		refs = subaxis.AppendMerge(refs, r)
		return err
	})
	return refs, closed, err
}

// set reads axes in braces, in any order.
func (s *scanner) set(quotes string) (ir.ShardAxes, error) {
	if err := s.expect("{"); err != nil {
		return nil, err
	}
	at := s.at
	refs, closed, err := s.axes("}", quotes)
	if err == nil && !closed {
		err = s.errorf(diag.Syntax, at, "a set of axes cannot be open")
	}
	return subaxis.SortMerge(refs), err
}

// pad gives a sharding the tensor's rank: dimensions that the text leaves out at the end are closed and whole.
func (s *scanner) pad(sharding *ir.Sharding, rank int) error {
	if rank != AnyRank && len(sharding.Dims) > rank {
		return s.errorf(diag.BadShardingRank, 0, "the %s text has %d dimensions, the tensor has %d", s.what, len(sharding.Dims), rank)
	}
	for len(sharding.Dims) < rank {
		sharding.Dims = append(sharding.Dims, ir.DimSharding{Closed: true, Priority: ir.NoPriority})
	}
	return nil
}

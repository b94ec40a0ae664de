package iopddl

import (
	"io"
	"math"

	"autoshard/internal/diag"
)

const (
	maxDepth  = 1000    // nesting of skipped values
	maxString = 1 << 20 // length of keys and names
)

// scanner reads JSON from a stream byte by byte. The first error sticks, and then every method returns at once.
type scanner struct {
	in        io.Reader
	buf       []byte
	pos, size int
	read      int64 // bytes before buf
	err       error
}

// byte returns the next byte without consuming it, or 0 at the end of the file.
func (s *scanner) byte() byte {
	if s.pos < s.size {
		return s.buf[s.pos]
	}
	if s.err != nil {
		return 0
	}
	s.read += int64(s.size)
	s.pos, s.size = 0, 0
	if s.read > MaxBytes {
		s.err = diag.TooLarge(diag.InputTooLarge, diag.Position{}, "file has more than %d bytes", int64(MaxBytes))
		return 0
	}
	for s.size == 0 {
		n, err := s.in.Read(s.buf)
		s.size = n
		if err == io.EOF && n == 0 {
			return 0
		}
		if err != nil && err != io.EOF {
			s.err = diag.Invalid(diag.BadFile, diag.Position{}, "cannot read: %v", err)
			s.size = 0
			return 0
		}
	}
	return s.buf[0]
}

// peek skips white space and returns the next byte without consuming it.
func (s *scanner) peek() byte {
	for {
		c := s.byte()
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.pos++
	}
}

// atEnd reports whether the stream has ended.
func (s *scanner) atEnd() bool { return s.byte() == 0 && s.pos >= s.size }

func (s *scanner) syntax() {
	s.invalid("syntax error at byte %d", s.read+int64(s.pos))
}

func (s *scanner) invalid(format string, args ...any) {
	if s.err == nil {
		s.err = diag.Invalid(diag.Syntax, diag.Position{}, format, args...)
	}
}

// accept consumes c, or fails.
func (s *scanner) accept(c byte) {
	if s.peek() != c || s.err != nil {
		s.syntax()
		return
	}
	s.pos++
}

// array calls element for every element of an array.
func (s *scanner) array(element func()) {
	s.accept('[')
	if s.peek() == ']' {
		s.pos++
		return
	}
	for s.err == nil {
		element()
		if s.peek() == ',' {
			s.pos++
			continue
		}
		s.accept(']')
		return
	}
}

// object calls value for every key of an object; a key may come once.
func (s *scanner) object(value func(key string)) {
	s.accept('{')
	if s.peek() == '}' {
		s.pos++
		return
	}
	seen := map[string]bool{}
	for s.err == nil {
		s.peek()
		key := s.text()
		if seen[key] {
			s.invalid("duplicate key %q at byte %d", key, s.read+int64(s.pos))
		}
		seen[key] = true
		s.accept(':')
		if s.err != nil {
			return
		}
		value(key)
		if s.peek() == ',' {
			s.pos++
			continue
		}
		s.accept('}')
		return
	}
}

// text reads a string. Escapes are kept as they are written: keys of the format have none.
func (s *scanner) text() string {
	var out []byte
	s.quoted(func(c byte) {
		if len(out) < maxString {
			out = append(out, c)
		} else {
			s.invalid("string at byte %d is too long", s.read+int64(s.pos))
		}
	})
	return string(out)
}

// quoted consumes a string.
func (s *scanner) quoted(each func(c byte)) {
	s.accept('"')
	for s.err == nil {
		if s.atEnd() {
			s.syntax()
			return
		}
		c := s.buf[s.pos]
		s.pos++
		if c == '"' {
			return
		}
		each(c)
		if c == '\\' && !s.atEnd() {
			each(s.buf[s.pos])
			s.pos++
		}
	}
}

// integer reads an integer without fraction or exponent.
func (s *scanner) integer() int64 {
	negative := s.peek() == '-'
	start := s.read + int64(s.pos)
	if negative {
		s.pos++
	}
	v, digits := uint64(0), 0
	for {
		c := s.byte() - '0'
		if c > 9 {
			break
		}
		s.pos++
		if digits++; v > (math.MaxUint64-9)/10 {
			s.invalid("byte %d: integer out of range", start)
			return 0
		}
		v = v*10 + uint64(c)
	}
	switch c := s.byte(); {
	case digits == 0 || c == '.' || c == 'e' || c == 'E':
		s.invalid("byte %d: integer expected", start)
	case v > math.MaxInt64 && !(negative && v == 1<<63):
		s.invalid("byte %d: integer out of range", start)
	}
	if negative {
		return -int64(v)
	}
	return int64(v)
}

// skip consumes a value of any kind.
func (s *scanner) skip(depth int) {
	if depth > maxDepth {
		s.invalid("byte %d: nested too deeply", s.read+int64(s.pos))
		return
	}
	switch c := s.peek(); {
	case c == '"':
		s.quoted(func(byte) {})
	case c == '[':
		s.array(func() { s.skip(depth + 1) })
	case c == '{':
		s.skipObject(depth)
	case c == '-' || c >= '0' && c <= '9':
		s.word("+-.eE0123456789")
	case c == 't' || c == 'f' || c == 'n':
		if w := s.word("truefalsn"); w != "true" && w != "false" && w != "null" {
			s.syntax()
		}
	default:
		s.syntax()
	}
}

// skipObject consumes an object without storing its keys.
func (s *scanner) skipObject(depth int) {
	s.accept('{')
	if s.peek() == '}' {
		s.pos++
		return
	}
	for s.err == nil {
		s.peek()
		s.quoted(func(byte) {})
		s.accept(':')
		s.skip(depth + 1)
		if s.peek() == ',' {
			s.pos++
			continue
		}
		s.accept('}')
		return
	}
}

// word consumes and returns the longest run of the given letters, at most 64 of which are kept.
func (s *scanner) word(letters string) string {
	var out []byte
	for {
		c := s.byte()
		at := -1
		for j := range len(letters) {
			if letters[j] == c && !s.atEnd() {
				at = j
				break
			}
		}
		if at < 0 || s.err != nil {
			return string(out)
		}
		if len(out) < 64 {
			out = append(out, c)
		}
		s.pos++
	}
}

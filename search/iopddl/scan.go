package iopddl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"strings"

	"autoshard/internal/diag"
)

const (
	maxDepth  = 1000    // nesting of skipped values
	maxString = 1 << 20 // bytes of a key or a name
	maxWord   = 1 << 12 // bytes of a number
	maxList   = 1 << 28 // bytes of one list of numbers
	firstRead = 1 << 16 // bytes of the buffer; lists that are longer make it grow
)

// scanner reads JSON from a stream. The first error sticks; then all methods return at once.
type scanner struct {
	in       io.Reader
	file     string
	zipped   bool      // in unpacks
	most     int64     // bytes allowed
	digest   hash.Hash // of the whole stream; nil if not wanted
	buf      []byte
	pos, end int   // buf[pos:end] has been read, but not consumed
	base     int64 // offset of buf[0] in the stream
	lines    lines
	err      error
}

// offset returns the number of bytes consumed.
func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// extend reads more behind buf[pos:end]. It returns false at the end of the stream and after an error.
func (s *scanner) extend() bool {
	if s.err != nil {
		return false
	}
	s.base += int64(s.pos)
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	if s.end == len(s.buf) {
		s.buf = append(make([]byte, 0, max(2*len(s.buf), firstRead)), s.buf...)
		s.buf = s.buf[:cap(s.buf)]
	}
	n := 0
	for n == 0 {
		var err error
		if n, err = s.in.Read(s.buf[s.end:]); err != nil {
			if n == 0 && !errors.Is(err, io.EOF) {
				s.err = s.readError(err)
			}
			break
		}
	}
	added := s.buf[s.end : s.end+n]
	s.lines.add(added)
	if s.digest != nil {
		s.digest.Write(added)
	}
	s.end += n
	if s.base+int64(s.end) > s.most {
		s.err = diag.TooLarge(diag.InputTooLarge, diag.Position{File: s.file}, "file has more than %s, unpacked", diag.Bytes(s.most))
		return false
	}
	return n > 0
}

// readError classifies an error of the stream; that of a context stays as it is.
func (s *scanner) readError(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case s.zipped:
		return diag.Invalid(diag.BadFile, diag.Position{File: s.file}, "gzip: %v", err)
	}
	return diag.Invalid(diag.BadFile, diag.Position{File: s.file}, "cannot read: %v", err)
}

// byte returns the next byte without consuming it, or 0 at the end.
func (s *scanner) byte() byte {
	if s.pos < s.end || s.extend() {
		return s.buf[s.pos]
	}
	return 0
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

// atEnd reports whether nothing is left.
func (s *scanner) atEnd() bool { return s.pos >= s.end && !s.extend() }

// fail records an error at an offset.
func (s *scanner) fail(code diag.Code, at int64, format string, args ...any) {
	if s.err == nil {
		s.err = diag.Invalid(code, s.lines.position(s.file, at), format, args...)
	}
}

func (s *scanner) syntax() {
	if s.atEnd() {
		s.fail(diag.Syntax, s.offset(), "syntax error at byte %d: the file ends too early", s.offset())
		return
	}
	s.fail(diag.Syntax, s.offset(), "syntax error at byte %d", s.offset())
}

// open consumes the bracket that begins a value, which what describes.
func (s *scanner) open(bracket byte, what string) {
	switch c := s.peek(); {
	case s.err != nil:
	case c == bracket:
		s.pos++
	case s.atEnd():
		s.syntax()
	default:
		s.fail(diag.Syntax, s.offset(), "byte %d: %s expected", s.offset(), what)
	}
}

// accept consumes c.
func (s *scanner) accept(c byte) {
	if s.peek() != c || s.err != nil {
		s.syntax()
		return
	}
	s.pos++
}

// elements consumes the rest of a list or an object up to its closing bracket.
func (s *scanner) elements(closing byte, element func()) {
	if s.peek() == closing {
		s.pos++
		return
	}
	for s.err == nil {
		element()
		if s.peek() == ',' {
			s.pos++
			continue
		}
		s.accept(closing)
		return
	}
}

// object calls the function of each key that it knows, of which each may come once, and skips the values of other keys.
func (s *scanner) object(known map[string]func()) {
	s.open('{', "object")
	seen := map[string]bool{}
	s.elements('}', func() {
		s.peek()
		at := s.offset()
		key := s.text()
		read := known[key]
		if read != nil && seen[key] {
			s.fail(diag.Syntax, at, "duplicate key %q at byte %d", key, at)
		}
		s.accept(':')
		switch {
		case s.err != nil:
		case read == nil:
			s.skip(0)
		default:
			seen[key] = true
			read()
		}
	})
}

// text reads a string.
func (s *scanner) text() string {
	at := s.offset()
	s.accept('"')
	var raw []byte
	escaped := false
	s.quoted(func(part []byte) {
		if raw = append(raw, part...); len(raw) > maxString {
			s.fail(diag.Syntax, at, "byte %d: string has more than %d bytes", at, maxString)
		}
		escaped = escaped || bytes.IndexByte(part, '\\') >= 0
	})
	if escaped && s.err == nil {
		var out string
		if err := json.Unmarshal([]byte(`"`+string(raw)+`"`), &out); err != nil {
			s.fail(diag.Syntax, at, "byte %d: string is malformed", at)
		}
		return out
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// quoted consumes the rest of a string with its closing quote, and passes on what is before that in parts.
func (s *scanner) quoted(part func([]byte)) {
	for {
		if s.atEnd() {
			s.syntax()
			return
		}
		ahead := s.buf[s.pos:s.end]
		i := bytes.IndexAny(ahead, "\"\\")
		switch {
		case i < 0:
			part(ahead)
			s.pos = s.end
		case ahead[i] == '"':
			part(ahead[:i])
			s.pos += i + 1
			return
		case i+1 < len(ahead) || s.extend():
			part(s.buf[s.pos : s.pos+i+2])
			s.pos += i + 2
		default:
			s.pos = s.end
		}
	}
}

// skip consumes a value of any kind.
func (s *scanner) skip(depth int) {
	if depth > maxDepth {
		s.fail(diag.NestingTooDeep, s.offset(), "byte %d: nested too deeply, more than %d values", s.offset(), maxDepth)
		return
	}
	switch c := s.peek(); {
	case c == '"':
		s.skipString()
	case c == '[':
		s.pos++
		s.elements(']', func() { s.skip(depth + 1) })
	case c == '{':
		s.pos++
		s.elements('}', func() {
			s.peek()
			s.skipString()
			s.accept(':')
			s.skip(depth + 1)
		})
	default:
		s.literal()
	}
}

func (s *scanner) skipString() {
	s.accept('"')
	if s.err == nil {
		s.quoted(func([]byte) {})
	}
}

// literal consumes a number of any kind, true, false or null.
func (s *scanner) literal() {
	at := s.offset()
	if word := s.word(); s.err == nil && !json.Valid(word) {
		s.fail(diag.Syntax, at, "syntax error at byte %d", at)
	}
}

// word consumes letters, digits, signs and dots: numbers and literals have no others.
func (s *scanner) word() []byte {
	var out []byte
	for at := s.offset(); ; s.pos++ {
		c := s.byte()
		if c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return out
		}
		if out = append(out, c); len(out) > maxWord {
			s.fail(diag.Syntax, at, "byte %d: number has more than %d bytes", at, maxWord)
			return nil
		}
	}
}

// integer reads an integer without fraction or exponent.
func (s *scanner) integer() int64 {
	s.peek()
	at := s.offset()
	v, problem := parseInteger(s.word())
	if problem != "" {
		s.fail(diag.Syntax, at, "byte %d: %s", at, problem)
	}
	return v
}

// list reads a list of integers and returns its text behind the opening bracket, up to and with the closing one. The text is valid until
// the next reading; its numbers are not checked yet.
func (s *scanner) list() (text []byte, at int64) {
	s.peek()
	at = s.offset()
	s.open('[', "list")
	for from := 0; s.err == nil; {
		ahead := s.buf[s.pos:s.end]
		if i := bytes.IndexByte(ahead[from:], ']'); i >= 0 {
			text = ahead[:from+i+1]
			s.pos += len(text)
			return text, at
		}
		if i := bytes.IndexAny(ahead[from:], "\"[{}"); i >= 0 { // not a list of integers: do not look for its end any further
			return append(bytes.Clone(ahead), ']'), at
		}
		if from = len(ahead); from > maxList {
			s.err = diag.TooLarge(diag.InputTooLarge, s.lines.position(s.file, at), "byte %d: list has more than %d bytes", at, maxList)
		} else if !s.extend() {
			s.pos = s.end
			s.syntax()
		}
	}
	return nil, at
}

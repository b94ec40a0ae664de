package modeljson

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is the kind of a JSON value.
type kind uint8

const (
	objectKind kind = iota
	arrayKind
	stringKind
	numberKind
	boolKind
	nullKind
)

func (k kind) String() string {
	return [...]string{"an object", "an array", "a string", "a number", "a boolean", "null"}[k]
}

// node is a JSON value. In a text that was read, at is the byte offset of its first character.
type node struct {
	kind  kind
	at    int
	text  string // of a string, decoded; of a number or boolean as written
	keys  []key  // of an object, beside elems
	elems []node // of an array or object

	expand bool // in writing: several elements do not share a line even where they would fit
}

// key is the name of an object's member.
type key struct {
	name string
	at   int
}

// get returns the member of that name, nil if there is none.
func (n *node) get(name string) *node {
	for i := range n.keys {
		if n.keys[i].name == name {
			return &n.elems[i]
		}
	}
	return nil
}

// maxDepth bounds the nesting of JSON values; four levels make one level of regions.
const maxDepth = 2000

// syntaxError is a violation of JSON at an offset.
type syntaxError struct {
	at      int
	message string
	deep    bool // nested too deeply, rather than malformed
}

func (e *syntaxError) Error() string { return e.message }

// scanner is a strict JSON reader: RFC 8259 without duplicate names.
type scanner struct {
	ctx   context.Context
	src   []byte
	pos   int
	depth int

	listenAt int // offset at which to look at the context again
}

// listenEvery is the number of bytes that are read between looks at the context, in well under a millisecond.
const listenEvery = 1 << 15

// parse reads the one value of a text. Errors are *syntaxError or the context's.
func parse(ctx context.Context, src []byte) (node, error) {
	s := &scanner{ctx: ctx, src: src}
	n, err := s.value()
	if err != nil {
		return node{}, err
	}
	s.space()
	if s.pos < len(src) {
		return node{}, s.errorf("unexpected %s after the end of the model", s.here())
	}
	return n, nil
}

func (s *scanner) errorf(format string, args ...any) *syntaxError {
	return &syntaxError{at: s.pos, message: fmt.Sprintf(format, args...)}
}

// here describes the character at hand.
func (s *scanner) here() string {
	if s.pos >= len(s.src) {
		return "end of file"
	}
	r, _ := utf8.DecodeRune(s.src[s.pos:])
	return strconv.QuoteRune(r)
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// next skips white space and reports whether c follows, consuming it.
func (s *scanner) next(c byte) bool {
	s.space()
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) value() (node, error) {
	s.space()
	n := node{at: s.pos}
	if s.pos >= s.listenAt {
		s.listenAt = s.pos + listenEvery
		if err := s.ctx.Err(); err != nil {
			return n, err
		}
	}
	if s.pos >= len(s.src) {
		return n, s.errorf("expected a JSON value, found end of file")
	}
	var err error
	switch c := s.src[s.pos]; {
	case c == '{' || c == '[':
		if s.depth++; s.depth > maxDepth {
			return n, &syntaxError{at: s.pos, message: fmt.Sprintf("values are nested more than %d levels deep", maxDepth), deep: true}
		}
		if c == '{' {
			err = s.object(&n)
		} else {
			err = s.array(&n)
		}
		s.depth--
	case c == '"':
		n.kind = stringKind
		n.text, err = s.str()
	case c == '-' || c >= '0' && c <= '9':
		n.kind = numberKind
		n.text, err = s.number()
	default:
		err = s.word(&n)
	}
	return n, err
}

func (s *scanner) object(n *node) error {
	n.kind = objectKind
	s.pos++
	if s.next('}') {
		return nil
	}
	seen := map[string]bool{}
	for {
		s.space()
		at := s.pos
		if s.pos >= len(s.src) || s.src[s.pos] != '"' {
			return s.errorf("expected a field name in quotes, found %s", s.here())
		}
		name, err := s.str()
		if err != nil {
			return err
		}
		if seen[name] {
			return &syntaxError{at: at, message: fmt.Sprintf("field %q appears twice", name)}
		}
		seen[name] = true
		if !s.next(':') {
			return s.errorf("expected ':' after field name %q, found %s", name, s.here())
		}
		v, err := s.value()
		if err != nil {
			return err
		}
		n.keys = append(n.keys, key{name, at})
		n.elems = append(n.elems, v)
		if s.next('}') {
			return nil
		}
		if !s.next(',') {
			return s.errorf("expected ',' or '}' in an object, found %s", s.here())
		}
	}
}

func (s *scanner) array(n *node) error {
	n.kind = arrayKind
	s.pos++
	if s.next(']') {
		return nil
	}
	for {
		v, err := s.value()
		if err != nil {
			return err
		}
		n.elems = append(n.elems, v)
		if s.next(']') {
			return nil
		}
		if !s.next(',') {
			return s.errorf("expected ',' or ']' in an array, found %s", s.here())
		}
	}
}

func (s *scanner) word(n *node) error {
	for _, w := range [...]struct {
		text string
		kind kind
	}{{"true", boolKind}, {"false", boolKind}, {"null", nullKind}} {
		end := s.pos + len(w.text)
		if end <= len(s.src) && string(s.src[s.pos:end]) == w.text {
			n.kind, n.text, s.pos = w.kind, w.text, end
			return nil
		}
	}
	return s.errorf("expected a JSON value, found %s", s.here())
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) accept(set string) bool {
	for i := range len(set) {
		if s.pos < len(s.src) && s.src[s.pos] == set[i] {
			s.pos++
			return true
		}
	}
	return false
}

func (s *scanner) number() (string, error) {
	start := s.pos
	s.accept("-")
	if !s.accept("0") && !s.digits() {
		return "", s.errorf("expected a digit, found %s", s.here())
	}
	if s.accept(".") && !s.digits() {
		return "", s.errorf("expected a digit after the decimal point, found %s", s.here())
	}
	if s.accept("eE") {
		s.accept("+-")
		if !s.digits() {
			return "", s.errorf("expected a digit in the exponent, found %s", s.here())
		}
	}
	return string(s.src[start:s.pos]), nil
}

func (s *scanner) str() (string, error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] != '"' && s.src[s.pos] != '\\' && s.src[s.pos] >= ' ' && s.src[s.pos] < utf8.RuneSelf {
		s.pos++
	}
	buf := s.src[start:s.pos:s.pos]
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return string(buf), nil
		case c == '\\':
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
		case c < ' ':
			return "", s.errorf("control character %s inside a string: write it as an escape", s.here())
		default:
			r, size := utf8.DecodeRune(s.src[s.pos:])
			if r == utf8.RuneError && size <= 1 {
				return "", s.errorf("string is not valid UTF-8")
			}
			buf = append(buf, s.src[s.pos:s.pos+size]...)
			s.pos += size
		}
	}
	return "", s.errorf("string does not end before the end of the file")
}

// escapes are the characters that a backslash and one more stand for.
var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *scanner) escape() (rune, error) {
	if s.pos+1 >= len(s.src) {
		return 0, s.errorf("string does not end before the end of the file")
	}
	c := s.src[s.pos+1]
	if plain, ok := escapes[c]; ok {
		s.pos += 2
		return plain, nil
	}
	r, err := s.unicode()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	low, err := s.unicode()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, s.errorf("escape is half of a surrogate pair")
	}
	return r, nil
}

// unicode reads \uXXXX.
func (s *scanner) unicode() (rune, error) {
	if s.pos+6 > len(s.src) || s.src[s.pos] != '\\' || s.src[s.pos+1] != 'u' {
		return 0, s.errorf(`unknown escape: use \" \\ \/ \b \f \n \r \t or \uXXXX`)
	}
	v, err := strconv.ParseUint(string(s.src[s.pos+2:s.pos+6]), 16, 32)
	if err != nil {
		return 0, s.errorf("expected four hexadecimal digits in an escape")
	}
	s.pos += 6
	return rune(v), nil
}

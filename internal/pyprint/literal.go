package pyprint

import (
	"strconv"
	"strings"
)

// literal reads string literals that stand one after another. It leaves the reader where it was if there is none, or an f-string or bytes.
func (r *reader) literal() (text string, ok bool) {
	before := r.rest
	for {
		at := r.rest
		prefix := strings.ToLower(r.word())
		if r.rest == "" || r.rest[0] != '"' && r.rest[0] != '\'' {
			r.rest = at
			break
		}
		part, closed := r.quoted(prefix == "r")
		if !closed || prefix != "" && prefix != "r" && prefix != "u" {
			r.rest = before
			return "", false
		}
		text, ok = text+part, true
		r.space()
	}
	if !ok {
		r.rest = before
	}
	return text, ok
}

// quoted reads a quoted string, raw or with its escapes replaced.
func (r *reader) quoted(raw bool) (string, bool) {
	quote := r.rest[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(r.rest, triple) {
		quote = triple
	}
	r.rest = r.rest[len(quote):]
	var b strings.Builder
	for r.rest != "" {
		if strings.HasPrefix(r.rest, quote) {
			r.rest = r.rest[len(quote):]
			return b.String(), true
		}
		if r.rest[0] != '\\' || len(r.rest) < 2 {
			b.WriteByte(r.rest[0])
			r.rest = r.rest[1:]
			continue
		}
		if raw {
			b.WriteString(r.rest[:2])
			r.rest = r.rest[2:]
			continue
		}
		if !r.escape(&b) {
			return "", false
		}
	}
	return "", false
}

// escapes are those of one letter.
var escapes = map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r",
	't': "\t", 'v': "\v"}

// digits are how many of them follow \x, \u and \U.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// escape reads what a backslash begins. It is false for characters by name, and octal ones.
func (r *reader) escape(b *strings.Builder) bool {
	c := r.rest[1]
	if text, ok := escapes[c]; ok {
		b.WriteString(text)
		r.rest = r.rest[2:]
		return true
	}
	n, ok := digits[c]
	if !ok {
		b.WriteString(r.rest[:2])
		r.rest = r.rest[2:]
		return c != 'N' && (c < '0' || c > '7')
	}
	if len(r.rest) < 2+n {
		return false
	}
	code, err := strconv.ParseUint(r.rest[2:2+n], 16, 32)
	b.WriteRune(rune(code))
	r.rest = r.rest[2+n:]
	return err == nil
}

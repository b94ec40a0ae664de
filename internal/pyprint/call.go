// Package pyprint understands calls of jax.debug.print in the Python that a program was exported from, whose format the export lacks:
//
//	c, ok := pyprint.Find(source, 7, 12) // jax.debug.print("step {} has {x:.3f}", k, x=c.mean())
//	text, ok := c.Text(values)           // "step 0 has 0.089"
package pyprint

import (
	"slices"
	"strings"
)

// Call is a call of jax.debug.print.
type Call struct {
	Format     string
	positional int
	keywords   []string // in the order in which JAX hands their values over
}

// Find returns the call that begins in a line of a source, counted from 1, behind that many bytes. It is false where none stands there, or
// one whose format is no string literal.
func Find(source string, line, col int) (*Call, bool) {
	for ; line > 1; line-- {
		_, rest, found := strings.Cut(source, "\n")
		if !found {
			return nil, false
		}
		source = rest
	}
	if line < 1 || col < 0 || col > len(source) {
		return nil, false
	}
	r := &reader{rest: source[col:]}
	name := r.dotted()
	if name != "debug_print" && name != "debug.print" && !strings.HasSuffix(name, ".debug.print") || !r.skip("(") {
		return nil, false
	}
	return r.call()
}

// options of jax.debug.print that are no values.
var options = []string{"ordered", "partitioned", "skip_format_check"}

// reader reads Python from its beginning.
type reader struct{ rest string }

// call reads arguments up to the closing parenthesis.
func (r *reader) call() (*Call, bool) {
	c, format := &Call{}, false
	for !r.skip(")") {
		if r.skip("*") {
			return nil, false
		}
		name := r.keyword()
		text, literal := r.literal()
		if !literal && !r.expression() || literal && !r.atEnd() {
			return nil, false
		}
		switch {
		case name == "fmt" || name == "" && !format:
			if !literal {
				return nil, false
			}
			c.Format, format = text, true
		case literal: // JAX hands strings over on another way
			return nil, false
		case name == "":
			c.positional++
		case !slices.Contains(options, name):
			c.keywords = append(c.keywords, name)
		}
		if !r.skip(",") && !strings.HasPrefix(r.rest, ")") {
			return nil, false
		}
	}
	slices.Sort(c.keywords)
	return c, format
}

// space passes over blanks, comments and continued lines.
func (r *reader) space() {
	for {
		r.rest = strings.TrimLeft(r.rest, " \t\r\n\f")
		switch {
		case strings.HasPrefix(r.rest, "#"):
			_, r.rest, _ = strings.Cut(r.rest, "\n")
		case strings.HasPrefix(r.rest, "\\\n"):
			r.rest = r.rest[2:]
		default:
			return
		}
	}
}

// skip passes over a mark, with blanks around it.
func (r *reader) skip(mark string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.rest, mark)
	if ok {
		r.rest = rest
		r.space()
	}
	return ok
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// word reads a name.
func (r *reader) word() string {
	n := 0
	for n < len(r.rest) && isWord(r.rest[n]) {
		n++
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

// dotted reads a name such as jax.debug.print.
func (r *reader) dotted() string {
	name := r.word()
	for r.skip(".") {
		name += "." + r.word()
	}
	return name
}

// keyword reads the name of an argument, "" for one without.
func (r *reader) keyword() string {
	before := r.rest
	if name := r.word(); name != "" && r.skip("=") && !strings.HasPrefix(r.rest, "=") {
		return name
	}
	r.rest = before
	return ""
}

// atEnd says whether an argument ends here.
func (r *reader) atEnd() bool {
	r.space()
	return strings.HasPrefix(r.rest, ",") || strings.HasPrefix(r.rest, ")")
}

// expression passes over an argument. It is false where the source ends before it.
func (r *reader) expression() bool {
	depth := 0
	for r.rest != "" {
		if depth == 0 && r.atEnd() {
			return true
		}
		switch c := r.rest[0]; {
		case c == '"' || c == '\'':
			if _, ok := r.quoted(true); !ok {
				return false
			}
			continue
		case c == '#':
			r.space()
			continue
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
		r.rest = r.rest[1:]
	}
	return false
}

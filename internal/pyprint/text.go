package pyprint

import (
	"slices"
	"strconv"
	"strings"
)

// Value is what a call prints.
type Value struct {
	Scalar any    // of an array without dimensions a bool, int64, uint64 or float64; nil for others
	Text   string // as NumPy prints it
}

// Text returns what the call prints of these values, in the order in which JAX hands them over. It is false for other numbers of values, as
// where arguments are lists, and for formats that Python does not take of them or that are not known here, such as {x.shape}.
func (c *Call) Text(values []Value) (string, bool) {
	if len(values) != c.positional+len(c.keywords) {
		return "", false
	}
	if field, literal, _, ok := next(c.Format); !ok || field == nil && len(literal) == len(c.Format) {
		texts := []string{c.Format}
		for _, v := range values {
			texts = append(texts, v.Text)
		}
		return strings.Join(texts, " "), ok && len(c.keywords) == 0
	}
	var b strings.Builder
	auto := 0
	for rest := c.Format; rest != ""; {
		field, literal, after, ok := next(rest)
		if !ok {
			return "", false
		}
		b.WriteString(literal)
		rest = after
		if field == nil {
			continue
		}
		if field.name == "" {
			field.name = strconv.Itoa(auto)
			auto++
		}
		text, ok := c.field(field, values)
		if !ok {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// field returns the text of a field.
func (c *Call) field(f *field, values []Value) (string, bool) {
	at := slices.Index(c.keywords, f.name)
	if at >= 0 {
		at += c.positional
	} else if n, err := strconv.Atoi(f.name); err == nil && n < c.positional {
		at = n
	}
	if at < 0 {
		return "", false
	}
	v := values[at]
	if v.Scalar == nil {
		return v.Text, f.spec == ""
	}
	return format(v.Scalar, f.spec)
}

// field is {name:spec}.
type field struct{ name, spec string }

// next reads a format up to the end of its first field, or up to a doubled brace.
func next(format string) (f *field, literal, rest string, ok bool) {
	at := strings.IndexAny(format, "{}")
	if at < 0 {
		return nil, format, "", true
	}
	literal, rest = format[:at], format[at+1:]
	if strings.HasPrefix(rest, format[at:at+1]) {
		return nil, literal + rest[:1], rest[1:], true
	}
	inside, rest, closed := strings.Cut(rest, "}")
	name, spec, _ := strings.Cut(inside, ":")
	ok = format[at] == '{' && closed && !strings.ContainsAny(inside, "{![") && !strings.Contains(name, ".")
	return &field{name, spec}, literal, rest, ok
}

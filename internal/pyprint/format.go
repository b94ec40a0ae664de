package pyprint

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// specs are what stands behind the colon: fill and alignment, sign, zeros, width, grouping, precision and type.
var specs = regexp.MustCompile(`^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$`)

// spec is a parsed one.
type spec struct {
	fill, align, sign string
	prefix            bool
	width             int
	group             string
	precision         int // -1 for none
	kind              string
}

// format returns a number as format(number, spec) does in Python.
func format(v any, text string) (string, bool) {
	m := specs.FindStringSubmatch(text)
	if m == nil || len(m[6]) > 4 || len(m[8]) > 4 {
		return "", false
	}
	s := &spec{fill: m[1], align: m[2], sign: m[3], prefix: m[4] != "", group: m[7], precision: -1, kind: m[9]}
	s.width, _ = strconv.Atoi(m[6])
	if m[8] != "" {
		s.precision, _ = strconv.Atoi(m[8])
	}
	if s.fill == "" {
		s.fill = " "
	}
	if m[5] != "" && s.align == "" {
		s.fill, s.align = "0", "="
	}
	digits, ok := "", false
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: "True", false: "False"}[v], text == ""
	case int64:
		digits, ok = s.integer(strconv.FormatInt(v, 10), float64(v))
	case uint64:
		digits, ok = s.integer(strconv.FormatUint(v, 10), float64(v))
	case float64:
		digits, ok = s.float(v)
	}
	return s.pad(digits), ok
}

// integer returns the digits of an integer, with its sign if it is negative.
func (s *spec) integer(decimal string, v float64) (string, bool) {
	if s.kind != "" && strings.Contains("eEfFgG%", s.kind) {
		return s.float(v)
	}
	base, known := map[string]int{"": 10, "d": 10, "x": 16, "X": 16, "o": 8, "b": 2}[s.kind]
	if !known || s.precision >= 0 || s.prefix && base == 10 {
		return "", false
	}
	negative := strings.HasPrefix(decimal, "-")
	n, err := strconv.ParseUint(strings.TrimPrefix(decimal, "-"), 10, 64)
	out := strconv.FormatUint(n, base)
	if s.kind == "X" {
		out = strings.ToUpper(out)
	}
	if s.group != "" && base == 10 {
		out = s.grouped(out)
	}
	if s.prefix {
		out = "0" + s.kind + out
	}
	if negative {
		out = "-" + out
	}
	return out, err == nil && (s.group == "" || base == 10)
}

// float returns the digits of a floating-point number, with its sign if it is negative.
func (s *spec) float(v float64) (string, bool) {
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	kind, end, out := strings.ToLower(s.kind), "", ""
	switch {
	case s.prefix || kind != "" && !strings.Contains("efg%", kind):
		return "", false
	case math.IsNaN(v):
		out = "nan"
	case math.IsInf(v, 0):
		out = strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+")
		out = strings.Replace(out, "Inf", "inf", 1)
	case kind == "" && s.precision < 0:
		out = shortest(v)
	case kind == "":
		if out = strconv.FormatFloat(v, 'g', max(precision, 1), 64); !strings.ContainsAny(out, ".e") {
			out += ".0"
		}
	case kind == "%":
		out, end = strconv.FormatFloat(100*v, 'f', precision, 64), "%"
	case kind == "g":
		out = strconv.FormatFloat(v, 'g', max(precision, 1), 64)
	default:
		out = strconv.FormatFloat(v, kind[0], precision, 64)
	}
	if s.kind != kind {
		out = strings.ToUpper(out)
	}
	if s.group != "" {
		sign := out[:len(out)-len(strings.TrimPrefix(out, "-"))]
		whole, rest, found := strings.Cut(out[len(sign):], ".")
		out = sign + s.grouped(whole)
		if found {
			out += "." + rest
		}
	}
	return out + end, true
}

// shortest returns the shortest digits that are read as the same number, as repr does.
func shortest(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	out := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(out, ".") {
		out += ".0"
	}
	return out
}

// grouped returns digits with a mark after each thousand.
func (s *spec) grouped(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i] >= '0' && digits[i] <= '9'; i -= 3 {
		digits = digits[:i] + s.group + digits[i:]
	}
	return digits
}

// pad returns digits with a sign, as wide as wanted.
func (s *spec) pad(digits string) string {
	sign := ""
	switch rest, negative := strings.CutPrefix(digits, "-"); {
	case negative:
		sign, digits = "-", rest
	case s.sign == "+" || s.sign == " ":
		sign = s.sign
	}
	fill := max(0, s.width-len(sign)-utf8.RuneCountInString(digits))
	switch s.align {
	case "<":
		return sign + digits + strings.Repeat(s.fill, fill)
	case "^":
		return strings.Repeat(s.fill, fill/2) + sign + digits + strings.Repeat(s.fill, fill-fill/2)
	case "=":
		return sign + strings.Repeat(s.fill, fill) + digits
	}
	return strings.Repeat(s.fill, fill) + sign + digits
}

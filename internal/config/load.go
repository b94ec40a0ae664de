package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// loader reads typed values and keeps the first error.
type loader struct {
	v     *viper.Viper
	flags *pflag.FlagSet
	file  *file // nil: none
	err   error
}

// origin is where a value came from.
type origin struct {
	pos   diag.Position
	line  string // the source line
	given bool   // it is not the default
	offs  int    // column of the value's text in line, from 0
}

func (l *loader) origin(path string) origin {
	k := find(path)
	if f := k.in(l.flags); f != nil && f.Changed {
		return origin{diag.Position{File: "--" + k.flag(), Line: 1, Col: 1}, f.Value.String(), true, 0}
	}
	if value, ok := getenv(k.variable()); ok {
		return origin{diag.Position{File: k.variable(), Line: 1, Col: 1}, value, true, 0}
	}
	if l.file != nil && l.v.InConfig(path) {
		pos, line := l.file.locate(path)
		return origin{pos, line, true, max(pos.Col-1, 0)}
	}
	return origin{}
}

// fail reports a wrong value; at is the byte in its text, where known.
func (l *loader) fail(path string, at int, code diag.Code, format string, args ...any) {
	if l.err != nil {
		return
	}
	o := l.origin(path)
	if o.pos.Line > 0 {
		o.pos.Col = o.offs + at + 1
	}
	err := diag.Invalid(code, o.pos, format, args...)
	err.Diagnostics[0].Source = o.line
	l.err = err
}

// text returns a scalar as text: files may write numbers where flags have text.
func (l *loader) text(path string) string {
	switch value := l.v.Get(path).(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case bool, int, int64, uint64:
		return fmt.Sprint(value)
	}
	l.fail(path, 0, diag.BadOption, "`%s` must be a single value", path)
	return ""
}

// list returns the values of a repeated flag, the lines of an environment variable, or the list in a file.
func (l *loader) list(path string) []string {
	if f := find(path).in(l.flags); f != nil && f.Changed {
		if values, err := l.flags.GetStringArray(f.Name); err == nil {
			return values
		}
	}
	switch value := l.v.Get(path).(type) {
	case []any:
		var out []string
		for _, e := range value {
			text, ok := e.(string)
			if !ok {
				l.fail(path, 0, diag.BadOption, "`%s` must be a list of texts", path)
				return nil
			}
			out = append(out, text)
		}
		return out
	case string:
		return strings.FieldsFunc(value, func(r rune) bool { return r == '\n' })
	}
	return nil
}

// trips reads entries such as 100 or train.py:40=100.
func (l *loader) trips(path string) []Trip {
	var out []Trip
	for _, text := range l.list(path) {
		loop, number := "", text
		if at := strings.LastIndexByte(text, '='); at >= 0 {
			loop, number = strings.TrimSpace(text[:at]), text[at+1:]
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 1 {
			l.fail(path, 0, diag.BadOption, "`%s` must be a number of iterations, or a loop's line and one, such as 100 or 12=100, not %q", path,
				text)
			return nil
		}
		out = append(out, Trip{loop, n})
	}
	return out
}

func (l *loader) boolean(path string) bool {
	text := l.text(path)
	b, err := strconv.ParseBool(text)
	if err != nil {
		l.fail(path, 0, diag.BadOption, "`%s` must be true or false, not %q", path, text)
	}
	return b
}

func (l *loader) integer(path string, least, most int64) int64 {
	text := l.text(path)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		l.fail(path, 0, diag.BadOption, "`%s` must be a whole number from %d to %d, not %q", path, least, most, text)
	}
	return n
}

func (l *loader) unsigned(path string) uint64 {
	text := l.text(path)
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		l.fail(path, 0, diag.BadOption, "`%s` must be a whole number from 0 to %d, not %q", path, uint64(math.MaxUint64), text)
	}
	return n
}

func (l *loader) number(path string) float64 {
	text := l.text(path)
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) {
		l.fail(path, 0, diag.BadOption, "`%s` must be a number of at least 0, not %q", path, text)
	}
	return x
}

// optional returns the first of some numbers that is given, def if none is.
func (l *loader) optional(def float64, paths ...string) float64 {
	for _, path := range paths {
		if l.text(path) != "" {
			return l.number(path)
		}
	}
	return def
}

func (l *loader) duration(path string) time.Duration {
	text := l.text(path)
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		l.fail(path, 0, diag.BadOption, "`%s` must be a time such as 30s or 5m, not %q", path, text)
	}
	return d
}

func (l *loader) size(path string) int64 {
	text := l.text(path)
	if text == "" {
		return 0
	}
	n, err := diag.ParseSize(text)
	if err != nil {
		l.fail(path, 0, diag.BadOption, "`%s`: %v", path, err)
	}
	return n
}

func (l *loader) oneOf(path string, choices ...string) string {
	text := l.text(path)
	if slices.Contains(choices, text) {
		return text
	}
	l.fail(path, 0, diag.BadOption, "`%s` must be one of %s, not %q%s", path, strings.Join(choices, ", "), text,
		diag.DidYouMean(text, choices))
	return text
}

// without reads which rewrites are not made: by name, or by an option of their own.
func (l *loader) without() rewrites.Set {
	names := strings.FieldsFunc(l.text("without"), func(r rune) bool { return r == ',' || r == ' ' })
	without, unknown := rewrites.Parse(names)
	if unknown != "" {
		l.fail("without", 0, diag.BadOption, "`without` has an unknown rewrite %q%s: rewrites are %s", unknown,
			diag.DidYouMean(unknown, rewrites.Names()), strings.Join(rewrites.Names(), ", "))
	}
	for _, r := range []rewrites.Rewrite{rewrites.CollectiveMatmul, rewrites.MergeCollectives} {
		if l.oneOf(r.String(), "auto", "off") == "off" {
			without |= rewrites.Of(r)
		}
	}
	return without
}

// mesh reads axes from their text or, in files, a list of {name, size}.
func (l *loader) mesh(path string) []subaxis.Axis {
	list, ok := l.v.Get(path).([]any)
	if !ok {
		text := l.text(path)
		if text == "" {
			return nil
		}
		axes, at, code, problem := parseMesh(text)
		if problem != "" {
			l.fail(path, at, code, "%s", problem)
		}
		return axes
	}
	var axes []subaxis.Axis
	for i, entry := range list {
		var a subaxis.Axis
		if err := decodeStrictly(entry, &a); err != nil {
			l.fail(path, 0, diag.BadMesh, "axis %d of `%s` must be {name, size}: %v", i, path, err)
			return nil
		}
		if problem, code := checkAxis(axes, a); problem != "" {
			l.fail(path, 0, code, "%s", problem)
		}
		axes = append(axes, a)
	}
	return axes
}

// IsHardwareFile says whether what a user calls hardware is the name of a file: it has a dot or a slash.
func IsHardwareFile(name string) bool { return strings.ContainsAny(name, `./\`) }

// hardware returns a built-in profile, or that of a file.
func (l *loader) hardware(path string) cost.Hardware {
	name := l.text(path)
	if IsHardwareFile(name) {
		h, err := readHardware(name)
		if err != nil && l.err == nil {
			l.err = err
		}
		return h
	}
	h, err := cost.Lookup(name)
	if err != nil {
		l.pass(path, err)
	}
	return h
}

// on returns the hardware on the part of its network that an option names.
func (l *loader) on(path string, h cost.Hardware) cost.Hardware {
	text := l.text(path)
	if text == "" || l.err != nil {
		return h
	}
	on, err := h.On(text)
	if err != nil {
		l.pass(path, err)
		return h
	}
	return on
}

// pass reports what is wrong with the text of an option; the columns of the error count in that.
func (l *loader) pass(path string, err error) {
	found := diag.Diagnostics(err)[0]
	l.fail(path, max(found.Pos.Col-1, 0), found.Code, "%s", found.Message)
	if e, ok := l.err.(*diag.Error); ok {
		e.Diagnostics[0].Notes = append(e.Diagnostics[0].Notes, found.Notes...)
	}
}

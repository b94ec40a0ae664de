package emit

import (
	"strconv"
	"strings"
)

// reserved are the names that a value must not take: Python's keywords and builtins that the text uses, and the
// modules and functions of the file.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`
		False None True and as assert async await break class continue def del elif else except finally for from global
		if import in is lambda match nonlocal not or pass raise return try type while with yield case
		abs all any ascii bin bool bytes callable chr complex dict dir enumerate eval exec filter float format
		frozenset getattr globals hasattr hash help hex id input int isinstance iter len list locals map max min
		next object oct open ord pow print property range repr reversed round set slice sorted staticmethod str sum
		super tuple vars zip
		argparse base64 jax jnp lax multihost_utils np os sys AxisType Mesh NamedSharding P
		DEVICES INPUTS IN_SPECS OUTPUTS OUT_SPECS arguments check compare example expected gather inputs main make_mesh
		per_device read run save sharded start tolerance unsharded`) {
		names[name] = true
	}
	return names
}()

// scope gives out names, each once.
type scope struct {
	used map[string]bool
	next map[string]int // of each base: the number to try
}

func newScope(outer ...*scope) *scope {
	s := &scope{used: map[string]bool{}, next: map[string]int{}}
	for _, o := range outer {
		for name := range o.used {
			s.used[name] = true
		}
	}
	return s
}

// take returns base, or base with the least number that makes it new.
func (s *scope) take(base string) string {
	name := base
	for n := s.next[base]; s.used[name] || reserved[name] || helperNames[name]; {
		n++
		s.next[base] = n
		name = base + "_" + strconv.Itoa(n)
	}
	s.used[name] = true
	return name
}

// identifier makes a Python identifier of any text: params['w'] becomes params_w. The fallback stands for a text
// without letters.
func identifier(text, fallback string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		switch {
		case r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			if gap && b.Len() > 0 && !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
	}
	name := strings.Trim(b.String(), "_")
	if name == "" {
		return fallback
	}
	if name[0] >= '0' && name[0] <= '9' {
		name = fallback + "_" + name
	}
	const longest = 40
	if len(name) > longest {
		name = strings.Trim(name[len(name)-longest:], "_0123456789")
		if name == "" {
			return fallback
		}
	}
	return name
}

// quoted returns a Python string in double quotes.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\x` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

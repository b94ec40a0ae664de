package cost

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autoshard/cost/datasheet"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// Profile is a hardware with what is known of each of its numbers.
type Profile struct {
	Hardware Hardware
	Summary  string // what the hardware is, in a line; may be ""
	Facts    []Fact // in the order of the file
}

// Fact is a number or a word of a profile.
type Fact struct {
	Name   string         `json:"name"` // in files, such as matrix.bf16
	Value  string         `json:"value"`
	Unit   string         `json:"unit,omitempty"`
	Kind   datasheet.Kind `json:"kind,omitempty"`   // "" where the file does not say
	Source string         `json:"source,omitempty"` // "" where the file does not say
}

// ReadProfile reads a profile from the text of a YAML, JSON or TOML file, whose extension says which. A profile without a name has that of
// the file. The errors are of class diag.ErrInvalid, and each names the line of the value that it is about.
func ReadProfile(file string, text []byte) (*Profile, error) {
	sheet, err := datasheet.Read(file, text)
	if err != nil {
		return nil, err
	}
	b := binder{sheet: sheet}
	for _, v := range sheet.Values {
		b.bind(v)
	}
	p := &b.profile
	if p.Hardware.Name == "" {
		p.Hardware.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	if len(b.found) == 0 {
		b.validate()
	}
	if len(b.found) > 0 {
		return nil, &diag.Error{Class: diag.ErrInvalid, Diagnostics: b.found}
	}
	return p, nil
}

// binder fills a profile with the values of a sheet.
type binder struct {
	sheet   *datasheet.Sheet
	profile Profile
	found   []diag.Diagnostic
}

func (b *binder) fail(v datasheet.Value, format string, args ...any) {
	b.found = append(b.found, b.sheet.Fail(v, format, args...).Diagnostics...)
}

// validate finds what is wrong with the numbers together, and points at the values.
func (b *binder) validate() {
	for _, p := range b.profile.Hardware.problems() {
		v, _ := b.sheet.Find(p.path)
		b.fail(v, "%s", p)
	}
}

// words are the values that are no numbers, of which two only describe.
func (b *binder) words() map[string]*string {
	return map[string]*string{"name": &b.profile.Hardware.Name, "summary": &b.profile.Summary}
}

var (
	levelPattern = regexp.MustCompile(`^(?i)levels\[(\d+)\]\.(\w+)$`)
	shapePattern = regexp.MustCompile(`^(?i)torus\.shape\[(\d+)\]$`)
)

// bind puts a value where it belongs.
func (b *binder) bind(v datasheet.Value) {
	h := &b.profile.Hardware
	path := strings.ToLower(v.Path)
	if word, ok := b.words()[path]; ok {
		*word = v.Text
		return
	}
	if q := lookUp(hardwareQuantities, path); q != nil {
		b.set(v, q.name, q.unit, q.field(h))
		return
	}
	if strings.HasPrefix(path, "torus.") && h.Torus == nil {
		h.Torus = &Torus{}
	}
	if m := levelPattern.FindStringSubmatch(v.Path); m != nil {
		b.bindLevel(v, m[1], strings.ToLower(m[2]))
		return
	}
	if q := lookUp(torusQuantities, path); q != nil {
		b.set(v, q.name, q.unit, q.field(h.Torus))
		return
	}
	switch {
	case path == "torus.wrap":
		h.Torus.Wrap = Wrap(v.Text)
		b.know(v, path, "")
	case shapePattern.MatchString(v.Path):
		h.Torus.Shape = append(h.Torus.Shape, 0)
		b.set(v, path, "chips", numeric{whole: &h.Torus.Shape[len(h.Torus.Shape)-1]})
	default:
		b.fail(v, "unknown entry %q%s", v.Path, diag.DidYouMean(v.Path, knownNames()))
	}
}

// bindLevel puts a value of a level of switches where it belongs.
func (b *binder) bindLevel(v datasheet.Value, place, name string) {
	h := &b.profile.Hardware
	i, err := strconv.Atoi(place)
	if err != nil || i >= maxLevels {
		b.fail(v, "`levels` must have at most %d entries", maxLevels)
		return
	}
	for len(h.Levels) <= i {
		h.Levels = append(h.Levels, Level{})
	}
	level, full := &h.Levels[i], levelPath(i)+"."+name
	if q := lookUp(levelQuantities, name); q != nil {
		b.set(v, full, q.unit, q.field(level))
		return
	}
	switch name {
	case "name":
		level.Name = v.Text
		b.know(v, full, "")
	case "reduces":
		reduces, err := strconv.ParseBool(v.Text)
		if err != nil {
			b.fail(v, "`%s` must be true or false, not %q", full, v.Text)
			return
		}
		level.Reduces = reduces
		b.know(v, full, "")
	default:
		known := append(quantityNames(levelQuantities), "name", "reduces")
		b.fail(v, "unknown entry %q%s", v.Path, diag.DidYouMean(name, known))
	}
}

// set reads a number.
func (b *binder) set(v datasheet.Value, name, unit string, to numeric) {
	n, err := strconv.ParseFloat(v.Text, 64)
	switch {
	case err != nil:
		b.fail(v, "`%s` must be a number, not %q", name, clip(v.Text))
		return
	case to.whole == nil:
		*to.float = n
	case n != float64(int64(n)) || n < -maxExtent || n > maxExtent:
		b.fail(v, "`%s` must be a whole number of at most %d, not %q", name, maxExtent, clip(v.Text))
		return
	default:
		*to.whole = int64(n)
	}
	b.know(v, name, unit)
}

// know keeps how a value is known.
func (b *binder) know(v datasheet.Value, name, unit string) {
	b.profile.Facts = append(b.profile.Facts, Fact{Name: name, Value: v.Text, Unit: unit, Kind: v.Kind, Source: v.Source})
}

// lookUp returns the quantity of a name in lower case, nil if there is none.
func lookUp[T any](quantities []quantity[T], name string) *quantity[T] {
	i := slices.IndexFunc(quantities, func(q quantity[T]) bool { return strings.EqualFold(q.name, name) })
	if i < 0 {
		return nil
	}
	return &quantities[i]
}

func quantityNames[T any](quantities []quantity[T]) []string {
	return lists.Map(quantities, func(q quantity[T]) string { return q.name })
}

// knownNames are the names of entries of a file outside lists.
func knownNames() []string {
	return slices.Concat([]string{"name", "summary", "sources", "torus.shape", "torus.wrap", "levels"}, quantityNames(hardwareQuantities),
		quantityNames(torusQuantities))
}

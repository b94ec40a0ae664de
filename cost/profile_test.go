package cost

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/cost/datasheet"
	"autoshard/internal/diag"
)

// Every number of a built-in profile says how it is known, and by what.
func TestBuiltInFacts(t *testing.T) {
	for _, p := range Profiles() {
		name := p.Hardware.Name
		if name == "" || p.Summary == "" || len(p.Facts) < 10 {
			t.Errorf("%q: summary %q, %d facts", name, p.Summary, len(p.Facts))
		}
		for _, f := range p.Facts {
			if plain := strings.HasSuffix(f.Name, ".name"); f.Kind == "" != plain || f.Source == "" != plain {
				t.Errorf("%s: `%s` is %q, source %q", name, f.Name, f.Kind, f.Source)
			}
		}
	}
}

const small = `matrix: {bf16: 1e12}
vectorFLOPs: 1e11
hbmBytes: {value: 8e9, kind: measured, source: me}
hbmBandwidth: 1e11
levels: [{degree: 8, bandwidth: 1e9, reduces: true}]
sources: {me: a run of today}
`

func TestReadProfile(t *testing.T) {
	p, err := ReadProfile("dir/small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	h := p.Hardware
	level := Level{Degree: 8, Bandwidth: 1e9, Reduces: true}
	if h.Name != "small" || h.Matrix.BF16 != 1e12 || h.HBMBytes != 8e9 || len(h.Levels) != 1 || h.Levels[0] != level {
		t.Errorf("hardware %+v", h)
	}
	want := Fact{"hbmBytes", "8e9", "B", datasheet.Measured, "a run of today"}
	if p.Facts[2] != want {
		t.Errorf("fact %+v, want %+v", p.Facts[2], want)
	}
}

// Every error points at the value that is wrong.
func TestReadProfileErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"bf16: 1e12", "bf16: fast", "small.yaml:1:16: error: `matrix.bf16` must be a number, not \"fast\""},
		{"bf16: 1e12", "bf61: 1e12", "small.yaml:1:16: error: unknown entry \"matrix.bf61\", did you mean `matrix.bf16`?"},
		{"vectorFLOPs: 1e11", "vectorFLOPs: -1", "small.yaml:2:14: error: `vectorFLOPs` must be a positive number, not -1"},
		{"hbmBandwidth: 1e11\n", "", "small.yaml: error: `hbmBandwidth` must be a positive number, not 0"},
		{"degree: 8", "degree: 0.5", "small.yaml:5:19: error: `levels[0].degree` must be a whole number"},
		{"degree: 8", "degres: 8", "small.yaml:5:19: error: unknown entry \"levels[0].degres\", did you mean `degree`?"},
		{"reduces: true", "reduces: often", "small.yaml:5:47: error: `levels[0].reduces` must be true or false"},
		{"levels:", "torus:", "small.yaml:5:18: error: unknown entry \"torus[0].degree\""},
		{"1e11\nlevels", "1e11\ntorus: {link: 1, shape: [2], wrap: ring}\nlevels",
			"small.yaml: error: exactly one of `torus` and `levels`"},
	} {
		_, err := ReadProfile("small.yaml", []byte(strings.Replace(small, c.old, c.new, 1)))
		var got strings.Builder
		if diag.Render(&got, err, nil); !errors.Is(err, diag.ErrInvalid) || !strings.HasPrefix(got.String(), c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.new, got.String(), c.want)
		}
	}
}

// Whatever a file holds, it is read as a profile that is valid, or refused with an error of the right class.
func FuzzReadProfile(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(builtInFolder, "*"))
	if err != nil || len(files) == 0 {
		f.Fatal("no profiles", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("a.yaml", string(text))
	}
	f.Add("a.json", `{"matrix": {"bf16": 1e12}, "levels": [{"degree": 8}]}`)
	f.Add("a.toml", "a.b = {c = [1, 2]}\n[[levels]]\ndegree = 8\n[[levels]]\n")
	f.Add("a.yaml", "a: &a [*a]\n<<: *a\n? [b]\n: c")
	f.Fuzz(func(t *testing.T, file, text string) {
		p, err := ReadProfile(file, []byte(text))
		if err != nil {
			if !errors.Is(err, diag.ErrInvalid) {
				t.Errorf("error %v", err)
			}
			return
		}
		if err := p.Hardware.Validate(); err != nil {
			t.Error(err)
		}
	})
}

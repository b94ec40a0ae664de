package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/cost"
	"autoshard/cost/datasheet"
	"autoshard/internal/diag"
)

// ProfileSchema identifies the JSON form of a hardware profile.
const ProfileSchema = "autoshard.hardware/v1"

// ProfileJSON is a hardware profile for programs.
type ProfileJSON struct {
	Schema  string      `json:"schema"`
	Name    string      `json:"name"`
	Summary string      `json:"summary,omitempty"`
	Facts   []cost.Fact `json:"facts"`
}

// NewProfile returns a profile in its JSON form.
func NewProfile(p *cost.Profile) ProfileJSON {
	return ProfileJSON{ProfileSchema, p.Hardware.Name, p.Summary, p.Facts}
}

// Profiles lists hardware profiles.
func Profiles(profiles []*cost.Profile) string {
	t := newTable(1, 2, 3, 4)
	t.AppendHeader(table.Row{"name", "bf16", "memory", "bandwidth", "network", "what"})
	for _, p := range profiles {
		h := &p.Hardware
		t.AppendRow(table.Row{h.Name, quantity(h.Matrix.BF16, "FLOP/s"), quantity(h.HBMBytes, "B"), quantity(h.HBMBandwidth, "B/s"), network(h),
			p.Summary})
	}
	return t.Render() + "\n"
}

// network says what a device sends and receives at once.
func network(h *cost.Hardware) string {
	if h.Torus != nil {
		return fmt.Sprintf("%d x %s", 2*len(h.Torus.Shape), quantity(h.Torus.Link, "B/s"))
	}
	return quantity(h.Levels[0].Bandwidth, "B/s")
}

// Profile shows every number of a hardware profile, and how it is known. Sources are numbered, and listed below.
func Profile(p *cost.Profile) string {
	t := newTable(1)
	t.AppendHeader(table.Row{"number", "value", "kind", "source"})
	var sources []string
	for i := 0; i < len(p.Facts); i++ {
		f := &p.Facts[i]
		name, value := f.Name, f.Value
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			value = quantity(x, f.Unit)
		}
		if list, ok := strings.CutSuffix(name, "[0]"); ok {
			name, value = list, f.Value
			for ; i+1 < len(p.Facts) && strings.HasPrefix(p.Facts[i+1].Name, list+"["); i++ {
				value += " x " + p.Facts[i+1].Value
			}
		}
		t.AppendRow(table.Row{name, value, string(f.Kind), cite(&sources, f.Source)})
	}
	out := fmt.Sprintf("%s: %s\n\n%s\n", p.Hardware.Name, cmp.Or(p.Summary, "no summary"), t.Render())
	for i, s := range sources {
		out += fmt.Sprintf("%s[%d] %s\n", strings.Repeat("\n", max(0, 1-i)), i+1, s)
	}
	return out
}

// cite returns the number of a source in a list, which it adds where it is new.
func cite(sources *[]string, source string) string {
	if source == "" {
		return ""
	}
	i := slices.Index(*sources, source)
	if i < 0 {
		i = len(*sources)
		*sources = append(*sources, source)
	}
	return fmt.Sprintf("[%d]", i+1)
}

// ProfileSummary says how the numbers of a profile are known.
func ProfileSummary(p *cost.Profile) string {
	counts := map[datasheet.Kind]int{}
	for i := range p.Facts {
		if p.Facts[i].Unit != "" || p.Facts[i].Kind != "" {
			counts[p.Facts[i].Kind]++
		}
	}
	var parts []string
	for _, k := range []datasheet.Kind{datasheet.Nominal, datasheet.Measured, datasheet.Guessed} {
		if n := counts[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k))
		}
	}
	if n := counts[""]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of unknown origin", n))
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	return fmt.Sprintf("hardware %s, %s: %s", p.Hardware.Name, diag.Count(total, "value", "values"), strings.Join(parts, ", "))
}

var decimals = []struct {
	prefix string
	unit   float64
}{{"P", 1e15}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}, {"m", 1e-3}, {"u", 1e-6}}

// prefixed are the units that take the prefixes of the SI.
var prefixed = []string{"FLOP", "FLOP/s", "OP/s", "B", "B/s", "s"}

// quantity writes a number with its unit: 459 TFLOP/s.
func quantity(x float64, unit string) string {
	if !slices.Contains(prefixed, unit) || x == 0 {
		return strings.TrimSpace(fmt.Sprintf("%.4g %s", x, unit))
	}
	for _, d := range decimals {
		if x >= d.unit {
			return fmt.Sprintf("%.4g %s%s", x/d.unit, d.prefix, unit)
		}
	}
	return fmt.Sprintf("%.4g %s", x, unit)
}

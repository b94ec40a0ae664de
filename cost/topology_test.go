package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

func mesh(sizes ...int64) (out subaxis.Mesh) {
	for i, s := range sizes {
		out.Axes = append(out.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: s})
	}
	return out
}

func mustLookup(t testing.TB, name string) Hardware {
	hw, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return hw
}

// format shows a layout: the slice, rings with a star, and what every axis became as axis:stride*size.
func (t *Topology) format() string {
	slice, count := t.Slice()
	var out []string
	for i, s := range slice.Shape {
		star := ""
		if slice.Wrap[i] {
			star = "*"
		}
		out = append(out, fmt.Sprint(s, star))
	}
	text := strings.Join(out, "x")
	if count > 1 {
		text = fmt.Sprint(count, " of ", text)
	}
	for i, parts := range t.axes {
		text += fmt.Sprint(" ", t.mesh.Axes[i].Name, "=")
		for j, p := range parts {
			if j > 0 {
				text += ","
			}
			text += fmt.Sprint(p.axis, ":", p.stride, "*", p.size)
		}
	}
	return text
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		hardware string
		mesh     subaxis.Mesh
		want     string
	}{
		{"tpu-v5e", mesh(1), "1x1 a="},
		{"tpu-v5e", mesh(4, 2), "4x2 a=0:1*4 b=1:1*2"},
		{"tpu-v5e", mesh(8), "2x4 a=0:1*2,1:1*4"},
		{"tpu-v5e", mesh(16, 2), "4x8 a=0:1*4,1:2*4 b=1:1*2"},
		{"tpu-v5e", mesh(16, 4), "8x8 a=0:1*8,1:4*2 b=1:1*4"},
		{"tpu-v5e", mesh(8, 16), "8x16* a=0:1*8 b=1:1*16"},
		{"tpu-v5e", mesh(16, 16), "16*x16* a=0:1*16 b=1:1*16"},
		{"tpu-v5e", mesh(3, 8), "6x4 a=0:2*3 b=0:1*2,1:1*4"},
		{"tpu-v5e", mesh(4, 16, 16), "4 of 16*x16* a=0:1*4 b=1:1*16 c=2:1*16"},
		{"tpu-v5e", mesh(17), "17 of 1x1 a=0:1*17"},
		{"tpu-v4p", mesh(4, 4, 4), "4*x4*x4* a=0:1*4 b=1:1*4 c=2:1*4"},
		{"tpu-v4p", mesh(64), "4*x4*x4* a=0:1*4,1:1*4,2:1*4"},
		{"tpu-v4p", mesh(2, 2, 4), "2x2x4 a=0:1*2 b=1:1*2 c=2:1*4"},
		{"tpu-v4p", mesh(192), "4*x4*x12* a=0:1*4,1:1*4,2:1*12"},
		{"tpu-v5p", mesh(8, 8), "4*x4*x4* a=0:1*4,1:2*2 b=1:1*2,2:1*4"},
		{"tpu-v5p", mesh(32, 4), "4*x8*x4* a=0:1*4,1:1*8 b=2:1*4"},
	} {
		topology, err := NewTopology(mustLookup(t, c.hardware), c.mesh, Planning())
		if err != nil {
			t.Fatal(err)
		}
		if got := topology.format(); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.hardware, c.mesh, got, c.want)
		}
	}
}

func TestLayoutOnSlice(t *testing.T) {
	v5e := mustLookup(t, "tpu-v5e")
	for _, c := range []struct {
		slice SliceShape
		mesh  subaxis.Mesh
		want  string
	}{
		{SliceShape{Shape: []int64{8, 4}}, mesh(4, 8), "4x8 a=0:1*4 b=1:1*8"},
		{SliceShape{Shape: []int64{8, 4}, Wrap: []bool{true, false}}, mesh(4, 8), "4x8* a=0:1*4 b=1:1*8"},
		{SliceShape{Shape: []int64{16}}, mesh(4, 4), "16* a=0:4*4 b=0:1*4"},
		{SliceShape{Shape: []int64{2, 2}}, mesh(2, 4), "2 of 2x2 a=0:1*2 b=1:1*2,2:1*2"},
	} {
		v5e.Torus.Slice = c.slice
		topology, err := NewTopology(v5e, c.mesh, Planning())
		if err != nil {
			t.Fatal(err)
		}
		if got := topology.format(); got != c.want {
			t.Errorf("%v on %v: %s, want %s", c.mesh, c.slice, got, c.want)
		}
	}
}

func TestTopologyErrors(t *testing.T) {
	isolated := mustLookup(t, "tpu-v5e")
	isolated.Torus.DCN = 0
	broken := mustLookup(t, "h100")
	broken.HBMBytes = math.NaN()
	for _, c := range []struct {
		hw    Hardware
		mesh  subaxis.Mesh
		slice SliceShape
		want  string
	}{
		{mustLookup(t, "h100"), mesh(2, 0), SliceShape{}, `axis "b" has size 0, it must be at least 1`},
		{mustLookup(t, "h100"), mesh(-3), SliceShape{}, `axis "a" has size -3`},
		{mustLookup(t, "h100"), mesh(1<<62, 1<<62), SliceShape{}, "more than 16777216 devices"},
		{mustLookup(t, "tpu-v5e"), mesh(1<<12, 1<<13), SliceShape{}, "more than 16777216 devices"},
		{isolated, mesh(512), SliceShape{}, "allows no second slice"},
		{isolated, mesh(8), SliceShape{Shape: []int64{2, 2}}, "has no `torus.dcn`"},
		{isolated, mesh(8), SliceShape{Shape: []int64{3, 2}}, "no multiple"},
		{isolated, mesh(32), SliceShape{Shape: []int64{32}}, "no part of"},
		{isolated, mesh(8), SliceShape{Shape: []int64{0}}, "no part of"},
		{isolated, mesh(2, 2, 2), SliceShape{Shape: []int64{2, 2, 2}}, "no part of"},
		{isolated, mesh(8), SliceShape{Shape: []int64{8}, Wrap: []bool{true, true}}, "2 wrap flags"},
		{isolated, mesh(4, 9), SliceShape{Shape: []int64{6, 6}}, "cannot be cut out"},
		{broken, mesh(8), SliceShape{}, "`hbmBytes` must be a positive number, not NaN"},
	} {
		if c.hw.Torus != nil {
			c.hw.Torus.Slice = c.slice
		}
		_, err := NewTopology(c.hw, c.mesh, Planning())
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v on %v: error %v, want %q", c.mesh, c.slice, err, c.want)
		}
	}
}

// TestPlaces checks that every mesh has a layout that puts every device on a chip of its own.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hw := rapid.SampledFrom(Profiles()).Filter(func(p *Profile) bool { return p.Hardware.Torus != nil }).Draw(t, "hardware").Hardware
		sizes := rapid.SliceOfN(rapid.Int64Range(1, 12), 0, 4).Draw(t, "mesh")
		topology, err := NewTopology(hw, mesh(sizes...), Planning())
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		for d := range topology.Devices() {
			at := topology.chipAt(d)
			for i, p := range topology.physical {
				if at[i] < 0 || at[i] >= p.size {
					t.Fatalf("device %d lies at %v of %v", d, at, topology.physical)
				}
			}
			seen[topology.chip(at)] = true
		}
		if int64(len(seen)) != topology.Devices() {
			t.Errorf("%d devices lie on %d chips", topology.Devices(), len(seen))
		}
	})
}

func TestWraps(t *testing.T) {
	for _, c := range []struct {
		hardware string
		shape    []int64
		want     []bool
	}{
		{"tpu-v5e", []int64{8, 16}, []bool{false, true}},
		{"tpu-v6e", []int64{4, 4}, []bool{false, false}},
		{"tpu-v3", []int64{16, 32}, []bool{false, true}},
		{"tpu-v5p", []int64{4, 8, 16}, []bool{true, true, true}},
		{"tpu-v5p", []int64{2, 4, 4}, []bool{false, false, false}},
		{"tpu-v7", []int64{4, 4}, []bool{false, false}},
	} {
		if got := mustLookup(t, c.hardware).Torus.wraps(c.shape); !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %v, want %v", c.hardware, c.shape, got, c.want)
		}
	}
}

// TestBetweenSlices checks that a collective over slices is a collective inside and one share of it outside.
func TestBetweenSlices(t *testing.T) {
	const v = 1 << 30
	o := Options{Latency: MaxLatency}
	topology, err := NewTopology(mustLookup(t, "tpu-v5e"), mesh(2, 16, 16), o)
	if err != nil {
		t.Fatal(err)
	}
	whole := []subaxis.Ref{{Axis: 0, Pre: 1, Size: 2}, {Axis: 1, Pre: 1, Size: 16}, {Axis: 2, Pre: 1, Size: 16}}
	inside := topology.Collective(collectives.AllReduce, whole[1:], v).Bandwidth
	outside := topology.Collective(collectives.AllReduce, whole[:1], v/256).Bandwidth
	got := topology.Collective(collectives.AllReduce, whole, v).Bandwidth
	if math.Abs(got-inside-outside) > 1e-9*got {
		t.Errorf("two slices take %v, want %v inside and %v outside", got, inside, outside)
	}
	if want := 2 * 0.5 * v / 256 / 3.125e9; math.Abs(outside-want) > 1e-12 {
		t.Errorf("outside %v, want %v", outside, want)
	}
}

func TestLookup(t *testing.T) {
	profiles := lists.Map(Profiles(), func(p *Profile) Hardware { return p.Hardware })
	if !slices.IsSortedFunc(profiles, func(a, b Hardware) int { return strings.Compare(a.Name, b.Name) }) || len(profiles) != 13 {
		t.Errorf("%d profiles, or not sorted", len(profiles))
	}
	for _, p := range profiles {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		got, err := Lookup(strings.ToUpper(p.Name))
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	for name, want := range map[string]string{
		"tpu-v5": "tpu-v5e", "tpu_v5p": "tpu-v5p", "h10": "h100", "gb20": "gb200", "v4p": "tpu-v4p", "CPUs": "cpu",
		strings.Repeat("x", 1<<20): "",
	} {
		_, err := Lookup(name)
		if !errors.Is(err, diag.ErrInvalid) || strings.Contains(err.Error(), "did you mean `"+want) != (want != "") {
			t.Errorf("%.20q: %v, want a hint at %s", name, err, want)
		} else if len(err.Error()) > 200 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	}
	changed, _ := Lookup("tpu-v5e")
	changed.Torus.Link = 1
	if again, _ := Lookup("tpu-v5e"); again.Torus.Link == 1 {
		t.Error("profiles share memory")
	}
}

// TestProfileConstants checks the last rows of the tables of cost.md sections 1.1 and 1.3, which follow from the others.
func TestProfileConstants(t *testing.T) {
	for _, c := range []struct {
		name                 string
		critical, alpha, out float64
	}{
		{"tpu-v3", 156, 700, 0}, {"tpu-v4p", 229, 3056, 0}, {"tpu-v5e", 243, 2189, 0}, {"tpu-v5p", 164, 2550, 0},
		{"tpu-v6e", 575, 5111, 0}, {"tpu-v7", 313, 12817, 0}, {"a100", 156, 1040, 1560}, {"h100", 295, 2200, 2475},
		{"h200", 206, 2200, 2475}, {"b200", 281, 2500, 5625}, {"gb200", 281, 2500, 625},
	} {
		hw := mustLookup(t, c.name)
		alpha, out := hw.Matrix.BF16, 0.0
		if hw.Torus != nil {
			alpha /= (2 * hw.Torus.Link)
		} else {
			alpha /= hw.Levels[0].Bandwidth
			out = hw.Matrix.BF16 / hw.Levels[1].Bandwidth
		}
		for _, v := range [][2]float64{{hw.Matrix.BF16 / hw.HBMBandwidth, c.critical}, {alpha, c.alpha}, {out, c.out}} {
			if math.Abs(v[0]-v[1]) > 0.005*v[1] {
				t.Errorf("%s: %v, want %v", c.name, v[0], v[1])
			}
		}
	}
}

func TestMatrixFLOPs(t *testing.T) {
	b200, a100 := mustLookup(t, "b200"), mustLookup(t, "a100")
	for _, c := range []struct {
		hw   Hardware
		t    dtype.Type
		want float64
	}{
		{b200, dtype.BF16, 2.25e15}, {b200, dtype.F16, 2.25e15}, {b200, dtype.F32, 1.125e15}, {b200, dtype.F64, 5.625e14},
		{b200, dtype.F8E4M3FN, 4.5e15}, {b200, dtype.F4E2M1FN, 9e15}, {b200, dtype.I8, 4.5e15}, {b200, dtype.UI4, 4.5e15},
		{b200, dtype.I32, 1.125e15}, {b200, dtype.C64, 1.125e15 / 4}, {b200, dtype.C128, 1.125e15 / 8},
		{a100, dtype.F8E5M2, 3.12e14}, {a100, dtype.F4E2M1FN, 3.12e14}, {a100, dtype.I1, 6.24e14},
	} {
		if got := c.hw.MatrixFLOPs(c.t); got != c.want {
			t.Errorf("%s %v: %v, want %v", c.hw.Name, c.t, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Hardware){
		"`matrix.bf16` must be a positive number":    func(h *Hardware) { h.Matrix.BF16 = 0 },
		"`hbmBandwidth` must be a positive number":   func(h *Hardware) { h.HBMBandwidth = math.Inf(1) },
		"`matrix.int8` must be a number of at least": func(h *Hardware) { h.Matrix.Int8 = -1 },
		"`efficiency.line` must lie in (0, 1]":       func(h *Hardware) { h.Efficiency.Line = 1.5 },
		"exactly one of `torus` and `levels`":        func(h *Hardware) { h.Torus = nil },
		"`torus.link` must be a positive number":     func(h *Hardware) { h.Torus.Link = 0 },
		"`torus.wrap` must be one of":                func(h *Hardware) { h.Torus.Wrap = "twisted" },
		"`torus.shape` must have one to three sizes": func(h *Hardware) { h.Torus.Shape = nil },
		"`torus.shape[0]` must lie in 1 to":          func(h *Hardware) { h.Torus.Shape[0] = 1 << 40 },
		"`torus.hopLatency` must be a number":        func(h *Hardware) { h.Torus.HopLatency = math.NaN() },
		"`torus.dcn` must be a number":               func(h *Hardware) { h.Torus.DCN = -1 },
		"`levels[0].degree` must lie in":             func(h *Hardware) { h.Torus, h.Levels = nil, []Level{{Bandwidth: 1}} },
		"`levels[0].bandwidth` must be a positive":   func(h *Hardware) { h.Torus, h.Levels = nil, []Level{{Degree: 8}} },
		"`levels[0].step` must be a number":          func(h *Hardware) { h.Torus, h.Levels = nil, []Level{{Degree: 8, Bandwidth: 1, Step: -1}} },
		"`levels` must have at most 3":               func(h *Hardware) { h.Torus, h.Levels = nil, make([]Level, 4) },
	} {
		hw := mustLookup(t, "tpu-v5e")
		change(&hw)
		if err := hw.Validate(); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestPrice(t *testing.T) {
	topology, err := NewTopology(mustLookup(t, "tpu-v5e"), mesh(4, 2), Planning())
	if err != nil {
		t.Fatal(err)
	}
	axes := []subaxis.Ref{{Axis: 0, Pre: 1, Size: 4}}
	if n := testing.AllocsPerRun(100, func() { topology.Collective(collectives.AllReduce, axes, 1<<20) }); n > 4 {
		t.Errorf("a price takes %v allocations", n)
	}
}

// TestManyDevices lays out large meshes with many divisors and with hardly any.
func TestManyDevices(t *testing.T) {
	wide := mustLookup(t, "tpu-v5p")
	wide.Torus.Shape = []int64{1 << 20, 1 << 20, 1 << 20}
	for _, hw := range []Hardware{mustLookup(t, "tpu-v5e"), mustLookup(t, "tpu-v5p"), wide, mustLookup(t, "h100")} {
		for _, m := range []subaxis.Mesh{mesh(1 << 24), mesh(4093, 4093), mesh(14414400), mesh(13, 11, 7, 14400), mesh(25, 27, 49, 11, 13)} {
			if _, err := NewTopology(hw, m, Planning()); err != nil {
				t.Errorf("%s %v: %v", hw.Name, m, err)
			}
		}
	}
}

// TestHardwareJSON reads a profile as a user writes it, and every built-in one back.
func TestHardwareJSON(t *testing.T) {
	const text = `{"name": "lab", "matrix": {"bf16": 1e14}, "vectorFLOPs": 1e12, "hbmBytes": 16e9, "hbmBandwidth": 8e11,
		"torus": {"link": 4.5e10, "shape": [4, 4], "wrap": "never", "hopLatency": 1e-6}}`
	var lab Hardware
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&lab); err != nil {
		t.Fatal(err)
	}
	if _, err := NewTopology(lab, mesh(4, 4), Planning()); err != nil {
		t.Error(err)
	}
	for _, p := range Profiles() {
		want := p.Hardware
		var got Hardware
		text, err := json.Marshal(want)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, got %+v", want.Name, err, got)
		}
	}
}

package calibrate_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/calibrate"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// rows are times of kinds that follow lines exactly, as the program writes them.
func rows(noise func() float64) (out []float64) {
	for kind, line := range [][2]float64{{1e-6, 1e12}, {2e-6, 1e11}, {1e-6, 5e10}, {5e-5, 2e9}, {5e-5, 2e9}, {8e-5, 1e9}, {4e-5, 8e9}} {
		for i := range 12 {
			amount := 1e4 * math.Exp2(float64(i))
			out = append(out, float64(kind), 0, amount, (line[0]+amount/line[1])*noise(), 0)
		}
	}
	for i, line := range [][2]float64{{0, 1 / 3e-6}, {1e-5, 1 / 6e-6}, {1e-5, 1 / 3e-5}} { // launches, meetings, arrays
		for _, amount := range []float64{1, 1, 1, 3, 3, 3, 7, 7, 7} {
			out = append(out, float64(7+i), 0, amount, (line[0]+amount/line[1])*noise(), 0)
		}
	}
	return out
}

func exactly() float64 { return 1 }

func fit(t testing.TB, rows []float64) *calibrate.Calibration {
	t.Helper()
	samples, err := calibrate.Read(rows)
	if err != nil {
		t.Fatal(err)
	}
	c, err := calibrate.Fit(samples, 8)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Times that follow a line are fitted by it, without an error, also those that were held back.
func TestFit(t *testing.T) {
	c := fit(t, rows(exactly))
	if len(c.Lines) != 10 {
		t.Fatalf("%d lines", len(c.Lines))
	}
	l := c.Lines[3]
	if l.Kind != calibrate.AllGather || math.Abs(l.Latency-5e-5) > 1e-10 || math.Abs(l.Rate-2e9) > 10 || l.Error > 1e-6 || l.Samples != 8 ||
		l.HeldBack != 4 || l.RateError > 1 {
		t.Errorf("the line is %+v", l)
	}
	if s := l.Seconds(2e9); math.Abs(s-1-5e-5) > 1e-6 {
		t.Errorf("%v s", s)
	}
}

// With noise, rates are found within a few of their standard errors or a few percent.
func TestFitWithNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.Float64Range(0.95, 1.05)
		samples, err := calibrate.Read(rows(func() float64 { return factor.Draw(t, "noise") }))
		if err != nil {
			t.Fatal(err)
		}
		c, err := calibrate.Fit(samples, 8)
		if err != nil {
			t.Fatal(err)
		}
		l := c.Lines[2]
		if math.Abs(l.Rate-5e10) > max(0.15*5e10, 5*l.RateError) || l.Error > 0.2 {
			t.Errorf("the line is %+v", l)
		}
	})
}

// The profile says what was measured, and is one that --hardware takes: its collectives take the times that were measured.
func TestProfile(t *testing.T) {
	base, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	text := fit(t, rows(exactly)).Profile("host", "2026-01-02", &base)
	p, err := cost.ReadProfile("host.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	h := p.Hardware
	if h.Name != "host" || h.Matrix.F32 != 1e12 || h.HBMBandwidth != 5e10 || h.HBMBytes != base.HBMBytes || h.Levels[0].Degree != 8 {
		t.Errorf("hardware %+v", h)
	}
	for members, want := range map[float64]float64{2: 1.6e-5, 8: 5.2e-5} {
		if got := h.Dispatch + (members-1)*(h.Meeting+h.Levels[0].Step); math.Abs(got-want) > 1e-8 {
			t.Errorf("a gather of %v devices begins after %v s, want %v", members, got, want)
		}
	}
	if math.Abs(h.Launch-3e-6) > 1e-9 || math.Abs(h.Arrays-0.75) > 1e-3 {
		t.Errorf("a kernel takes %v s, and a further array %v of a collective's start", h.Launch, h.Arrays)
	}
	if got := 7.0 / 8 / h.Levels[0].Bandwidth; math.Abs(got*2e9-1) > 1e-3 {
		t.Errorf("a byte takes %v s", got)
	}
	for _, f := range p.Facts {
		if f.Name == "matrix.f32" && (f.Kind != "measured" || !strings.Contains(f.Source, "2026-01-02")) {
			t.Errorf("fact %+v", f)
		}
	}
}

// Where all groups are alike, as of two devices, what a gather of all takes to begin is its dispatch; where a collective of several arrays
// takes no longer than one, they are sent as one.
func TestNothingShows(t *testing.T) {
	base, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	var alike []float64
	for row := range slices.Chunk(rows(exactly), 5) {
		switch row[0] {
		case 8:
			row[2] = 1
		case 9:
			row[3] = 1e-5 - 1e-9*row[2]
		}
		alike = append(alike, row...)
	}
	p, err := cost.ReadProfile("host.yaml", []byte(fit(t, alike).Profile("host", "now", &base)))
	if err != nil {
		t.Fatal(err)
	}
	if h := p.Hardware; h.Meeting != 0 || h.Arrays != 0 || math.Abs(h.Dispatch+7*h.Levels[0].Step-5e-5) > 1e-8 {
		t.Errorf("a gather begins after %v s, and %v for each device; each array takes %v of that", h.Dispatch, h.Meeting, h.Arrays)
	}
}

func TestErrors(t *testing.T) {
	falling := rows(exactly)
	for i := 3; i < len(falling); i += 5 {
		falling[i] = 1 / falling[i]
	}
	for want, rows := range map[string][]float64{
		"not rows of 5":         {1, 2, 3},
		"a measurement is":      {10, 0, 1, 1, 0},
		"do not grow":           falling,
		"there are no times of": rows(exactly)[:300],
	} {
		samples, err := calibrate.Read(rows)
		if err == nil {
			_, err = calibrate.Fit(samples, 8)
		}
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// What the program is asked for, and what it gives back; other outputs are refused.
func TestContract(t *testing.T) {
	for alone, want := range map[bool]int64{false: 0, true: 1} {
		in := calibrate.Inputs(512, alone)
		if len(in) != 2 || tensor.Elems[int64](*in[0])[0] != 512 || tensor.Elems[int64](*in[1])[0] != want {
			t.Errorf("the inputs are %v", in)
		}
	}
	given := rows(exactly)
	times := tensor.New(dtype.F64, []int64{int64(len(given))})
	copy(tensor.Elems[float64](times), given)
	outputs := []npz.Array{{Tensor: times}, {Tensor: tensor.FromInts(dtype.I64, nil, 8)}}
	samples, devices, err := calibrate.Outputs(outputs)
	if err != nil || devices != 8 || len(samples) != len(given)/5 {
		t.Errorf("%d samples of %d devices: %v", len(samples), devices, err)
	}
	if _, _, err := calibrate.Outputs(outputs[:1]); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("one output: %v", err)
	}
}

func ExampleFit() {
	samples, err := calibrate.Read(rows(exactly))
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := calibrate.Fit(samples, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.0f us and %.3g B/s\n", c.Lines[3].Kind, 1e6*c.Lines[3].Latency, c.Lines[3].Rate)
	// Output: all_gather: 50 us and 2e+09 B/s
}

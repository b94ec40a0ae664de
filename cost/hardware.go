package cost

import (
	"math"

	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// Hardware is the profile of one kind of chip and of the network between chips: exactly one of Torus and Levels is
// given (specification: cost.md section 1). A device of a mesh is one chip.
type Hardware struct {
	Name string `json:"name" mapstructure:"name"`

	Matrix      Rates   `json:"matrix" mapstructure:"matrix"`           // matrix units, dense
	VectorFLOPs float64 `json:"vectorFLOPs" mapstructure:"vectorFLOPs"` // FLOP/s of elementwise ops
	Tile        int64   `json:"tile" mapstructure:"tile"`               // matrix dimensions are padded to multiples of it; 0: 1
	Launch      float64 `json:"launch" mapstructure:"launch"`           // seconds that any kernel takes at least

	HBMBytes     float64 `json:"hbmBytes" mapstructure:"hbmBytes"`
	HBMBandwidth float64 `json:"hbmBandwidth" mapstructure:"hbmBandwidth"` // bytes/s
	PCIe         float64 `json:"pcie" mapstructure:"pcie"`                 // bytes/s to the host, one way

	Cores     int64   `json:"cores" mapstructure:"cores"`         // tensor cores per chip, as cloud documents count them
	HostChips int64   `json:"hostChips" mapstructure:"hostChips"` // chips per host
	Dispatch  float64 `json:"dispatch" mapstructure:"dispatch"`   // seconds before a collective starts, T0

	Torus  *Torus  `json:"torus,omitempty" mapstructure:"torus"`
	Levels []Level `json:"levels,omitempty" mapstructure:"levels"` // of switches, innermost first

	Efficiency Efficiency `json:"efficiency" mapstructure:"efficiency"`
}

// Rates are operations a second by number format. A rate of 0 stands for that of BF16.
type Rates struct {
	BF16 float64 `json:"bf16" mapstructure:"bf16"` // bf16 and f16
	F32  float64 `json:"f32" mapstructure:"f32"`   // at the compiler's default precision: bf16 passes or TF32
	Int8 float64 `json:"int8" mapstructure:"int8"` // and int4
	FP8  float64 `json:"fp8" mapstructure:"fp8"`   // and the 6-bit formats
	FP4  float64 `json:"fp4" mapstructure:"fp4"`
}

// Torus is a network of rings or lines (specification: cost.md sections 1.1 and 1.2).
type Torus struct {
	Link       float64 `json:"link" mapstructure:"link"`             // w: bytes/s of one link, one way
	Shape      []int64 `json:"shape" mapstructure:"shape"`           // the largest slice, one size per physical axis
	Wrap       Wrap    `json:"wrap" mapstructure:"wrap"`             // which axes of a slice close to rings
	HopLatency float64 `json:"hopLatency" mapstructure:"hopLatency"` // seconds, Tmin
	DCN        float64 `json:"dcn" mapstructure:"dcn"`               // bytes/s a chip sends between slices
}

// Wrap is the rule that decides which physical axes of a slice are rings.
type Wrap string

// The rules of cost.md section 1.2.
const (
	WrapFull  Wrap = "full"  // an axis that is as long as the largest slice's
	WrapCubes Wrap = "cubes" // all axes, where each is a multiple of 4
	WrapNever Wrap = "never"
)

// Level is a level of switches: up to Degree children, each with its link up (specification: cost.md section 2.6).
// The children of the first level are chips, those of the next are whole first levels. Degree of the last level is
// not a limit.
type Level struct {
	Name      string  `json:"name" mapstructure:"name"`
	Degree    int64   `json:"degree" mapstructure:"degree"`
	Bandwidth float64 `json:"bandwidth" mapstructure:"bandwidth"` // bytes/s of one child's link, one way
	Step      float64 `json:"step" mapstructure:"step"`           // seconds of one step of a ring at this level
	Reduces   bool    `json:"reduces" mapstructure:"reduces"`     // the switches can reduce (NVLS, SHARP)
}

// Efficiency is the fitted share of each nominal rate that programs reach, in (0, 1]; 0 stands for 1
// (specification: cost.md section 4.9).
type Efficiency struct {
	Math float64 `json:"math" mapstructure:"math"`
	HBM  float64 `json:"hbm" mapstructure:"hbm"`
	Ring float64 `json:"ring" mapstructure:"ring"` // links of rings and of switches
	Line float64 `json:"line" mapstructure:"line"` // links of axes that do not wrap
}

// MatrixFLOPs returns the matrix units' FLOP/s for operands of a type. Types wider than 32 bits run at the F32 rate
// divided by how many times wider they are; a complex product is four real ones.
func (h *Hardware) MatrixFLOPs(t dtype.Type) float64 {
	r := h.Matrix
	rate := r.BF16
	switch bits := float64(t.Bits()); {
	case t == dtype.BF16 || t == dtype.F16 || t == dtype.Invalid:
	case t.Kind() == dtype.Complex:
		rate = orElse(r.F32, r.BF16) / 4 * 64 / bits
	case bits >= 16:
		rate = orElse(r.F32, r.BF16) * min(1, 32/bits)
	case t.Kind() != dtype.Float:
		rate = orElse(r.Int8, r.BF16)
	case bits <= 4:
		rate = orElse(r.FP4, orElse(r.FP8, r.BF16))
	default:
		rate = orElse(r.FP8, r.BF16)
	}
	return rate
}

func orElse(rate, other float64) float64 {
	if rate == 0 {
		return other
	}
	return rate
}

// VectorRate returns FLOP/s of a vector unit: cores x lanes x units per lane x clock.
func VectorRate(cores, lanes, units int64, clock float64) float64 {
	return float64(cores*lanes*units) * clock
}

// Validate checks a profile that a user wrote. The error is of class diag.ErrInvalid.
func (h *Hardware) Validate() error {
	invalid := func(format string, args ...any) error {
		return diag.Invalid(diag.BadOption, diag.Position{}, "hardware %q: "+format, append([]any{h.Name}, args...)...)
	}
	for _, f := range h.required() {
		if !(f.value > 0) || math.IsInf(f.value, 0) {
			return invalid("`%s` must be a positive number, not %v", f.name, f.value)
		}
	}
	for _, f := range h.optional() {
		if !(f.value >= 0) || math.IsInf(f.value, 0) {
			return invalid("`%s` must be a number of at least 0, not %v", f.name, f.value)
		}
	}
	for _, f := range h.Efficiency.fields() {
		if !(f.value >= 0 && f.value <= 1) {
			return invalid("`%s` must lie in (0, 1], not %v", f.name, f.value)
		}
	}
	switch {
	case (h.Torus == nil) == (len(h.Levels) == 0):
		return invalid("exactly one of `torus` and `levels` must describe the network")
	case h.Torus != nil:
		return h.Torus.validate(invalid)
	}
	return validateLevels(h.Levels, invalid)
}

type field struct {
	name  string
	value float64
}

func (h *Hardware) required() []field {
	return []field{{"matrix.bf16", h.Matrix.BF16}, {"vectorFLOPs", h.VectorFLOPs}, {"hbmBytes", h.HBMBytes}, {"hbmBandwidth", h.HBMBandwidth}}
}

func (h *Hardware) optional() []field {
	return []field{{"matrix.f32", h.Matrix.F32}, {"matrix.int8", h.Matrix.Int8}, {"matrix.fp8", h.Matrix.FP8}, {"matrix.fp4", h.Matrix.FP4},
		{"tile", float64(h.Tile)}, {"launch", h.Launch}, {"pcie", h.PCIe}, {"cores", float64(h.Cores)},
		{"hostChips", float64(h.HostChips)}, {"dispatch", h.Dispatch}}
}

func (e Efficiency) fields() []field {
	return []field{{"efficiency.math", e.Math}, {"efficiency.hbm", e.HBM}, {"efficiency.ring", e.Ring}, {"efficiency.line", e.Line}}
}

// maxExtent bounds torus axes and switch degrees, so that products of them fit an int64.
const maxExtent = 1 << 20

func (t *Torus) validate(invalid func(string, ...any) error) error {
	switch {
	case !(t.Link > 0) || math.IsInf(t.Link, 0):
		return invalid("`torus.link` must be a positive number, not %v", t.Link)
	case !(t.HopLatency >= 0) || math.IsInf(t.HopLatency, 0):
		return invalid("`torus.hopLatency` must be a number of at least 0, not %v", t.HopLatency)
	case !(t.DCN >= 0) || math.IsInf(t.DCN, 0):
		return invalid("`torus.dcn` must be a number of at least 0, not %v", t.DCN)
	case len(t.Shape) == 0 || len(t.Shape) > 3:
		return invalid("`torus.shape` must have one to three sizes, not %d", len(t.Shape))
	case t.Wrap != WrapFull && t.Wrap != WrapCubes && t.Wrap != WrapNever:
		return invalid("`torus.wrap` must be one of `full`, `cubes`, `never`, not %q", string(t.Wrap))
	}
	for _, s := range t.Shape {
		if s < 1 || s > maxExtent {
			return invalid("`torus.shape` must hold sizes from 1 to %d, not %d", maxExtent, s)
		}
	}
	return nil
}

func validateLevels(levels []Level, invalid func(string, ...any) error) error {
	if len(levels) > 3 {
		return invalid("`levels` must have at most three entries, not %d", len(levels))
	}
	for _, l := range levels {
		switch {
		case l.Degree < 1 || l.Degree > maxExtent:
			return invalid("`levels.degree` must lie in 1 to %d, not %d", maxExtent, l.Degree)
		case !(l.Bandwidth > 0) || math.IsInf(l.Bandwidth, 0):
			return invalid("`levels.bandwidth` must be a positive number, not %v", l.Bandwidth)
		case !(l.Step >= 0) || math.IsInf(l.Step, 0):
			return invalid("`levels.step` must be a number of at least 0, not %v", l.Step)
		}
	}
	return nil
}

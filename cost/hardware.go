package cost

import (
	"slices"

	"autoshard/ir/dtype"
)

// Hardware is the profile of one kind of chip and of the network between chips: exactly one of Torus and Levels is
// given (specification: cost.md section 1). A device of a mesh is one chip.
type Hardware struct {
	Name string

	Matrix      Rates   // matrix units, dense
	VectorFLOPs float64 // FLOP/s of elementwise ops
	Tile        int64   // matrix dimensions are padded to multiples of it; 0: 1
	Launch      float64 // seconds that any kernel takes at least

	HBMBytes     float64
	HBMBandwidth float64 // bytes/s
	PCIe         float64 // bytes/s to the host, one way

	Cores     int64   // tensor cores per chip, as cloud documents count them
	HostChips int64   // chips per host
	Dispatch  float64 // seconds before a collective starts, T0
	Meeting   float64 // seconds that each device of a group but one adds to Dispatch: hosts have no network that brings them together
	Arrays    float64 // of what a collective takes before it sends: the part that each further array in it takes again, from 0 to 1

	Torus  *Torus
	Levels []Level // of switches, innermost first

	Topology string // the part of the network that meshes run on, as On was given it; "" for none

	Efficiency Efficiency
}

// Rates are operations a second by number format. A rate of 0 stands for that of BF16.
type Rates struct {
	BF16 float64 // bf16 and f16
	F32  float64 // at the compiler's default precision: bf16 passes or TF32
	Int8 float64 // and int4
	FP8  float64 // and the 6-bit formats
	FP4  float64
}

// Torus is a network of rings or lines (specification: cost.md sections 1.1 and 1.2).
type Torus struct {
	Link       float64    // w: bytes/s of one link, one way
	Shape      []int64    // the largest slice, one size per physical axis
	Wrap       Wrap       // which axes of a slice close to rings
	HopLatency float64    // seconds, Tmin
	DCN        float64    // bytes/s a chip sends between slices
	Slice      SliceShape // that meshes run on; without a shape it is chosen for each
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
	Name      string
	Degree    int64
	Bandwidth float64 // bytes/s of one child's link, one way
	Step      float64 // seconds of one step of a ring at this level
	Reduces   bool    // the switches can reduce (NVLS, SHARP)
}

// Efficiency is the fitted share of each nominal rate that programs reach, in (0, 1]; 0 stands for 1
// (specification: cost.md section 4.9).
type Efficiency struct {
	Math float64
	HBM  float64
	Ring float64 // links of rings and of switches
	Line float64 // links of axes that do not wrap
}

// clone returns a copy that shares nothing.
func (h Hardware) clone() Hardware {
	if h.Torus != nil {
		torus := *h.Torus
		torus.Shape = slices.Clone(torus.Shape)
		torus.Slice = SliceShape{slices.Clone(torus.Slice.Shape), slices.Clone(torus.Slice.Wrap)}
		h.Torus = &torus
	}
	h.Levels = slices.Clone(h.Levels)
	return h
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

// maxExtent bounds torus axes and switch degrees, so that products of them fit an int64.
const maxExtent = 1 << 20

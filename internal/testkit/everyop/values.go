package everyop

import (
	"math"
	"math/bits"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// class is what the elements of an input are.
type class uint8

const (
	anything class = iota // any bits, and often those that are special
	normal                // any but subnormal numbers, which are zeros
	plain                 // numbers of a few units
	above                 // those of them above -8
	whole                 // small whole numbers, of which sums and products are exact in most types
	positive              // from 1 to 2, sums of which lose nothing but by rounding; of integers whole
)

// types are the element types of tensors.
var types = func() (all []dtype.Type) {
	for e := dtype.I1; e <= dtype.C128; e++ {
		if e != dtype.TF32 { // which products are told to round to
			all = append(all, e)
		}
	}
	return all
}()

func isFloat(e dtype.Type) bool   { return e.Kind() == dtype.Float }
func isComplex(e dtype.Type) bool { return e.Kind() == dtype.Complex }
func isInteger(e dtype.Type) bool { return e.Kind() == dtype.Signed || e.Kind() == dtype.Unsigned }
func isNumber(e dtype.Type) bool  { return e.Kind() != dtype.Bool }
func isInexact(e dtype.Type) bool { return isFloat(e) || isComplex(e) }
func isAny(dtype.Type) bool       { return true }

// tensorOf draws elements.
func (d *drawing) tensorOf(e dtype.Type, dims []int64, of class) *tensor.Tensor {
	x := tensor.New(e, dims)
	part := e.Part()
	x.Data = x.Data[:0]
	for range int(lists.Product(dims)) * e.Bytes() / part.Bytes() {
		x.Data = dtype.AppendBits(x.Data, part, d.element(part, of))
	}
	return &x
}

// element draws the bits of an element that is no complex number. Narrow integers fill their bytes.
func (d *drawing) element(e dtype.Type, of class) uint64 {
	switch {
	case e == dtype.I1:
		return uint64(d.between(0, 1, "bit"))
	case isInteger(e):
		return uint64(dtype.Wrap(e, d.integer(e, of))) & (1<<(8*e.Bytes()-1)<<1 - 1)
	}
	switch of {
	case anything:
		return d.float(e)
	case normal:
		bits := d.float(e)
		if v := dtype.Decode(e, bits); math.Abs(v) < dtype.Decode(e, 1<<e.Mantissa()) {
			return dtype.Encode(e, 0)
		}
		return bits
	case whole:
		return dtype.Encode(e, float64(d.between(-3, 3, "whole")))
	case positive:
		return dtype.Encode(e, 1+float64(d.between(0, 1<<24-1, "fraction"))/(1<<24))
	}
	v := d.number()
	if of == above && v < -8 {
		v /= 2
	}
	return dtype.Encode(e, v)
}

// number draws a number of a few units.
func (d *drawing) number() float64 {
	v := math.Ldexp(1+float64(d.between(0, 1<<53-1, "fraction"))/(1<<53), int(d.between(-5, 3, "exponent")))
	if d.odds("negative", 2) {
		return -v
	}
	return v
}

func (d *drawing) integer(e dtype.Type, of class) int64 {
	low, high := dtype.IntRange(e)
	switch {
	case of == whole || of == positive:
		return d.between(max(low, -3), int64(min(high, 3)), "whole")
	case d.odds("special", 3):
		return pick(d, []int64{0, 1, -1, 2, low, int64(high), low + 1, int64(high) - 1, int64(e.Bits()), 7}, "integer")
	}
	return int64(d.between(math.MinInt64, math.MaxInt64, "integer")) >> d.between(0, 63, "digits")
}

// float draws the bits of any number: plain ones, special ones, and any.
func (d *drawing) float(e dtype.Type) uint64 {
	mask := uint64(1)<<(e.Bits()-1)<<1 - 1
	switch d.between(0, 2, "kind of number") {
	case 0:
		return dtype.Encode(e, d.number())
	case 1:
		v := pick(d, []float64{0, 1, 2, 3, 0.5, 1.5, 2.5, 0.25, math.Inf(1), math.NaN(), 1e-40, 1e30, 1 << 24, 1 << 31, 1 << 63}, "number")
		b := dtype.Encode(e, v)
		if d.odds("extreme", 4) {
			b = pick(d, []uint64{1, 1 << e.Mantissa(), 1<<e.Mantissa() - 1, mask >> 1, mask>>1 - 1}, "bits")
		}
		if d.odds("negative", 2) {
			b ^= 1 << (e.Bits() - 1)
		}
		return b & mask
	}
	return bits.RotateLeft64(uint64(d.between(math.MinInt64, math.MaxInt64, "bits")), 17) & mask
}

// input adds an argument, or now and then a constant.
func (d *drawing) input(e dtype.Type, dims []int64, of class) ir.ValueID {
	return d.given(d.tensorOf(e, dims, of))
}

// given adds an argument, or now and then a constant, of those elements.
func (d *drawing) given(x *tensor.Tensor) ir.ValueID {
	if d.odds("constant", 6) {
		return d.constant(x)
	}
	d.inputs = append(d.inputs, x)
	return d.m.AddBlockArg(d.main, d.m.TensorType(x.DType, x.Shape...))
}

func (d *drawing) constant(x *tensor.Tensor) ir.ValueID {
	return d.b.Constant(d.m.Dense(d.m.TensorType(x.DType, x.Shape...), x.Data))
}

// integers adds an argument or a constant of given integers.
func (d *drawing) integers(e dtype.Type, list []int64, dims ...int64) ir.ValueID {
	x := tensor.FromInts(e, dims, list...)
	return d.given(&x)
}

// sizes adds a constant list of sizes, of which the types of results follow.
func (d *drawing) sizes(list []int64) ir.ValueID {
	e := pick(d, []dtype.Type{dtype.I32, dtype.I64}, "type of sizes")
	x := tensor.FromInts(e, []int64{int64(len(list))}, list...)
	return d.constant(&x)
}

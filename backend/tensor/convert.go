package tensor

import (
	"math"

	"autoshard/ir/dtype"
)

// number lists the Go types that element types are computed in.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Convert changes the element type (stablehlo.md section 2.2): integers wrap, floats round to nearest even, floats
// to integers truncate and saturate with NaN as 0, anything but zero is true, complex to real drops the
// imaginary part. Converting to the type it has returns x itself.
func Convert(x Tensor, to dtype.Type) Tensor {
	if x.DType == to {
		return x
	}
	if to.Kind() == dtype.Complex {
		return toComplex(x, to)
	}
	switch x.DType.Kind() {
	case dtype.Bool:
		return convertFrom(x.Data, x, to)
	case dtype.Signed, dtype.Unsigned:
		return integers(x.DType).convert(x, to)
	case dtype.Complex:
		return Convert(Real(x), to)
	}
	if x.DType == dtype.F64 {
		return convertFrom(Elems[float64](x), x, to)
	}
	if to == dtype.F32 {
		out := newUnset(to, x.Shape)
		widen(Elems[float32](out), x, 0)
		return out
	}
	return convertFrom(float32s(x), x, to)
}

func (storedAs[T]) convert(x Tensor, to dtype.Type) Tensor { return convertFrom(Elems[T](x), x, to) }

// float32s returns the elements of a float type of at most 32 bits, which f32 holds exactly.
func float32s(x Tensor) []float32 {
	if x.DType == dtype.F32 {
		return Elems[float32](x)
	}
	out := make([]float32, x.Len())
	widen(out, x, 0)
	return out
}

// widen fills dst with the elements of x from offset on.
func widen(dst []float32, x Tensor, offset int) {
	switch x.DType {
	case dtype.BF16:
		for i, v := range Elems[uint16](x)[offset:][:len(dst)] {
			dst[i] = dtype.BF16ToFloat32(v)
		}
	case dtype.F16:
		for i, v := range Elems[uint16](x)[offset:][:len(dst)] {
			dst[i] = dtype.F16ToFloat32(v)
		}
	case dtype.F32:
		copy(dst, Elems[float32](x)[offset:])
	case dtype.TF32:
		for i, v := range triples(x)[offset:][:len(dst)] {
			dst[i] = float32(dtype.Decode(x.DType, uint64(v[0])|uint64(v[1])<<8|uint64(v[2])<<16))
		}
	default:
		for i, v := range Elems[uint8](x)[offset:][:len(dst)] {
			dst[i] = float32(dtype.Decode(x.DType, uint64(v)))
		}
	}
}

// triples views the elements of tf32, which has 19 bits.
func triples(x Tensor) [][3]byte { return view[[3]byte](x) }

// narrow32 rounds src into the elements of x from offset on.
func narrow32(x Tensor, offset int, src []float32) {
	switch x.DType {
	case dtype.BF16:
		out := Elems[uint16](x)[offset:]
		for i, v := range src {
			out[i] = dtype.BF16FromFloat32(v)
		}
	case dtype.F16:
		out := Elems[uint16](x)[offset:]
		for i, v := range src {
			out[i] = dtype.F16FromFloat32(v)
		}
	case dtype.F32:
		copy(Elems[float32](x)[offset:], src)
	default:
		narrow(x, offset, src)
	}
}

// narrow rounds src once into the elements of x, of any float type, from offset on.
func narrow[S number](x Tensor, offset int, src []S) {
	switch x.DType.Bytes() {
	case 1:
		out := Elems[uint8](x)[offset:]
		for i, v := range src {
			out[i] = uint8(dtype.Encode(x.DType, toOdd(v)))
		}
	case 2:
		out := Elems[uint16](x)[offset:]
		for i, v := range src {
			if x.DType == dtype.BF16 {
				out[i] = dtype.BF16FromFloat32(toOdd32(toOdd(v)))
				continue
			}
			out[i] = dtype.F16FromFloat32(toOdd32(toOdd(v)))
		}
	case 3:
		out := triples(x)[offset:]
		for i, v := range src {
			bits := dtype.Encode(x.DType, toOdd(v))
			out[i] = [3]byte{byte(bits), byte(bits >> 8), byte(bits >> 16)}
		}
	case 4:
		out := Elems[float32](x)[offset:]
		for i, v := range src {
			out[i] = float32(v)
		}
	default:
		out := Elems[float64](x)[offset:]
		for i, v := range src {
			out[i] = float64(v)
		}
	}
}

// toOdd returns v as a float64 that rounds further as v itself would: when a 64-bit integer does not fit, it is
// truncated and the last bit set.
func toOdd[S number](v S) float64 {
	f := float64(v)
	if f < 0x1p53 && f > -0x1p53 || f != f || S(1)/2 != 0 {
		return f
	}
	magnitude := uint64(v)
	if v < 0 {
		magnitude = -magnitude
	}
	const low = 1<<12 - 1 // below the 52 bits kept of 64
	if magnitude&low != 0 {
		magnitude = magnitude&^low | 1<<12
	}
	return math.Copysign(float64(magnitude), f)
}

// toOdd32 returns v as a float32 that rounds further, to fewer bits, as v itself would: of the two neighbours of
// what does not fit it takes the one with an odd last bit.
func toOdd32(v float64) float32 {
	f := float32(v)
	if bits := math.Float32bits(f); float64(f) != v && bits&1 == 0 && v == v {
		if math.Abs(float64(f)) > math.Abs(v) {
			return math.Float32frombits(bits - 1)
		}
		return math.Float32frombits(bits + 1)
	}
	return f
}

func convertFrom[S number](src []S, x Tensor, to dtype.Type) Tensor {
	out := newUnset(to, x.Shape)
	switch to {
	case dtype.I1:
		for i, v := range src {
			out.Data[i] = bit(v != 0)
		}
	case dtype.I2, dtype.I4, dtype.I8:
		toInts(Elems[int8](out), src, to)
	case dtype.I16:
		toInts(Elems[int16](out), src, to)
	case dtype.I32:
		toInts(Elems[int32](out), src, to)
	case dtype.I64:
		toInts(Elems[int64](out), src, to)
	case dtype.UI2, dtype.UI4, dtype.UI8:
		toInts(Elems[uint8](out), src, to)
	case dtype.UI16:
		toInts(Elems[uint16](out), src, to)
	case dtype.UI32:
		toInts(Elems[uint32](out), src, to)
	case dtype.UI64:
		toInts(Elems[uint64](out), src, to)
	default:
		if narrowed, ok := any(src).([]float32); ok {
			narrow32(out, 0, narrowed)
			break
		}
		narrow(out, 0, src)
	}
	return out
}

func toInts[D, S number](dst []D, src []S, to dtype.Type) {
	if S(1)/2 != 0 {
		floatsToInts(dst, src, to)
		return
	}
	for i, v := range src {
		dst[i] = D(v)
	}
	wrapNarrow(dst, to)
}

// wrapNarrow brings i2, i4, ui2 and ui4 back into range.
func wrapNarrow[D number](dst []D, to dtype.Type) {
	if to.Bits() >= 8 {
		return
	}
	for i, v := range dst {
		dst[i] = D(dtype.Wrap(to, int64(v)))
	}
}

func floatsToInts[D, S number](dst []D, src []S, to dtype.Type) {
	lo, hi := dtype.IntRange(to)
	least, most := float64(lo), float64(hi)
	for i, s := range src {
		switch v := float64(s); {
		case v != v:
			dst[i] = 0
		case v <= least:
			dst[i] = D(lo)
		case v >= most:
			dst[i] = D(hi)
		default:
			dst[i] = D(v)
		}
	}
}

func toComplex(x Tensor, to dtype.Type) Tensor {
	switch {
	case x.DType == dtype.C64 && to == dtype.C128:
		return eachOf(x, to, func(v complex64) complex128 { return complex128(v) })
	case x.DType == dtype.C128 && to == dtype.C64:
		return eachOf(x, to, func(v complex128) complex64 { return complex64(v) })
	case x.DType == dtype.F32 && to == dtype.C128:
		return eachOf(x, to, func(v float32) complex128 { return complex(float64(v), 0) })
	}
	part := to.Part()
	if x.DType.Kind() == dtype.Complex {
		return Complex(Convert(Real(x), part), Convert(Imag(x), part))
	}
	return Complex(Convert(x, part), New(part, nil))
}

// BitcastConvert reinterprets the bits as elements of type to. A narrower type adds a last dimension, least
// significant part first; a wider type drops it. Elements of less than a byte have their bits packed.
func BitcastConvert(x Tensor, to dtype.Type, shape []int64) Tensor {
	out := New(to, shape)
	if x.DType.Bits() >= 8 && to.Bits() >= 8 {
		if len(out.Data) != len(x.Data) {
			panic("tensor: bitcast_convert changes the number of bits")
		}
		copy(out.Data, x.Data)
		return out
	}
	from, into := packBits(x), uint(to.Bits())
	for i := range out.Data {
		bit := uint(i) * min(into, 8)
		pair := uint16(from[bit/8]) // an element of six bits may lie in two bytes
		if next := bit/8 + 1; next < uint(len(from)) {
			pair |= uint16(from[next]) << 8
		}
		v := byte(pair >> (bit % 8))
		if into < 8 {
			v = byte(signed(to, v&(1<<into-1)))
		}
		out.Data[i] = v
	}
	return out
}

// packBits returns the elements without gaps, least significant bit first.
func packBits(x Tensor) []byte {
	bits := uint(x.DType.Bits())
	if bits >= 8 {
		return x.Data
	}
	out := make([]byte, (uint(len(x.Data))*bits+7)/8)
	for i, v := range x.Data {
		bit := uint(i) * bits
		pair := uint16(v&(1<<bits-1)) << (bit % 8)
		out[bit/8] |= byte(pair)
		if pair > 255 {
			out[bit/8+1] |= byte(pair >> 8)
		}
	}
	return out
}

// signed extends the sign of narrow signed integers.
func signed(t dtype.Type, v byte) int8 {
	if t.Kind() == dtype.Signed {
		return int8(dtype.Wrap(t, int64(v)))
	}
	return int8(v)
}

// ReducePrecision rounds floats to the given numbers of exponent and mantissa bits, nearest even, and keeps the
// element type: overflow is infinite, what is below the smallest normal number of fewer exponent bits becomes zero, NaN stays NaN.
// It works on the bits of the type, whose lowest exponent bit says what is even where no mantissa is left.
func ReducePrecision(x Tensor, exponentBits, mantissaBits int) Tensor {
	out := New(x.DType, x.Shape)
	switch x.DType.Bytes() {
	case 1:
		reducePrecision(out.Data, x.Data, x.DType, exponentBits, mantissaBits)
	case 2:
		reducePrecision(Elems[uint16](out), Elems[uint16](x), x.DType, exponentBits, mantissaBits)
	case 4:
		reducePrecision(Elems[uint32](out), Elems[uint32](x), x.DType, exponentBits, mantissaBits)
	default:
		reducePrecision(Elems[uint64](out), Elems[uint64](x), x.DType, exponentBits, mantissaBits)
	}
	return out
}

func reducePrecision[T uint8 | uint16 | uint32 | uint64](dst, src []T, t dtype.Type, exponentBits, mantissaBits int) {
	mantissa, sign := t.Mantissa(), T(1)<<(t.Bits()-1)
	if t == dtype.F8E8M0FNU {
		sign = 0 // its first bit is one of the exponent
	}
	infinite := T(dtype.Encode(t, math.Inf(1)))
	bias, reduced := T(1)<<(t.Exponent()-1)-1, T(1)<<(min(exponentBits, t.Exponent())-1)-1
	for i, code := range src {
		v := code &^ sign
		if v >= infinite {
			dst[i] = code
			continue
		}
		if drop := mantissa - mantissaBits; drop > 0 {
			v += T(1)<<(drop-1) - 1 + v>>drop&1
			v &^= T(1)<<drop - 1
		}
		switch exponent := v >> mantissa; {
		case v > infinite || exponentBits < t.Exponent() && exponent > bias+reduced:
			v = infinite
		case exponentBits < t.Exponent() && exponent <= bias-reduced:
			v = 0
		}
		dst[i] = v | code&sign
	}
}

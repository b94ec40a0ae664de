package dtype

import "math"

// special says which codes of a float format are not finite numbers.
type special uint8

const (
	ieee         special = iota // the largest exponent holds infinities and NaNs
	onlyNaN                     // FN: the codes of all ones are NaN, no infinities
	unsignedZero                // FNUZ: the code of negative zero is the only NaN
	finite                      // neither; overflow saturates
	powers                      // E8M0FNU: positive powers of two, all ones is NaN
)

// format describes a binary float: value = (1 + man/2^manBits) * 2^(exp - bias), or with exp = 0 the subnormal
// man/2^manBits * 2^(1 - bias).
type format struct {
	expBits, manBits, bias int
	special                special
}

// formats is specification stablehlo.md section 1.4.
var formats = [numTypes]format{
	F4E2M1FN:      {2, 1, 1, finite},
	F6E2M3FN:      {2, 3, 1, finite},
	F6E3M2FN:      {3, 2, 3, finite},
	F8E3M4:        {3, 4, 3, ieee},
	F8E4M3:        {4, 3, 7, ieee},
	F8E4M3B11FNUZ: {4, 3, 11, unsignedZero},
	F8E4M3FN:      {4, 3, 7, onlyNaN},
	F8E4M3FNUZ:    {4, 3, 8, unsignedZero},
	F8E5M2:        {5, 2, 15, ieee},
	F8E5M2FNUZ:    {5, 2, 16, unsignedZero},
	F8E8M0FNU:     {8, 0, 127, powers},
	BF16:          {8, 7, 127, ieee},
	F16:           {5, 10, 15, ieee},
	TF32:          {8, 10, 127, ieee},
	F32:           {8, 23, 127, ieee},
	F64:           {11, 52, 1023, ieee},
}

// Mantissa returns the number of explicit mantissa bits of a float type, 0 for other types.
func (t Type) Mantissa() int { return formats[t].manBits }

// Exponent returns the number of exponent bits of a float type, 0 for other types.
func (t Type) Exponent() int { return formats[t].expBits }

// signBit returns the code with only the sign set.
func (f format) signBit() uint64 {
	if f.special == powers {
		return 0
	}
	return 1 << (f.expBits + f.manBits)
}

// maxFinite returns the code of the largest finite number.
func (f format) maxFinite() uint64 {
	all := uint64(1)<<(f.expBits+f.manBits) - 1
	switch f.special {
	case ieee:
		return all - 1<<f.manBits
	case onlyNaN, powers:
		return all - 1
	}
	return all
}

// overflow returns the code for magnitudes beyond the largest finite number.
func (f format) overflow(sign uint64) uint64 {
	switch f.special {
	case unsignedZero:
		return f.signBit()
	case finite:
		return sign | f.maxFinite()
	}
	return sign | (f.maxFinite() + 1)
}

// nan returns the code of a quiet NaN. Formats without NaN give zero with the sign turned, as ml_dtypes does.
func (f format) nan(sign uint64) uint64 {
	all := uint64(1)<<(f.expBits+f.manBits) - 1
	switch f.special {
	case ieee:
		return sign | (all &^ (1<<(f.manBits-1) - 1))
	case unsignedZero:
		return f.signBit()
	case finite:
		return sign ^ f.signBit()
	}
	return sign | all
}

// Encode returns the bits of v in float type t, rounded to nearest even. Overflow gives infinity, NaN or the
// largest number, as the format has it (stablehlo.md section 1.4). It panics if t is not a float type.
func Encode(t Type, v float64) uint64 {
	switch t {
	case F64:
		return math.Float64bits(v)
	case F32:
		return uint64(math.Float32bits(float32(v)))
	}
	f := formats[t]
	if f.expBits == 0 {
		panic("dtype: " + t.String() + " is not a float type")
	}
	return f.encode(v)
}

func (f format) encode(v float64) uint64 {
	bits := math.Float64bits(v)
	sign := uint64(0)
	if bits>>63 != 0 {
		sign = f.signBit()
	}
	man, exp := bits&(1<<52-1), int(bits>>52&0x7FF)
	switch {
	case exp == 0x7FF && man != 0, f.special == powers && (bits>>63 != 0 || v == 0):
		return f.nan(sign)
	case exp == 0x7FF:
		return f.overflow(sign)
	case exp == 0: // below every other format's smallest subnormal
		man, exp = 0, 1-f.bias+1023
	default:
		man |= 1 << 52
	}
	code := f.round(man, exp-1023)
	switch {
	case code > f.maxFinite():
		return f.overflow(sign)
	case code == 0 && f.special == unsignedZero:
		return 0
	}
	return sign | code
}

// round returns the code, without sign and overflow, of man * 2^(exp-52).
func (f format) round(man uint64, exp int) uint64 {
	low := 1 - f.bias // exponent of the smallest normal
	if f.special == powers {
		low = -f.bias
		if exp < low {
			return 0
		}
	}
	e := max(exp, low)
	drop := 52 - f.manBits + e - exp
	if drop > 60 {
		return 0
	}
	q, rest, half := man>>drop, man&(1<<drop-1), uint64(1)<<(drop-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	if f.special == powers {
		return uint64(e-low) + q - 1
	}
	return uint64(e-low)<<f.manBits + q
}

// Decode returns the value of bits in float type t, exactly. It panics if t is not a float type.
func Decode(t Type, bits uint64) float64 {
	switch t {
	case F64:
		return math.Float64frombits(bits)
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case BF16:
		return float64(math.Float32frombits(uint32(bits) << 16))
	}
	f := formats[t]
	if f.expBits == 0 {
		panic("dtype: " + t.String() + " is not a float type")
	}
	if f.signBit() == 0x80 || f.special == powers {
		return tables8[t][bits&0xFF]
	}
	return f.decode(bits)
}

func (f format) decode(bits uint64) float64 {
	all := uint64(1)<<(f.expBits+f.manBits) - 1
	code := bits & all
	sign := 1.0
	if bits&f.signBit() != 0 {
		sign = -1
	}
	man, exp := code&(1<<f.manBits-1), int(code>>f.manBits)
	switch {
	case f.special == unsignedZero && bits == f.signBit(), f.special == onlyNaN && code == all,
		f.special == powers && code == all, f.special == ieee && code > f.maxFinite()+1:
		return math.Copysign(math.NaN(), sign)
	case f.special == ieee && code == f.maxFinite()+1:
		return math.Inf(int(sign))
	case f.special == powers:
		return math.Ldexp(1, exp-f.bias)
	case exp == 0:
		return math.Copysign(math.Ldexp(float64(man), 1-f.bias-f.manBits), sign)
	}
	return sign * math.Ldexp(float64(man|1<<f.manBits), exp-f.bias-f.manBits)
}

// tables8 holds the values of all codes of the 8-bit formats.
var tables8 = func() (tables [numTypes]*[256]float64) {
	for t, f := range formats {
		if f.expBits != 0 && infos[t].bits == 8 {
			tables[t] = new([256]float64)
			for code := range tables[t] {
				tables[t][code] = f.decode(uint64(code))
			}
		}
	}
	return tables
}()

// BF16FromFloat32 rounds to bf16, nearest even; a NaN becomes the quiet NaN of its sign.
func BF16FromFloat32(v float32) uint16 {
	bits := math.Float32bits(v)
	if v != v {
		return uint16(bits>>16)&0x8000 | 0x7FC0
	}
	return uint16((bits + 0x7FFF + bits>>16&1) >> 16)
}

// BF16ToFloat32 returns the value of bf16 bits.
func BF16ToFloat32(bits uint16) float32 { return math.Float32frombits(uint32(bits) << 16) }

// F16FromFloat32 rounds to f16, nearest even; a NaN becomes the quiet NaN of its sign.
func F16FromFloat32(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, mag := uint16(bits>>16)&0x8000, bits&0x7FFFFFFF
	switch {
	case mag > 0x7F800000:
		return sign | 0x7E00
	case mag >= 0x477FF000: // 65520 and more round to infinity
		return sign | 0x7C00
	case mag >= 0x38800000: // normal in f16
		return sign | uint16((mag-0x38000000+0xFFF+mag>>13&1)>>13)
	}
	// Adding 0.5 lines the subnormals of f16 up with the mantissa of f32, which rounds as it should.
	return sign | uint16(math.Float32bits(math.Float32frombits(mag)+0.5)-0x3F000000)
}

// F16ToFloat32 returns the value of f16 bits.
func F16ToFloat32(bits uint16) float32 {
	sign, exp, man := uint32(bits)&0x8000<<16, uint32(bits)>>10&31, uint32(bits)&0x3FF
	switch exp {
	case 31:
		return math.Float32frombits(sign | 0x7F800000 | man<<13)
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(man)*0x1p-24))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

package dtype

import "math"

// IntRange returns the smallest and largest value of an integer or i1 type; the largest as uint64, which holds
// that of ui64. It panics for other types.
func IntRange(t Type) (lo int64, hi uint64) {
	bits := t.Bits()
	switch t.Kind() {
	case Signed:
		return math.MinInt64 >> (64 - bits), math.MaxUint64 >> (65 - bits)
	case Unsigned, Bool:
		if bits != 0 {
			return 0, math.MaxUint64 >> (64 - bits)
		}
	}
	panic("dtype: " + t.String() + " is not an integer type")
}

// Wrap returns v modulo 2^bits of integer type t: sign-extended for signed types, zero-extended for unsigned
// ones and i1. A ui64 keeps its bits in the int64.
func Wrap(t Type, v int64) int64 {
	shift := 64 - t.Bits()
	if t.Kind() == Signed {
		return v << shift >> shift
	}
	return int64(uint64(v) << shift >> shift)
}

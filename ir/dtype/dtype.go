// Package dtype holds the element types of StableHLO tensors and their number formats.
//
// A [Type] is a small enum; it knows its MLIR spelling, its width and its kind. The formats that Go has no
// type for (bf16, f16 and the 4-, 6- and 8-bit floats) are converted to and from float64 here, rounding to
// nearest even as MLIR does.
//
//	dtype.BF16.String()  // "bf16"
//	dtype.BF16.Bytes()   // 2
package dtype

// Type is the element type of a tensor. The zero value is Invalid.
type Type uint8

// The element types of StableHLO (specification: stablehlo.md section 1.4).
const (
	Invalid Type = iota
	I1
	I2
	I4
	I8
	I16
	I32
	I64
	UI2
	UI4
	UI8
	UI16
	UI32
	UI64
	F4E2M1FN
	F6E2M3FN
	F6E3M2FN
	F8E3M4
	F8E4M3
	F8E4M3B11FNUZ
	F8E4M3FN
	F8E4M3FNUZ
	F8E5M2
	F8E5M2FNUZ
	F8E8M0FNU
	BF16
	F16
	TF32
	F32
	F64
	C64  // complex<f32>
	C128 // complex<f64>
	numTypes
)

type info struct {
	name string
	bits int
	kind Kind
}

// Kind groups element types by the arithmetic they follow.
type Kind uint8

// The kinds of element types.
const (
	Bool Kind = iota
	Signed
	Unsigned
	Float
	Complex
)

var infos = [numTypes]info{
	Invalid: {"invalid", 0, Bool},
	I1:      {"i1", 1, Bool},
	I2:      {"i2", 2, Signed},
	I4:      {"i4", 4, Signed},
	I8:      {"i8", 8, Signed},
	I16:     {"i16", 16, Signed},
	I32:     {"i32", 32, Signed},
	I64:     {"i64", 64, Signed},
	UI2:     {"ui2", 2, Unsigned},
	UI4:     {"ui4", 4, Unsigned},
	UI8:     {"ui8", 8, Unsigned},
	UI16:    {"ui16", 16, Unsigned},
	UI32:    {"ui32", 32, Unsigned},
	UI64:    {"ui64", 64, Unsigned},

	F4E2M1FN:      {"f4E2M1FN", 4, Float},
	F6E2M3FN:      {"f6E2M3FN", 6, Float},
	F6E3M2FN:      {"f6E3M2FN", 6, Float},
	F8E3M4:        {"f8E3M4", 8, Float},
	F8E4M3:        {"f8E4M3", 8, Float},
	F8E4M3B11FNUZ: {"f8E4M3B11FNUZ", 8, Float},
	F8E4M3FN:      {"f8E4M3FN", 8, Float},
	F8E4M3FNUZ:    {"f8E4M3FNUZ", 8, Float},
	F8E5M2:        {"f8E5M2", 8, Float},
	F8E5M2FNUZ:    {"f8E5M2FNUZ", 8, Float},
	F8E8M0FNU:     {"f8E8M0FNU", 8, Float},
	BF16:          {"bf16", 16, Float},
	F16:           {"f16", 16, Float},
	TF32:          {"tf32", 19, Float},
	F32:           {"f32", 32, Float},
	F64:           {"f64", 64, Float},
	C64:           {"complex<f32>", 64, Complex},
	C128:          {"complex<f64>", 128, Complex},
}

var byName = func() map[string]Type {
	names := make(map[string]Type, numTypes)
	for t := Invalid + 1; t < numTypes; t++ {
		names[infos[t].name] = t
	}
	return names
}()

// Parse returns the type with the given MLIR spelling, such as "bf16" or "complex<f32>".
func Parse(name string) (Type, bool) {
	t, ok := byName[name]
	return t, ok
}

// String returns the MLIR spelling.
func (t Type) String() string { return infos[t].name }

// Bits returns the width of one element in bits.
func (t Type) Bits() int { return infos[t].bits }

// Bytes returns the whole bytes that one element occupies in memory: i1, i4 and f6 take one byte each.
func (t Type) Bytes() int { return (infos[t].bits + 7) / 8 }

// Kind returns the arithmetic that the type follows.
func (t Type) Kind() Kind { return infos[t].kind }

package dtype

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"autoshard/internal/diag"
)

// ParseFloat returns the bits of a float literal in float type t, rounded once to nearest even. The literal is
// decimal with a dot, such as "-1.5" or "1.0e10", or the bits in hexadecimal, such as "0x7FC0"
// (stablehlo.md sections 1.1 and 1.6). The errors are diag.ErrInvalid.
func ParseFloat(t Type, text string) (uint64, error) {
	if t.Kind() != Float {
		return 0, diag.Invalid(diag.BadConstant, diag.Position{}, "%s is not a float type", t)
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		bits, err := strconv.ParseUint(digits, 16, 64)
		if err != nil || t.Bits() < 64 && bits>>t.Bits() != 0 {
			return 0, diag.Invalid(diag.BadConstant, diag.Position{}, "%q is not a hexadecimal constant of the %d bits of %s", text, t.Bits(), t)
		}
		return bits, nil
	}
	if !isFloatLiteral(text) {
		return 0, diag.Invalid(diag.BadConstant, diag.Position{}, "%q is not a float literal: write digits with a dot, such as 1.0 or 1.0e10",
			text)
	}
	if t == F32 {
		v, err := strconv.ParseFloat(text, 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, diag.Invalid(diag.BadConstant, diag.Position{}, "%q is not a float literal", text)
		}
		return uint64(math.Float32bits(float32(v))), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, diag.Invalid(diag.BadConstant, diag.Position{}, "%q is not a float literal", text)
	}
	return encodeDecimal(t, v, text), nil
}

// encodeDecimal rounds a decimal to t, given the float64 nearest to it. That float64 may lie exactly between two
// numbers of t although the decimal does not; only then are the digits needed.
func encodeDecimal(t Type, v float64, text string) uint64 {
	bits := Encode(t, v)
	if t == F64 || v == 0 || math.IsInf(v, 0) {
		return bits
	}
	below, above := Encode(t, math.Nextafter(v, math.Inf(-1))), Encode(t, math.Nextafter(v, math.Inf(1)))
	if below == above {
		return bits
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("dtype: %q was a float literal", text))
	}
	switch exact.Cmp(new(big.Rat).SetFloat64(v)) {
	case -1:
		return below
	case 1:
		return above
	}
	return bits
}

// isFloatLiteral reports whether text is [-+]?[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?.
func isFloatLiteral(text string) bool {
	rest := strings.TrimLeft(text, "-+")
	if len(text)-len(rest) > 1 {
		return false
	}
	digits := func() int {
		n := len(rest)
		rest = strings.TrimLeft(rest, "0123456789")
		return n - len(rest)
	}
	if digits() == 0 || !strings.HasPrefix(rest, ".") {
		return false
	}
	rest = rest[1:]
	digits()
	if rest == "" {
		return true
	}
	if rest[0]|0x20 != 'e' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	return digits() > 0 && rest == ""
}

// AppendFloat appends the bits of float type t as MLIR prints them: "1.000000e+00", or more digits where six do
// not read back to the same bits, or the bits in hexadecimal for what no decimal gives (stablehlo.md
// section 1.7).
func AppendFloat(dst []byte, t Type, bits uint64) []byte {
	if v := Decode(t, bits); !math.IsNaN(v) && !math.IsInf(v, 0) {
		d := newDecimal(t, bits)
		text := d.format(6, 0, false)
		if back, err := ParseFloat(t, text); err == nil && back == bits {
			return append(dst, text...)
		}
		if text = d.format(0, 3, true); strings.Contains(text, ".") {
			return append(dst, text...)
		}
	}
	return fmt.Appendf(dst, "0x%X", bits)
}

// decimal is a finite float as sign and an exact significand * 2^exp2.
type decimal struct {
	negative    bool
	significand uint64
	exp2        int
	precision   int // bits of the significand with the hidden one
}

func newDecimal(t Type, bits uint64) decimal {
	f := formats[t]
	d := decimal{negative: bits&f.signBit() != 0, precision: f.manBits + 1}
	man, exp := bits&(1<<f.manBits-1), int(bits&^f.signBit()>>f.manBits)
	switch {
	case f.special == powers:
		d.significand, d.exp2 = 1, exp-f.bias
	case exp == 0:
		d.significand, d.exp2 = man, 1-f.bias-f.manBits
	default:
		d.significand, d.exp2 = man|1<<f.manBits, exp-f.bias-f.manBits
	}
	return d
}

// format follows llvm::APFloat::toString step by step, its truncating first cut included.
func (d decimal) format(precision, padding int, truncateZero bool) string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	if d.significand == 0 {
		if truncateZero {
			return sign + "0.0E+0"
		}
		return sign + "0." + strings.Repeat("0", precision) + "e+00"
	}
	precision = cmp.Or(precision, 2+d.precision*59/196)
	digits, exp := d.digits(precision)
	n := len(digits)
	var scientific bool
	switch {
	case padding == 0:
		scientific = true
	case exp >= 0:
		scientific = exp > padding || n+exp > precision
	default:
		scientific = exp+n-1 < 0 && -(exp+n-1) > padding
	}
	if scientific {
		return sign + scientificText(digits, exp+n-1, precision, truncateZero)
	}
	switch point := n + exp; {
	case exp >= 0:
		return sign + digits + strings.Repeat("0", exp)
	case point > 0:
		return sign + digits[:point] + "." + digits[point:]
	default:
		return sign + "0." + strings.Repeat("0", -point) + digits
	}
}

// digits returns the decimal digits, rounded to precision, and the power of ten that scales them.
func (d decimal) digits(precision int) (string, int) {
	s, exp := new(big.Int).SetUint64(d.significand), d.exp2
	zeros := s.TrailingZeroBits()
	s.Rsh(s, zeros)
	exp += int(zeros)
	if exp > 0 {
		s.Lsh(s, uint(exp))
		exp = 0
	}
	if exp < 0 {
		s.Mul(s, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(-exp)), nil))
	}
	if need := (precision*196 + 58) / 59; s.BitLen() > need {
		cut := (s.BitLen() - need) * 59 / 196
		s.Quo(s, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(cut)), nil))
		exp += cut
	}
	all := s.String()
	text := strings.TrimRight(all, "0")
	if len(text) > precision {
		up := text[precision] >= '5'
		text = text[:precision]
		if up {
			text = increment(text)
		} else {
			text = strings.TrimRight(text, "0")
		}
	}
	// Every digit removed at the end scales by ten; an increment of all nines leaves "1" for a power above them.
	return text, exp + len(all) - len(text) + carried(text, all)
}

// increment adds one to the last digit and drops the zeros that arise; all nines become "1".
func increment(digits string) string {
	kept := strings.TrimRight(digits, "9")
	if kept == "" {
		return "1"
	}
	return kept[:len(kept)-1] + string(kept[len(kept)-1]+1)
}

// carried returns 1 if rounding all up to text made the number one digit longer.
func carried(text, all string) int {
	if text == "1" && all[0] == '9' {
		return 1
	}
	return 0
}

func scientificText(digits string, exp, precision int, truncateZero bool) string {
	fraction := digits[1:]
	if truncateZero {
		fraction = cmp.Or(fraction, "0")
		return fmt.Sprintf("%c.%sE%+d", digits[0], fraction, exp)
	}
	fraction += strings.Repeat("0", precision-len(fraction))
	return fmt.Sprintf("%c.%se%+03d", digits[0], fraction, exp)
}

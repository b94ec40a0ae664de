package report

import (
	"math"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// mostDigits are those behind the point that NumPy shows at most.
const mostDigits = 8

// floatTexts returns numbers as NumPy prints those of one array: with as many digits as tell them apart in their type, at most eight behind
// the point, points below each other; all with exponents where their sizes are far apart.
func floatTexts(values []float64, t dtype.Type) []string {
	bits := 32
	if t == dtype.F64 {
		bits = 64
	}
	least, greatest := math.Inf(1), 0.0
	for _, v := range values {
		if a := math.Abs(v); a > 0 && !math.IsInf(a, 0) {
			least, greatest = math.Min(least, a), math.Max(greatest, a)
		}
	}
	if greatest >= 1e8 || greatest > 0 && (least < 1e-4 || greatest/least > 1000) {
		return padLeft(scientific(values, bits))
	}
	texts := lists.Map(values, func(v float64) string { return positional(v, bits) })
	behind := 0
	for i, s := range texts {
		if finite(values[i]) {
			behind = max(behind, len(s)-strings.IndexByte(s, '.'))
		}
	}
	for i, s := range texts {
		if finite(values[i]) {
			texts[i] += strings.Repeat(" ", behind-(len(s)-strings.IndexByte(s, '.')))
		}
	}
	return padLeft(texts)
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// positional returns a number with a point and no zeros behind its last digit.
func positional(v float64, bits int) string {
	if !finite(v) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, bits), "+"))
	}
	s := strconv.FormatFloat(v, 'f', -1, bits)
	whole, behind, _ := strings.Cut(s, ".")
	if len(behind) > mostDigits {
		whole, behind, _ = strings.Cut(strconv.FormatFloat(v, 'f', mostDigits, 64), ".")
	}
	return whole + "." + strings.TrimRight(behind, "0")
}

// scientific returns numbers with exponents, all with as many digits as the longest needs.
func scientific(values []float64, bits int) []string {
	digits, exponent := 0, 2
	for _, v := range values {
		if finite(v) {
			mantissa, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, bits), "e")
			_, behind, _ := strings.Cut(mantissa, ".")
			digits, exponent = max(digits, min(len(behind), mostDigits)), max(exponent, len(e)-1)
		}
	}
	return lists.Map(values, func(v float64) string {
		if !finite(v) {
			return positional(v, bits)
		}
		mantissa, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		return mantissa + "e" + e[:1] + strings.Repeat("0", exponent-len(e)+1) + e[1:]
	})
}

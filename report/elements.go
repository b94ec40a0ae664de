package report

import (
	"math"
	"strconv"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// The limits of NumPy: arrays of more elements are shown by the first and last ones of each dimension, and lines end there.
const (
	mostElements = 1000
	edgeElements = 3
	lineWidth    = 75
)

// Elements returns a tensor as NumPy prints it: aligned, with long ones shortened.
func Elements(t *tensor.Tensor) string {
	p := &arrayPrinter{t: t, short: t.Len() > mostElements}
	p.visit(t.Shape, 0, func(i int) { p.shown = append(p.shown, i) })
	p.texts = elementTexts(t, p.shown)
	if t.Rank() == 0 {
		return number(p.texts[0])
	}
	return p.block(t.Shape, t.Shape, "")
}

// number returns an element as NumPy prints it alone: 3.0, 1e-05 and (1+2j), where arrays have 3., 1.e-05 and 1.+2.j.
func number(text string) string {
	if whole, point := strings.CutSuffix(text, "."); point {
		return whole + ".0"
	}
	if strings.HasSuffix(text, "j") {
		text = "(" + text + ")"
	}
	return strings.NewReplacer(".e", "e", ".+", "+", ".-", "-", ".j", "j").Replace(text)
}

// arrayPrinter writes elements in the order in which visit comes to them.
type arrayPrinter struct {
	t     *tensor.Tensor
	short bool
	shown []int // places of the elements that are shown
	texts []string
	next  int
}

// visible returns which indices of a dimension are shown, -1 for what is left out between them.
func (p *arrayPrinter) visible(size int64) []int64 {
	if !p.short || size <= 2*edgeElements {
		return lists.Range[int64](size)
	}
	return []int64{0, 1, 2, -1, size - 3, size - 2, size - 1}
}

func (p *arrayPrinter) visit(shape []int64, at int64, see func(int)) {
	if len(shape) == 0 {
		see(int(at))
		return
	}
	for _, i := range p.visible(shape[0]) {
		if i >= 0 {
			p.visit(shape[1:], at+i*lists.Product(shape[1:]), see)
		}
	}
}

// block writes the rest of an array below some indices; whole is the shape of all of it, lines begin with the indent.
func (p *arrayPrinter) block(whole, shape []int64, indent string) string {
	if len(shape) == 0 {
		p.next++
		return p.texts[p.next-1]
	}
	if lists.Product(shape) == 0 {
		return "[]"
	}
	indent += " "
	if len(shape) == 1 {
		return "[" + p.row(shape[0], indent, len(whole)) + "]"
	}
	var parts []string
	for _, i := range p.visible(shape[0]) {
		if i < 0 {
			parts = append(parts, "...")
			continue
		}
		parts = append(parts, p.block(whole, shape[1:], indent))
	}
	return "[" + strings.Join(parts, strings.Repeat("\n", len(shape)-1)+indent) + "]"
}

// row writes the elements of the last dimension of an array of that rank, and breaks lines that would not leave room for its brackets.
func (p *arrayPrinter) row(size int64, indent string, rank int) string {
	var lines []string
	line := indent
	for k, i := range p.visible(size) {
		text := "..."
		if i >= 0 {
			text = p.texts[p.next]
			p.next++
		}
		if k > 0 {
			line += " "
		}
		if k > 0 && len(line)+len(text) > lineWidth-rank {
			lines = append(lines, strings.TrimRight(line, " "))
			line = indent
		}
		line += text
	}
	return strings.TrimPrefix(strings.Join(append(lines, line), "\n"), indent)
}

// elementTexts returns the texts of some elements, all of one width.
func elementTexts(t *tensor.Tensor, at []int) []string {
	var texts []string
	switch t.DType.Kind() {
	case dtype.Float:
		texts = floatTexts(lists.Pick(t.Floats(), at), t.DType)
	case dtype.Complex:
		v := tensor.Elems[complex128](tensor.Convert(*t, dtype.C128))
		part := dtype.F32
		if t.DType == dtype.C128 {
			part = dtype.F64
		}
		re := floatTexts(lists.Map(at, func(i int) float64 { return real(v[i]) }), part)
		im := floatTexts(lists.Map(at, func(i int) float64 { return math.Abs(imag(v[i])) }), part)
		texts = lists.Of(len(at), func(k int) string {
			sign := "+"
			if math.Signbit(imag(v[at[k]])) {
				sign = "-"
			}
			return re[k] + sign + im[k] + "j"
		})
	case dtype.Bool:
		texts = lists.Map(lists.Pick(t.Ints(), at), func(v int64) string { return map[bool]string{true: " True", false: "False"}[v != 0] })
	case dtype.Unsigned:
		texts = lists.Map(lists.Pick(t.Ints(), at), func(v int64) string { return strconv.FormatUint(uint64(v), 10) })
	default:
		texts = lists.Map(lists.Pick(t.Ints(), at), func(v int64) string { return strconv.FormatInt(v, 10) })
	}
	if t.Rank() == 0 {
		return lists.Map(texts, strings.TrimSpace)
	}
	return padLeft(texts)
}

// padLeft makes texts as long as the longest.
func padLeft(texts []string) []string {
	width := 0
	for _, s := range texts {
		width = max(width, len(s))
	}
	return lists.Map(texts, func(s string) string { return strings.Repeat(" ", width-len(s)) + s })
}
